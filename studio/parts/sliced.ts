/** Long work in slices, between which the page answers. The policy of the page lets no worker be made. */
import { useEffect, useMemo, useState } from "preact/hooks";

/** Half of a frame. */
const SLICE_MS = 8;

interface Done<T> {
  value: T;
}

/** Undefined when there is more to do. */
function slice<T>(work: Generator<void, T>): Done<T> | undefined {
  const end = performance.now() + SLICE_MS;
  do {
    const { done, value } = work.next();
    if (done) return { value };
  } while (performance.now() < end);
  return undefined;
}

/** The browser does first what waits: input, and drawing. */
function pause(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** What comes of the work; undefined when nobody waits for it any more. */
export async function inSlices<T>(work: Generator<void, T>, isStale: () => boolean): Promise<T | undefined> {
  for (let done = slice(work); ; done = slice(work)) {
    if (done) return done.value;
    await pause();
    if (isStale()) return undefined;
  }
}

/** The same in a component: what is short is there at once, what is long when it is done. */
export function useSliced<T>(begin: () => Generator<void, T>, inputs: readonly unknown[]): T | undefined {
  const first = useMemo(() => {
    const work = begin();
    return { work, done: slice(work) };
  }, inputs);
  const [later, setLater] = useState<{ of: object; value: T } | undefined>(undefined);
  useEffect(() => {
    if (first.done) return undefined;
    let isGone = false;
    void inSlices(first.work, () => isGone).then((value) => {
      if (!isGone) setLater({ of: first, value: value as T });
    });
    return () => void (isGone = true);
  }, [first]);
  return first.done ? first.done.value : later?.of === first ? later.value : undefined;
}
