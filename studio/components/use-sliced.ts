/** A hook that runs long work in slices. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { inSlices, slice } from "./slices.js";

/** Short work finishes before the first paint; until then the result is undefined. */
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
