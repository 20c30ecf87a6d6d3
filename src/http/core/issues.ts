/** Converts Ajv errors to issues. */
import type { ErrorObject } from "ajv";
import type { Issue } from "../../support/errors/codes.js";
import { pointerKeys } from "../../support/schema/schema-errors.js";

type Loc = Issue["loc"];

/** `expected` is set if the value only has the wrong type. */
interface FieldError {
  issue: Issue;
  expected?: string[];
}

/**
 * The issue for `errors` of a validation that stops at the first error; `prefix` is the path of the
 * value.
 */
export function toIssue(errors: readonly ErrorObject[], prefix: Loc): Issue {
  return fieldErrorOf(errors, prefix, "").issue;
}

function fieldErrorOf(errors: readonly ErrorObject[], prefix: Loc, base: string): FieldError {
  const top = errors.at(-1);
  if (!top) return { issue: { loc: prefix, msg: "is not valid", type: "value_error" } };
  if (top.keyword === "anyOf") return unionError(top, errors.slice(0, -1), prefix);
  const loc = [...prefix, ...pathOf(top.instancePath)];
  const expected = expectedKinds(top);
  if (!expected) return { issue: plainIssue(top, loc) };
  return { issue: wrongKind(loc, expected), ...(top.instancePath === base && { expected }) };
}

/**
 * The types that the schema expects, if the value has none of them. Ajv reports an enum error
 * before the type error.
 */
function expectedKinds({ keyword, parentSchema, data }: ErrorObject): string[] | undefined {
  const { type } = parentSchema as { type?: string | string[] };
  if (keyword === "type") return [type ?? []].flat();
  return keyword === "enum" && type === "string" && typeof data !== "string" ? [type] : undefined;
}

/**
 * The error in the branch of a union whose type matches the value; if none matches, an error that
 * lists all types.
 */
function unionError(union: ErrorObject, errors: readonly ErrorObject[], prefix: Loc): FieldError {
  const candidates = branches(union, errors).map((branch) =>
    fieldErrorOf(branch, prefix, union.instancePath),
  );
  const matching = candidates.filter((candidate) => !candidate.expected);
  const deepest = matching.sort((a, b) => b.issue.loc.length - a.issue.loc.length)[0];
  if (deepest) return { issue: deepest.issue };
  const expected = [...new Set(candidates.flatMap((candidate) => candidate.expected ?? []))];
  return { issue: wrongKind([...prefix, ...pathOf(union.instancePath)], expected), expected };
}

function branches(union: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const start = `${union.schemaPath}/`;
  const groups = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    if (!error.schemaPath.startsWith(start)) continue;
    const branch = error.schemaPath.slice(start.length).split("/", 1)[0] ?? "";
    const group = groups.get(branch) ?? [];
    groups.set(branch, [...group, error]);
  }
  return [...groups.values()];
}

function plainIssue(error: ErrorObject, loc: Loc): Issue {
  const params = error.params as { missingProperty?: string; allowedValues?: unknown[]; format?: string };
  switch (error.keyword) {
    case "required":
      return { loc: [...loc, params.missingProperty ?? ""], msg: "is required", type: "missing" };
    case "enum":
      return { loc, msg: `must be one of ${listed(params.allowedValues ?? [])}`, type: "enum" };
    case "format":
      return { loc, msg: `must be a valid ${params.format}`, type: `${params.format}_parsing` };
    default:
      return { loc, msg: error.message ?? "is not valid", type: error.keyword };
  }
}

const wrongKind = (loc: Loc, kinds: string[]): Issue => ({
  loc,
  msg: `must be ${kinds.join(" or ")}`,
  type: "type",
});

const listed = (values: unknown[]) =>
  values
    .filter((value) => value !== null)
    .map((value) => JSON.stringify(value))
    .join(", ");

/** Array indices become numbers. */
const pathOf = (pointer: string): Loc =>
  pointerKeys(pointer).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
