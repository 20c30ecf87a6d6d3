/** The values of a state as a case expects them: without what is new in every run, secret, or a model's word. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonObject } from "../../../models/common.js";
import { parsePath, valueAt } from "../../../models/value-path.js";
import { isVerbs } from "../../../testing/matcher.js";
import type { Redact } from "../../../testing/redact.js";
import { steady } from "../../../testing/steady.js";

/** Of a longer list, the length and the last item say enough. */
const MOST_ITEMS = 10;
const MESSAGE_TYPES = new Set(["human", "ai", "system", "tool", "function", "developer"]);

export interface ValueOptions {
  redact: Redact;
  /** Whether what models say is the same in every run, since it is recorded or there is none. */
  isSteadyModel: boolean;
}

/** Matchers by path. */
export function expectedValues(values: unknown, options: ValueOptions): Record<string, unknown> {
  if (!isRecord(values)) return {};
  const found = steadyKeys(values).flatMap((key) => expected(key, values[key], options));
  // A key with a dot in it has no path.
  return Object.fromEntries(
    found.filter(([path]) => {
      const steps = parsePath(path);
      return steps !== undefined && valueAt(values, steps) !== undefined;
    }),
  );
}

type Found = [path: string, matcher: unknown][];

function expected(path: string, value: unknown, options: ValueOptions): Found {
  if (isMessageList(value))
    return listed(path, value, (at, one) => ofMessage(at, one as JsonObject, options));
  const kept = keptValue(value, options.redact);
  if (kept !== undefined && isDeepStrictEqual(kept, value)) return [[path, asMatcher(value)]];
  if (Array.isArray(value)) return listed(path, value, (at, one) => expected(at, one, options));
  if (!isRecord(value)) return [];
  return steadyKeys(value).flatMap((key) => expected(`${path}.${key}`, value[key], options));
}

/** Keys that are not named like what is new in every run. */
const steadyKeys = (value: JsonObject): string[] => {
  const kept = steady(value) as JsonObject;
  return Object.keys(value).filter((key) => key in kept);
};

function listed(path: string, list: readonly unknown[], each: (path: string, item: unknown) => Found): Found {
  const items =
    list.length > MOST_ITEMS
      ? each(`${path}[-1]`, list.at(-1))
      : list.flatMap((item, index) => each(`${path}[${index}]`, item));
  return [[path, { length: list.length }], ...items];
}

const isMessageList = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isRecord(one) && MESSAGE_TYPES.has(String(one.type)) && "content" in one);

function ofMessage(path: string, message: JsonObject, options: ValueOptions): Found {
  const { type, content, name, tool_calls } = message;
  const isOfModel = type === "ai" && !options.isSteadyModel;
  const calls = Array.isArray(tool_calls) && !isOfModel ? (tool_calls as JsonObject[]) : [];
  return [
    [`${path}.type`, type],
    ...(isOfModel ? [] : expected(`${path}.content`, content, options)),
    ...(typeof name === "string" && !isOfModel ? expected(`${path}.name`, name, options) : []),
    ...calls.flatMap((call, index) => [
      ...expected(`${path}.tool_calls[${index}].name`, call.name, options),
      ...expected(`${path}.tool_calls[${index}].args`, call.args, options),
    ]),
  ];
}

/** A value without ids, times and secrets. */
export const keptValue = (value: unknown, redact: Redact): unknown => steady(redact(value));

/** What a value is expected with: itself, or `equals` where it would read as verbs, or as one misspelled. */
export const asMatcher = (value: unknown): unknown =>
  isVerbs(value) || (isRecord(value) && Object.keys(value).length === 1) ? { equals: value } : value;
