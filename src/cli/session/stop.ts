/** Stops a command gracefully on a signal. */
import { type CliIo, endProcess } from "../terminal/io.js";

export const SIGNAL_EXITS: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const SPARE_SECONDS = 5;

export interface StopListener {
  /** Resolves with what stopped the command: a signal, or the reason given to `stop`. */
  readonly stopped: Promise<string>;
  /** Seconds after which the process ends from then on, whatever is left to do. */
  readonly limitSeconds: number;
  stop(reason: string): void;
  /** Everything is closed: the process may end with code 0. */
  done(): void;
}

/** Wait for a signal. The first one stops in order within the grace, a second one at once. */
export function listenForStop(io: CliIo, graceSeconds: number): StopListener {
  const { promise: stopped, resolve: stop } = deferred<string>();
  const limitSeconds = graceSeconds + SPARE_SECONDS;
  if (io.signal) {
    onAbort(io.signal, () => stop(String(io.signal?.reason)));
    return { stopped, stop, limitSeconds, done: () => undefined };
  }
  let limit: NodeJS.Timeout | undefined;
  const forget = onSignals((name) => {
    limit = setTimeout(() => endProcess(1), limitSeconds * 1000).unref();
    stop(name);
  });
  return {
    stopped,
    stop,
    limitSeconds,
    done: () => {
      clearTimeout(limit);
      forget();
    },
  };
}

/** An AbortSignal that aborts on SIGINT or SIGTERM; a second signal ends the process at once. */
export function abortOnStop(io: CliIo): { signal: AbortSignal; dispose(): void } {
  if (io.signal) return { signal: io.signal, dispose: () => undefined };
  const controller = new AbortController();
  return { signal: controller.signal, dispose: onSignals((name) => controller.abort(name)) };
}

/** Calls back on the first SIGINT or SIGTERM; a second one ends the process at once. Returns an unsubscribe function. */
function onSignals(first: (name: NodeJS.Signals) => void): () => void {
  let isTold = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (isTold) endProcess(SIGNAL_EXITS[name] ?? 1);
    isTold = true;
    first(name);
  };
  const names = Object.keys(SIGNAL_EXITS) as NodeJS.Signals[];
  for (const name of names) process.on(name, onSignal);
  return () => {
    for (const name of names) process.off(name, onSignal);
  };
}

function onAbort(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** What has been opened and must be closed: in reverse order, once, the rest also when one of them fails. */
export class Closers {
  #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    const closers = this.#closers.reverse();
    this.#closers = [];
    const errors: unknown[] = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    // The first is the cause; later ones are mostly its consequences.
    if (errors.length > 0) throw errors[0];
  }
}
