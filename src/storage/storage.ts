/** The contract every backend fulfils: rows in tables, graph state in the checkpointer, one lock a thread. */
import type { BaseCheckpointSaver, ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { JsonObject, SortOrder } from "../models/common.js";
import type { MultitaskStrategy, RunStatus, TokenUsage } from "../models/run.js";
import type { RunFault } from "../support/run-fault.js";
import type { ThreadSortField, ThreadStatus, TtlStrategy } from "../models/thread.js";

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
}

export interface RunPatch {
  updated_at: string;
  status?: RunStatus;
  error?: string | null;
  usage?: TokenUsage | null;
  fault?: RunFault | null;
}

export interface RunQuery {
  threadId: string;
  status?: RunStatus;
  limit: number;
  offset: number;
}

/** The end of a run and what it makes of its thread, stored in one step. */
export interface RunOutcome {
  runId: string;
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
}

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
  /** Insert a row and apply a patch to its thread, both or neither. False when the thread is gone. */
  insert(row: RunRow, thread: ThreadPatch): Promise<boolean>;
  /** A run of this thread; undefined when the run is unknown or belongs to another thread. */
  get(threadId: string, runId: string): Promise<RunRow | undefined>;
  /** Change a run that is still `pending` or `running`; false, and nothing changed, when it has ended or is unknown. */
  update(runId: string, patch: RunPatch): Promise<boolean>;
  /**
   * Store how runs ended, all or nothing. An outcome whose run is already terminal is left out whole, its thread too;
   * one whose thread is gone, or is not the run's, changes nothing.
   */
  settle(outcomes: readonly RunOutcome[]): Promise<void>;
  /** Delete one row; false when there is no such run on this thread. Its checkpoints are the caller's. */
  delete(threadId: string, runId: string): Promise<boolean>;
  /** Newest first (created_at, then run_id), one page. */
  list(query: RunQuery): Promise<RunRow[]>;
  /** Every run that is `pending` or `running`, with its owner; those of a thread or of an owner where one is named. */
  unfinished(of?: UnfinishedQuery): Promise<UnfinishedRun[]>;
  /** Leave word for a run's owner to stop it; nothing happens when the run has ended or is unknown. */
  requestCancel(runId: string): Promise<void>;
  /** Ids of this owner's unfinished runs that somebody asked to stop: the same ones until they have ended. */
  cancelRequests(ownerId: string): Promise<string[]>;
}

export interface OwnerTable {
  /** Note that this process lives; inserts or renews its row. */
  beat(owner: Owner): Promise<void>;
  /** Forget an owner; its unfinished runs then count as cut off. */
  remove(ownerId: string): Promise<void>;
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

// Rows of the long-term memory that graphs share across threads (LangGraph's "store").

export interface ItemRow {
  /** Labels joined by full stops, which no label holds. */
  namespace: string;
  key: string;
  value: JsonObject;
  created_at: string;
  updated_at: string;
  ttl_minutes: number | null;
}

export interface ItemWrite extends Omit<ItemRow, "created_at"> {
  /** When the item ends, ISO 8601; null for never. */
  expires_at: string | null;
}

/** An item as it is kept. */
export interface StoredItem extends ItemRow {
  expires_at: string | null;
}

/** Which items to read: `limit` of those after a place, in the order of namespaces and keys; from the first without one. */
export interface ItemPage {
  /** Only items of this namespace and of all below it; every item for "", or without one. */
  under?: string;
  after?: Pick<ItemRow, "namespace" | "key">;
  limit: number;
  at: string;
}

/** Every method is atomic, and shows no item that has expired at `at`. */
export interface ItemTable {
  get(namespace: string, key: string, at: string): Promise<ItemRow | undefined>;
  /** Insert or replace; an item that is there already keeps its `created_at`. */
  put(item: ItemWrite): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  page(page: ItemPage): Promise<StoredItem[]>;
  /** Store an item of another storage as it stands, its times included, in the place of what is there. */
  restore(item: StoredItem): Promise<void>;
  /** Namespaces that hold items, sorted. */
  namespaces(at: string): Promise<string[]>;
  /** Count the time to live of an item anew. */
  touch(namespace: string, key: string, expiresAt: string): Promise<void>;
  /** Delete what has expired. */
  expire(at: string): Promise<void>;
}

// What the tables or documents of a storage stand at.

export interface SchemaPart {
  /** `rows` are those of threads and runs, `checkpoints` what LangGraph's own saver made; others have one part. */
  name: "rows" | "checkpoints" | "tables" | "documents";
  /** 0 when they are not there. */
  version: number;
  /** What this release reads and writes. */
  wanted: number;
}

export interface SchemaState {
  /** Safe to print. */
  location?: string;
  /** Empty for a storage without versions. */
  parts: SchemaPart[];
}

// Locks keep runs apart: one lease a thread.

/** The right to run on a thread. */
export interface ThreadLease {
  /** Give the thread to the next waiter. Later calls do nothing. Never rejects. */
  release(): void | Promise<void>;
  /** Aborts when the lease was lost, for instance with its connection; absent where that cannot happen. */
  readonly lost?: AbortSignal;
  /**
   * To be called before a write that the lease covers: a process that stood still, or a machine that was suspended,
   * may have lost it unaware. Then `lost` has aborted when the promise resolves. Undefined, which is nothing to wait
   * for, while the lease is known to stand. Never rejects.
   */
  confirm?(): Promise<void> | undefined;
}

export interface AcquireOptions {
  /** False: answer undefined at once when the thread is taken. */
  wait: boolean;
  /** True: go before those who already wait, and never find the queue full. */
  first?: boolean;
  /** Leaves the queue; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** One lease a thread at a time; waiters are served in order of arrival (docs/specification.md#concurrency). */
export interface ThreadLocks {
  /**
   * @throws ThreadBusyError when the thread's queue is full (`thread_busy`)
   */
  acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined>;
  /** How many wait for this thread. */
  waiting(threadId: string): number;
}
