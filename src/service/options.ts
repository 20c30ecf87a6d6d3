import type { Settings } from "../config/settings.js";
import type { Authenticate } from "../models/caller.js";
import type { RunActivity } from "../models/run-activity.js";
import type { RecoveryPolicy } from "../coordination/recover.js";
import type { Storage } from "../storage/contract/storage.js";
import type { Logger } from "../support/log.js";

/**
 * Options of `openService`.
 * @example
 * ```ts
 * import { openService, type ServiceOptions } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const options: ServiceOptions = { graphs: { agent: graph }, settings: { max_active_runs: 20 } };
 * const service = await openService(options);
 * await service.close();
 * ```
 */
export interface ServiceOptions {
  /** Settings that differ from the defaults. */
  settings?: Partial<Settings>;
  /**
   * The graphs to serve, by assistant id, the default first: a compiled graph, a factory, or `path:export`. Default:
   * `settings.graphs`.
   */
  graphs?: Readonly<Record<string, unknown>>;
  /** Folder against which relative paths are resolved. Default: the working directory. */
  cwd?: string;
  /** Authenticates requests, like the setting `auth`. Each user then has separate threads and memory. */
  authenticate?: Authenticate;
  /** An open storage to use instead of the configured one. The service closes it. */
  storage?: Storage;
  /** A logger with pino's methods. Default: no logging. */
  logger?: Logger;
  /**
   * What the service is for. `serve`, the default: accepts requests, and so requires a graph, authenticates users and
   * collects metrics. `run`: executes runs for this program; like `serve`, it recovers runs, sweeps and sends heartbeats.
   * `edit`: changes only what operations request. `read`: opens the storage read-only, and implies `standIns`.
   */
  mode?: "serve" | "run" | "edit" | "read";
  /**
   * How to recover runs whose process died. Default: `queue` if runs are queued, else `resume`; `leave` with the modes
   * `edit` and `read`.
   */
  cutOffs?: RecoveryPolicy;
  /**
   * Replace graphs that fail to load by placeholders: their threads can be read, but not run. With `existing`, a file or an
   * export that does not exist is still an error.
   */
  standIns?: boolean | "existing";
  /** Call each graph factory on loading, with an empty configuration, to detect factories that throw. */
  callFactories?: boolean;
  /** Show all state keys, including those outside the output schema. */
  unfiltered?: boolean;
  /** Receives the unfiltered activity of each run, node by node. Slows down every node of every run. */
  onActivity?: (activity: RunActivity) => void;
  /** Receives the id of each thread that this process has deleted, also if its time to live has expired. */
  onThreadRemoved?: (threadId: string) => void;
}
