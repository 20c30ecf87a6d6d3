/**
 * The contract of a storage backend: rows in tables, graph state in the checkpointer, one lock per thread.
 *
 * Every method of a table is atomic. Returned rows are copies: changing them does not change the stored rows. Methods throw
 * only GraphServeErrors: `storage_unavailable` for errors of the backend, and `payload_too_large` if a row exceeds its size
 * limit.
 */
import type { Checkpointer } from "./checkpointer.js";
import type { ItemTable } from "./items.js";
import type { ThreadLocks } from "./locks.js";
import type { OwnerTable } from "./owners.js";
import type { RunQueue, Wakeups } from "./queue.js";
import type { RecordingTable } from "./recordings.js";
import type { DeadRunTable, RunTable } from "./runs.js";
import type { ThreadTable } from "./threads.js";
import type { TimerTable } from "./timers.js";
import type { UsageTable } from "./usage.js";

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
 *     keepOnly: async (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
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
