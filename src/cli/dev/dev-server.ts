/** The server of `dev`: the same address over reloads of its graphs and changes of its settings. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { LoadedConfig } from "../../config/load.js";
import type { SettingsInput } from "../../config/settings.js";
import type { ListenOptions, RunningServer } from "../../http/server.js";
import type { StudioHelpers } from "../../http/studio/helpers.js";
import type { Service } from "../../service/service.js";
import { ConfigError, type GraphLoadError } from "../../support/errors.js";
import type { Logger } from "../../support/log.js";
import type { Metrics } from "../../support/metrics.js";
import { RunLines } from "./run-lines.js";
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

// Runs in flight hold up the new settings for this long at most.
const RESTART_GRACE_SECONDS = 2;

interface DevRequest {
  graphs: readonly string[];
  settings: SettingsInput;
  /** What the Studio is helped with; undefined where it is not served. */
  helpers: StudioHelpers | undefined;
  /** Watches the event loop, from when the settings are known. */
  watch: ProcessWatch;
  /** Called when it is known what is to be served, before any graph is loaded. */
  beforeGraphs: (config: LoadedConfig) => Promise<void>;
}

export class DevServer {
  readonly #session: Session;
  readonly #request: DevRequest;
  readonly #lines: RunLines;
  #config: LoadedConfig;
  #service: Service;
  #server: RunningServer;
  /** The address of the settings that it listens at, or as near as it could. */
  #asked: Pick<Address, "host" | "port">;

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
    this.#asked = addressOf(config);
  }

  /**
   * Load, open and listen; placeholders replace graphs that fail to load.
   * @throws ConfigError, GraphLoadError from the auth function and the app, StorageUnavailableError
   */
  static async open(session: Session, request: DevRequest): Promise<DevServer> {
    const lines = new RunLines(session.print);
    const opened = await open(session, request, lines);
    const { settings, origins } = opened.config;
    try {
      const mayMove = origins.port.kind === "default";
      const studio = studioOf(request);
      const address = { host: settings.host, port: settings.port, mayMove, studio };
      const server = await listenAt(opened.service, address);
      const dev = new DevServer(session, request, lines, opened, server);
      await dev.#leaveWord();
      return dev;
    } catch (error) {
      await opened.service.close(0);
      throw error;
    }
  }

  get url(): string {
    return this.#server.url;
  }

  /** Why it listens elsewhere than at the usual port; undefined when it does not. */
  async moved(): Promise<string | undefined> {
    const { host, port } = this.#asked;
    if (this.#config.origins.port.kind !== "default" || this.#server.port === port) return undefined;
    return `port ${port} of ${host} is taken${byWhom(await holderOf(port))}, so this server is at ${this.#server.port}`;
  }

  /** Where the Studio is, with what it needs to be helped. */
  get studio(): string | undefined {
    const { helpers } = this.#request;
    // The fragment is never sent over the network, and no page that another process can load contains it.
    return helpers && `${this.url}/studio/#token=${helpers.token}`;
  }

  get service(): Service {
    return this.#service;
  }

  get config(): LoadedConfig {
    return this.#config;
  }

  /** Files whose change calls for a reload or a restart. */
  get files(): string[] {
    return [...this.#service.watchedFiles(), ...this.#config.files];
  }

  /** True when these changes concern the settings, not only the graphs. */
  needsRestart(changed: readonly string[]): boolean {
    return changed.some((file) => this.#config.files.includes(file));
  }

  /**
   * Reload the graphs; if one fails to load, its last good version keeps serving.
   * @returns why graphs do not load, by graph id
   * @throws GraphLoadError from the auth function and the app; nothing changes then
   */
  async reload(): Promise<Map<string, GraphLoadError>> {
    return this.#service.reload();
  }

  /**
   * Reload the settings and serve with them at the same address. A failed load changes nothing, unless it did not
   * load before.
   * @returns why graphs do not load, by graph id
   * @throws ConfigError, GraphLoadError, StorageUnavailableError
   */
  async restart(): Promise<Map<string, GraphLoadError>> {
    const opened = await open(this.#session, this.#request, this.#lines);
    const faults = opened.service.graphFaults();
    const served = new Set((await this.#service.graphs()).filter(({ fault }) => !fault).map(({ id }) => id));
    const lost = [...faults].find(([id]) => served.has(id));
    if (lost) {
      await opened.service.close(0);
      throw lost[1];
    }
    const studio = studioOf(this.#request);
    const before = { host: this.#server.host, port: this.#server.port };
    const asked = addressOf(opened.config);
    const after = asked.host === this.#asked.host && asked.port === this.#asked.port ? before : asked;
    await this.#server.close(RESTART_GRACE_SECONDS);
    this.#service = opened.service;
    this.#config = opened.config;
    try {
      this.#server = await listenAt(opened.service, { ...after, mayMove: false, studio });
      this.#asked = asked;
    } catch (error) {
      this.#server = await listenAt(opened.service, { ...before, mayMove: true, studio });
      throw error;
    } finally {
      await this.#leaveWord();
    }
    return faults;
  }

  async close(): Promise<void> {
    await removeMarker(this.#config.baseDir, process.pid);
    await this.#server.close(this.#config.settings.shutdown_grace_seconds);
  }

  async #leaveWord(): Promise<void> {
    this.#lines.url = this.url;
    await writeMarker(this.#config.baseDir, { url: this.url, pid: process.pid });
  }
}

const studioOf = ({ helpers }: DevRequest): ListenOptions["studio"] => (helpers ? { helpers } : false);

interface Opened {
  config: LoadedConfig;
  service: Service;
}

async function open(
  session: Session,
  { graphs, settings, watch, beforeGraphs }: DevRequest,
  lines: RunLines,
): Promise<Opened> {
  const config = await withDevStorage(await loadServableSettings(session, { graphs, settings }), (message) =>
    session.print.warn(message),
  );
  if (usesStateFolder(config)) await makeStateFolder(config.baseDir);
  await beforeGraphs(config);
  const logger = createConsoleLogger(session.print, config.settings.log_level);
  const observers: { logger: Logger; metrics?: Metrics } = { logger };
  // Runs that are recovered begin while the service opens.
  await watch.begin(config.settings, { observers, format: "text" });
  const service = await openConfigured(config, logger, {
    serves: true,
    standIns: true,
    callFactories: true,
    onActivity: showsRuns(session, config) ? (activity) => lines.show(activity) : undefined,
  });
  observers.metrics = service.metrics;
  await rememberGraphs(config);
  for (const notice of service.notices) session.print.warn(notice);
  return { config, service };
}

/** Runs are watched only where what they do is shown, as what is less than a warning. */
function showsRuns({ print }: Session, { settings: { log_level } }: LoadedConfig): boolean {
  return !print.flags.quiet && (log_level === "info" || log_level === "debug");
}

// Finds a port to listen on, or says who has it.

interface Address {
  host: string;
  port: number;
  /** Whether the next free port will do. */
  mayMove: boolean;
  studio?: ListenOptions["studio"];
  readOnly?: boolean;
}

const addressOf = ({ settings: { host, port } }: LoadedConfig) => ({ host, port });

const MOST_STEPS = 100;
const LOOKUP_MS = 2_000;

/**
 * Serve at the address, or at the next free port where that is allowed.
 * @throws ConfigError that names the process which has the port (`config_invalid`)
 */
export async function listenAt(
  service: Service,
  { studio, readOnly, ...address }: Address,
): Promise<RunningServer> {
  const { startServer } = await import("../../http/server.js");
  return listenOnFreePort(address, (at) => startServer(service, { ...at, studio, readOnly }));
}

/** As `listenAt`, for any server: `listen` is tried with one address after the other. */
export async function listenOnFreePort<T>(
  { host, port, mayMove }: Pick<Address, "host" | "port" | "mayMove">,
  listen: (at: { host: string; port: number }) => Promise<T>,
): Promise<T> {
  for (let step = 0; ; step += 1) {
    try {
      return await listen({ host, port: port + step });
    } catch (error) {
      if (!isPortTaken(error)) throw error;
      if (!mayMove) throw await portTaken(host, port, error);
      if (step === MOST_STEPS) throw error;
    }
  }
}

function isPortTaken(error: unknown): error is ConfigError {
  const cause = error instanceof ConfigError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "EADDRINUSE";
}

async function portTaken(host: string, port: number, cause: ConfigError): Promise<ConfigError> {
  return new ConfigError(`port ${port} of ${host} is taken${byWhom(await holderOf(port))}`, {
    hint: `choose another one, such as -p ${port + 1}, or -p 0 for any`,
    cause,
  });
}

const byWhom = (holder: string | undefined): string => (holder === undefined ? "" : ` by ${holder}`);

/** Name and id of the process that listens on `port`, if the system reports it. */
async function holderOf(port: number): Promise<string | undefined> {
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
