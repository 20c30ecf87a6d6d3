/** Validates payloads. Ajv is loaded, and each schema compiled, on first use. */
import type { TArray, TObject, TSchema } from "@sinclair/typebox";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { InvalidRequestError } from "../../support/errors.js";
import type { Issue } from "../../support/errors/codes.js";
import { toIssue } from "./issues.js";

type Place = "body" | "query" | "params";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** Matches the format and is an existing date. */
const isDateTime = (text: string): boolean => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text));

const validators = new WeakMap<TSchema, ValidateFunction>();
let ajv: Promise<Ajv2020> | undefined;

/**
 * Validates `value` against `schema`. Unknown fields are ignored.
 * @throws InvalidRequestError with one issue per invalid field, so the number of issues is limited
 */
export async function validatePayload(schema: TObject | TArray, value: unknown, place: Place): Promise<void> {
  const check = validators.get(schema) ?? (await compile(schema));
  if (check(value)) return;
  const issues = schema.type === "object" ? await findIssues(schema, value, place) : [];
  if (issues.length === 0) issues.push(toIssue(check.errors ?? [], [place]));
  throw new InvalidRequestError(summary(issues), issues);
}

/** Ajv stops at the first error, because the total could be millions. Each field is validated separately. */
async function findIssues(schema: TObject, value: unknown, place: Place): Promise<Issue[]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const fields = value as Record<string, unknown>;
  const issues: Issue[] = [];
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(fields, name)) {
      if (schema.required?.includes(name))
        issues.push({ loc: [place, name], msg: "is required", type: "missing" });
      continue;
    }
    const check = validators.get(field) ?? (await compile(field));
    if (!check(fields[name])) issues.push(toIssue(check.errors ?? [], [place, name]));
  }
  return issues;
}

async function compile(schema: TSchema): Promise<ValidateFunction> {
  const check = (await loadAjv()).compile(schema);
  validators.set(schema, check);
  return check;
}

function loadAjv(): Promise<Ajv2020> {
  ajv ??= import("ajv/dist/2020.js").then(
    ({ Ajv2020 }) =>
      new Ajv2020({
        strict: true,
        allowUnionTypes: true,
        // Errors include the value and its schema, which `toIssue` uses to distinguish a wrong type
        // from a wrong value.
        verbose: true,
        formats: { uuid: UUID, "date-time": isDateTime },
      }),
  );
  return ajv;
}

function summary(issues: readonly Issue[]): string {
  const [first] = issues;
  if (!first) return "the request is not valid";
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return `${first.loc.join(".")}: ${first.msg}${more}`;
}
