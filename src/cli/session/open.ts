/** Opens a service from settings. Everything that imports LangGraph is loaded from here, after the user's copy is set. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseGraphTarget, targetFrom } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { inMemory, withStorageOfFlags } from "../../config/local-settings.js";
import type { Settings } from "../../config/settings.js";
import type { ServiceOptions } from "../../service/options.js";
import type { GraphSummary } from "../../service/info.js";
import type { Service } from "../../service/service.js";
import { ConfigError, type StorageUnavailableError } from "../../support/errors.js";
import type { Logger } from "../../support/log.js";
import { readIfExists } from "../../support/read-text.js";
import { useLangGraphOf } from "../../support/user-langgraph.js";
import type { RunFault } from "../../support/run-fault.js";
import { escapeControl } from "../../view/text.js";
import { impliedScheme, settingsOfFlags, type StorageFlags, storageSettings } from "./options.js";
import { faultText } from "./report-error.js";
import { loadSettings, type Session, setVariables, type SettingsRequest } from "./session.js";
import type { Printer } from "../terminal/print.js";

type OpenOptions = Pick<
  ServiceOptions,
  | "mode"
  | "cutOffs"
  | "standIns"
  | "unfiltered"
  | "callFactories"
  | "onActivity"
  | "onThreadRemoved"
  | "storage"
>;

/**
 * Opens the service that the configuration describes. Sets its environment variables first; existing ones take
 * precedence.
 * @throws ConfigError, GraphLoadError, StorageUnavailableError
 */
export async function openConfigured(
  { settings, baseDir, env }: Pick<LoadedConfig, "settings" | "baseDir" | "env">,
  logger?: Logger,
  { mode = "run", ...options }: OpenOptions = {},
): Promise<Service> {
  if (mode === "serve" || (mode !== "read" && !options.standIns)) requireGraphs(settings);
  prepareProcess({ settings, baseDir, env });
  const { openService } = await import("../../service/open.js");
  const http_app = mode === "serve" ? settings.http_app : undefined;
  return openService({ settings: { ...settings, http_app }, cwd: baseDir, logger, mode, ...options });
}

/** Sets the configuration's environment variables, and selects the LangGraph copy of the graphs. */
export function prepareProcess({
  settings,
  baseDir,
  env,
}: Pick<LoadedConfig, "settings" | "baseDir" | "env">): void {
  setVariables(env);
  // Node keeps ten frames by default: too few to reach the user's code from an error thrown inside a library.
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, STACK_FRAMES);
  useLangGraphOf(graphFolder(settings, baseDir));
}

const STACK_FRAMES = 50;

/** Folder of the first graph; its copy of LangGraph is used. */
function graphFolder({ graphs }: Settings, baseDir: string): string {
  const [source] = Object.values(graphs);
  return source === undefined ? baseDir : dirname(resolve(baseDir, parseGraphTarget(source).path));
}

/** @throws ConfigError if no graph is configured (`config_invalid`) */
export function requireGraphs({ graphs }: Settings): void {
  if (Object.keys(graphs).length > 0) return;
  throw new ConfigError(
    "no graphs to serve: no file was given, and no configuration with `graphs` was found",
    {
      hint: "pass a file such as ./graph.ts:graph, or create a project: graph-serve init my-agent",
    },
  );
}

const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** A human-readable logger: one line per message; with `--verbose`, one line per request. */
export function createConsoleLogger(print: Printer, level: Settings["log_level"]): Logger {
  const at = (name: (typeof LEVELS)[number]) => {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => undefined;
    return (fields: object, message: string) => {
      if (message === REQUEST && !print.flags.verbose) return;
      print.note(noteOf(print, name, fields, message));
    };
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Failed runs are formatted like other errors; everything else is one line. */
function noteOf(print: Printer, level: string, fields: object, message: string): string {
  const { fault, graph_id: graph, run_id: run } = fields as FailedRunFields;
  if (!fault) return escapeControl(lineOf(level, fields, message));
  return faultText(fault, { colors: print.noteColors, cwd: print.cwd }, { graph, run });
}

interface FailedRunFields {
  fault?: RunFault;
  graph_id?: string;
  run_id?: string;
}

const REQUEST = "request";

function lineOf(level: string, fields: object, message: string): string {
  if (message === REQUEST) return requestLine(fields as RequestFields);
  const parts = Object.entries(fields).map(([key, value]) => `${key}=${textOf(value)}`);
  return [level.padEnd(5), message, ...parts].join(" ");
}

interface RequestFields {
  method: string;
  path: string;
  status: number;
  ms: number;
  aborted?: boolean;
}

function requestLine({ method, path, status, ms, aborted }: RequestFields): string {
  return `  ${method.padEnd(6)} ${path}  ${status}  ${Math.round(ms)} ms${aborted ? "  (client disconnected)" : ""}`;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}

// `.graph-serve`: the state folder of `dev`, with its threads and a marker of the running server.

const FOLDER = ".graph-serve";
const DATABASE = `${FOLDER}/dev.db`;
/** Origin of the settings that `withDevStorage` chooses. */
export const DEV_STORAGE = "default of dev and run; start uses memory";
/** Default folder of `dev --record` for recorded model and tool responses. */
export const TRANSCRIPTS = `${FOLDER}/transcripts`;

/** Describes a running `dev`, for other commands in the same folder. */
interface DevMarker {
  url: string;
  pid: number;
}

export interface DevConfig extends LoadedConfig {
  /** Why threads are kept in memory instead of the project's SQLite file. */
  notKept?: StorageUnavailableError;
}

/**
 * The settings of `dev` and `run`: without a configured scheme, threads are stored in an SQLite file of the project, so
 * that they survive a restart. If SQLite does not load, warns and keeps the default, memory.
 */
export async function withDevStorage(
  loaded: LoadedConfig,
  warn: (message: string) => void,
): Promise<DevConfig> {
  const config = { ...loaded, settings: withStorageOfFlags(loaded.settings, loaded.origins) };
  const { settings, origins, baseDir } = config;
  const unnamed = origins.checkpointer_scheme.kind === "default";
  const needsFile =
    unnamed || (settings.checkpointer_scheme === "sqlite" && settings.checkpointer_uri === undefined);
  if (!needsFile) return config;
  const { sqliteFault } = await import("../../client/rows.js");
  const notKept = unnamed ? await sqliteFault(baseDir) : undefined;
  if (notKept) {
    warn(
      `${notKept.message}: threads are kept in memory and lost when the process exits; to keep them, ${notKept.hint}`,
    );
    return { ...config, notKept };
  }
  const stored = { checkpointer_scheme: "sqlite", checkpointer_uri: DATABASE };
  const chosen = { kind: "default", detail: DEV_STORAGE } as const;
  const changed = { checkpointer_uri: chosen, ...(unnamed && { checkpointer_scheme: chosen }) };
  return {
    ...config,
    settings: Object.freeze({ ...settings, ...stored }),
    origins: { ...origins, ...changed },
  };
}

/** Whether these settings store threads in the state folder. */
export function usesStateFolder({ settings }: Pick<LoadedConfig, "settings">): boolean {
  return settings.checkpointer_scheme === "sqlite" && settings.checkpointer_uri === DATABASE;
}

/** Creates the state folder with a .gitignore that excludes it from git. */
export async function makeStateFolder(baseDir: string): Promise<void> {
  const folder = join(baseDir, FOLDER);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, ".gitignore"), "*\n");
}

/** Path of a file in the state folder. */
export const stateFile = (baseDir: string, name: string): string => join(baseDir, FOLDER, name);

const markerFile = (baseDir: string): string => stateFile(baseDir, "dev.json");

export async function writeMarker(baseDir: string, marker: DevMarker): Promise<void> {
  await makeStateFolder(baseDir);
  await writeFile(markerFile(baseDir), `${JSON.stringify(marker)}\n`);
}

/** The marker of the last `dev` in this folder; stale if that process crashed. */
export async function readMarker(baseDir: string): Promise<DevMarker | undefined> {
  try {
    return JSON.parse(await readFile(markerFile(baseDir), "utf8")) as DevMarker;
  } catch {
    return undefined;
  }
}

/** Removes the marker, unless another process has written its own since. */
export async function removeMarker(baseDir: string, pid: number): Promise<void> {
  const marker = await readMarker(baseDir);
  if (marker?.pid === pid) await rm(markerFile(baseDir), { force: true });
}

// Graph files that were passed on the command line: later commands need them to read their threads.

const graphsFile = (baseDir: string): string => stateFile(baseDir, "graphs.json");

/** Remembers the files of the graphs that loaded if they were passed on the command line. */
export async function rememberGraphs(
  { settings, origins, baseDir }: LoadedConfig,
  faults?: ReadonlyMap<string, unknown>,
): Promise<void> {
  if (origins.graphs.kind !== "flag") return;
  const before = await rememberedGraphs({ baseDir });
  const loaded = Object.entries(settings.graphs).filter(([id]) => !faults?.has(id));
  const graphs = { ...before, ...Object.fromEntries(loaded) };
  if (isDeepStrictEqual(graphs, before)) return;
  await makeStateFolder(baseDir);
  await writeFile(graphsFile(baseDir), `${JSON.stringify(graphs, null, 2)}\n`);
}

/** Remembered sources by graph id; files that no longer exist are skipped. */
async function rememberedGraphs({ baseDir }: Pick<LoadedConfig, "baseDir">): Promise<Record<string, string>> {
  const text = await readIfExists(graphsFile(baseDir)).catch(() => undefined);
  const isThere = (source: unknown) =>
    typeof source === "string" && existsSync(resolve(baseDir, parseGraphTarget(source).path));
  try {
    const entries = Object.entries(JSON.parse(text ?? "{}") as Record<string, string>);
    return Object.fromEntries(entries.filter(([, source]) => isThere(source)));
  } catch {
    return {};
  }
}

/** The configuration with remembered graphs after its own, and the command-line target of each. */
export async function withRememberedGraphs(
  config: LoadedConfig,
  cwd: string,
): Promise<{ config: LoadedConfig; targets: Record<string, string> }> {
  const { settings, baseDir } = config;
  const known = Object.entries(await rememberedGraphs(config));
  const others = known.filter(([id]) => !Object.hasOwn(settings.graphs, id));
  if (others.length === 0) return { config, targets: {} };
  const graphs = { ...settings.graphs, ...Object.fromEntries(others) };
  return {
    config: { ...config, settings: Object.freeze({ ...settings, graphs }) },
    targets: Object.fromEntries(others.map(([id, source]) => [id, targetFrom(source, { cwd, baseDir })])),
  };
}

// Opens a single graph without its storage and without loading other graphs.

interface OpenGraph {
  id: string;
  summary: GraphSummary;
  service: Service;
  /** Folder that the graph's path is relative to. */
  baseDir: string;
  close(): Promise<void>;
}

/**
 * Loads the graph `target`, by default the configuration's default graph.
 * @throws ConfigError, GraphLoadError
 */
export async function openGraph(session: Session, target: string | undefined): Promise<OpenGraph> {
  const config = await loadSettings(session, { graphs: target === undefined ? [] : [target] });
  const id = config.settings.default_assistant_id ?? Object.keys(config.settings.graphs)[0] ?? "";
  const service = await openConfigured(onlyGraph(config, id));
  for (const notice of service.notices) session.print.warn(notice);
  const [summary] = await service.graphs();
  if (!summary) throw new ConfigError(`graph "${id}" is not configured`);
  return { id, summary, service, baseDir: config.baseDir, close: () => service.close(0) };
}

/** The same configuration with only this graph, and memory as its storage. */
export function onlyGraph(config: LoadedConfig, id: string): LoadedConfig {
  const source = config.settings.graphs[id];
  if (source === undefined) return config;
  return {
    ...config,
    settings: { ...inMemory(config.settings), graphs: { [id]: source }, default_assistant_id: id },
  };
}

// Opens the configured storage without graphs.

/** The settings of commands that read the storage of `dev` and `start`. */
export async function storageConfig(
  session: Session,
  flags: StorageFlags,
  options: Omit<SettingsRequest, "settings"> = {},
): Promise<DevConfig> {
  const settings = settingsOfFlags(storageSettings(impliedScheme(flags)));
  const warn = options.warn ?? ((message) => session.print.warn(message));
  return withDevStorage(await loadSettings(session, { ...options, settings }), warn);
}

/**
 * Opens the storage without graphs. `run` recovers the runs of a crashed server.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export function openStorageOf(config: LoadedConfig, mode: "read" | "edit" | "run"): Promise<Service> {
  return openConfigured(config, undefined, {
    mode,
    standIns: true,
    ...(mode === "run" && { cutOffs: "end" }),
  });
}
