/** What a service is opened with. */
import type { Settings } from "../config/settings.js";
import type { Authenticate } from "../models/caller.js";
import type { RunActivity } from "../models/run-activity.js";
import type { RecoveryPolicy } from "../coordination/recover.js";
import type { Storage } from "../storage/contract/storage.js";
import type { Logger } from "../support/log.js";

export interface ServiceOptions {
  /** Settings that differ from the defaults. */
  settings?: Partial<Settings>;
  /**
   * The graphs to serve, by assistant id, the default first: a compiled graph, a factory, or `path:export`. Left out,
   * `settings.graphs` says it.
   */
  graphs?: Readonly<Record<string, unknown>>;
  /** Folder that relative paths start from; the working directory when left out. */
  cwd?: string;
  /** Verifies who sends a request, as the setting `auth` does; users then have threads and memory of their own. */
  authenticate?: Authenticate;
  /** An open storage to use instead of the one that the settings name; closed with the service. */
  storage?: Storage;
  /** Anything with pino's methods; nothing is logged when left out. */
  logger?: Logger;
  /** Only look: nothing is recovered, swept, created or changed. Graphs are stood in for as `standIns` says. */
  readOnly?: boolean;
  /** Change what is asked for and nothing else: nothing is recovered or swept, and no heartbeat is sent. */
  passive?: boolean;
  /**
   * What becomes of runs whose process died: they go on here, are left to a server that comes, or end as `error`. When left
   * out they go on, but with `passive`, which leaves them.
   */
  cutOffs?: RecoveryPolicy;
  /** Go on without the graphs that do not load: their threads can be read, not run. */
  standIns?: boolean;
  /** Whether requests of others come: then there has to be a graph, users are verified, and figures are kept. */
  serves?: boolean;
  /** Call each factory when the graphs are loaded, as for a run without configuration: one that throws is found then. */
  callFactories?: boolean;
  /** Show every key of the state, also those that the graphs' output schemas hide. */
  unfiltered?: boolean;
  /** Told what each run does, node by node, unfiltered. It costs time in every node of every run. */
  onActivity?: (activity: RunActivity) => void;
}
