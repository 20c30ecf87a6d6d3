import { setTimeout as sleep } from "node:timers/promises";

/** Waits for the given milliseconds. Rejects with the signal's reason if it aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

/**
 * Result of `work`, or undefined if it takes longer than `ms` milliseconds; the work is not
 * stopped. Rejects if `work` does.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves after `ms` milliseconds, when the signal aborts, or when the function passed to
 * `onBegin` is called.
 */
export function pauseUntil(
  ms: number,
  signal: AbortSignal,
  onBegin: (end: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    onBegin(end);
  });
}
