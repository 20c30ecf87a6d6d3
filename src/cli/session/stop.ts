/** Stops a command gracefully on a signal. */
import { type CliIo, endProcess } from "../terminal/io.js";

export const SIGNAL_EXITS: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const SPARE_SECONDS = 5;

export interface StopListener {
  /** Resolves with the reason: a signal name, or the argument of `stop`. */
  readonly stopped: Promise<string>;
  /** Seconds after the signal until the process is forced to exit. */
  readonly limitSeconds: number;
  stop(reason: string): void;
  /** Call when everything is closed: cancels the forced exit. */
  done(): void;
}

/** Waits for a signal. The first signal starts a graceful shutdown, a second one exits immediately. */
export function listenForStop(io: CliIo, graceSeconds: number): StopListener {
  const { promise: stopped, resolve: stop } = deferred<string>();
  const limitSeconds = graceSeconds + SPARE_SECONDS;
  if (io.signal) {
    onAbort(io.signal, () => stop(String(io.signal?.reason)));
    return { stopped, stop, limitSeconds, done: () => undefined };
  }
  let limit: NodeJS.Timeout | undefined;
  const unsubscribe = onSignals((name) => {
    limit = setTimeout(() => endProcess(1), limitSeconds * 1000).unref();
    stop(name);
  });
  return {
    stopped,
    stop,
    limitSeconds,
    done: () => {
      clearTimeout(limit);
      unsubscribe();
    },
  };
}

/** An AbortSignal that aborts on the first signal; a second signal exits immediately. */
export function abortOnStop(io: CliIo): { signal: AbortSignal; dispose(): void } {
  if (io.signal) return { signal: io.signal, dispose: () => undefined };
  const controller = new AbortController();
  return { signal: controller.signal, dispose: onSignals((name) => controller.abort(name)) };
}

/** Calls back on the first signal; a second one exits the process immediately. Returns an unsubscribe function. */
function onSignals(first: (name: NodeJS.Signals) => void): () => void {
  let isStopping = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (isStopping) endProcess(SIGNAL_EXITS[name] ?? 1);
    isStopping = true;
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

/** Closes resources once, in reverse order; continues if one of them fails. */
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
    // Later errors are usually consequences of the first.
    if (errors.length > 0) throw errors[0];
  }
}
