/** Loads the settings. Precedence: flags, environment, file, defaults. */
import { contradiction } from "../support/budgets/budget.js";
import { dirname, resolve } from "node:path";
import { validate } from "uuid";
import { ConfigError } from "../support/errors.js";
import type { SourceLocation } from "../support/errors/codes.js";
import { storageModule } from "../support/module-target.js";
import { isUuidUrn } from "../support/ids.js";
import { didYouMean } from "../support/nearest.js";
import {
  flagName,
  loadVariables,
  variableWarnings,
  SETTING_NAMES,
  settingsFromEnvironment,
  variableName,
  type Variables,
} from "./environment.js";
import { compatDefaults } from "./compat.js";
import { locateText, readFileSettings, settingsOfFile } from "./file-settings.js";
import { isLangGraphJson } from "./find.js";
import { selectGraphs } from "./graph-target.js";
import { type IgnoredField, ignoredFields } from "./langgraph-fields.js";
import type { ConfigDocument } from "./document.js";
import { processDefaults } from "./process-settings.js";
import { recordingFault } from "./recording-settings.js";
import { defaultSettings, type SettingName, type Settings, type SettingsInput } from "./settings.js";
import { SCHEMES } from "./storage-settings.js";
import { issuesOf, type SettingError, settingErrors } from "./validate.js";

export interface LoadOptions {
  /** Absolute path of the folder to search from; flags with relative paths resolve against it. */
  cwd: string;
  file?: string;
  flags?: SettingsInput;
  /** Environment variables; `process.env` by default. */
  env?: Variables;
  /** Graph targets given on the command line: files, or keys of `graphs`. */
  graphs?: readonly string[];
}

export interface LoadedConfig {
  /** Complete and deeply frozen. */
  settings: Settings;
  origins: Record<SettingName, SettingOrigin>;
  file?: string;
  /** Folder that graph paths resolve against: the folder of the file, or `cwd`. */
  baseDir: string;
  warnings: string[];
  /** Meaningful fields of langgraph.json that are ignored; the operator must be warned. */
  unheeded: IgnoredField[];
  /**
   * Variables from the env file or the setting `env`, for the process that runs the graphs.
   * Variables already set in the process take precedence.
   */
  env: Record<string, string>;
  /** The env file that `env` was read from. */
  envFile?: string;
  /** Files that the result depends on. */
  files: string[];
}

/**
 * Loads the settings.
 * @throws ConfigError with file and line of the first error (`config_invalid`)
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
  rejectErrors(await settingErrors(fromEnv), (name) => variableName(name));
  rejectErrors(await settingErrors(fromFlags), (name) => flagName(name));

  const given = { ...fromFile, ...fromEnv, ...fromFlags };
  const isLangGraph = file !== undefined && isLangGraphJson(file);
  const compat = given.compat ?? (isLangGraph ? "langgraph" : "specification");
  const merged = {
    ...defaultSettings({ ...given, compat }),
    ...processDefaults(given),
    ...given,
  } as Settings;
  const origins = {
    ...defaultOrigins(merged, isLangGraph),
    ...originsOf({ fromFile, fromEnv, fromFlags }, (name) => locateText(source, name)),
  };
  const graphs = graphSources(merged.graphs);
  const selected = options.graphs?.length
    ? selectGraphs(options.graphs, graphs, { cwd: options.cwd, baseDir })
    : {};
  if (options.graphs?.length) {
    origins.graphs = origins.default_assistant_id = { kind: "flag", detail: "argument" };
  }
  const graph_descriptions = graphDescriptions(merged.graphs);
  const settings: Settings = {
    ...merged,
    graphs,
    ...selected,
    ...(graph_descriptions && { graph_descriptions }),
    ...(origins.checkpointer_uri.kind !== "file" && fromFolder(merged, options.cwd, baseDir)),
  };
  const warnings = checkSettings(settings, origins, (name) => source.document?.locate(source.pathOf([name])));
  return {
    settings: deepFreeze(settings),
    origins,
    ...(file !== undefined && { file }),
    baseDir,
    unheeded: unheededOf(source.document, settings),
    warnings: [...source.warnings, ...own.warnings, ...variableWarnings(variables), ...warnings],
    env: own.variables,
    ...(own.file !== undefined && { envFile: own.file }),
    files: [file, own.file].filter((path) => path !== undefined),
  };
}

function unheededOf(document: ConfigDocument | undefined, settings: Settings): IgnoredField[] {
  return document && isLangGraphJson(document.file) ? ignoredFields(document, settings) : [];
}

function rejectErrors(errors: SettingError[], nameOf: (setting: SettingName) => string): void {
  const [first] = errors;
  if (!first) return;
  const source = nameOf(first.path[0] as SettingName);
  throw new ConfigError(`${source}: ${first.message}`, { hint: first.hint, issues: issuesOf(errors) });
}

function originsOf(
  given: Record<"fromFile" | "fromEnv" | "fromFlags", Record<string, unknown>>,
  locate: (name: SettingName) => string | undefined,
): Partial<Record<SettingName, SettingOrigin>> {
  const originOf = (name: SettingName): SettingOrigin | undefined => {
    if (name in given.fromFlags) return { kind: "flag", detail: flagName(name) };
    if (name in given.fromEnv) return { kind: "env", detail: variableName(name) };
    if (name in given.fromFile) return { kind: "file", detail: locate(name) };
    return undefined;
  };
  const origins = SETTING_NAMES.map((name) => [name, originOf(name)] as const);
  return Object.fromEntries(origins.filter(([, origin]) => origin !== undefined));
}

/** Marks every setting as a default, with a reason if it is not the default of the schema. */
function defaultOrigins(choice: Settings, isLangGraph: boolean): Record<SettingName, SettingOrigin> {
  const replaced = compatDefaults(choice);
  const shared = processDefaults(choice);
  const originOf = (name: SettingName): SettingOrigin => {
    if (name === "compat" && isLangGraph) return { kind: "default", detail: "default of a langgraph.json" };
    if (name in replaced) return { kind: "default", detail: `default of compat ${choice.compat}` };
    if (name in shared) return { kind: "default", detail: `default of ${choice.processes} processes` };
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

function graphDescriptions(
  graphs: Readonly<Record<string, string | { description?: string }>>,
): Record<string, string> | undefined {
  const described = Object.entries(graphs).flatMap(([id, graph]): [string, string][] =>
    typeof graph === "string" || graph.description === undefined ? [] : [[id, graph.description]],
  );
  return described.length > 0 ? Object.fromEntries(described) : undefined;
}

/** Converts the path of a database file from relative to `cwd` to relative to the base folder. */
function fromFolder(
  { checkpointer_uri: uri }: Settings,
  cwd: string,
  baseDir: string,
): Pick<SettingsInput, "checkpointer_uri"> {
  const isElsewhere = uri !== undefined && cwd !== baseDir && !/^(:|[a-z][a-z0-9+.-]+:)/i.test(uri);
  return isElsewhere ? { checkpointer_uri: resolve(cwd, uri) } : {};
}

function definedOf<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

type Origins = Record<SettingName, SettingOrigin>;
type Locate = (name: SettingName) => SourceLocation | undefined;

/**
 * Checks rules that span several settings or that a schema cannot express; returns warnings.
 * @throws ConfigError (`config_invalid`)
 */
export function checkSettings(settings: Settings, origins: Origins, locate: Locate): string[] {
  const fail = (name: SettingName, message: string, hint: string): never => {
    const { kind } = origins[name];
    const source = kind === "flag" ? `${flagName(name)}: ` : kind === "env" ? `${variableName(name)}: ` : "";
    throw new ConfigError(source + message, { hint, location: kind === "file" ? locate(name) : undefined });
  };
  const { checkpointer_scheme: scheme, default_assistant_id: defaultId } = settings;
  if (!SCHEMES.some((known) => known === scheme) && !storageModule(scheme)) {
    fail(
      "checkpointer_scheme",
      `unknown checkpointer_scheme "${scheme}"; supported: ${SCHEMES.join(", ")}`,
      didYouMean(scheme, SCHEMES) ?? `use one of: ${SCHEMES.join(", ")}`,
    );
  }
  const ids = Object.keys(settings.graphs);
  if (defaultId !== undefined && ids.length > 0 && !ids.includes(defaultId)) {
    fail(
      "default_assistant_id",
      `default_assistant_id "${defaultId}" is not a key of graphs`,
      `use one of: ${ids.join(", ")}`,
    );
  }
  const { assistant_namespace: namespace } = settings;
  if (isUuidUrn(namespace) && !validate(namespace.slice("urn:uuid:".length))) {
    fail(
      "assistant_namespace",
      `assistant_namespace is not a UUID: ${namespace}`,
      "use a value such as urn:uuid:6ba7b811-9dad-11d1-80b4-00c04fd430c8, or any other URI",
    );
  }
  if (settings.cors_origin_regex !== undefined && !isPattern(settings.cors_origin_regex)) {
    fail(
      "cors_origin_regex",
      `cors_origin_regex is not a valid regular expression: ${settings.cors_origin_regex}`,
      "use a value such as https://[a-z0-9-]+\\.example\\.com",
    );
  }
  const clash = contradiction(settings.budgets ?? {});
  if (clash) fail("budgets", clash.message, clash.hint);
  const fault = settings.recording && recordingFault(settings.recording);
  if (fault) fail("recording", fault.message, fault.hint);
  return [
    ...deprecationWarnings(settings),
    ...queueWarnings(settings, origins),
    ...uriWarnings(settings, origins),
    ...corsWarnings(settings),
  ];
}

/** A limit that has no effect must not be ignored silently. */
function queueWarnings({ queue }: Settings, { max_concurrent_runs }: Origins): string[] {
  if (queue !== "none" || max_concurrent_runs.kind === "default") return [];
  return [
    "max_concurrent_runs has no effect without a queue: remove it and limit runs with max_active_runs, or set queue to postgres",
  ];
}

/** Warnings for settings of the previous release that no longer have an effect. */
function deprecationWarnings({ allow_unfiltered_messages, hold_messages }: Settings): string[] {
  if (allow_unfiltered_messages === undefined) return [];
  const now = hold_messages
    ? "hold_messages decides"
    : "messages are streamed live; hold_messages: true holds them";
  return [`allow_unfiltered_messages is deprecated and has no effect: ${now}. Remove it`];
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Values that are not origins: `*` is any origin, `loopback` this machine, `null` pages without an
 * origin.
 */
const SPECIAL_ORIGINS = new Set(["*", "loopback", "null"]);
/** Scheme, host and optional port, as browsers send it. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/*?#]+$/i;

function corsWarnings({ cors_origins, cors_credentials }: Settings): string[] {
  const warnings = cors_origins
    .filter((origin) => !SPECIAL_ORIGINS.has(origin) && !ORIGIN.test(origin))
    .map(
      (origin) =>
        `cors_origins: ${JSON.stringify(origin)} is not an origin; use https://host or https://host:port, and cors_origin_regex for patterns`,
    );
  if (cors_credentials && cors_origins.includes("*"))
    warnings.push(
      "cors_credentials with cors_origins * lets every web page send requests with its visitor's cookies",
    );
  return warnings;
}

/** A URI that does not match the chosen scheme is ignored (docs/specification.md#storage, 3). */
function uriWarnings(settings: Settings, origins: Record<SettingName, SettingOrigin>): string[] {
  const { checkpointer_scheme: scheme, checkpointer_uri: uri, stream, stream_uri } = settings;
  const unused = "stream_uri is ignored: stream is memory; set stream to redis or postgres to use it";
  const ignored = stream === "memory" && stream_uri !== undefined ? [unused] : [];
  if (uri === undefined || uriFits(scheme, uri)) return ignored;
  // The flag is meant to replace the storage of the configuration for once.
  const { checkpointer_scheme: from, checkpointer_uri: uriFrom } = origins;
  if (scheme === "memory" && from.kind === "flag" && uriFrom.kind !== "flag") return ignored;
  const kind = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1];
  const advice =
    kind && kind.length > 1 && kind !== "file" ? `the scheme ${kind}` : "checkpointer_scheme sqlite";
  return [
    ...ignored,
    `checkpointer_uri is ignored: it does not match checkpointer_scheme ${scheme}; set ${advice} to use it`,
  ];
}

const URIS: Record<string, RegExp> = {
  sqlite: /^(?![a-z][a-z0-9+.-]+:\/\/)|^(file|sqlite3?):/i,
  postgres: /^postgres(ql)?:\/\//i,
  postgresql: /^postgres(ql)?:\/\//i,
  mongodb: /^mongodb(\+srv)?:\/\//i,
  mongo: /^mongodb(\+srv)?:\/\//i,
  redis: /^rediss?:\/\//i,
  rediss: /^rediss?:\/\//i,
};

/** A custom storage accepts any URI. */
const uriFits = (scheme: string, uri: string): boolean =>
  (URIS[scheme]?.test(uri) ?? false) || storageModule(scheme) !== undefined;

export interface SettingOrigin {
  kind: "flag" | "env" | "file" | "default";
  /** The flag, the variable, file and line, or the reason for a default that differs from the schema's. */
  detail?: string;
}
