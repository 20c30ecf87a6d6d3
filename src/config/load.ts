/** Reads the settings: flag before environment before file before default; checked, complete and frozen. */
import { dirname, resolve } from "node:path";
import { ConfigError } from "../errors.js";
import { checkSettings } from "./check.js";
import {
  flagOf,
  misspelledVariables,
  SETTING_NAMES,
  settingsFromEnvironment,
  variableOf,
} from "./environment.js";
import type { Variables } from "./expand.js";
import { locateText, readFileSettings, settingsOfFile } from "./file-settings.js";
import { selectGraphs } from "./graph-target.js";
import type { SettingOrigin } from "./origin.js";
import { defaultSettings, type SettingName, type Settings, type SettingsInput } from "./settings.js";
import { issuesOf, settingFaults, type SettingFault } from "./validate.js";
import { loadVariables } from "./variables.js";

export interface LoadOptions {
  /** Absolute path of the folder to search from; relative flags are read from here. */
  cwd: string;
  /** Configuration file to read instead of searching for one. */
  file?: string;
  /** Settings that the command line gave. */
  flags?: SettingsInput;
  /** Environment variables; those of the process when left out. */
  env?: Variables;
  /** Graph targets of the command line: files, or keys of the configuration. */
  graphs?: readonly string[];
}

export interface LoadedConfig {
  /** Complete and deeply frozen. */
  settings: Settings;
  origins: Record<SettingName, SettingOrigin>;
  /** The configuration file that was read. */
  file?: string;
  /** Folder that graph paths resolve against: the file's, else `cwd`. */
  baseDir: string;
  warnings: string[];
  /** Variables of the env file or of the setting `env`, for the process that runs the graphs; what it has set wins. */
  env: Record<string, string>;
  /** Files whose change changes the result. */
  files: string[];
}

/**
 * Load the settings.
 * @throws ConfigError with file and line of the fault (`config_invalid`)
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const processEnv = options.env ?? process.env;
  const source = await readFileSettings(options.cwd, options.file);
  const file = source.document?.file;
  const baseDir = file === undefined ? options.cwd : dirname(file);
  const own = await loadVariables({
    flags: options.flags,
    env: processEnv,
    file: source,
    cwd: options.cwd,
    baseDir,
  });
  const variables = { ...own.variables, ...definedOf(processEnv) };

  const fromFile = await settingsOfFile(source, variables);
  const fromEnv = settingsFromEnvironment(variables);
  const fromFlags = definedOf(options.flags ?? {});
  rejectFaults(await settingFaults(fromEnv), (name) => variableOf(name));
  rejectFaults(await settingFaults(fromFlags), (name) => flagOf(name));

  const merged = {
    ...defaultSettings(),
    ...fromFile,
    ...fromEnv,
    ...fromFlags,
  } as Settings;
  const origins = originsOf({ fromFile, fromEnv, fromFlags }, (name) => locateText(source, name));
  const graphs = graphSources(merged.graphs);
  const selected = options.graphs?.length
    ? selectGraphs(options.graphs, graphs, { cwd: options.cwd, baseDir })
    : {};
  if (options.graphs?.length) {
    origins.graphs = origins.default_assistant_id = { kind: "flag", detail: "argument" };
  }
  const settings: Settings = { ...merged, graphs, ...selected };
  if (settings.checkpointer_uri !== undefined && origins.checkpointer_uri.kind !== "file") {
    Object.assign(settings, {
      checkpointer_uri: fromFolder(settings.checkpointer_uri, options.cwd, baseDir),
    });
  }
  const warnings = checkSettings(settings, origins, (name) => source.document?.locate(source.pathOf([name])));
  return {
    settings: deepFreeze(settings),
    origins,
    ...(file !== undefined && { file }),
    baseDir,
    warnings: [...source.warnings, ...own.warnings, ...misspelledVariables(variables), ...warnings],
    env: own.variables,
    files: [file, own.file].filter((path) => path !== undefined),
  };
}

function rejectFaults(faults: SettingFault[], nameOf: (setting: SettingName) => string): void {
  const [first] = faults;
  if (!first) return;
  const source = nameOf(first.path[0] as SettingName);
  throw new ConfigError(`${source}: ${first.message}`, { hint: first.hint, issues: issuesOf(faults) });
}

function originsOf(
  given: Record<"fromFile" | "fromEnv" | "fromFlags", Record<string, unknown>>,
  locate: (name: SettingName) => string | undefined,
): Record<SettingName, SettingOrigin> {
  const originOf = (name: SettingName): SettingOrigin => {
    if (name in given.fromFlags) return { kind: "flag", detail: flagOf(name) };
    if (name in given.fromEnv) return { kind: "env", detail: variableOf(name) };
    if (name in given.fromFile) return { kind: "file", detail: locate(name) };
    return { kind: "default" };
  };
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, originOf(name)])) as Record<
    SettingName,
    SettingOrigin
  >;
}

function graphSources(graphs: Readonly<Record<string, string | { path: string }>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(graphs).map(([id, graph]) => [id, typeof graph === "string" ? graph : graph.path]),
  );
}

/** The path of a database file that was given from `cwd`, as it is seen from the folder paths resolve against. */
function fromFolder(uri: string, cwd: string, baseDir: string): string {
  return cwd === baseDir || /^(:|[a-z][a-z0-9+.-]+:)/i.test(uri) ? uri : resolve(cwd, uri);
}

function definedOf<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
