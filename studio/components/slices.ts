/**
 * Splits long work into slices so that the page stays responsive. The page's security policy forbids workers.
 */

/** Half of a frame. */
const SLICE_MS = 8;

interface Done<T> {
  value: T;
}

/** Run the work for one slice; undefined if it is not finished. */
export function slice<T>(work: Generator<void, T>): Done<T> | undefined {
  const end = performance.now() + SLICE_MS;
  do {
    const { done, value } = work.next();
    if (done) return { value };
  } while (performance.now() < end);
  return undefined;
}

/** Lets the browser handle input and painting. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Result of the work; undefined if it was cancelled. */
export async function inSlices<T>(work: Generator<void, T>, isStale: () => boolean): Promise<T | undefined> {
  for (let done = slice(work); ; done = slice(work)) {
    if (done) return done.value;
    await pause();
    if (isStale()) return undefined;
  }
}
