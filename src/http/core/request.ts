/** Reads and validates requests: context, body and query. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TArray, TObject, TSchema } from "@sinclair/typebox";
import type { ErrorObject } from "ajv";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { InvalidRequestError } from "../../support/errors.js";
import type { Issue } from "../../support/errors/codes.js";
import { pointerKeys } from "../../support/schema/schema-errors.js";
import type { Caller } from "../../models/caller.js";
import { BodyBudget, withBody } from "./body-bytes.js";
import { assertPlain, parseJson } from "./json-body.js";

/** Data about a request that middleware records for later handlers. */
interface RequestContext {
  /** Request id, sent in the response and logged. */
  id: string;
  key?: string;
  caller?: Caller;
  /** The body, if middleware has already read it. */
  body?: Buffer;
  /** Budget that the body counts against; undefined if bodies are not counted. */
  budget?: BodyBudget;
}

const contexts = new WeakMap<IncomingMessage, RequestContext>();

export function trackRequest(req: IncomingMessage, id: string, budget: BodyBudget): void {
  contexts.set(req, { id, budget });
}

/** The context of a request tracked by `trackRequest`; handlers may add to it. */
export function requestContext(req: IncomingMessage): RequestContext {
  return contexts.get(req) ?? { id: "" };
}

/** A signal that aborts when the client disconnects before its response is complete. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) controller.abort(new DOMException("the client disconnected", "AbortError"));
  };
  if (res.destroyed) onClose();
  else res.once("close", onClose);
  return controller.signal;
}

// Bodies are raw bytes, regardless of the content type.

/**
 * The JSON value of a request's body; `{}` if it is empty. See `parseJson` and `withBody` for
 * limits.
 * @param limit maximum size in bytes, also after decompression
 * @throws InvalidRequestError (`invalid_request`), PayloadTooLargeError (`payload_too_large`)
 * @throws ServerBusyError if the bodies being read take too much memory (`server_busy`)
 */
export async function readJson(req: IncomingMessage & { body?: unknown }, limit: number): Promise<unknown> {
  // Behind a body parser of the host application, the stream has already been read.
  if (req.body !== undefined && req.readableEnded) return readParsed(req.body);
  const { body, budget = new BodyBudget(Infinity) } = requestContext(req);
  return withBody(req, body, { limit, budget }, parseJson);
}

function readParsed(body: unknown): unknown {
  if (Buffer.isBuffer(body)) return parseJson(body);
  if (typeof body === "string") return parseJson(Buffer.from(body));
  assertPlain(body, true);
  return body;
}

// Validation. Ajv is loaded, and each schema compiled, on first use.

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

// Converts Ajv errors to issues.

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
function toIssue(errors: readonly ErrorObject[], prefix: Loc): Issue {
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

// Query strings: converts text to the types of a schema. Only query values are coerced.

const BOOLEANS = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

/**
 * The query values named in `schema`, coerced and validated. An empty value counts as absent,
 * because some clients send unset values this way.
 * @throws InvalidRequestError if a value is invalid or repeated
 */
export async function readQuery(schema: TObject, raw: Record<string, unknown>): Promise<unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = [raw[name] ?? []].flat().filter((text) => text !== "");
    const [text] = given;
    if (text === undefined) continue;
    if (isList(field)) values[name] = given;
    else if (given.length === 1 && typeof text === "string") values[name] = coerce(text, kindsOf(field));
    else throw InvalidRequestError.at(["query", name], "must not be repeated", "repeated");
  }
  await validatePayload(schema, values, "query");
  return values;
}

const isList = (schema: TSchema) => schema.type === "array";

/** Text that matches no type stays text; validation reports it. */
function coerce(text: string, kinds: readonly string[]): unknown {
  if (kinds.includes("integer") && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (kinds.includes("boolean")) return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

function kindsOf(schema: TSchema): string[] {
  const { type, anyOf } = schema as { type?: string; anyOf?: TSchema[] };
  return anyOf ? anyOf.flatMap(kindsOf) : type ? [type] : [];
}
