/** Rows of runs, and their tables. */
import type { Caller } from "../../models/caller.js";
import type { JsonObject, SortOrder } from "../../models/common.js";
import type { MultitaskStrategy, RunSortField, RunTasks, TokenUsage } from "../../models/run.js";
import type { RunStatus } from "../../models/run-status.js";
import type { RunFault } from "../../support/run-fault.js";
import type { Owner } from "./owners.js";
import type { ThreadPatch } from "./threads.js";
import type { UsageRow } from "./usage.js";

/**
 * The state of a run. `delayed`: not due yet. `queued`: waits for its thread or a process. `running`: a process executes
 * it. `dead`: it ended because its processes crashed too often, and can be redriven. src/runs/state.ts lists the changes.
 * @example
 * ```ts
 * import type { RunState } from "graph-serve";
 *
 * const isActive = (state: RunState) => state === "queued" || state === "running";
 * isActive("running"); // => true
 * ```
 */
export type RunState = "delayed" | "queued" | "running" | "ended" | "dead";

/**
 * A stored run. Times are ISO 8601 UTC with milliseconds.
 * @example
 * ```ts
 * import type { RunRow } from "graph-serve";
 * import { run } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const row: RunRow | undefined = await storage.runs.get(run.thread_id, run.run_id);
 * row?.assistant_id; // => "agent"
 * ```
 */
export interface RunRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  created_at: string;
  updated_at: string;
  status: RunStatus;
  metadata: JsonObject;
  /** Parameters of the request: input, config, stream options. */
  kwargs: JsonObject;
  multitask_strategy: MultitaskStrategy;
  /** The message if the run failed, otherwise null (docs/specification.md#storage, 5). */
  error: string | null;
  /** Number of tokens; null until the run has ended. */
  usage: TokenUsage | null;
  /** See src/runs/state.ts. */
  state: RunState;
  /** The process that has the lease of the run, or had it when the run ended; null if none has; see `Owner`. */
  owner: string | null;
  /** The error that the run threw, and its location. Contains code: never sent to clients. Optional for a storage. */
  fault?: RunFault | null;
  /** Number of times a process has started to execute it; 0 until the first. */
  attempt: number;
  /** Never sent to clients. Null for runs of earlier releases, and for runs that have ended. */
  resumption?: Resumption | null;
  /** Start and end times of its tasks. Optional for a storage, which may also return it from `RunTable.tasks` only. */
  tasks?: RunTasks | null;
}

/** What another process needs, in addition to the request, to resume an unfinished run after a crash. */
export interface Resumption {
  /** Whether the run continues when its client disconnects. If false, it is interrupted. */
  unattended: boolean;
  /** False if the request contained secrets: rows never store them, so the graph cannot be called again the same way. */
  isWhole: boolean;
  /** The user on whose behalf it runs. */
  caller: Caller | null;
  /** Set for a run on its own thread. If `temporary`, the thread is deleted with the run. */
  stateless?: { temporary: boolean };
  /** Duration of earlier attempts, in milliseconds. */
  spent_ms: number;
  /** Number of earlier attempts that were requeued, for example by a graceful shutdown. They do not count as crashes. */
  requeued?: number;
  /** Set if the frames differ from what the request says: `none`, or `all` to capture all stream modes. */
  frames?: "none" | "all";
  /** URL that is called when the run ends. */
  webhook?: string;
  /** For a run that answers questions: how far the task of each one was when its first attempt started, by interrupt id. */
  answers?: Readonly<Record<string, string>>;
  /** Set if the run is rolled back: the process that holds its thread deletes it with its checkpoints. */
  rollback?: true;
}

/** The state of a run, its lease owner and its attempt. They change together: see src/runs/state.ts. */
export type RunLease = Pick<RunRow, "state" | "owner" | "attempt">;

/**
 * The lease owner of a run, and its attempt as a fencing token: writes of any other holder are refused. With `state`, the
 * run must also be in that state.
 */
export type RunHolder = Pick<RunLease, "owner" | "attempt"> & Partial<Pick<RunLease, "state">>;

type PatchedOfRun = "status" | "error" | "usage" | "fault" | "tasks" | "resumption" | keyof RunLease;

/**
 * Changes to a run row. Missing keys are left unchanged.
 * @example
 * ```ts
 * import type { RunPatch } from "graph-serve";
 * import { run } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const patch: RunPatch = { status: "running", updated_at: new Date().toISOString() };
 * await storage.runs.update(run.run_id, patch); // => true
 * ```
 */
export interface RunPatch extends Partial<Pick<RunRow, PatchedOfRun>> {
  /** ISO 8601 UTC with milliseconds. */
  updated_at: string;
}

/**
 * Filter and page of the runs of a thread.
 * @example
 * ```ts
 * import type { RunQuery } from "graph-serve";
 * import { run } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const query: RunQuery = { threadId: run.thread_id, limit: 10, offset: 0 };
 * const rows = await storage.runs.list(query);
 * rows.some(({ run_id }) => run_id === run.run_id); // => true
 * ```
 */
export interface RunQuery {
  threadId: string;
  status?: RunStatus;
  /** Maximum number of rows. */
  limit: number;
  /** Number of rows to skip. */
  offset: number;
}

/** Runs of any thread that match all given fields. */
export interface RunSearch extends Omit<RunQuery, "threadId"> {
  threadIds?: readonly string[];
  /** Assistant ids as the requests named them. */
  assistantIds?: readonly string[];
  /** Created at or after `createdAfter`, and before `createdBefore`; ISO 8601 UTC with milliseconds. */
  createdAfter?: string;
  createdBefore?: string;
  /** Default: `created_at`. Runs of the same value are sorted by `created_at`, then `run_id`. */
  sortBy?: RunSortField;
  /** Default: `desc`. */
  sortOrder?: SortOrder;
}

/**
 * The end of a run and the resulting change to its thread, stored in one step.
 * @example
 * ```ts
 * import type { RunOutcome } from "graph-serve";
 * import { run } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const updated_at = new Date().toISOString();
 * const [runId, threadId] = [crypto.randomUUID(), run.thread_id];
 * await storage.runs.insert({ ...run, run_id: runId }, { updated_at });
 * const outcome: RunOutcome = {
 *   runId,
 *   run: { status: "success", updated_at },
 *   threadId,
 *   thread: { status: "idle", updated_at },
 * };
 * await storage.runs.settle([outcome]);
 * (await storage.runs.get(threadId, runId))?.status; // => "success"
 * ```
 */
export interface RunOutcome {
  runId: string;
  /** If set, nothing changes unless this holder has the run. */
  holder?: RunHolder;
  run: RunPatch;
  threadId: string;
  thread: ThreadPatch;
  /** Usage of the attempt. Stored even if the outcome is skipped: the tokens were used. */
  usage?: readonly UsageRow[];
}

/** Selects queued and running runs; all of them if empty. */
export interface UnfinishedQuery {
  threadId?: string;
  /** Null selects the runs without a lease owner. */
  ownerId?: string | null;
  /** Leaves out the runs without a lease owner, if the storage has a queue. */
  isOwned?: true;
}

export type RunKey = Pick<RunRow, "run_id" | "thread_id">;

/**
 * A queued or running run, and its lease owner.
 * @example
 * ```ts
 * import type { UnfinishedRun } from "graph-serve";
 * import { run } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const unfinished: UnfinishedRun[] = await storage.runs.unfinished({ ownerId: run.owner });
 * unfinished.map(({ run_id }) => run_id); // => [run.run_id]
 * ```
 */
export interface UnfinishedRun {
  run_id: string;
  thread_id: string;
  /** Undefined if the owner never sent a heartbeat or was removed. */
  owner: Owner | undefined;
}

/**
 * The table of runs.
 * @example
 * ```ts
 * import type { RunTable } from "graph-serve";
 * import { run } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const runs: RunTable = storage.runs;
 * await runs.requestCancel(run.run_id);
 * await runs.cancelRequests(run.owner); // => [run.run_id]
 * ```
 */
export interface RunTable {
  /**
   * Insert a row and patch its thread, both or neither. Returns false if the thread does not exist, or if `inTurn` is set
   * and runs of other owners are queued on the thread. Only storages that processes share need to support `inTurn`.
   * Rejects if the id exists.
   */
  insert(row: RunRow, thread: ThreadPatch, inTurn?: boolean): Promise<boolean>;
  /** A run of this thread; undefined if the run is unknown or belongs to another thread. */
  get(threadId: string, runId: string): Promise<RunRow | undefined>;
  /**
   * Patch a run that is `pending` or `running`. Returns false, and changes nothing, if the run has ended, is unknown, or
   * does not belong to `holder`. A storage without `take` may ignore `holder`, because it has only one process.
   */
  update(runId: string, patch: RunPatch, holder?: RunHolder): Promise<boolean>;
  /**
   * Take over an unfinished run from the holder `from`, and patch run and thread, both or neither. Returns false, and
   * changes nothing, if `from` no longer has the run, or if a queued run is to start that another process has cancelled
   * (see `requestCancel`). From then on the storage refuses the previous holder's writes for
   * the run: its end and its checkpoints (see `Checkpointer.hold`). Leave it out if the storage cannot do this; runs then
   * do not survive their process.
   */
  take?(run: RunKey, from: RunHolder, patch: RunPatch & RunLease, thread: ThreadPatch): Promise<boolean>;
  /**
   * Store the outcomes of runs, all or nothing. An outcome is skipped, including its change to the thread, if its run has
   * already ended, or if `threadId` does not exist or is not the thread of the run.
   */
  settle(outcomes: readonly RunOutcome[]): Promise<void>;
  /** Delete one row. Returns false if the thread has no such run. The caller deletes the checkpoints. */
  delete(threadId: string, runId: string): Promise<boolean>;
  /** One page, newest first (created_at, then run_id). */
  list(query: RunQuery): Promise<RunRow[]>;
  /** Runs of any thread, in the order of the query. Optional: without it, `searchRuns` iterates over the threads. */
  search?(query: RunSearch): Promise<RunRow[]>;
  /** All runs whose state is `queued` or `running`, with their owners, in order of acceptance; optionally of one thread or one owner. */
  unfinished(of?: UnfinishedQuery): Promise<UnfinishedRun[]>;
  /** Request that the owner of a run stops it. Does nothing if the run has ended or is unknown. */
  requestCancel(runId: string): Promise<void>;
  /** Ids of this owner's unfinished runs with a cancel request; null: runs without an owner. An id is returned until its run has ended. */
  cancelRequests(ownerId: string | null): Promise<string[]>;
  /** Start and end times of the tasks of a run; null if they were never stored. Optional for a storage. */
  tasks?(threadId: string, runId: string): Promise<RunTasks | null>;
}

/** Dead runs: they failed, for example after too many crashes, but keep their `resumption` and can be resumed. */
export interface DeadRunTable {
  /** One page, newest first (created_at, then run_id). */
  list(page: Pick<RunQuery, "limit" | "offset">): Promise<RunRow[]>;
  count(): Promise<number>;
  /**
   * Turn a dead run into an unfinished run, and patch run and thread, both or neither. Returns false, and changes nothing,
   * if the run is not dead, or if its thread has another unfinished run that is not delayed.
   */
  revive(run: RunKey, patch: RunPatch & RunLease, thread: ThreadPatch): Promise<boolean>;
  /** Turn runs that died before this time, ISO 8601, into ordinary failed runs. Returns their number. */
  forget(before: string): Promise<number>;
}
