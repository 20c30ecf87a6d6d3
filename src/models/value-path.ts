/** One step of a path into a value: a key or an index. A negative index counts from the end. */
export type PathStep = string | number;

/** Maximum length of a path in a request, in characters. */
export const MAX_PATH_LENGTH = 1000;

const STEP = /\.?([^.[\]]+)|\[(-?\d+)\]/y;

/** The steps of a path such as `messages[-1].content`; undefined if it is invalid. */
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
