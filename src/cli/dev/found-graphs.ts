/** The graphs that `dev` serves if none is named: those of the usual files, else those that were served before. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadedConfig } from "../../config/load.js";
import { ConfigError } from "../../support/errors.js";
import { configText } from "../init/files.js";
import { prepareProcess, requireGraphs, withRememberedGraphs } from "../session/open.js";
import type { Session } from "../session/session.js";

/** Origin of graphs that were found. */
export const FOUND = "found in the project";
const CONFIG_FILE = "graph-server.config.json";
const PLACES = "./graph.ts, ./src/agent.ts and src/**/graph.ts";

/**
 * The configuration with the graphs of the project, and a note that lists them.
 * @throws ConfigError if there are none (`config_invalid`)
 */
export async function withFoundGraphs({ print, io }: Session, config: LoadedConfig): Promise<LoadedConfig> {
  const { settings, baseDir } = config;
  const { exportedGraphs, graphFiles } = await import("../../service/find-graphs.js");
  const files = await graphFiles(baseDir);
  const candidates = Object.fromEntries(files.map((file) => [file, file]));
  prepareProcess({ ...config, settings: { ...settings, graphs: candidates } });
  const graphs = await exportedGraphs(files, baseDir);
  if (Object.keys(graphs).length === 0) {
    const { config: remembered } = await withRememberedGraphs(config, io.cwd);
    if (Object.keys(remembered.settings.graphs).length === 0) throw noneFound(config);
    print.noteOnce(`graphs that were served before: ${listed(remembered.settings.graphs)}`);
    return remembered;
  }
  print.noteOnce(`found ${listed(graphs)}`);
  return {
    ...config,
    settings: Object.freeze({ ...settings, graphs }),
    origins: { ...config.origins, graphs: { kind: "flag", detail: FOUND } },
  };
}

const listed = (graphs: Readonly<Record<string, string>>): string =>
  Object.entries(graphs)
    .map(([id, source]) => `${id} (${source})`)
    .join(", ");

function noneFound({ settings }: LoadedConfig): ConfigError {
  try {
    requireGraphs(settings);
  } catch (error) {
    const { message, hint } = error as ConfigError;
    return new ConfigError(`${message}, and ${PLACES} export no compiled graph`, { hint });
  }
  return new ConfigError("no graphs to serve");
}

/** Whether `dev` can write the configuration: graphs were found, and there is no file. */
export const isUnwritten = ({ file, origins }: LoadedConfig): boolean =>
  file === undefined && origins.graphs.detail === FOUND;

/** Writes the found graphs to a new configuration file; an existing file is not changed. */
export async function writeFoundGraphs(
  { print }: Session,
  { settings, baseDir }: LoadedConfig,
): Promise<void> {
  try {
    await writeFile(join(baseDir, CONFIG_FILE), configText(settings.graphs), { flag: "wx" });
    print.note(`wrote ${CONFIG_FILE}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    print.note(`${CONFIG_FILE} already exists and was not changed`);
  }
}
