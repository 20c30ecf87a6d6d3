/** Shorter than the time limit of tests, so that the error says what did not happen. */
const LIMIT_MS = 90_000;

/** A promise with external `resolve` and `reject`. */
export interface Deferred<T> {
  /** Rejects if it is not resolved within 90 s after it was read. */
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

/** `what` happens when the promise resolves; by default, the error says where it was created. */
export function deferred<T = void>(what?: string): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  const place = new Error().stack?.split("\n")[2]?.trim();
  return {
    get promise() {
      return within(promise, what ?? `resolve() of the promise created ${place}`);
    },
    resolve: (value) => resolve(value),
  };
}

/** The promise, or an Error with `what` and the place of this call if it does not settle in time. */
export function within<T>(promise: Promise<T>, what: string, limitMs = LIMIT_MS): Promise<T> {
  const late = new Error(`not within ${limitMs / 1000} s: ${what}`);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), limitMs);
    timer.unref();
  });
  const limited = Promise.race([promise, limit]).finally(() => clearTimeout(timer));
  // A test may have ended without waiting for it.
  limited.catch(() => undefined);
  return limited;
}
