/** The server of `dev`, which keeps its address across graph reloads and settings changes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { LoadedConfig } from "../../config/load.js";
import type { SettingsInput } from "../../config/settings.js";
import type { RunningServer } from "../../http/listen.js";
import type { StudioHelpers } from "../../http/studio/helpers.js";
import type { StudioOptions } from "../../http/studio/studio.js";
import type { Service } from "../../service/service.js";
import { ConfigError, type GraphLoadError } from "../../support/errors.js";
import type { Logger } from "../../support/log.js";
import type { Metrics } from "../../support/metrics.js";
import { stepOf } from "../run/outcome.js";
import { importServer } from "../session/deferred-parts.js";
import type { StorageFlags } from "../session/options.js";
import { withFoundGraphs } from "./found-graphs.js";
import { RunLines } from "../run/run-lines.js";
import {
  createConsoleLogger,
  makeStateFolder,
  openConfigured,
  rememberGraphs,
  removeMarker,
  usesStateFolder,
  withDevStorage,
  writeMarker,
} from "../session/open.js";
import { loadServableSettings, type Session } from "../session/session.js";
import type { ProcessWatch } from "../session/watchdog.js";

// Maximum time that runs in flight can delay new settings.
const RESTART_GRACE_SECONDS = 2;

interface DevRequest {
  graphs: readonly string[];
  settings: SettingsInput;
  /** Flags that select the storage. */
  place: StorageFlags;
  /** Local helpers of the Studio; undefined if the Studio is not served. */
  helpers: StudioHelpers | undefined;
  /** Watches the event loop; started after the settings are loaded. */
  watch: ProcessWatch;
  /** Called after the settings are loaded and before the graphs are. */
  beforeGraphs: (config: LoadedConfig) => Promise<void>;
}

export class DevServer {
  readonly #session: Session;
  readonly #request: DevRequest;
  readonly #lines: RunLines;
  #config: LoadedConfig;
  #service: Service;
  #server: RunningServer;
  /** The configured address; the actual port may differ if it was taken. */
  #configured: Pick<Address, "host" | "port">;

  private constructor(
    session: Session,
    request: DevRequest,
    lines: RunLines,
    { config, service }: Opened,
    server: RunningServer,
  ) {
    this.#session = session;
    this.#request = request;
    this.#lines = lines;
    this.#config = config;
    this.#service = service;
    this.#server = server;
    this.#configured = addressOf(config);
  }

  /**
   * Loads the graphs, opens the storage and listens; placeholders replace graphs that fail to load.
   * @throws GraphLoadError for a graph file or an export that does not exist, and from the auth function and the app
   * @throws ConfigError, StorageUnavailableError
   */
  static async open(session: Session, request: DevRequest): Promise<DevServer> {
    const { print } = session;
    const output = {
      write: (line: string) => print.note(line),
      colors: print.noteColors,
      isShort: print.isWatched,
    };
    const lines = new RunLines(output, { ...session.flags, ...request.place });
    const opened = await open(session, request, lines, "existing");
    const { settings, origins } = opened.config;
    try {
      const mayMove = origins.port.kind === "default";
      const studio = studioOf(request);
      const address = { host: settings.host, port: settings.port, mayMove, studio };
      const server = await listenAt(opened.service, address);
      const dev = new DevServer(session, request, lines, opened, server);
      lines.stepOf = async (threadId) => stepOf(await dev.service.state.get(threadId));
      await dev.#writeMarker();
      return dev;
    } catch (error) {
      await opened.service.close(0);
      throw error;
    }
  }

  get url(): string {
    return this.#server.url;
  }

  /** Why the server does not use the configured port; undefined if it does. */
  async moved(): Promise<string | undefined> {
    const { host, port } = this.#configured;
    if (this.#config.origins.port.kind !== "default" || this.#server.port === port) return undefined;
    return `port ${port} on ${host} is in use${byProcess(await processOnPort(port))}, using port ${this.#server.port} instead`;
  }

  /** URL of the Studio, including its helper token. */
  get studio(): string | undefined {
    const { helpers } = this.#request;
    // The fragment is not sent to the server, and no page that another process can load contains the token.
    return helpers && `${this.url}/studio/#token=${helpers.token}`;
  }

  get service(): Service {
    return this.#service;
  }

  get config(): LoadedConfig {
    return this.#config;
  }

  /** Files whose changes need a reload or a restart. */
  get files(): string[] {
    return [...this.#service.watchedFiles(), ...this.#config.files];
  }

  /** Whether settings files changed, not only graphs. */
  needsRestart(changed: readonly string[]): boolean {
    return changed.some((file) => this.#config.files.includes(file));
  }

  /**
   * Reloads the graphs; if one fails to load, its last working version is still served.
   * @returns load errors by graph id
   * @throws GraphLoadError from the auth function or the custom app; nothing changes then
   */
  async reload(): Promise<Map<string, GraphLoadError>> {
    const faults = await this.#service.reload();
    await rememberGraphs(this.#config, faults);
    return faults;
  }

  /**
   * Reloads the settings and restarts at the same address. If loading fails, the previous service keeps running; a graph
   * that has not loaded yet does not block the restart.
   * @returns load errors by graph id
   * @throws ConfigError, GraphLoadError, StorageUnavailableError
   */
  async restart(): Promise<Map<string, GraphLoadError>> {
    const opened = await open(this.#session, this.#request, this.#lines, true);
    const faults = opened.service.graphFaults();
    const served = new Set((await this.#service.graphs()).filter(({ fault }) => !fault).map(({ id }) => id));
    const lost = [...faults].find(([id]) => served.has(id));
    if (lost) {
      await opened.service.close(0);
      throw lost[1];
    }
    const studio = studioOf(this.#request);
    const before = { host: this.#server.host, port: this.#server.port };
    const configured = addressOf(opened.config);
    const after =
      configured.host === this.#configured.host && configured.port === this.#configured.port
        ? before
        : configured;
    await this.#server.close(RESTART_GRACE_SECONDS);
    this.#service = opened.service;
    this.#config = opened.config;
    try {
      this.#server = await listenAt(opened.service, { ...after, mayMove: false, studio });
      this.#configured = configured;
    } catch (error) {
      this.#server = await listenAt(opened.service, { ...before, mayMove: true, studio });
      throw error;
    } finally {
      await this.#writeMarker();
    }
    return faults;
  }

  async close(): Promise<void> {
    await removeMarker(this.#config.baseDir, process.pid);
    await this.#server.close(this.#config.settings.shutdown_grace_seconds);
  }

  async #writeMarker(): Promise<void> {
    this.#lines.url = this.url;
    await writeMarker(this.#config.baseDir, { url: this.url, pid: process.pid });
  }
}

const studioOf = ({ helpers }: DevRequest): boolean | StudioOptions => (helpers ? { helpers } : false);

interface Opened {
  config: LoadedConfig;
  service: Service;
}

async function open(
  session: Session,
  { graphs, settings, watch, beforeGraphs }: DevRequest,
  lines: RunLines,
  standIns: true | "existing",
): Promise<Opened> {
  const loaded = await withDevStorage(await loadServableSettings(session, { graphs, settings }), (message) =>
    session.print.warn(message),
  );
  await beforeGraphs(loaded);
  const isUnnamed = Object.keys(loaded.settings.graphs).length === 0;
  const config = isUnnamed ? await withFoundGraphs(session, loaded) : loaded;
  if (usesStateFolder(config)) await makeStateFolder(config.baseDir);
  const logger = createConsoleLogger(session.print, config.settings.log_level);
  const observers: { logger: Logger; metrics?: Metrics } = { logger };
  // Start before the service opens, because opening it starts recovered runs.
  await watch.begin(config.settings, { observers, format: "text" });
  await importServer();
  const service = await openConfigured(config, logger, {
    mode: "serve",
    standIns,
    callFactories: true,
    onActivity: showsRuns(session, config) ? (activity) => lines.show(activity) : undefined,
  });
  observers.metrics = service.metrics;
  await rememberGraphs(config, service.graphFaults());
  for (const notice of service.notices) session.print.warn(notice);
  return { config, service };
}

/** Run activity is printed only at log level info or below, and not with --quiet. */
function showsRuns({ print }: Session, { settings: { log_level } }: LoadedConfig): boolean {
  return !print.flags.quiet && (log_level === "info" || log_level === "debug");
}

// Finds a free port, or reports which process uses it.

interface Address {
  host: string;
  port: number;
  /** Whether the server may use the next free port instead. */
  mayMove: boolean;
  studio?: boolean | StudioOptions;
  readOnly?: boolean;
}

const addressOf = ({ settings: { host, port } }: LoadedConfig) => ({ host, port });

const MOST_STEPS = 100;
const LOOKUP_MS = 2_000;

/**
 * Listens on the address, or on the next free port if that is allowed.
 * @throws ConfigError with the process that uses the port (`config_invalid`)
 */
export async function listenAt(
  service: Service,
  { studio, readOnly, ...address }: Address,
): Promise<RunningServer> {
  const { startServer } = await import("../../http/server.js");
  return listenOnFreePort(address, (at) => startServer(service, { ...at, studio, readOnly }));
}

/** Like `listenAt`, for any server: tries `listen` with one port after the other. */
export async function listenOnFreePort<T>(
  { host, port, mayMove }: Pick<Address, "host" | "port" | "mayMove">,
  listen: (at: { host: string; port: number }) => Promise<T>,
): Promise<T> {
  for (let step = 0; ; step += 1) {
    try {
      return await listen({ host, port: port + step });
    } catch (error) {
      if (!isPortTaken(error)) throw error;
      if (!mayMove) throw await withPortHolder(error, { host, port });
      if (step === MOST_STEPS) throw error;
    }
  }
}

function isPortTaken(error: unknown): error is ConfigError {
  const cause = error instanceof ConfigError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "EADDRINUSE";
}

/** An error of a server that cannot listen. If the port is in use, it names the process and the flag for another port. */
export async function withPortHolder(error: unknown, at: Pick<Address, "host" | "port">): Promise<unknown> {
  if (!isPortTaken(error)) return error;
  return portTaken(at, `another port, such as -p ${at.port + 1}, or -p 0`, error);
}

/** @param use what to use instead, ending with the flag for any free port */
export async function portTaken(
  { host, port }: { host: string; port: number },
  use: string,
  cause: unknown,
): Promise<ConfigError> {
  return new ConfigError(`port ${port} on ${host} is in use${byProcess(await processOnPort(port))}`, {
    hint: `use ${use} for any free port`,
    cause,
  });
}

const byProcess = (holder: string | undefined): string => (holder === undefined ? "" : ` by ${holder}`);

/** Name and id of the process that listens on `port`, if the system reports it. */
async function processOnPort(port: number): Promise<string | undefined> {
  try {
    const list = promisify(execFile)("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], {
      timeout: LOOKUP_MS,
    });
    const { stdout } = await list;
    const pid = /^p(\d+)$/m.exec(stdout)?.[1];
    const name = /^c(.+)$/m.exec(stdout)?.[1];
    return pid === undefined ? undefined : `${name ?? "a process"} (pid ${pid})`;
  } catch {
    return undefined;
  }
}
