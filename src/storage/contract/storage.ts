/** The contract of a storage backend: rows in tables, graph state in the checkpointer, one lock per thread. */
import type { BaseCheckpointSaver, ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Caller } from "../../models/caller.js";
import type { JsonObject, SortOrder } from "../../models/common.js";
import type { MultitaskStrategy, RunSortField, RunStatus, RunTasks, TokenUsage } from "../../models/run.js";
import type { ItemTable } from "./items.js";
import type { ThreadLocks } from "./locks.js";
import type { Owner, OwnerTable } from "./owners.js";
import type { QueueStats, ReadyQueues, Wakeups } from "./queue.js";
import type { RecordingTable } from "./recordings.js";
import type { ThreadPatch, ThreadTable } from "./threads.js";
import type { TimerTable } from "./timers.js";
import type { UsageRow, UsageTable } from "./usage.js";
import type { RunFault } from "../../support/run-fault.js";

export type { AcquireOptions, ThreadLease, ThreadLocks } from "./locks.js";
export type { Owner, OwnerTable } from "./owners.js";
export type {
  ThreadFilter,
  ThreadPage,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  ThreadTable,
} from "./threads.js";
export type { TimerKind, TimerQuery, TimerRow, TimerTable } from "./timers.js";
export type { UsageQuery, UsageRow, UsageSum, UsageTable } from "./usage.js";
export type {
  ItemPage,
  ItemRow,
  ItemTable,
  ItemWrite,
  NearestQuery,
  RankedItem,
  StoredItem,
  VectorFormat,
  VectorSearch,
} from "./items.js";

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

// The tables of a storage. Every method is atomic. Returned rows are copies: changing them does not change the stored
// rows. Methods throw only GraphServeErrors: `storage_unavailable` for errors of the backend, and `payload_too_large` if
// a row exceeds its size limit.

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
  /** Insert a row and patch its thread, both or neither. Returns false if the thread does not exist. Rejects if the id exists. */
  insert(row: RunRow, thread: ThreadPatch): Promise<boolean>;
  /** A run of this thread; undefined if the run is unknown or belongs to another thread. */
  get(threadId: string, runId: string): Promise<RunRow | undefined>;
  /**
   * Patch a run that is `pending` or `running`. Returns false, and changes nothing, if the run has ended, is unknown, or
   * does not belong to `holder`. A storage without `take` may ignore `holder`, because it has only one process.
   */
  update(runId: string, patch: RunPatch, holder?: RunHolder): Promise<boolean>;
  /**
   * Take over an unfinished run from the holder `from`, and patch run and thread, both or neither. Returns false, and
   * changes nothing, if `from` no longer has the run. From then on the storage refuses the previous holder's writes for
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
  /** All runs whose state is `queued` or `running`, with their owners; optionally of one thread or one owner. */
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

/** Result of `RunQueue.accept`. `before` is the number of earlier unfinished runs of the thread. */
export type Acceptance =
  | { became: "begun" | "queued"; before: number }
  | { became: "no_thread" | "thread_full" | "queue_full" | "caller_full" | "not_held" };

/** A queued run that is the first unfinished run of its thread, fetched by a process that is about to claim it. */
export interface ReadyRun extends RunKey {
  /** Identifies the user on whose behalf it runs; empty without authentication. */
  caller: string;
  /** Whether a process has crashed while executing it. */
  isSuspect: boolean;
}

export interface AcceptOptions {
  /** What to store instead if the run is queued. */
  queued: RunLease & { resumption: Resumption };
  /** Maximum number of earlier unfinished runs of its thread. */
  mostBefore: number;
  /** Maximum number of queued runs, in total and of its caller; unlimited if undefined. */
  mostWaiting?: number;
  mostOfCaller?: number;
  /** Set if the row exists and has this holder. The run is taken over from it, or the result is `not_held`. */
  from?: RunHolder;
}

/**
 * The shared queue of all processes: the runs whose state is `queued`, without an owner. Only the first unfinished run of a
 * thread is ready, in the order in which the storage accepted the runs, whichever process accepted them.
 */
export interface RunQueue {
  /**
   * Store a run and the change to its thread in one step. A run whose state is `running` begins if its thread has no
   * earlier unfinished run. Otherwise it is stored as `queued` says.
   */
  accept(row: RunRow, thread: ThreadPatch, options: AcceptOptions): Promise<Acceptance>;
  /** What `fetch` and `fetchSuspect` would find. */
  ready(): Promise<ReadyQueues>;
  /**
   * At most `limit` ready runs that are not suspect. For a few seconds, no other process gets them. Runs whose callers have
   * the fewest runs in flight come first, then runs of callers that were served least recently, then the oldest.
   * `recentCallers` lists the callers in the order in which they were served; callers missing from it come first.
   */
  fetch(limit: number, recentCallers?: readonly string[]): Promise<ReadyRun[]>;
  /** As `fetch`, for the oldest suspect run. */
  fetchSuspect(): Promise<ReadyRun | undefined>;
  /** Let any process fetch a run that was not claimed. */
  release(run: ReadyRun): Promise<void>;
  /** Queue metrics, for example for autoscaling. */
  stats(): Promise<QueueStats>;
}

/**
 * A checkpointer with uniform behavior across savers (see `wrapCheckpointer`): `run_id` and the public scalar
 * configurable keys are added to the metadata of every checkpoint; `list` requires a thread, returns nothing for
 * `limit: 0` and filters by containment; namespaces are always explicit; writes of a fenced run are refused.
 * @example
 * ```ts
 * import type { Checkpointer } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const checkpointer: Checkpointer = storage.checkpointer;
 * await checkpointer.namespaces("thread-1"); // => []
 * await checkpointer.deleteThread("thread-1");
 * ```
 */
export interface Checkpointer extends BaseCheckpointSaver {
  /** Refuse all further writes of this run, until `unfence`. */
  fence(runId: string): void;
  unfence(runId: string): void;
  /**
   * Until `unfence`, this process writes for the run as this holder. The storage refuses a write with a RunTakenError if
   * the row of the run names another holder, or if the run has ended. Not needed by a storage without `RunTable.take`.
   */
  hold?(runId: string, holder: RunHolder): void;
  /**
   * Called under a thread's lease before an edit. The result is passed on with the checkpoints of the edit, so that the
   * storage can refuse them, in the same step, if a run or another edit has changed the thread since. Not needed by a
   * storage that only one process writes to.
   */
  guardEdit?(threadId: string): Promise<unknown>;
  /** Store a checkpoint copied from another storage, with its writes. `newVersions` are the versions its parent does not have. */
  store(tuple: CheckpointTuple, newVersions: ChannelVersions): Promise<void>;
  /**
   * Copy the latest checkpoint of `sourceId` in each of `namespaces`, with its pending writes, to `targetId`: without
   * history and run_id, and with `metadata.source` set to "fork" (docs/specification.md#threads, 3). For a checkpoint with
   * delta channels, the ancestors from which its values are rebuilt are copied as well. With `at`, the root checkpoint
   * with that id is copied instead of the latest, without later writes.
   */
  copyLatest(sourceId: string, targetId: string, namespaces: readonly string[], at?: string): Promise<void>;
  /** Namespaces with checkpoints of this thread, sorted. The root namespace is empty and comes first. */
  namespaces(threadId: string): Promise<string[]>;
  /** Delete the checkpoints that a run wrote, in all namespaces of its thread. */
  deleteRun(threadId: string, runId: string): Promise<void>;
  /** Delete all checkpoints of a thread except the latest in each of `namespaces` and those its delta channels need. */
  keepLatest(threadId: string, namespaces: readonly string[]): Promise<void>;
}

/** Result of one check of the setup of a storage. */
export interface StorageFinding {
  /** Stable name, such as `journal_mode`. */
  name: string;
  ok: boolean;
  detail: string;
  fix?: string;
}

/**
 * An open storage.
 * @example
 * ```ts
 * import { createThreadLocks, openService, wrapCheckpointer, type Storage } from "graph-serve";
 * import { graph } from "./graph.js";
 * import { owners, runs, saver, threads } from "./tables.js";
 *
 * const storage: Storage = {
 *   scheme: "maps",
 *   durable: false,
 *   threads,
 *   runs,
 *   owners,
 *   checkpointer: wrapCheckpointer(saver, {
 *     keepOnly: async (threadId, keep) => saver.keepOnly(threadId, keep),
 *   }),
 *   locks: createThreadLocks({ maxWaiting: 10 }),
 *   close: async () => undefined,
 * };
 * const service = await openService({ graphs: { agent: graph }, storage });
 * const { thread_id } = await service.threads.create({});
 * await service.runs.create(thread_id, { assistant_id: "agent", input: { name: "Ada" } });
 * await threads.count({}); // => 1
 * await service.close();
 * ```
 */
export interface Storage {
  /** Name of the backend, such as `sqlite`. */
  readonly scheme: string;
  /** Whether all rows and checkpoints survive the process. */
  readonly durable: boolean;
  /** Address without credentials, safe to print. Undefined for memory. */
  readonly location?: string;
  readonly threads: ThreadTable;
  readonly runs: RunTable;
  readonly owners: OwnerTable;
  readonly checkpointer: Checkpointer;
  readonly locks: ThreadLocks;
  /** Long-term memory. If left out, items are kept in memory until the process ends. */
  readonly items?: ItemTable;
  /** Timers. If left out, crons, delayed runs and webhooks are not available. */
  readonly timers?: TimerTable;
  /** Usage of runs. If left out, it is not recorded. */
  readonly usage?: UsageTable;
  /** Recorded calls of models and tools. If left out, the setting `recording` needs a folder. */
  readonly recordings?: RecordingTable;
  /** Dead runs. Leave it out if runs do not survive their process. */
  readonly deadRuns?: DeadRunTable;
  /** Notifications between processes. Leave them out if only one process uses the storage, or none can be sent. */
  readonly wakeups?: Wakeups;
  /**
   * Open the queue shared by all processes, once; `close` closes it. If left out, each process executes the runs it accepts.
   * @param cwd project folder, which may provide the package of the queue
   */
  openQueue?(cwd: string): Promise<RunQueue>;
  /** Time of the database's clock, in milliseconds since 1970. Leave it out if only this process's clock matters. */
  now?(): Promise<number>;
  /** Messages to the operator about what happened while the storage was opened. */
  readonly notices?: readonly string[];
  /** Checks of the setup, for `doctor`. */
  findings?(): StorageFinding[] | Promise<StorageFinding[]>;
  /** Release files and connections. Called once, after all other calls have finished. */
  close(): Promise<void>;
}

/** The rows of a storage, opened read-only. Unlike checkpoints, they do not need LangGraph's packages. */
export type RowStorage = Pick<Storage, "scheme" | "location" | "threads" | "runs" | "usage" | "close">;

/**
 * Options to open a storage. A resolved configuration can be passed as it is.
 * @example
 * ```ts
 * import { openStorage, type StorageOptions } from "graph-serve";
 *
 * const options: StorageOptions = {
 *   checkpointer_scheme: "memory",
 *   checkpointer_options: {},
 *   max_queued_runs: 10,
 * };
 * const storage = await openStorage(options);
 * storage.durable; // => false
 * await storage.close();
 * ```
 */
export interface StorageOptions {
  /** Name of the backend, or path or package of a custom module. */
  checkpointer_scheme: string;
  /** Connection string of the backend, or path of its file. */
  checkpointer_uri?: string;
  checkpointer_options: {
    /** Maximum number of pooled connections of a database server; default 10 (docs/specification.md#storage, 6). */
    pool_max_size?: number;
    [option: string]: unknown;
  };
  /** Maximum number of callers that wait for one thread. */
  max_queued_runs: number;
  /** Open read-only: nothing is created, migrated or changed, and a missing storage is an error. */
  readOnly?: boolean;
}
