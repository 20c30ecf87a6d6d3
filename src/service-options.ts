/** What a service is opened with, and whether that can be served. */
import { parseGraphTarget } from "./config/graph-target.js";
import type { Settings } from "./config/settings.js";
import { ConfigError } from "./errors.js";
import type { GraphSource } from "./graphs/sources.js";
import type { Logger } from "./log.js";
import type { Authenticate } from "./models/caller.js";
import type { Storage } from "./storage/storage.js";

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
  /** Go on without the graphs that do not load, or without any: their threads can be read, not run. */
  standIns?: boolean;
  /** Show every key of the state, also those that the graphs' output schemas hide. */
  unfiltered?: boolean;
}

/** Where each graph comes from: a text names a file and an export. */
export function sourcesOf(graphs: Readonly<Record<string, unknown>>): ReadonlyMap<string, GraphSource> {
  const entries = Object.entries(graphs).map(([id, value]): [string, GraphSource] => [
    id,
    typeof value === "string" ? { kind: "file", ...parseGraphTarget(value) } : { kind: "value", value },
  ]);
  return new Map(entries);
}

/** @throws ConfigError (`config_invalid`) */
export function assertServable(
  { default_assistant_id }: Settings,
  ids: readonly string[],
  { mayBeEmpty }: { mayBeEmpty: boolean },
): void {
  if (ids.length === 0) {
    if (mayBeEmpty) return;
    throw new ConfigError("there is no graph to serve", {
      hint: "name one: graph-serve dev ./graph.ts, or `graphs` in the configuration",
    });
  }
  if (default_assistant_id !== undefined && !ids.includes(default_assistant_id)) {
    throw new ConfigError(
      `default_assistant_id "${default_assistant_id}" is not a key of graphs: ${ids.join(", ")}`,
    );
  }
}
