import { wrapCheckpointer } from "../saver/wrap.js";
import { createMemoryItems } from "../rows/items-in-memory.js";
import { expiryOf, isHeldBy, isUnused } from "../rows/rows.js";
import type { Owner, OwnerTable } from "../contract/owners.js";
import type { RunRow, RunTable } from "../contract/runs.js";
import type { Storage, StorageOptions } from "../contract/storage.js";
import type { ThreadRow, ThreadTable } from "../contract/threads.js";
import type { TimerTable } from "../contract/timers.js";
import type { UsageTable } from "../contract/usage.js";
import { createMemoryTimers } from "../rows/timers-in-memory.js";
import { createMemoryUsage } from "../rows/usage-in-memory.js";
import { createThreadLocks } from "../locks/thread-locks.js";
import { copyJson } from "./copy-json.js";
import { RunIndex, ThreadIndex } from "./indexes.js";
import { ThreadMemorySaver } from "./saver.js";

/** A storage in the memory of this process, lost when the process ends. */
export async function openMemory(options: StorageOptions): Promise<Storage> {
  const saver = new ThreadMemorySaver();
  let timers: TimerTable | undefined;
  const usage = createMemoryUsage();
  const rows: Rows = { threads: new ThreadIndex(), runs: new RunIndex(), owners: new Map() };
  return {
    scheme: "memory",
    durable: false,
    threads: threadTable(rows),
    runs: runTable(rows, usage),
    usage,
    owners: ownerTable(rows),
    checkpointer: wrapCheckpointer(saver, {
      keepOnly: (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
      namespaces: (threadId) => saver.namespaces(threadId),
    }),
    locks: createThreadLocks({ maxWaiting: options.max_queued_runs }),
    items: createMemoryItems(),
    get timers() {
      return (timers ??= createMemoryTimers());
    },
    close: async () => undefined,
  };
}

// Table methods other than searches do not await, which makes each of them atomic. Rows are copied on the way in and out;
// on the way out only the fields that hold objects need it.

const copyThread = (row: ThreadRow): ThreadRow => ({
  ...row,
  metadata: copyJson(row.metadata),
  graphs: row.graphs && [...row.graphs],
  config: copyJson(row.config),
  ttl: row.ttl && { ...row.ttl },
  ...(row.preview && { preview: copyJson(row.preview) }),
});

function copyRun(run: RunRow): RunRow {
  const copy = { ...run, metadata: copyJson(run.metadata), kwargs: copyJson(run.kwargs) };
  if (copy.usage) copy.usage = copyJson(copy.usage);
  if (copy.fault) copy.fault = copyJson(copy.fault);
  if (copy.resumption) copy.resumption = copyJson(copy.resumption);
  return copy;
}

interface Rows {
  threads: ThreadIndex;
  runs: RunIndex;
  owners: Map<string, Owner>;
}

const threadTable = ({ threads, runs }: Rows): ThreadTable => ({
  async insert(row) {
    if (threads.byId.has(row.thread_id)) return false;
    threads.insert(copyJson(row));
    return true;
  },
  async get(threadId) {
    const row = threads.byId.get(threadId)?.row;
    return row && copyThread(row);
  },
  async update(threadId, patch, updatedAt) {
    if (updatedAt !== undefined && threads.byId.get(threadId)?.row.updated_at !== updatedAt) return undefined;
    const row = threads.patch(threadId, patch);
    return row && copyThread(row);
  },
  async search(query) {
    const { rows, total } = await threads.search(query);
    return { rows: rows.map(copyThread), total };
  },
  count: async (filter) => threads.count(filter),
  async delete(threadId, updatedAt) {
    const row = threads.byId.get(threadId)?.row;
    const own = runs.of(threadId);
    if (!row || (updatedAt !== undefined && !isUnused(row, own, updatedAt))) return false;
    threads.remove(row);
    for (const run of own.toReversed()) runs.remove(run);
    return true;
  },
  async expired(now, limit) {
    const time = Date.parse(now);
    const expiry = (row: ThreadRow) => expiryOf(row) ?? Infinity;
    const expired = threads.expiring().filter((row) => row.status !== "busy" && expiry(row) < time);
    return expired
      .sort((a, b) => expiry(a) - expiry(b))
      .slice(0, limit)
      .map(copyThread);
  },
});

const runTable = ({ threads, runs, owners }: Rows, usages: UsageTable): RunTable => ({
  async insert(row, thread) {
    if (runs.byId.has(row.run_id)) throw new Error(`a run ${row.run_id} is stored already`);
    // Copy first: a row that cannot be copied must fail before anything changes.
    const copy = copyJson(row);
    if (!threads.patch(row.thread_id, thread)) return false;
    runs.insert(copy);
    return true;
  },
  async get(threadId, runId) {
    const run = runs.on(threadId, runId);
    return run && copyRun(run);
  },
  tasks: async (threadId, runId) => copyJson(runs.tasksOf(threadId, runId)),
  async update(runId, patch, holder) {
    const run = runs.byId.get(runId);
    return run !== undefined && (!holder || isHeldBy(run, holder)) && runs.patch(run, patch);
  },
  async settle(outcomes) {
    for (const { runId, run: patch, threadId, thread, usage } of outcomes) {
      const run = runs.on(threadId, runId);
      if (run && runs.patch(run, patch)) threads.patch(threadId, thread);
      if (usage) void usages.store(usage);
    }
  },
  async delete(threadId, runId) {
    const run = runs.on(threadId, runId);
    if (run) runs.remove(run);
    return run !== undefined;
  },
  async list({ threadId, status, limit, offset }) {
    const all = runs.of(threadId);
    const matching = status ? all.filter((run) => run.status === status) : all;
    const end = Math.max(0, matching.length - offset);
    const page = matching.slice(Math.max(0, end - limit), end).reverse();
    return page.map(copyRun);
  },
  search: async (query) => runs.search(query).map(copyRun),
  unfinished: async ({ threadId, ownerId } = {}) =>
    runs
      .unfinished()
      .filter((run) => run.state !== "delayed")
      .filter((run) => threadId === undefined || run.thread_id === threadId)
      .filter((run) => ownerId === undefined || run.owner === ownerId)
      .map(({ run_id, thread_id, owner }) => {
        return { run_id, thread_id, owner: copyJson(owners.get(owner ?? "")) };
      }),
  requestCancel: async (runId) => runs.cancel(runId),
  cancelRequests: async (ownerId) =>
    runs
      .cancelled()
      .filter(({ owner }) => owner === ownerId)
      .map(({ run_id }) => run_id),
});

const ownerTable = ({ owners }: Rows): OwnerTable => ({
  beat: async (owner) => void owners.set(owner.id, { ...owner }),
  remove: async (ownerId) => void owners.delete(ownerId),
});
