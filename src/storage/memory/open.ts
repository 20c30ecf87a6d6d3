import type { JsonObject } from "../../models/common.js";
import { filterInTurns } from "../../support/event-loop.js";
import { wrapCheckpointer } from "../saver/checkpointer.js";
import { createMemoryItems } from "../rows/items-in-memory.js";
import {
  containing,
  expiryOf,
  labelsOf,
  inScope,
  isFinished,
  isHeldBy,
  matchesRun,
  patchRun,
  patchThread,
  splitFilter,
} from "../rows/rows.js";
import type {
  Owner,
  OwnerTable,
  RunPatch,
  RunRow,
  RunSearch,
  RunTable,
  Storage,
  StorageOptions,
  ThreadFilter,
  ThreadPage,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  ThreadTable,
  TimerTable,
} from "../contract/storage.js";
import { createMemoryTimers } from "../rows/timers-in-memory.js";
import { createThreadLocks } from "../locks/thread-locks.js";
import { countFirst, ThreadMemorySaver } from "./saver.js";

/** A storage in the memory of this process, lost when the process ends. */
export async function openMemory(options: StorageOptions): Promise<Storage> {
  const saver = new ThreadMemorySaver();
  let timers: TimerTable | undefined;
  const rows: Rows = { threads: new ThreadIndex(), runs: new RunIndex(), owners: new Map() };
  return {
    scheme: "memory",
    durable: false,
    threads: threadTable(rows),
    runs: runTable(rows),
    owners: ownerTable(rows),
    checkpointer: wrapCheckpointer(saver, {
      keepOnly: (threadId, keep) => saver.keepOnly(threadId, keep),
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

// Table methods other than searches do not await, which makes each of them atomic. Rows are copied on the way in and out.

interface Rows {
  threads: ThreadIndex;
  runs: RunIndex;
  owners: Map<string, Owner>;
}

const threadTable = ({ threads, runs }: Rows): ThreadTable => ({
  async insert(row) {
    if (threads.get(row.thread_id)) return false;
    threads.insert(copyJson(row));
    return true;
  },
  get: async (threadId) => copyJson(threads.get(threadId)),
  update: async (threadId, patch) => copyJson(threads.patch(threadId, patch)),
  async search(query) {
    const { rows, total } = await threads.search(query);
    return { rows: copyJson(rows), total };
  },
  count: async (filter) => threads.count(filter),
  async delete(threadId) {
    const row = threads.get(threadId);
    if (!row) return false;
    threads.remove(row);
    for (const run of runs.of(threadId).toReversed()) runs.remove(run);
    return true;
  },
  async expired(now, limit) {
    const time = Date.parse(now);
    const expiry = (row: ThreadRow) => expiryOf(row) ?? Infinity;
    const expired = threads.expiring().filter((row) => row.status !== "busy" && expiry(row) < time);
    return copyJson(expired.sort((a, b) => expiry(a) - expiry(b)).slice(0, limit));
  },
});

const withoutTasks = ({ tasks: _, ...run }: RunRow): RunRow => run;

const runTable = ({ threads, runs, owners }: Rows): RunTable => ({
  async insert(row, thread) {
    if (runs.get(row.run_id)) throw new Error(`a run ${row.run_id} is stored already`);
    // Copy first: a row that cannot be copied must fail before anything changes.
    const copy = copyJson(row);
    if (!threads.patch(row.thread_id, thread)) return false;
    runs.insert(copy);
    return true;
  },
  async get(threadId, runId) {
    const run = runs.on(threadId, runId);
    return run && copyJson(withoutTasks(run));
  },
  tasks: async (threadId, runId) => copyJson(runs.on(threadId, runId)?.tasks ?? null),
  async update(runId, patch, holder) {
    const run = runs.get(runId);
    return run !== undefined && (!holder || isHeldBy(run, holder)) && runs.patch(run, patch);
  },
  async settle(outcomes) {
    for (const { runId, run: patch, threadId, thread } of outcomes) {
      const run = runs.on(threadId, runId);
      if (run && runs.patch(run, patch)) threads.patch(threadId, thread);
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
    return copyJson(page.map(withoutTasks));
  },
  search: async (query) => copyJson(runs.search(query).map(withoutTasks)),
  unfinished: async ({ threadId, ownerId } = {}) =>
    runs
      .unfinished()
      .filter((run) => threadId === undefined || run.thread_id === threadId)
      .filter((run) => ownerId === undefined || run.owner === ownerId)
      .map(({ run_id, thread_id, owner }) => {
        return { run_id, thread_id, owner: copyJson(owners.get(owner)) };
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

/** A deep copy of JSON-like data: own keys only, including `__proto__`, without keys set to undefined. */
function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => copyJson(element)) as T;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const entry: unknown = value[key as keyof typeof value];
    if (entry === undefined) continue;
    if (key === "__proto__") Object.defineProperty(copy, key, { value: copyJson(entry), ...PLAIN });
    else copy[key] = copyJson(entry);
  }
  return copy as T;
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

const byUpdate = (a: ThreadRow, b: ThreadRow): number =>
  compareTexts(a.updated_at, b.updated_at) || compareTexts(a.thread_id, b.thread_id);

const byCreation = (a: RunRow, b: RunRow): number =>
  compareTexts(a.created_at, b.created_at) || compareTexts(a.run_id, b.run_id);

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Thread rows ordered by last update: one list of all rows and one per label, so that the cost of a page and its total
 * does not depend on the number of threads. Rows are never changed in place: a patch replaces them.
 */
class ThreadIndex {
  readonly #rows = new Map<string, ThreadRow>();
  readonly #all = new OrderedList(byUpdate);
  readonly #byFact = new Map<string, OrderedList<ThreadRow>>();

  get(threadId: string): ThreadRow | undefined {
    return this.#rows.get(threadId);
  }

  insert(row: ThreadRow): void {
    this.#rows.set(row.thread_id, row);
    this.#all.insert(row);
    for (const fact of indexedBy(row)) {
      const list = this.#byFact.get(fact) ?? new OrderedList(byUpdate);
      list.insert(row);
      this.#byFact.set(fact, list);
    }
  }

  remove(row: ThreadRow): void {
    this.#rows.delete(row.thread_id);
    this.#all.remove(row);
    for (const fact of indexedBy(row)) {
      const list = this.#byFact.get(fact);
      list?.remove(row);
      if (list?.items.length === 0) this.#byFact.delete(fact);
    }
  }

  /** The patched row; undefined if there is no such thread. */
  patch(threadId: string, patch: ThreadPatch): ThreadRow | undefined {
    const row = this.#rows.get(threadId);
    if (!row) return undefined;
    const next = patchThread(row, copyJson(patch));
    this.remove(row);
    this.insert(next);
    return next;
  }

  async search(query: ThreadQuery): Promise<ThreadPage> {
    const { offset, limit, sortOrder } = query;
    const matching = sorted(await this.#matching(query), query.sortBy);
    const total = matching.length;
    if (sortOrder === "asc") return { rows: matching.slice(offset, offset + limit), total };
    const end = Math.max(0, total - offset);
    return { rows: matching.slice(Math.max(0, end - limit), end).reverse(), total };
  }

  async count(filter: ThreadFilter): Promise<number> {
    return (await this.#matching(filter)).length;
  }

  /** Matching rows, least recently updated first. */
  #matching({
    ids,
    metadata = {},
    scope,
    status,
  }: ThreadFilter): readonly ThreadRow[] | Promise<ThreadRow[]> {
    const { facts, rest } = splitFilter(metadata);
    if (status) facts.push(statusFact(status));
    const [shortest, ...others] = facts
      .map((fact) => this.#byFact.get(fact)?.items ?? [])
      .sort((a, b) => a.length - b.length);
    const base = ids ? this.#withIds(ids) : (shortest ?? this.#all.items);
    if (!ids && !rest && others.length === 0 && scope === undefined) return base;
    const hasMetadata = containing(metadata);
    return filterInTurns(
      base,
      (row) => (!status || row.status === status) && inScope(row, scope) && hasMetadata(row.metadata),
    );
  }

  /** Rows with a time to live. */
  expiring(): readonly ThreadRow[] {
    return this.#byFact.get(EXPIRING)?.items ?? [];
  }

  #withIds(ids: readonly string[]): ThreadRow[] {
    return [...new Set(ids)].flatMap((id) => this.#rows.get(id) ?? []).sort(byUpdate);
  }
}

const EXPIRING = "ttl";
const statusFact = (status: string) => `status ${status}`;

/** Metadata labels are JSON arrays, so these two names cannot collide with them. */
function indexedBy({ metadata, status, ttl }: ThreadRow): string[] {
  const facts = labelsOf(metadata);
  facts.push(statusFact(status));
  if (ttl) facts.push(EXPIRING);
  return facts;
}

function sorted(rows: readonly ThreadRow[], field: ThreadQuery["sortBy"]): readonly ThreadRow[] {
  if (field === "updated_at") return rows;
  return [...rows].sort(
    (a, b) => compareTexts(a[field] ?? "", b[field] ?? "") || compareTexts(a.thread_id, b.thread_id),
  );
}

/** Run rows in creation order, overall and by thread, and the set of unfinished runs. */
class RunIndex {
  readonly #rows = new Map<string, RunRow>();
  readonly #all = new OrderedList(byCreation);
  readonly #byThread = new Map<string, OrderedList<RunRow>>();
  readonly #unfinished = new Set<RunRow>();
  /** Unfinished runs with a cancel request. */
  readonly #cancelled = new Set<RunRow>();

  get(runId: string): RunRow | undefined {
    return this.#rows.get(runId);
  }

  /** The run, if it belongs to this thread. */
  on(threadId: string, runId: string): RunRow | undefined {
    const run = this.#rows.get(runId);
    return run?.thread_id === threadId ? run : undefined;
  }

  of(threadId: string): readonly RunRow[] {
    return this.#byThread.get(threadId)?.items ?? [];
  }

  /** Newest first. */
  search({ threadIds, limit, offset, ...filter }: RunSearch): RunRow[] {
    const runs = threadIds
      ? [...new Set(threadIds)].flatMap((id) => this.of(id)).sort(byCreation)
      : this.#all.items;
    const found: RunRow[] = [];
    for (let index = runs.length - 1; index >= 0 && found.length < offset + limit; index -= 1)
      if (matchesRun(runs[index]!, filter)) found.push(runs[index]!);
    return found.slice(offset);
  }

  insert(run: RunRow): void {
    this.#all.insert(run);
    const runs = this.#byThread.get(run.thread_id) ?? new OrderedList(byCreation);
    runs.insert(run);
    this.#byThread.set(run.thread_id, runs);
    this.#rows.set(run.run_id, run);
    if (!isFinished(run)) this.#unfinished.add(run);
  }

  /** Patches in place: a patch does not change the fields that runs are ordered by. False if the run has ended. */
  patch(run: RunRow, patch: RunPatch): boolean {
    if (isFinished(run)) return false;
    Object.assign(run, patchRun(run, copyJson(patch)));
    if (isFinished(run)) this.#finish(run);
    return true;
  }

  remove(run: RunRow): void {
    this.#all.remove(run);
    const runs = this.#byThread.get(run.thread_id);
    runs?.remove(run);
    if (runs?.items.length === 0) this.#byThread.delete(run.thread_id);
    this.#rows.delete(run.run_id);
    this.#finish(run);
  }

  cancel(runId: string): void {
    const run = this.#rows.get(runId);
    if (run && this.#unfinished.has(run)) this.#cancelled.add(run);
  }

  unfinished(): RunRow[] {
    return [...this.#unfinished];
  }

  cancelled(): RunRow[] {
    return [...this.#cancelled];
  }

  #finish(run: RunRow): void {
    this.#unfinished.delete(run);
    this.#cancelled.delete(run);
  }
}

/** A sorted list with binary search. `compare` must be a strict total order over the items, stable while they are listed. */
class OrderedList<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  insert(item: T): void {
    const index = this.#indexOf(item);
    if (index === this.#items.length) this.#items.push(item);
    else this.#items.splice(index, 0, item);
  }

  remove(item: T): void {
    const index = this.#indexOf(item);
    if (this.#items[index] === item) this.#items.splice(index, 1);
  }

  /** Index of the item, or where to insert it. */
  #indexOf(item: T): number {
    return countFirst(this.#items, (other) => this.#compare(other, item) < 0);
  }
}
