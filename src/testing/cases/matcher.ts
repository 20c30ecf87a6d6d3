/** Matchers of expectations. */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../models/common.js";
import { VERBS, type Bounds, type Verbs } from "./case-model.js";

/** One matcher that does not match. */
interface VerbMismatch {
  verb: string;
  /** Predicate that follows the path in a message, such as `is not equal`. */
  message: string;
  expected: unknown;
  actual: unknown;
}

/** Whether all keys of an object are matchers. */
export function isVerbs(matcher: unknown): matcher is Verbs {
  if (!isRecord(matcher)) return false;
  const keys = Object.keys(matcher);
  return keys.length > 0 && keys.every((key) => VERBS.includes(key));
}

/** The matchers that do not match `actual`; a plain value must be equal. */
export async function mismatches(matcher: unknown, actual: unknown): Promise<VerbMismatch[]> {
  const verbs: Verbs = isVerbs(matcher) ? matcher : { equals: matcher };
  const found = Object.entries(verbs).map(([verb, expected]) => check(verb, expected, actual));
  return (await Promise.all(found)).filter((mismatch) => mismatch !== undefined);
}

async function check(verb: string, expected: unknown, actual: unknown): Promise<VerbMismatch | undefined> {
  const wrong = await WRONG[verb as keyof Verbs](expected, actual);
  return wrong === undefined ? undefined : { verb, message: wrong, expected, actual };
}

type Rule = (expected: unknown, actual: unknown) => string | undefined | Promise<string | undefined>;

const WRONG: Record<keyof Verbs, Rule> = {
  equals: (expected, actual) => (isDeepStrictEqual(plain(actual), expected) ? undefined : "is not equal"),
  match: (expected, actual) => {
    if (typeof actual !== "string") return "is not a string";
    return regularExpression(String(expected)).test(actual) ? undefined : "does not match";
  },
  contains: (expected, actual) => (contains(actual, expected) ? undefined : "does not contain the value"),
  jsonSchema: async (expected, actual) => {
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
    return ajv.validate(expected as object, actual) ? undefined : `is not valid: ${ajv.errorsText()}`;
  },
  length: (expected, actual) => {
    const length = lengthOf(actual);
    if (length === undefined) return "has no length";
    const bounds = typeof expected === "number" ? { min: expected, max: expected } : (expected as Bounds);
    return within(length, bounds) ? undefined : `has the length ${length}`;
  },
  absent: (expected, actual) => {
    if (expected === (actual === undefined)) return undefined;
    return expected ? "exists" : "does not exist";
  },
  lt: (expected, actual) => bound({ lt: expected as number }, actual),
  gt: (expected, actual) => bound({ gt: expected as number }, actual),
};

function bound(bounds: Bounds, actual: unknown): string | undefined {
  if (typeof actual !== "number") return "is not a number";
  return within(actual, bounds) ? undefined : "is out of range";
}

/** Whether a number is within limits. */
export function within(value: number, { lt, gt, min, max }: Bounds): boolean {
  return (
    (lt === undefined || value < lt) &&
    (gt === undefined || value > gt) &&
    (min === undefined || value >= min) &&
    (max === undefined || value <= max)
  );
}

/** Describes limits, such as `at most 200`. */
export function boundsText(bounds: Bounds): string {
  const words = { lt: "less than", gt: "more than", min: "at least", max: "at most" };
  const given = Object.entries(words).filter(([key]) => bounds[key as keyof Bounds] !== undefined);
  return given.map(([key, word]) => `${word} ${bounds[key as keyof Bounds]}`).join(" and ");
}

function contains(actual: unknown, part: unknown): boolean {
  if (typeof actual === "string") return typeof part === "string" && actual.includes(part);
  if (Array.isArray(actual)) {
    const parts: unknown[] = Array.isArray(part) ? part : [part];
    return parts.every((wanted) => actual.some((item) => holds(item, wanted)));
  }
  return isRecord(actual) && isRecord(part) && holds(actual, part);
}

/** Whether `actual` contains `part`. */
function holds(actual: unknown, part: unknown): boolean {
  if (!isRecord(part)) return isDeepStrictEqual(plain(actual), part);
  return isRecord(actual) && Object.entries(part).every(([key, value]) => holds(actual[key], value));
}

function lengthOf(value: unknown): number | undefined {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : undefined;
}

const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

/** `hello`, or `/hello/i` with flags. */
export function regularExpression(source: string): RegExp {
  const [, pattern, flags] = /^\/(.+)\/([dgimsuvy]*)$/s.exec(source) ?? [];
  return pattern === undefined ? new RegExp(source) : new RegExp(pattern, flags?.replace(/[gy]/g, ""));
}

/** Why a regular expression is invalid; undefined if it is valid. */
export function badRegularExpression(source: string | undefined): string | undefined {
  if (source === undefined) return undefined;
  try {
    regularExpression(source);
    return undefined;
  } catch (error) {
    return `"${source}" is not a valid regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, "")}`;
  }
}
