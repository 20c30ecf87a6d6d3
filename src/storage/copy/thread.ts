/** Copies one thread: its checkpoints, then its row, then its runs. An interrupted copy can be resumed. */
import type { RunRow, RunTable, Storage, ThreadRow, ThreadTable } from "../contract/storage.js";
import {
  type CheckpointIndex,
  copyCheckpoints,
  digestOf,
  holdsAll,
  idsOfCheckpoints,
  indexCheckpoints,
} from "./checkpoints.js";

/** Why a thread was not copied, or only partly. */
export type LeftReason = "busy" | "busy_in_target" | "changed_meanwhile" | "exists" | "differs";

export type ThreadCopy =
  | { outcome: "copied" | "current"; runs: number; checkpoints: number; total: Totals }
  | { outcome: "left"; reason: LeftReason };

/** Numbers of runs and checkpoints that both storages hold. */
interface Totals {
  runs: number;
  checkpoints: number;
}

interface CopyOptions {
  from: Storage;
  to: Storage;
  /** Delete a conflicting thread of the target. */
  overwrite: boolean;
  /** Called before each checkpoint; may throw to stop. */
  onCheckpoint: () => void;
}

const left = (reason: LeftReason): ThreadCopy => ({ outcome: "left", reason });
const INTACT: ReadonlySet<string> = new Set(["idle", "interrupted", "error"]);

/** Copy a thread; undefined if the source no longer has it. */
export async function copyThread(options: CopyOptions, threadId: string): Promise<ThreadCopy | undefined> {
  const { from, to } = options;
  const row = await from.threads.get(threadId);
  if (!row) return undefined;
  if (!INTACT.has(row.status)) return left("busy");
  const lease = await to.locks.acquire(threadId, { wait: false });
  if (!lease) return left("busy_in_target");
  try {
    return await copyLocked(options, row);
  } finally {
    await lease.release();
  }
}

interface Held {
  row: ThreadRow | undefined;
  checkpoints: CheckpointIndex;
  runs: Map<string, string>;
}

async function copyLocked(options: CopyOptions, row: ThreadRow): Promise<ThreadCopy> {
  const { from, to } = options;
  const { thread_id } = row;
  const ids = await idsOfCheckpoints(from.checkpointer, thread_id);
  const runs = await indexRuns(from.runs, thread_id);
  let held = await heldOf(to, thread_id);
  if (!isEarlier(held, row) || !holdsAll(ids, held.checkpoints) || !isSubset(held.runs, runs)) {
    if (!options.overwrite) return left("exists");
    await to.checkpointer.deleteThread(thread_id);
    await to.threads.delete(thread_id);
    held = { row: undefined, checkpoints: new Map(), runs: new Map() };
  }
  const { onCheckpoint } = options;
  const { wanted, stored } = await copyCheckpoints({
    from: from.checkpointer,
    to: to.checkpointer,
    threadId: thread_id,
    ids,
    held: held.checkpoints,
    onCheckpoint,
  });
  const isNewRow = await storeRow(to.threads, row, held.row);
  const storedRuns = await copyRuns(from.runs, to.runs, row, { wanted: runs, held: held.runs });
  const hasChanged = digestOf(await from.threads.get(thread_id)) !== digestOf(row);
  if (hasChanged) return left("changed_meanwhile");
  const total = { runs: runs.size, checkpoints: wanted.size };
  const changes = { runs: storedRuns, checkpoints: stored };
  if (!isNewRow && storedRuns + stored === 0) return { outcome: "current", ...changes, total };
  if (!(await isSame(to, row, { checkpoints: wanted, runs }))) return left("differs");
  return { outcome: "copied", ...changes, total };
}

async function heldOf({ threads, runs, checkpointer }: Storage, threadId: string): Promise<Held> {
  return {
    row: await threads.get(threadId),
    checkpoints: await indexCheckpoints(checkpointer, threadId),
    runs: await indexRuns(runs, threadId),
  };
}

/** Whether the target's row may come from an earlier copy, which can then be updated. */
function isEarlier({ row: held }: Held, row: ThreadRow): boolean {
  if (!held) return true;
  if (held.created_at !== row.created_at || held.updated_at > row.updated_at) return false;
  if (held.updated_at === row.updated_at) return digestOf(held) === digestOf(row);
  return Object.keys(held.metadata).every((key) => Object.hasOwn(row.metadata, key));
}

const isSubset = (part: ReadonlyMap<string, string>, whole: ReadonlyMap<string, string>): boolean =>
  [...part.keys()].every((key) => whole.has(key));

/** False if the target already has an equal row. */
async function storeRow(to: ThreadTable, row: ThreadRow, held: ThreadRow | undefined): Promise<boolean> {
  if (held && digestOf(held) === digestOf(row)) return false;
  if (!held) return to.insert(row);
  const { thread_id, created_at: _, metadata, ...patch } = row;
  await to.update(thread_id, { ...patch, mergeMetadata: metadata });
  return true;
}

async function isSame(
  to: Storage,
  row: ThreadRow,
  wanted: { checkpoints: CheckpointIndex; runs: ReadonlyMap<string, string> },
): Promise<boolean> {
  const held = await heldOf(to, row.thread_id);
  return (
    held.row !== undefined &&
    digestOf(held.row) === digestOf(row) &&
    isEqual(held.checkpoints, wanted.checkpoints) &&
    isEqual(held.runs, wanted.runs)
  );
}

const isEqual = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, digest]) => b.get(key) === digest);

// Copies the run rows of a thread.

const PAGE = 20;

/** Digests of run rows by id, newest first. */
async function indexRuns(runs: RunTable, threadId: string): Promise<Map<string, string>> {
  const index = new Map<string, string>();
  for (let offset = 0; ; offset += PAGE) {
    const page = await runs.list({ threadId, limit: PAGE, offset });
    for (const run of page) index.set(run.run_id, digestOf(whole(run)));
    if (page.length < PAGE) return index;
  }
}

/** Fills in defaults for optional fields, so that rows of different storages compare equal. */
const whole = (run: RunRow): RunRow => ({
  ...run,
  fault: run.fault ?? null,
  attempt: run.attempt ?? 1,
  resumption: run.resumption ?? null,
});

/** Store the runs that the target lacks or that differ, in creation order. Returns how many were stored. */
async function copyRuns(
  from: RunTable,
  to: RunTable,
  { thread_id, updated_at }: ThreadRow,
  { wanted, held }: Record<"wanted" | "held", ReadonlyMap<string, string>>,
): Promise<number> {
  let stored = 0;
  for (const [runId, digest] of [...wanted].reverse()) {
    if (held.get(runId) === digest) continue;
    const run: RunRow | undefined = await from.get(thread_id, runId);
    if (!run) continue;
    if (held.has(runId)) await to.delete(thread_id, runId);
    // `updated_at` is the thread's own, so that its row does not change.
    const tasks = await from.tasks?.(thread_id, runId);
    await to.insert({ ...run, ...(tasks && { tasks }) }, { updated_at });
    stored += 1;
  }
  return stored;
}
