/** Copies one thread: its checkpoints, then its row, then its runs. An interrupted copy can be resumed. */
import { pagesOf } from "../../support/read-ahead.js";
import type { RunRow, RunTable } from "../contract/runs.js";
import type { Storage } from "../contract/storage.js";
import type { Checkpointer } from "../contract/checkpointer.js";
import type { ThreadRow } from "../contract/threads.js";
import { checkpointDigest, digestOf, factsOfCheckpoint } from "./checkpoints.js";
import {
  checkpointKey,
  idsOfCheckpoints,
  newestFirst,
  readCheckpoints,
  readRuns,
  writeThread,
} from "./thread-parts.js";

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

/** Digests by id, or by namespace and id. */
type Index = ReadonlyMap<string, string>;

interface Held {
  row: ThreadRow | undefined;
  checkpoints: Index;
  runs: Index;
}

async function copyLocked(options: CopyOptions, row: ThreadRow): Promise<ThreadCopy> {
  const { from, to } = options;
  const { thread_id } = row;
  const ids = await idsOfCheckpoints(from.checkpointer, thread_id);
  const keys = new Set([...ids].flatMap(([namespace, own]) => own.map((id) => checkpointKey(namespace, id))));
  const runs = await indexRuns(from.runs, thread_id);
  let held = await heldOf(to, thread_id);
  if (!isEarlier(held, row) || !isSubset(held.checkpoints, keys) || !isSubset(held.runs, runs)) {
    if (!options.overwrite) return left("exists");
    await to.checkpointer.deleteThread(thread_id);
    await to.threads.delete(thread_id);
    held = { row: undefined, checkpoints: new Map(), runs: new Map() };
  }
  const checkpoints = new Map<string, string>();
  const lacking = async function* () {
    for await (const part of readCheckpoints(from.checkpointer, thread_id, ids)) {
      options.onCheckpoint();
      checkpoints.set(part.key, part.digest);
      if (held.checkpoints.get(part.key) !== part.digest) yield part;
    }
  };
  const lackingRuns = [...runs.keys()].reverse().filter((id) => held.runs.get(id) !== runs.get(id));
  for (const id of lackingRuns) if (held.runs.has(id)) await to.runs.delete(thread_id, id);
  const parts = { row, checkpoints: lacking(), runs: readRuns(from.runs, thread_id, lackingRuns) };
  const { rows, ...stored } = await writeThread(to, parts, held.row);
  const hasChanged = digestOf(await from.threads.get(thread_id)) !== digestOf(row);
  if (hasChanged) return left("changed_meanwhile");
  const total = { runs: runs.size, checkpoints: checkpoints.size };
  if (rows + stored.runs + stored.checkpoints === 0) return { outcome: "current", ...stored, total };
  const now = await heldOf(to, thread_id);
  const isSame = digestOf(now.row) === digestOf(row) && isEqual(now.checkpoints, checkpoints);
  if (!isSame || !isEqual(now.runs, runs)) return left("differs");
  return { outcome: "copied", ...stored, total };
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

const isSubset = (part: Index, whole: Pick<ReadonlySet<string>, "has">): boolean =>
  [...part.keys()].every((key) => whole.has(key));

const isEqual = (a: Index, b: Index): boolean =>
  a.size === b.size && [...a].every(([key, digest]) => b.get(key) === digest);

async function indexCheckpoints(checkpointer: Checkpointer, threadId: string): Promise<Index> {
  const index = new Map<string, string>();
  for (const namespace of await checkpointer.namespaces(threadId))
    for await (const tuple of newestFirst(checkpointer, threadId, namespace)) {
      const digest = checkpointDigest(tuple.checkpoint, await factsOfCheckpoint(checkpointer.serde, tuple));
      index.set(checkpointKey(namespace, tuple.checkpoint.id), digest);
    }
  return index;
}

/** Newest first. */
async function indexRuns(runs: RunTable, threadId: string): Promise<Index> {
  const index = new Map<string, string>();
  for await (const rows of pagesOf((page) => runs.list({ threadId, ...page }), RUNS_PER_PAGE))
    for (const run of rows) index.set(run.run_id, digestOf(whole(run)));
  return index;
}

const RUNS_PER_PAGE = 20;

/** Fills in defaults for optional fields, so that rows of different storages compare equal. */
const whole = (run: RunRow): RunRow => ({
  ...run,
  fault: run.fault ?? null,
  attempt: run.attempt ?? 1,
  resumption: run.resumption ?? null,
});
