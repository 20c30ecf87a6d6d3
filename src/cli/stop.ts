/** Ends a command in order when the process is told to stop. */
import closeWithGrace from "close-with-grace";
import type { CliIo } from "./io.js";

export const SIGNAL_EXITS: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };
const SPARE_SECONDS = 5;

export interface StopListener {
  /** Resolves with what stopped the command: a signal, or the reason given to `stop`. */
  readonly stopped: Promise<string>;
  stop(reason: string): void;
  /** Everything is closed: the process may end with code 0. */
  done(): void;
}

/** Wait for a signal. The first one stops in order within the grace, a second one at once. */
export function listenForStop(io: CliIo, graceSeconds: number): StopListener {
  const { promise: stopped, resolve: stop } = deferred<string>();
  if (io.signal) {
    onAbort(io.signal, () => stop(String(io.signal?.reason)));
    return { stopped, stop, done: () => undefined };
  }
  const { promise: finished, resolve: finish } = deferred<undefined>();
  const listener = closeWithGrace(
    {
      delay: (graceSeconds + SPARE_SECONDS) * 1000,
      logger: false,
      skip: ["beforeExit", "uncaughtException", "unhandledRejection"],
      onSecondSignal: (signal) => process.exit(SIGNAL_EXITS[signal] ?? 1),
    },
    async ({ signal }) => {
      stop(signal ?? "close");
      await finished;
    },
  );
  return {
    stopped,
    stop,
    done: () => {
      listener.uninstall();
      finish(undefined);
    },
  };
}

/** A signal that aborts when the process is told to stop; a second signal ends the process at once. */
export function abortOnStop(io: CliIo): { signal: AbortSignal; dispose(): void } {
  if (io.signal) return { signal: io.signal, dispose: () => undefined };
  const controller = new AbortController();
  const names = Object.keys(SIGNAL_EXITS) as NodeJS.Signals[];
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(SIGNAL_EXITS[name]);
    controller.abort(name);
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}

/** Errors that no run and no request has caused: a graph's timer, a promise that nobody awaits. */
export function onStrayError(io: CliIo, handle: (error: unknown) => void): () => void {
  if (io.signal) return () => undefined;
  process.on("uncaughtException", handle);
  process.on("unhandledRejection", handle);
  return () => {
    process.off("uncaughtException", handle);
    process.off("unhandledRejection", handle);
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
