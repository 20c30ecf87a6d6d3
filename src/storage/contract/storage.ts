/** The contract every backend fulfils: rows in tables, graph state in the checkpointer, one lock a thread. */
import type { BaseCheckpointSaver, ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Caller } from "../../models/caller.js";
import type { JsonObject, SortOrder } from "../../models/common.js";
import type { MultitaskStrategy, RunStatus, RunTasks, TokenUsage } from "../../models/run.js";
import type { ItemTable } from "./items.js";
import type { ThreadLocks } from "./locks.js";
import type { TimerTable } from "./timers.js";
import type { RunFault } from "../../support/run-fault.js";
import type { ThreadSortField, ThreadStatus, TtlStrategy } from "../../models/thread.js";

export type { AcquireOptions, ThreadLease, ThreadLocks } from "./locks.js";
export type { TimerKind, TimerQuery, TimerRow, TimerTable } from "./timers.js";
export type { ItemPage, ItemRow, ItemTable, ItemWrite, StoredItem } from "./items.js";

export interface ThreadRow {
  /** Canonical lower-case UUID. */
  thread_id: string;
  /** ISO 8601 UTC with milliseconds, like every time of a row. */
  created_at: string;
  updated_at: string;
  state_updated_at: string | null;
  metadata: JsonObject;
  /** Whose it is: the text of a user's scope. Null when no user made it; then its metadata says it, if anything does. */
  scope: string | null;
  /** Ids of the graphs that have written to it. Null when that is not known, as of threads of release 0.1.0. */
  graphs: readonly string[] | null;
  config: JsonObject;
  status: ThreadStatus;
  error: string | null;
  /** Expires `ttl_minutes` after `updated_at`: derived, so that every update renews it. */
  ttl: { strategy: TtlStrategy; ttl_minutes: number } | null;
}

/** Changes to a thread row; keys left out stay as they are. */
export interface ThreadPatch {
  updated_at: string;
  state_updated_at?: string | null;
  /** Merged over the row's metadata, top-level key by key, in the same atomic step. */
  mergeMetadata?: JsonObject;
  scope?: ThreadRow["scope"];
  graphs?: ThreadRow["graphs"];
  config?: JsonObject;
  status?: ThreadStatus;
  error?: string | null;
  ttl?: ThreadRow["ttl"];
}

export interface ThreadFilter {
  ids?: readonly string[];
  /** Containment as in `contains()` of ./rows.ts; keys are data, never operators. */
  metadata?: JsonObject;
  /** Leaves out the threads that have another scope; those that have none stay. */
  scope?: string;
  status?: ThreadStatus;
}

export interface ThreadQuery extends ThreadFilter {
  /** Ties are broken by thread_id in the same direction; a null state_updated_at sorts as the oldest. */
  sortBy: ThreadSortField;
  sortOrder: SortOrder;
  limit: number;
  offset: number;
}

export interface ThreadPage {
  rows: ThreadRow[];
  /** The number of all matching rows, on this page or not. */
  total: number;
}

export interface RunRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  created_at: string;
  updated_at: string;
  status: RunStatus;
  metadata: JsonObject;
  kwargs: JsonObject;
  multitask_strategy: MultitaskStrategy;
  /** Always present; the message on failure, else null (docs/specification.md#storage, 5). */
  error: string | null;
  usage: TokenUsage | null;
  /** Process that executes the run: see `Owner`. */
  owner: string;
  /** What the run threw, and where; it shows code, and never goes to clients. A storage may do without it. */
  fault?: RunFault | null;
  /** How often processes have begun to execute it: 0 while it waits for its thread. */
  attempt?: number;
  /** Never goes to clients. Null for runs of earlier releases, and when the run has ended, unless it is dead. */
  resumption?: Resumption | null;
  /** When what ran in it began and ended. A storage may do without it, or give it by `tasks` alone. */
  tasks?: RunTasks | null;
}

/** What is known of an unfinished run beside its request, should its process die. */
export interface Resumption {
  /** Whether it goes on without its client; one that does not is interrupted with it. */
  unattended: boolean;
  /** False when the request has secrets, which no row keeps: the graph cannot be called as it was. */
  isWhole: boolean;
  /** On whose behalf it runs. */
  caller: Caller | null;
  /** Set for a run on a thread of its own, which goes with it when that is `temporary`. */
  stateless?: { temporary: boolean };
  /** Milliseconds that earlier attempts took. */
  spent_ms: number;
  /** How many of them ended in order with their process, and were no fault of the run. */
  given_back?: number;
  /** Which frames it has, where that is not what its request says: none, or also those for readers of its thread. */
  frames?: "none" | "wide";
  /** Where its end is posted. */
  webhook?: string;
}

/** Who executes a run, or is to: what another one still writes for the run is refused. */
export interface RunHolder {
  owner: string;
  attempt: number;
}

type PatchedOfRun = "status" | "error" | "usage" | "fault" | "tasks" | "resumption" | keyof RunHolder;

export interface RunPatch extends Partial<Pick<RunRow, PatchedOfRun>> {
  updated_at: string;
}

export interface RunQuery {
  threadId: string;
  status?: RunStatus;
  limit: number;
  offset: number;
}

/** Runs of any thread: those that every named field leaves in. */
export interface RunSearch extends Omit<RunQuery, "threadId"> {
  threadIds?: readonly string[];
  /** What their requests called the assistant. */
  assistantIds?: readonly string[];
  /** Accepted at this time or later, and before that one; as rows keep times. */
  createdAfter?: string;
  createdBefore?: string;
}

/** The end of a run and what it makes of its thread, stored in one step. */
export interface RunOutcome {
  runId: string;
  /** Nothing changes when the run is another's; nobody is asked for when left out. */
  holder?: RunHolder;
  run: RunPatch;
  threadId: string;
  thread: ThreadPatch;
}

/** A serving process. A run whose owner no longer lives was cut off (reliability: recovery). */
export interface Owner {
  /** Unique per process start. */
  id: string;
  host: string;
  pid: number;
  /** Time of the last heartbeat, ISO 8601. */
  seen_at: string;
}

/** Which unfinished runs; all of them where nothing is named. */
export interface UnfinishedQuery {
  threadId?: string;
  ownerId?: string;
  /** Leaves out those that wait in a queue, where the storage has one. */
  isOwned?: true;
}

export type RunKey = Pick<RunRow, "run_id" | "thread_id">;

/** A run left `pending` or `running`, with what is known of its owner. */
export interface UnfinishedRun {
  run_id: string;
  thread_id: string;
  /** Undefined when the owner never sent a heartbeat or was removed. */
  owner: Owner | undefined;
}

// The rows of a storage. Every method is atomic. Rows handed out are copies: changing them changes nothing stored. Errors
// of the backend surface as `storage_unavailable`, and `payload_too_large` where it bounds a row; nothing else is thrown.

export interface ThreadTable {
  /** Insert a row; false when the id is taken, and then nothing is changed. */
  insert(row: ThreadRow): Promise<boolean>;
  get(threadId: string): Promise<ThreadRow | undefined>;
  /** Apply a patch and return the row as it is then; undefined when there is no such thread. */
  update(threadId: string, patch: ThreadPatch): Promise<ThreadRow | undefined>;
  /**
   * Metadata that cannot be looked up may be compared row by row while others write: each row counts as it is when it
   * is read.
   */
  search(query: ThreadQuery): Promise<ThreadPage>;
  count(filter: ThreadFilter): Promise<number>;
  /** Delete a thread's row and its run rows; false when there is no such thread. Checkpoints are the caller's. */
  delete(threadId: string): Promise<boolean>;
  /** Threads whose time to live ended before `now` and that are not busy, the longest expired first, at most `limit`. */
  expired(now: string, limit: number): Promise<ThreadRow[]>;
}

export interface RunTable {
  /** Insert a row and apply a patch to its thread, both or neither. False when the thread is gone. Rejects when the id is taken. */
  insert(row: RunRow, thread: ThreadPatch): Promise<boolean>;
  /** A run of this thread; undefined when the run is unknown or belongs to another thread. */
  get(threadId: string, runId: string): Promise<RunRow | undefined>;
  /**
   * Change a run that is still `pending` or `running`; false, and nothing changed, when it has ended or is unknown, or
   * is another's than the holder's, where one is named; a storage without `take` may leave that to its one process.
   */
  update(runId: string, patch: RunPatch, holder?: RunHolder): Promise<boolean>;
  /**
   * Take an unfinished run over from its holder, and patch run and thread, both or neither; false, and nothing changed,
   * when it is no longer that one's. What the one before still asks to store of the run is refused from then on: its
   * end, and its checkpoints (see `Checkpointer.hold`). Left out by a storage that cannot do so: no run outlives its
   * process there.
   */
  take?(run: RunKey, from: RunHolder, patch: RunPatch & RunHolder, thread: ThreadPatch): Promise<boolean>;
  /**
   * Store how runs ended, all or nothing. An outcome whose run is already terminal is left out whole, its thread too;
   * one whose thread is gone, or is not the run's, changes nothing.
   */
  settle(outcomes: readonly RunOutcome[]): Promise<void>;
  /** Delete one row; false when there is no such run on this thread. Its checkpoints are the caller's. */
  delete(threadId: string, runId: string): Promise<boolean>;
  /** Newest first (created_at, then run_id), one page. */
  list(query: RunQuery): Promise<RunRow[]>;
  /** As `list`, of any thread. Left out where only a thread's runs are known: `searchRuns` then goes through threads. */
  search?(query: RunSearch): Promise<RunRow[]>;
  /** Every run that is `pending` or `running`, with its owner; those of a thread or of an owner where one is named. */
  unfinished(of?: UnfinishedQuery): Promise<UnfinishedRun[]>;
  /** Leave word for a run's owner to stop it; nothing happens when the run has ended or is unknown. */
  requestCancel(runId: string): Promise<void>;
  /** Ids of this owner's unfinished runs that somebody asked to stop: the same ones until they have ended. */
  cancelRequests(ownerId: string): Promise<string[]>;
  /** When what ran in a run began and ended; null where it was never stored. A storage may do without it. */
  tasks?(threadId: string, runId: string): Promise<RunTasks | null>;
}

/** Runs that too many processes died over: ended as `error`, their resumption kept, by which they can go on. */
export interface DeadRunTable {
  /** Newest first (created_at, then run_id), one page. */
  list(page: Pick<RunQuery, "limit" | "offset">): Promise<RunRow[]>;
  count(): Promise<number>;
  /**
   * Make a dead run an unfinished one, and patch run and thread, both or neither. False, and nothing changed, when it is
   * not dead (any more), or another run of its thread is unfinished, but for those that wait for their time.
   */
  revive(run: RunKey, patch: RunPatch & RunHolder, thread: ThreadPatch): Promise<boolean>;
  /** Those that died before this time are runs that have ended like others. Returns how many. */
  forget(before: string): Promise<number>;
}

export interface OwnerTable {
  /** Note that this process lives; inserts or renews its row. */
  beat(owner: Owner): Promise<void>;
  /** Forget an owner; its unfinished runs then count as cut off. */
  remove(ownerId: string): Promise<void>;
}

/** What becomes of a run that is to be accepted, and how many unfinished ones of its thread came before it. */
export type Acceptance =
  | { became: "begun" | "queued"; before: number }
  | { became: "no_thread" | "thread_full" | "queue_full" | "caller_full" | "not_held" };

/** A run that waits, and nothing of its thread before it. */
export interface ReadyRun extends RunKey {
  /** On whose behalf; empty where nobody is asked who sends a request. */
  caller: string;
  /** A process died over it. */
  isSuspect?: boolean;
}

export interface AcceptOptions {
  /** What its row keeps should it wait. */
  queued: Resumption;
  /** Unfinished runs of its thread that may come before it. */
  mostBefore: number;
  /** Runs of all threads that may wait, and of its caller's where one is known; any number when left out. */
  mostWaiting?: number;
  mostOfCaller?: number;
  /** Its row is there already, as this one's: it is taken over, or the run is `not_held`. */
  from?: RunHolder;
}

export interface QueueStats {
  /** Runs that wait, and those of them that are the first of their thread: what they lack is a process. */
  waiting: number;
  ready: number;
  /** How long the oldest of these has been so. */
  oldest_seconds: number;
}

/**
 * A run waits while it is nobody's: its row names no owner. Of a thread only the first unfinished run is ever given out,
 * by the order in which the storage accepted them, whatever process did.
 */
export interface RunQueue {
  /**
   * Store a run in one step with the change of its thread. With an owner it begins as that one's, when no unfinished run of
   * its thread came before; else, and without an owner, it waits, and its attempt is 0.
   */
  accept(row: RunRow, thread: ThreadPatch, options: AcceptOptions): Promise<Acceptance>;
  /**
   * The first unfinished runs of threads that wait, those first whose callers have the fewest in flight, then whose callers
   * come latest in `served` or not at all, then the oldest; those of the threads named are left out.
   */
  readyRuns(limit: number, except: readonly string[], served?: readonly string[]): Promise<ReadyRun[]>;
  /** How long it is, for those who decide how many processes there are. */
  stats(): Promise<QueueStats>;
  /** Tell every process that a run may wait. Never rejects: who hears of none looks now and then. */
  notify(): void;
  /** Hear that. Returns what ends it. */
  listen(hear: () => void): () => void;
}

/**
 * A checkpointer whose quirks are hidden (see ./checkpointer.ts): `run_id` and the public scalar configurable keys are
 * stamped into every checkpoint's metadata, `list` needs a thread, takes `limit: 0` for nothing and filters by
 * containment, namespaces are always explicit, and writes of a fenced run are refused.
 */
export interface Checkpointer extends BaseCheckpointSaver {
  /** Refuse every later write of this run, until `unfence`. */
  fence(runId: string): void;
  unfence(runId: string): void;
  /**
   * From now until `unfence`, this process writes for the run as this holder: the storage itself refuses a write with a
   * RunTakenError when the run's row says another one, or that the run has ended. A storage without `take` does nothing.
   */
  hold?(runId: string, holder: RunHolder): void;
  /**
   * To be called under a thread's lease before an edit: what it gives goes with the edit's checkpoints, and lets the
   * storage refuse them in the same step if anything has begun or was edited on the thread since. Left out by a
   * storage that one process writes to.
   */
  guardEdit?(threadId: string): Promise<unknown>;
  /** Store a checkpoint of another storage as it stands, with its writes; `newVersions` are those its parent lacks. */
  store(tuple: CheckpointTuple, newVersions: ChannelVersions): Promise<void>;
  /**
   * Write the latest checkpoint of `sourceId` in each of `namespaces`, with its pending writes, under `targetId`: no
   * history, `metadata.source` is "fork", no run_id (docs/specification.md#threads, 3). A checkpoint with delta
   * channels takes the ancestors along that its values are rebuilt from. With `at` the root checkpoint of that id is
   * copied instead of the latest, without what was written after it.
   */
  copyLatest(sourceId: string, targetId: string, namespaces: readonly string[], at?: string): Promise<void>;
  /** The namespaces that hold checkpoints of this thread, sorted: the root's, which is empty, comes first. */
  namespaces(threadId: string): Promise<string[]>;
  /** Drop the checkpoints that a run wrote, in every namespace of its thread. */
  deleteRun(threadId: string, runId: string): Promise<void>;
  /** Drop all checkpoints of a thread but the latest in each of `namespaces` (and what its delta channels need). */
  keepLatest(threadId: string, namespaces: readonly string[]): Promise<void>;
}

/** Something about the setup of a storage that is right, or should be put right. */
export interface StorageFinding {
  /** Stable name, such as `journal_mode`. */
  name: string;
  ok: boolean;
  detail: string;
  fix?: string;
}

/** All that one scheme opens. `threads`, `runs` and `owners` are the metadata store. */
export interface Storage {
  readonly scheme: string;
  /** True when all that was written, rows and checkpoints, survives the process. */
  readonly durable: boolean;
  /** Where it is, safe to print: no password. Undefined for memory. */
  readonly location?: string;
  readonly threads: ThreadTable;
  readonly runs: RunTable;
  readonly owners: OwnerTable;
  readonly checkpointer: Checkpointer;
  readonly locks: ThreadLocks;
  /** Rows of the long-term memory; left out where there is no room for them, and then they last as long as the process. */
  readonly items?: ItemTable;
  /** Rows of what is to be done at a time; a storage without them serves no crons, delayed runs and webhooks. */
  readonly timers?: TimerTable;
  /** Runs that died; left out by a storage whose runs do not outlive their process. */
  readonly deadRuns?: DeadRunTable;
  /** Runs that wait for any process; left out by a storage whose processes execute what they accept. */
  readonly queue?: RunQueue;
  /** Time of the database's clock, in milliseconds since 1970; left out where this process's clock is the only one. */
  now?(): Promise<number>;
  /** What was done while it was opened that the operator should know. */
  readonly notices?: readonly string[];
  /** Checks of the setup, where the backend has some. */
  findings?(): StorageFinding[] | Promise<StorageFinding[]>;
  /** Release files and connections. Call once, when nothing uses the storage any more. */
  close(): Promise<void>;
}

/** The rows of a storage, opened for reading alone: its checkpoints need LangGraph's packages, these do not. */
export type RowStorage = Pick<Storage, "scheme" | "location" | "threads" | "runs" | "close">;

/** What a backend is opened with; a resolved configuration fits it. */
export interface StorageOptions {
  checkpointer_scheme: string;
  checkpointer_uri?: string;
  checkpointer_options: {
    /** Connections of the pool of a relational server; default 10 (docs/specification.md#storage, 6). */
    pool_max_size?: number;
    [option: string]: unknown;
  };
  /** Most callers that may wait for one thread. */
  max_queued_runs: number;
  /** Only read: nothing is created, brought up to date or changed, and a storage that is not there is an error. */
  readOnly?: boolean;
}
