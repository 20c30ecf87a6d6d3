/** Narrows what is compared: to one path, and without others. */
import { InvalidRequestError } from "../../errors.js";
import { isRecord } from "../../models/common.js";
import { parsePath, valueAt, type PathStep } from "../../models/value-path.js";

/** @throws InvalidRequestError when the path cannot be read (`invalid_request`) */
export function stepsOf(flag: string, path: string): PathStep[] {
  const steps = parsePath(path);
  if (steps) return steps;
  throw new InvalidRequestError(`${flag} cannot be read: ${path}`, undefined, {
    hint: `such as ${flag} messages[-1].content`,
  });
}

/** The value at `path`, null where there is none, without what stands at the ignored paths. */
export function narrowed(value: unknown, path: readonly PathStep[], ignored: readonly PathStep[][]): unknown {
  const kept = ignored.reduce<unknown>((left, steps) => without(left, steps), value);
  return valueAt(kept, path) ?? null;
}

/** `*` stands for every key and every item. */
function without(value: unknown, [step, ...rest]: readonly PathStep[]): unknown {
  if (step === undefined) return value;
  const isMeant = (key: PathStep): boolean => step === "*" || step === key;
  if (Array.isArray(value)) {
    const index = typeof step === "number" && step < 0 ? value.length + step : step;
    const items: unknown[] = value;
    return items.flatMap((item, place) => {
      if (index !== "*" && index !== place) return [item];
      return rest.length === 0 ? [] : [without(item, rest)];
    });
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([key]) => rest.length > 0 || !isMeant(key));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, isMeant(key) ? without(inner, rest) : inner]),
  );
}
