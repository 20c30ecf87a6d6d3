/** Shorter than the time limit of tests, so that their output says what did not happen. */
const LIMIT_MS = 90_000;

/** A promise with external `resolve` and `reject`. */
export interface Deferred<T> {
  /** Reported on stderr if it is not resolved within 90 s after it was read. */
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

/** `what` happens when the promise resolves; by default, the report says where it was created. */
export function deferred<T = void>(what?: string): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  const place = new Error().stack?.split("\n")[2]?.trim();
  return {
    get promise() {
      return reportLate(promise, what ?? `resolve() of the promise created ${place}`);
    },
    resolve: (value) => resolve(value),
  };
}

/**
 * Prints `what` and the place of this call if the promise has not settled in time. It does not reject: waits that a test has
 * left behind must not fail another one.
 */
export function reportLate<T>(promise: Promise<T>, what: string, limitMs = LIMIT_MS): Promise<T> {
  const late = new Error(`not within ${limitMs / 1000} s: ${what}`);
  const timer = setTimeout(() => process.stderr.write(`${late.stack}\n`), limitMs);
  timer.unref();
  const stop = () => clearTimeout(timer);
  promise.then(stop, stop);
  return promise;
}
