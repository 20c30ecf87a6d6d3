import { InvalidRequestError } from "../errors.js";
import type { JsonObject } from "../models/common.js";
import { parsePath, valueAt, type PathStep } from "../models/value-path.js";

function stepsOf(path: string, name: string): PathStep[] {
  const steps = parsePath(path);
  if (steps) return steps;
  throw InvalidRequestError.at(["body", "extract", name], `cannot read the path ${JSON.stringify(path)}`);
}

/**
 * Pick values by paths such as `values.messages[-1].content`; what a path does not reach is null.
 * @throws InvalidRequestError for a path that cannot be read (`invalid_request`)
 */
export function extract(source: JsonObject, paths: Record<string, string>): JsonObject {
  const picked = Object.entries(paths).map(([name, path]) => [
    name,
    valueAt(source, stepsOf(path, name)) ?? null,
  ]);
  return Object.fromEntries(picked) as JsonObject;
}
