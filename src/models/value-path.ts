/** One step of a path into a value: a key, or an index that counts from the end when it is negative. */
export type PathStep = string | number;

/** Longest path that a request may ask for, in characters. */
export const MAX_PATH_LENGTH = 1000;

const STEP = /\.?([^.[\]]+)|\[(-?\d+)\]/y;

/** The steps of a path such as `messages[-1].content`; undefined when it cannot be read. */
export function parsePath(path: string): PathStep[] | undefined {
  const steps: PathStep[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path);
    if (!match) return undefined;
    steps.push(match[1] ?? Number(match[2]));
  }
  return steps;
}

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, steps: readonly PathStep[]): unknown {
  return steps.reduce<unknown>((inner, step) => {
    if (typeof step === "number") return Array.isArray(inner) ? inner.at(step) : undefined;
    const isKeyed = typeof inner === "object" && inner !== null && !Array.isArray(inner);
    return isKeyed && Object.hasOwn(inner, step) ? (inner as Record<string, unknown>)[step] : undefined;
  }, value);
}
