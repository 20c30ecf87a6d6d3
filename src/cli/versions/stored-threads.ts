/** The stored threads that the commands of `versions` read or convert. */
import type { LoadedConfig } from "../../config/load.js";
import type { Service } from "../../service/service.js";
import { ConfigError } from "../../support/errors.js";
import { openStorageOf, requireGraphs, storageConfig, withRememberedGraphs } from "../session/open.js";
import { isEphemeral } from "../session/open-client.js";
import type { StorageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { graphAgainst, requireGraph } from "./against.js";

interface StoredFlags extends StorageFlags {
  against?: string;
  graph?: string;
}

export const shortVersion = (version: string | null): string => version ?? "none";

export const threads = (count: number): string => `${count} ${count === 1 ? "thread" : "threads"}`;

/** The configuration of the storage, with the graph of `--against` as its default graph. */
export async function versionsConfig(
  session: Session,
  { against, graph, ...flags }: StoredFlags,
): Promise<LoadedConfig> {
  const loaded = await storageConfig(session, flags);
  if (isEphemeral(loaded))
    throw new ConfigError(`scheme ${loaded.settings.checkpointer_scheme} has no stored threads to check`, {
      hint: "specify a storage with --db",
    });
  const { config } = await withRememberedGraphs(loaded, session.io.cwd);
  const { graphs } = config.settings;
  if (against === undefined) {
    requireGraphs(config.settings);
    if (graph !== undefined) requireGraph(graph, graphs);
    return config;
  }
  const { replaced, source } = await graphAgainst(session, config, { ...flags, against, graph });
  const changed = { graphs: { ...graphs, [replaced]: source }, default_assistant_id: replaced };
  return { ...config, settings: Object.freeze({ ...config.settings, ...changed }) };
}

export async function withStorage<T>(
  config: LoadedConfig,
  work: (service: Service) => Promise<T>,
  mode: "read" | "edit" = "read",
): Promise<T> {
  const service = await openStorageOf(config, mode);
  try {
    return await work(service);
  } finally {
    await service.close(0);
  }
}
