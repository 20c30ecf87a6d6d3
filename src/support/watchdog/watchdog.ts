/**
 * Watches the event loop from a thread of its own: code that never yields, such as `for (;;);` in a node, keeps all
 * requests, timers and signals of the process waiting, and the process itself cannot say so. The main thread counts up a
 * number that both threads share; where it stands still, the thread logs what holds the event loop, answers probes, and
 * kills the process in the end.
 */
import { url as inspectorUrl } from "node:inspector";
import { relative } from "node:path";
import { Worker } from "node:worker_threads";
import { ConfigError } from "../errors.js";
import { currentRun, onRunStart } from "../event-loop.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics.js";
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

/** Without these the default of the system holds: the process ends. */
const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
const STACK_ROWS = 100;

export interface WatchdogOptions extends Omit<ThreadOptions, "memory"> {
  /** Hear of stalls that have ended; metrics may come later, when they are open. */
  observers: { logger: Logger; metrics?: Metrics };
}

export class Watchdog {
  /** Where probes are answered; undefined where no port was named. */
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
    const file = new URL("./thread.js", import.meta.url);
    // Without the modules that flags of Node preload: what instruments the server has nothing to do in that thread.
    this.#worker = new Worker(file, { name: "watchdog", workerData, execArgv: [] });
    this.#worker.unref();
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /**
   * Watch from now on. Resolves when probes are answered, where a port was named.
   * @throws ConfigError when that port cannot be listened on (`config_invalid`)
   */
  static async start(options: WatchdogOptions): Promise<Watchdog> {
    const watchdog = new Watchdog(options);
    await watchdog.#listen();
    return watchdog;
  }

  /** Kill the process when it is still there after so many seconds and does not end by itself. */
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
            new ConfigError(`health_port ${port} of ${host} cannot be listened on: ${message.reason}`, {
              hint: "choose another health_port",
            }),
          );
        }
      });
      // The server serves as before.
      this.#worker.once("error", (err) => {
        observers.logger.warn(
          { err },
          "the watchdog has stopped: stalls of the event loop are not logged any more",
        );
        clearInterval(this.#timer);
        resolve();
      });
    });
  }

  #tick(): void {
    Atomics.add(this.#state, TICKS, 1);
    // Stopped at a breakpoint, the process is not stalled.
    Atomics.store(this.#state, DEBUGGED, inspectorUrl() === undefined ? 0 : 1);
    this.#restoreSignals?.();
  }

  #recovered(seconds: number): void {
    const { logger, metrics } = this.#options.observers;
    metrics?.eventLoopStalled(seconds);
    logger.warn({ stalled_seconds: seconds }, "the event loop turns again");
  }

  /** Called by the thread, through the debugger, on top of the code that holds the event loop. */
  #culprit(): string {
    const found: Culprit = placeOf(ownRows());
    const run = currentRun();
    if (run) {
      const { run_id, thread_id, graph_id } = run;
      Object.assign(found, { run_id, thread_id, graph_id, node: run.node });
    }
    this.#letSignalsEnd();
    return JSON.stringify(found);
  }

  /** No listener hears of a signal while the event loop stands still: until it turns again, signals end the process. */
  #letSignalsEnd(): void {
    if (this.#restoreSignals) return;
    const heard = SIGNALS.map((name) => ({ name, listeners: process.rawListeners(name) }));
    for (const { name } of heard) process.removeAllListeners(name);
    this.#restoreSignals = () => {
      this.#restoreSignals = undefined;
      for (const { name, listeners } of heard)
        for (const listener of listeners) process.on(name, listener as NodeJS.SignalsListener);
    };
  }
}

/** The rows of the stack, outermost last. */
function ownRows(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = STACK_ROWS;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n");
}

/** The innermost call of the user's own code. */
function placeOf(rows: readonly string[]): Culprit {
  const own = rows.flatMap((row) => parseStackLine(row) ?? []).find(isUserCode);
  if (!own) return {};
  const path = relative(process.cwd(), own.file);
  const file = path.startsWith("..") ? own.file : path;
  return { at: `${file}:${own.line}`, ...(own.function !== undefined && { function: own.function }) };
}
