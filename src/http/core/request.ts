/** A request: who sends it, what it carries (body and query, read and checked), and whether its client is still there. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TArray, TObject, TSchema } from "@sinclair/typebox";
import type { ErrorObject } from "ajv";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { InvalidRequestError, type Issue } from "../../support/errors.js";
import type { Caller } from "../../models/caller.js";
import { BodyBudget, withBody } from "./body-bytes.js";
import { assertPlain, parseJson } from "./json-body.js";

/** What is known of a request before its route: noted by the layers in front, and read by those behind. */
interface RequestFacts {
  /** Id of the request, in its answer and in the log. */
  id: string;
  /** Name of the API key that it came with. */
  key?: string;
  caller?: Caller;
  /** The body, where a layer in front of the routes has read it. */
  body?: Buffer;
  /** What its body counts for; undefined where requests are not counted. */
  budget?: BodyBudget;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

export function trackRequest(req: IncomingMessage, id: string, budget: BodyBudget): void {
  facts.set(req, { id, budget });
}

/** The facts of a request that `noteRequest` has seen; they may be added to. */
export function requestContext(req: IncomingMessage): RequestFacts {
  return facts.get(req) ?? { id: "" };
}

/** A signal that aborts when the client goes away before its answer is complete. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) controller.abort(new DOMException("the client disconnected", "AbortError"));
  };
  if (res.destroyed) onClose();
  else res.once("close", onClose);
  return controller.signal;
}

// Bodies: raw bytes, whatever the content type.

/**
 * The JSON value of a request's body; `{}` if it is empty. See `parseJson` and `withBody` for what is refused.
 * @param limit largest body in bytes, also once it is inflated
 * @throws InvalidRequestError (`invalid_request`), PayloadTooLargeError (`payload_too_large`)
 * @throws ServerBusyError if the bodies being read take too much memory (`server_busy`)
 */
export async function readJson(req: IncomingMessage & { body?: unknown }, limit: number): Promise<unknown> {
  // Embedded behind a body parser of the host's, the stream has been read already.
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
/** Of that form, and a time that there is. */
const isDateTime = (text: string): boolean => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text));

const validators = new WeakMap<TSchema, ValidateFunction>();
let ajv: Promise<Ajv2020> | undefined;

/**
 * Check `value` against `schema`. Fields that the schema does not name are ignored.
 * @throws InvalidRequestError with one issue for each faulty field, so never more than the schema has fields
 */
export async function validatePayload(schema: TObject | TArray, value: unknown, place: Place): Promise<void> {
  const check = validators.get(schema) ?? (await compile(schema));
  if (check(value)) return;
  const issues = schema.type === "object" ? await findIssues(schema, value, place) : [];
  if (issues.length === 0) issues.push(toIssue(check.errors ?? [], [place]));
  throw new InvalidRequestError(summary(issues), issues);
}

/** Ajv stops at the first fault (all of them could be millions), so each field is checked for itself. */
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
        // Errors carry the value and its schema, from which `toIssue` tells a wrong kind from a wrong value.
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

// What ajv says of a wrong value, as one issue a fault.

type Loc = Issue["loc"];

/** `expected` is set while the only fault is that the value is of another kind than the schema wants. */
interface Fault {
  issue: Issue;
  expected?: string[];
}

/** The one fault that `errors` (of a validation that stops at the first) amount to; `prefix` is where the value stands. */
function toIssue(errors: readonly ErrorObject[], prefix: Loc): Issue {
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

// Query strings: text to the types that a schema names. Only here is anything coerced.

const BOOLEANS = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

/**
 * The query values that `schema` names, coerced and validated. An empty value is one left out: so some clients write
 * what is not set.
 * @throws InvalidRequestError when one does not fit, or is given twice
 */
export async function readQuery(schema: TObject, raw: Record<string, unknown>): Promise<unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = [raw[name] ?? []].flat().filter((text) => text !== "");
    const [text] = given;
    if (text === undefined) continue;
    if (isList(field)) values[name] = given;
    else if (given.length === 1 && typeof text === "string") values[name] = coerce(text, kindsOf(field));
    else throw InvalidRequestError.at(["query", name], "is given more than once", "repeated");
  }
  await validatePayload(schema, values, "query");
  return values;
}

const isList = (schema: TSchema) => schema.type === "array";

/** Text that fits none of the kinds stays text, and validation names the fault. */
function coerce(text: string, kinds: readonly string[]): unknown {
  if (kinds.includes("integer") && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (kinds.includes("boolean")) return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

function kindsOf(schema: TSchema): string[] {
  const { type, anyOf } = schema as { type?: string; anyOf?: TSchema[] };
  return anyOf ? anyOf.flatMap(kindsOf) : type ? [type] : [];
}
