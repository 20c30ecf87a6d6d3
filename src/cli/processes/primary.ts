/**
 * The primary process of `start --processes`: owns the port and the signals, starts the server processes, and restarts
 * those that end. It executes no graphs, so that nothing blocks it.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import type { Settings } from "../../config/settings.js";
import type { Logger } from "../../support/log.js";
import { pause, withTimeout } from "../../support/pause.js";
import type { StopListener } from "../session/stop.js";
import { HealthServer, type ProbedProcess } from "./health.js";
import {
  isOwnMessage,
  type PrimaryMessage,
  type ProcessMessage,
  type Seat,
  SEAT_VARIABLE,
} from "./messages.js";

/** Delays of the second and later restarts within a minute, in seconds: doubled up to the longest. */
const FIRST_DELAY = 1;
const LONGEST_DELAY = 30;
/** A process that ran for this long starts again immediately, in milliseconds. */
const STEADY_MS = 60_000;
/** Timeout of the metrics of one process: longer than its own timeout for the storage, in milliseconds. */
const METRICS_MS = 2_500;
/** Extra time of a process to end after its own limit, in milliseconds. */
const SPARE_MS = 2_000;

interface Options {
  settings: Settings;
  logger: Logger;
  stop: StopListener;
}

/** Runs the server processes until a signal; returns the exit code. */
export async function runProcesses({ settings, logger, stop }: Options): Promise<number> {
  const { processes, shutdown_grace_seconds } = settings;
  if (processes > availableParallelism())
    logger.warn(
      { processes, cores: availableParallelism() },
      "more processes than CPU cores: they slow each other down",
    );
  const primary = new Primary(settings, logger, await portOf(settings));
  // Also called on a second signal, which exits immediately.
  process.on("exit", () => primary.kill());
  let reason: string | undefined;
  const stopped = stop.stopped.then((name) => {
    logger.info({ reason: name, grace_seconds: shutdown_grace_seconds }, "stopping all processes");
    primary.stop((reason = name), stop.limitSeconds * 1000 + SPARE_MS);
  });
  const health = await primary.listenForProbes();
  try {
    const code = await primary.start(health);
    if (code !== undefined && reason === undefined) return code;
    await stopped;
    await primary.ended();
    logger.info({}, "all processes have stopped");
  } finally {
    await primary.closeProbes();
  }
  stop.done();
  return primary.hasKilled ? 1 : 0;
}

/** The port of all processes. They would not agree on one if each picked a free port. */
async function portOf({ port, host }: Settings): Promise<number> {
  if (port !== 0) return port;
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}

class Primary {
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #places: Place[];
  #probes: HealthServer | undefined;
  readonly #port: number;
  readonly #stopping = new AbortController();
  #stop: { reason: string; limitMs: number } | undefined;
  #hasListened = false;

  constructor(settings: Settings, logger: Logger, port: number) {
    this.#settings = settings;
    this.#logger = logger;
    this.#port = port;
    this.#places = Array.from({ length: settings.processes }, (_, index) => new Place(index + 1));
  }

  /** Whether a process did not end within its limit. */
  get hasKilled(): boolean {
    return this.#places.some(({ isKilled }) => isKilled);
  }

  /**
   * Listens on `health_port` and returns its URL; undefined without one.
   * @throws ConfigError if the port is not available (`config_invalid`)
   */
  async listenForProbes(): Promise<string | undefined> {
    if (this.#settings.health_port === undefined) return undefined;
    this.#probes = await HealthServer.listen(this.#settings, () => this.#places);
    return this.#probes.url;
  }

  async closeProbes(): Promise<void> {
    await this.#probes?.close();
  }

  /**
   * Starts one process, then the others, so that an error of the graphs or the storage is printed once.
   * @returns the exit code of the first one if it ends before it listens
   */
  async start(health: string | undefined): Promise<number | undefined> {
    const [first, ...others] = this.#places as [Place, ...Place[]];
    const code = await this.#launch(first);
    if (code !== undefined || this.#stop) return code;
    await Promise.all(others.map((place) => this.#launch(place)));
    if (this.#stop) return undefined;
    const url = this.#places.find((place) => place.url !== undefined)?.url;
    const processes = this.#places.length;
    this.#logger.info(
      { url, ...(health !== undefined && { health }), processes },
      "all processes have started",
    );
    return undefined;
  }

  /** Sends the reason to all processes; kills those that have not ended after the limit. */
  stop(reason: string, limitMs: number): void {
    this.#stop = { reason, limitMs };
    this.#stopping.abort();
    for (const place of this.#places) this.#stopPlace(place);
  }

  kill(): void {
    for (const { worker } of this.#places) worker?.process.kill("SIGKILL");
  }

  async ended(): Promise<void> {
    await Promise.all(this.#places.map(({ exit }) => exit));
  }

  #stopPlace(place: Place): void {
    const { worker } = place;
    if (!worker || !this.#stop) return;
    send(worker, { graphServe: "stop", reason: this.#stop.reason });
    const timer = setTimeout(() => {
      place.isKilled = true;
      worker.process.kill("SIGKILL");
    }, this.#stop.limitMs);
    worker.once("exit", () => clearTimeout(timer));
  }

  /** Starts a process; resolves when it listens, or with its exit code if it ends first. */
  async #launch(place: Place): Promise<number | undefined> {
    const seat: Seat = { number: place.number, port: this.#port };
    const worker = cluster.fork({ [SEAT_VARIABLE]: JSON.stringify(seat) });
    const begun = performance.now();
    place.worker = worker;
    const listening = new Promise<undefined>((resolve) => {
      worker.on("message", (message: unknown) => {
        if (!isOwnMessage(message)) return;
        if (message.graphServe === "listening") resolve(undefined);
        this.#receive(place, message as ProcessMessage);
      });
    });
    const exit = once(worker, "exit").then(([code, signal]: (number | string | null)[]) => {
      place.end(performance.now() - begun >= STEADY_MS);
      return { code: code as number | null, signal };
    });
    place.exit = exit;
    // A signal can arrive while the process starts.
    this.#stopPlace(place);
    const code = await Promise.race([listening, exit.then((end) => end.code ?? 1)]);
    if (!this.#hasListened) return code;
    void exit.then((end) => this.#restart(place, { pid: worker.process.pid, ...end }));
    return undefined;
  }

  async #restart(place: Place, end: { code: number | null; pid?: number }): Promise<void> {
    if (this.#stop) return;
    const seconds = place.delaySeconds;
    const fields = { process: place.number, ...end, restart_in_seconds: seconds };
    // A signal to one process ends it with code 0.
    this.#logger[end.code === 0 ? "warn" : "error"](fields, "a server process has ended: restarting it");
    place.restarts += 1;
    await pause(seconds * 1000, this.#stopping.signal).catch(() => undefined);
    if (!this.#stop) await this.#launch(place);
  }

  #receive(place: Place, message: ProcessMessage): void {
    switch (message.graphServe) {
      case "watched":
        place.health = message.health;
        break;
      case "listening":
        place.url = message.url;
        this.#hasListened = true;
        break;
      case "metrics":
        place.reports.get(message.id)?.(message.text);
        break;
      case "collect":
        void this.#collect(place, message.id);
        break;
    }
  }

  async #collect(asking: Place, id: number): Promise<void> {
    const reports = await Promise.all(
      this.#places.map(async (place) => ({ place, text: await withTimeout(METRICS_MS, place.report()) })),
    );
    const texts = reports.map(({ text }) => text ?? "");
    const own = ownMetrics(
      reports.map(({ place: { number, restarts }, text }) => ({
        number,
        restarts,
        isUp: text !== undefined,
      })),
    );
    if (asking.worker) send(asking.worker, { graphServe: "collected", id, texts: [...texts, own] });
  }
}

/** A server process and its successors. */
class Place implements ProbedProcess {
  readonly number: number;
  worker: Worker | undefined;
  exit: Promise<unknown> = Promise.resolve();
  url: string | undefined;
  health: string | undefined;
  restarts = 0;
  isKilled = false;
  readonly reports = new Map<number, (text: string) => void>();
  #reports = 0;
  #shortLives = 0;

  constructor(number: number) {
    this.number = number;
  }

  get delaySeconds(): number {
    return this.#shortLives < 2 ? 0 : Math.min(FIRST_DELAY * 2 ** (this.#shortLives - 2), LONGEST_DELAY);
  }

  end(wasSteady: boolean): void {
    this.worker = this.url = this.health = undefined;
    this.reports.clear();
    this.#shortLives = wasSteady ? 0 : this.#shortLives + 1;
  }

  /** The metrics of the process; undefined while it starts, pending while it is blocked. */
  async report(): Promise<string | undefined> {
    const { worker } = this;
    if (!worker || this.url === undefined) return undefined;
    return new Promise((resolve) => {
      const id = (this.#reports += 1);
      this.reports.set(id, (text) => {
        this.reports.delete(id);
        resolve(text);
      });
      send(worker, { graphServe: "report", id });
    });
  }
}

function send(worker: Worker, message: PrimaryMessage): void {
  // The process may have died.
  if (worker.isConnected()) worker.process.send(message, undefined, undefined, () => undefined);
}

interface ProcessState {
  number: number;
  restarts: number;
  isUp: boolean;
}

function ownMetrics(states: readonly ProcessState[]): string {
  const metric = (name: string, type: string, help: string, value: (state: ProcessState) => number) => [
    `# HELP graph_serve_${name} ${help}`,
    `# TYPE graph_serve_${name} ${type}`,
    ...states.map((state) => `graph_serve_${name}{process="${state.number}"} ${value(state)}`),
  ];
  return [
    ...metric("process_up", "gauge", "1 if the server process responds, else 0.", ({ isUp }) => Number(isUp)),
    ...metric(
      "process_restarts_total",
      "counter",
      "Restarts of the server process.",
      ({ restarts }) => restarts,
    ),
  ].join("\n");
}
