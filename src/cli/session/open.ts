/** From settings to an open service. The only way to what imports LangGraph, so that the user's copy can come first. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseGraphTarget, targetFrom } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import type { Settings } from "../../config/settings.js";
import type { GraphSummary, Service, ServiceOptions } from "../../service/service.js";
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

interface OpenOptions extends Pick<
  ServiceOptions,
  "readOnly" | "passive" | "cutOffs" | "standIns" | "unfiltered" | "callFactories" | "onActivity"
> {
  /** Whether requests will come over HTTP: only then is the app in front of them loaded. */
  serves?: boolean;
}

/**
 * Open the service that the configuration describes. Its variables enter the process first, where what is set wins.
 * @throws ConfigError, GraphLoadError, StorageUnavailableError
 */
export async function openConfigured(
  { settings, baseDir, env }: Pick<LoadedConfig, "settings" | "baseDir" | "env">,
  logger?: Logger,
  { serves = false, ...options }: OpenOptions = {},
): Promise<Service> {
  if (serves || (!options.readOnly && !options.standIns)) requireGraphs(settings);
  prepareProcess({ settings, baseDir, env });
  const { openService } = await import("../../service/service.js");
  const http_app = serves ? settings.http_app : undefined;
  const service = { settings: { ...settings, http_app }, cwd: baseDir, logger, ...options };
  return openService(serves ? { ...service, serves } : service);
}

/** Let the variables of the configuration enter the process, and the graphs' copy of LangGraph be the one to use. */
export function prepareProcess({
  settings,
  baseDir,
  env,
}: Pick<LoadedConfig, "settings" | "baseDir" | "env">): void {
  setVariables(env);
  // Between what a library throws and the code that called it are more frames than the ten that are kept otherwise.
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, STACK_FRAMES);
  useLangGraphOf(graphFolder(settings, baseDir));
}

const STACK_FRAMES = 50;

/** Where the first graph lives: its copy of LangGraph is the one to use. */
function graphFolder({ graphs }: Settings, baseDir: string): string {
  const [source] = Object.values(graphs);
  return source === undefined ? baseDir : dirname(resolve(baseDir, parseGraphTarget(source).path));
}

/** @throws ConfigError where there is nothing to serve (`config_invalid`) */
export function requireGraphs({ graphs }: Settings): void {
  if (Object.keys(graphs).length > 0) return;
  throw new ConfigError(
    "there is no graph: no file was named, and no configuration with `graphs` was found",
    {
      hint: "name a file, such as ./graph.ts:graph, or begin with: graph-serve init my-agent",
    },
  );
}

const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** A logger for people: one short line a message, with `--verbose` a request in one line. */
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

/** A failed run is reported like other errors, anything else in one line. */
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
  return `  ${method.padEnd(6)} ${path}  ${status}  ${Math.round(ms)} ms${aborted ? "  (client gone)" : ""}`;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}

// `.graph-serve`: where `dev` keeps its threads and leaves word of itself.

const FOLDER = ".graph-serve";
const DATABASE = `${FOLDER}/dev.db`;
/** Default folder of `dev --record` for answers of models and tools. */
export const TRANSCRIPTS = `${FOLDER}/transcripts`;

/** What a running `dev` says of itself. */
interface DevMarker {
  url: string;
  pid: number;
}

export interface DevConfig extends LoadedConfig {
  /** Why threads are not kept in a file of the project, as they would be. */
  notKept?: StorageUnavailableError;
}

/**
 * The settings of `dev` and `run`: threads are kept in a file of the project when no scheme was named, so that they
 * survive a restart; the setting's own default stays memory. It holds where SQLite does not load, with a warning.
 */
export async function withDevStorage(
  config: LoadedConfig,
  warn: (message: string) => void,
): Promise<DevConfig> {
  const { settings, origins, baseDir } = config;
  const unnamed = origins.checkpointer_scheme.kind === "default";
  const needsFile =
    unnamed || (settings.checkpointer_scheme === "sqlite" && settings.checkpointer_uri === undefined);
  if (!needsFile) return config;
  const { sqliteFault } = await import("../../client/rows.js");
  const notKept = unnamed ? await sqliteFault(baseDir) : undefined;
  if (notKept) {
    warn(
      `${notKept.message}: threads are held in memory, and end with the process that has them; to keep them, ${notKept.hint}`,
    );
    return { ...config, notKept };
  }
  const stored = { checkpointer_scheme: "sqlite", checkpointer_uri: DATABASE };
  return { ...config, settings: Object.freeze({ ...settings, ...stored }) };
}

/** True when the threads of these settings live in the state folder. */
export function usesStateFolder({ settings }: Pick<LoadedConfig, "settings">): boolean {
  return settings.checkpointer_scheme === "sqlite" && settings.checkpointer_uri === DATABASE;
}

/** Make the folder, which keeps itself out of git. */
export async function makeStateFolder(baseDir: string): Promise<void> {
  const folder = join(baseDir, FOLDER);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, ".gitignore"), "*\n");
}

const markerFile = (baseDir: string): string => join(baseDir, FOLDER, "dev.json");

export async function writeMarker(baseDir: string, marker: DevMarker): Promise<void> {
  await makeStateFolder(baseDir);
  await writeFile(markerFile(baseDir), `${JSON.stringify(marker)}\n`);
}

/** What the last `dev` of this folder left; it may have died without taking it away. */
export async function readMarker(baseDir: string): Promise<DevMarker | undefined> {
  try {
    return JSON.parse(await readFile(markerFile(baseDir), "utf8")) as DevMarker;
  } catch {
    return undefined;
  }
}

/** Take the marker away, unless another process has written its own since. */
export async function removeMarker(baseDir: string, pid: number): Promise<void> {
  const marker = await readMarker(baseDir);
  if (marker?.pid === pid) await rm(markerFile(baseDir), { force: true });
}

// Graphs that were served from files which no configuration names: later commands that read their threads need them.

const graphsFile = (baseDir: string): string => join(baseDir, FOLDER, "graphs.json");

/** Keep which files the graphs come from, when the command line named them. */
export async function rememberGraphs({ settings, origins, baseDir }: LoadedConfig): Promise<void> {
  if (origins.graphs.kind !== "flag") return;
  const before = await rememberedGraphs({ baseDir });
  const graphs = { ...before, ...settings.graphs };
  if (isDeepStrictEqual(graphs, before)) return;
  await makeStateFolder(baseDir);
  await writeFile(graphsFile(baseDir), `${JSON.stringify(graphs, null, 2)}\n`);
}

/** Sources by graph id, as far as their files are still there. */
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

/** The configuration with the graphs that it does not name itself behind its own, and what calls each of those. */
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

// One graph, loaded and ready to be asked about itself: no storage is touched, no other graph is loaded.

interface OpenGraph {
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

// The configured storage, opened for a look at itself: no graph is needed, nothing is changed.

/** The settings of the commands that read what `dev` and `start` keep. */
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
 * With `serve` as a server opens it, which settles what a dead one left.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export function openStorageOf(config: LoadedConfig, access: "read" | "write" | "serve"): Promise<Service> {
  const options = { readOnly: access === "read", passive: access !== "serve", standIns: true };
  return openConfigured(config, undefined, { ...options, ...(access === "serve" && { cutOffs: "end" }) });
}
