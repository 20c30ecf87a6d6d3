/**
 * Watches the event loop from its own thread. Code that never yields, such as `for (;;);` in a
 * node, blocks all requests, timers and signals, and the process cannot report it. The main thread
 * increments a shared counter; if the counter stops, the watchdog thread logs the blocking code,
 * answers probes and finally kills the process.
 */
import { url as inspectorUrl } from "node:inspector";
import { relative } from "node:path";
import { Worker } from "node:worker_threads";
import { ConfigError } from "../errors.js";
import { currentRun, onRunStart } from "../event-loop.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics.js";
import { entryFile } from "../own-package.js";
import { parseStackLine, isUserCode } from "../stack.js";
import {
  CULPRIT,
  type Culprit,
  DEADLINE,
  DEBUGGED,
  LAST_RUN,
  LAST_RUN_BYTES,
  TICK_MS,
  TICKS,
  type ThreadMessage,
  type ThreadOptions,
} from "./protocol.js";

/** Signals that end a process that has no listeners for them. */
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
const STACK_ROWS = 100;

export interface WatchdogOptions extends Omit<ThreadOptions, "memory"> {
  /** Notified of stalls that have ended; `metrics` can be set later. */
  observers: { logger: Logger; metrics?: Metrics };
}

export class Watchdog {
  /** URL of the probe server; undefined without `health_port`. */
  healthUrl: string | undefined;

  readonly #options: WatchdogOptions;
  readonly #state: Int32Array;
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;
  #restoreSignals: (() => void) | undefined;

  private constructor(options: WatchdogOptions) {
    const { observers: _, ...rest } = options;
    this.#options = options;
    const memory = new SharedArrayBuffer(LAST_RUN + LAST_RUN_BYTES);
    this.#state = new Int32Array(memory, 0, LAST_RUN / Int32Array.BYTES_PER_ELEMENT);
    const lastRun = Buffer.from(memory, LAST_RUN);
    onRunStart(({ run_id }) => lastRun.write(run_id.padEnd(LAST_RUN_BYTES), "latin1"));
    Object.assign(globalThis, { [Symbol.for(CULPRIT)]: () => this.#culprit() });
    const workerData: ThreadOptions = { ...rest, memory };
    // Skip modules preloaded by Node flags: instrumentation of the server must not run in this
    // thread.
    this.#worker = new Worker(entryFile("support/watchdog/thread"), {
      name: "watchdog",
      workerData,
      execArgv: [],
    });
    this.#worker.unref();
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /**
   * Starts the watchdog. If `health_port` is set, resolves once the probe server listens.
   * @throws ConfigError if the server cannot listen on that port (`config_invalid`)
   */
  static async start(options: WatchdogOptions): Promise<Watchdog> {
    const watchdog = new Watchdog(options);
    await watchdog.#listen();
    return watchdog;
  }

  /** Kills the process if it has not ended after the given seconds. */
  endWithin(seconds: number): void {
    Atomics.store(this.#state, DEADLINE, Math.max(1, Math.round(seconds * 1000)));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    onRunStart(undefined);
    this.#restoreSignals?.();
    await this.#worker.terminate();
  }

  #listen(): Promise<void> {
    const { observers, health_port: port, host } = this.#options;
    return new Promise((resolve, reject) => {
      if (port === undefined) resolve();
      this.#worker.on("message", (message: ThreadMessage) => {
        if (message.kind === "recovered") this.#recovered(message.seconds);
        else if (message.kind === "listening") {
          this.healthUrl = message.url;
          resolve();
        } else {
          void this.close();
          reject(
            new ConfigError(`cannot listen on health_port ${port} of ${host}: ${message.reason}`, {
              hint: "choose another health_port",
            }),
          );
        }
      });
      // The server keeps serving without it.
      this.#worker.once("error", (err) => {
        observers.logger.warn({ err }, "the watchdog has stopped: event loop stalls are no longer logged");
        clearInterval(this.#timer);
        resolve();
      });
    });
  }

  #tick(): void {
    Atomics.add(this.#state, TICKS, 1);
    // A process at a breakpoint is not stalled.
    Atomics.store(this.#state, DEBUGGED, inspectorUrl() === undefined ? 0 : 1);
    this.#restoreSignals?.();
  }

  #recovered(seconds: number): void {
    const { logger, metrics } = this.#options.observers;
    metrics?.eventLoopStalled(seconds);
    logger.warn({ stalled_seconds: seconds }, "the event loop is responsive again");
  }

  /** Called by the watchdog thread through the debugger, on top of the code that blocks the event loop. */
  #culprit(): string {
    const found: Culprit = locationOf(stackLines());
    const run = currentRun();
    if (run) {
      const { run_id, thread_id, graph_id } = run;
      Object.assign(found, { run_id, thread_id, graph_id, node: run.nodeOf() });
    }
    this.#letSignalsEnd();
    return JSON.stringify(found);
  }

  /**
   * Signal listeners cannot run while the event loop is blocked. Until it recovers, signals end the
   * process.
   */
  #letSignalsEnd(): void {
    if (this.#restoreSignals) return;
    const removed = SIGNALS.map((name) => ({ name, listeners: process.rawListeners(name) }));
    for (const { name } of removed) process.removeAllListeners(name);
    this.#restoreSignals = () => {
      this.#restoreSignals = undefined;
      for (const { name, listeners } of removed)
        for (const listener of listeners) process.on(name, listener as NodeJS.SignalsListener);
    };
  }
}

/** Lines of the stack, innermost first. */
function stackLines(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = STACK_ROWS;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n");
}

/** Location of the innermost call in user code. */
function locationOf(rows: readonly string[]): Culprit {
  const own = rows.flatMap((row) => parseStackLine(row) ?? []).find(isUserCode);
  if (!own) return {};
  const path = relative(process.cwd(), own.file);
  const file = path.startsWith("..") ? own.file : path;
  return { at: `${file}:${own.line}`, ...(own.function !== undefined && { function: own.function }) };
}
