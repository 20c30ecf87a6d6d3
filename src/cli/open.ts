/** From settings to an open service. The only way to what imports LangGraph, so that the user's copy can come first. */
import { dirname, resolve } from "node:path";
import { parseGraphTarget } from "../config/graph-target.js";
import type { LoadedConfig } from "../config/load.js";
import type { Settings } from "../config/settings.js";
import { ConfigError } from "../errors.js";
import type { Logger } from "../log.js";
import { useLangGraphOf } from "../user-langgraph.js";
import type { Service, ServiceOptions } from "../service.js";
import { setVariables } from "./variables.js";

export type OpenOptions = Pick<ServiceOptions, "readOnly" | "passive" | "standIns" | "unfiltered">;

/**
 * Open the service that the configuration describes. Its variables enter the process first, where what is set wins.
 * @throws ConfigError, GraphLoadError, StorageUnavailableError
 */
export async function openConfigured(
  { settings, baseDir, env }: Pick<LoadedConfig, "settings" | "baseDir" | "env">,
  logger?: Logger,
  options: OpenOptions = {},
): Promise<Service> {
  if (!options.readOnly && !options.standIns) requireGraphs(settings);
  prepareProcess({ settings, baseDir, env });
  const { openService } = await import("../service.js");
  return openService({ settings, cwd: baseDir, logger, ...options });
}

/** Let the variables of the configuration enter the process, and the graphs' copy of LangGraph be the one to use. */
export function prepareProcess({
  settings,
  baseDir,
  env,
}: Pick<LoadedConfig, "settings" | "baseDir" | "env">): void {
  setVariables(env);
  useLangGraphOf(graphFolder(settings, baseDir));
}

/** Where the first graph lives: its copy of LangGraph is the one to use. */
function graphFolder({ graphs }: Settings, baseDir: string): string {
  const [source] = Object.values(graphs);
  return source === undefined ? baseDir : dirname(resolve(baseDir, parseGraphTarget(source).path));
}

function requireGraphs({ graphs }: Settings): void {
  if (Object.keys(graphs).length > 0) return;
  throw new ConfigError(
    "there is no graph: no file was named, and no configuration with `graphs` was found",
    {
      hint: "name a file, such as ./graph.ts:graph, or begin with: graph-serve init my-agent",
    },
  );
}
