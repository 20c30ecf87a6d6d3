/** Long work in slices, between which the page answers. The policy of the page lets no worker be made. */

/** Half of a frame. */
const SLICE_MS = 8;

interface Done<T> {
  value: T;
}

/** One slice of it; undefined when there is more to do. */
export function slice<T>(work: Generator<void, T>): Done<T> | undefined {
  const end = performance.now() + SLICE_MS;
  do {
    const { done, value } = work.next();
    if (done) return { value };
  } while (performance.now() < end);
  return undefined;
}

/** The browser does first what waits: input, and drawing. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Result of the work; undefined if it was cancelled. */
export async function inSlices<T>(work: Generator<void, T>, isStale: () => boolean): Promise<T | undefined> {
  for (let done = slice(work); ; done = slice(work)) {
    if (done) return done.value;
    await pause();
    if (isStale()) return undefined;
  }
}
