import { setTimeout as sleep } from "node:timers/promises";

/** Wait so many milliseconds. Rejects with the signal's reason when it aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

/** What the work comes to, or undefined when that takes longer; it is not stopped then. Rejects as the work does. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after a time, when the signal aborts, or when somebody calls what `onBegin` is given. */
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
