/** What ajv says of a wrong value, as one issue a fault. */
import type { ErrorObject } from "ajv";
import type { Issue } from "../errors.js";

type Loc = Issue["loc"];

/** `expected` is set while the only fault is that the value is of another kind than the schema wants. */
interface Fault {
  issue: Issue;
  expected?: string[];
}

/** The one fault that `errors` (of a validation that stops at the first) amount to; `prefix` is where the value stands. */
export function toIssue(errors: readonly ErrorObject[], prefix: Loc): Issue {
  return faultOf(errors, prefix, "").issue;
}

function faultOf(errors: readonly ErrorObject[], prefix: Loc, base: string): Fault {
  const top = errors.at(-1);
  if (!top) return { issue: { loc: prefix, msg: "is not valid", type: "value_error" } };
  if (top.keyword === "anyOf") return unionFault(top, errors.slice(0, -1), prefix);
  const loc = [...prefix, ...pathOf(top.instancePath)];
  const expected = expectedKinds(top);
  if (!expected) return { issue: plainIssue(top, loc) };
  return { issue: wrongKind(loc, expected), ...(top.instancePath === base && { expected }) };
}

/** The kinds that the schema wants, when the value is of none of them. Ajv tells of an enum before the type. */
function expectedKinds({ keyword, parentSchema, data }: ErrorObject): string[] | undefined {
  const { type } = parentSchema as { type?: string | string[] };
  if (keyword === "type") return [type ?? []].flat();
  return keyword === "enum" && type === "string" && typeof data !== "string" ? [type] : undefined;
}

/** Of a union, the fault within the branch whose kind the value has; without one, a list of the kinds there are. */
function unionFault(union: ErrorObject, errors: readonly ErrorObject[], prefix: Loc): Fault {
  const faults = branches(union, errors).map((branch) => faultOf(branch, prefix, union.instancePath));
  const meant = faults.filter((fault) => !fault.expected);
  const deepest = meant.sort((a, b) => b.issue.loc.length - a.issue.loc.length)[0];
  if (deepest) return { issue: deepest.issue };
  const expected = [...new Set(faults.flatMap((fault) => fault.expected ?? []))];
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

/** A JSON pointer as a path; array indices become numbers. */
function pathOf(pointer: string): Loc {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~")));
}
