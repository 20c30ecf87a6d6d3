/** One graph, loaded and ready to be asked about itself: no storage is touched, no other graph is loaded. */
import type { GraphSummary, Service } from "../service.js";
import { ConfigError } from "../errors.js";
import type { LoadedConfig } from "../config/load.js";
import { openConfigured } from "./open.js";
import { loadSettings, type Session } from "./session.js";

export interface OpenGraph {
  id: string;
  summary: GraphSummary;
  service: Service;
  /** Folder that the graph's path resolves against. */
  baseDir: string;
  close(): Promise<void>;
}

/**
 * Load the graph that `target` names, the configuration's default without one.
 * @throws ConfigError, GraphLoadError
 */
export async function openGraph(session: Session, target: string | undefined): Promise<OpenGraph> {
  const config = await loadSettings(session, { graphs: target === undefined ? [] : [target] });
  const id = config.settings.default_assistant_id ?? Object.keys(config.settings.graphs)[0] ?? "";
  const service = await openConfigured(onlyGraph(config, id));
  for (const notice of service.notices) session.print.warn(notice);
  const [summary] = await service.graphs();
  if (!summary) throw new ConfigError(`there is no graph "${id}"`);
  return { id, summary, service, baseDir: config.baseDir, close: () => service.close(0) };
}

/** The same configuration with one of its graphs, in memory. */
export function onlyGraph(config: LoadedConfig, id: string): LoadedConfig {
  const source = config.settings.graphs[id];
  if (source === undefined) return config;
  return {
    ...config,
    settings: {
      ...config.settings,
      graphs: { [id]: source },
      default_assistant_id: id,
      checkpointer_scheme: "memory",
    },
  };
}
