/** The graph of `--against`: a file that replaces a graph of the configuration. */
import type { LoadedConfig } from "../../config/load.js";
import { InvalidRequestError } from "../../support/errors.js";
import { didYouMean } from "../../support/nearest.js";
import { storageConfig } from "../session/open.js";
import type { StorageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";

interface AgainstFlags extends StorageFlags {
  against: string;
  /** Id of the graph that the file replaces; the default graph of the configuration if undefined. */
  graph?: string | undefined;
}

/** The source of the file, and the id of the graph that it replaces. @throws ConfigError (`config_invalid`) */
export async function graphAgainst(
  session: Session,
  { settings: { graphs, default_assistant_id: fallback } }: LoadedConfig,
  { against, graph, ...flags }: AgainstFlags,
): Promise<{ replaced: string; source: string }> {
  const { settings } = await storageConfig(session, flags, { graphs: [against], warn: () => undefined });
  const [[id, source] = ["agent", against]] = Object.entries(settings.graphs);
  return { replaced: graph ?? fallback ?? Object.keys(graphs)[0] ?? id, source };
}

/** @throws InvalidRequestError if the configuration has no graph with this id (`invalid_request`) */
export function requireGraph(graph: string, graphs: LoadedConfig["settings"]["graphs"]): void {
  if (Object.hasOwn(graphs, graph)) return;
  const known = Object.keys(graphs);
  throw new InvalidRequestError(`--graph ${graph} is not a configured graph`, undefined, {
    hint: didYouMean(graph, known) ?? `use one of: ${known.join(", ")}`,
  });
}
