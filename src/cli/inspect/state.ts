import { InvalidRequestError } from "../../errors.js";
import { isRecord } from "../../models/common.js";
import { parsePath, valueAt } from "../../models/value-path.js";

/**
 * What a path such as `messages[-1].content` reaches in the values; all of them without one.
 * @throws InvalidRequestError when it cannot be read or leads nowhere (`invalid_request`)
 */
export function stateValue(values: unknown, path: string | undefined): unknown {
  if (path === undefined) return values;
  const steps = parsePath(path);
  if (!steps) throw new InvalidRequestError(`--path cannot be read: ${path}`, undefined, { hint: EXAMPLE });
  const value = valueAt(values, steps);
  if (value !== undefined) return value;
  const keys = isRecord(values) ? Object.keys(values) : [];
  throw new InvalidRequestError(`--path ${path} leads to nothing in this state`, undefined, {
    hint: keys.length > 0 ? `its keys are ${keys.join(", ")}` : "the state has no keys to see",
  });
}

const EXAMPLE = "such as --path messages[-1].content";
