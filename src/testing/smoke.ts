/** Smoke tests without a case file: the graph loads, draws, has schemas and runs once. */
import { UNKNOWN } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { GraphServeError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { CaseFile } from "./cases/case-files.js";
import type { Coverage } from "./coverage.js";
import type { GraphsUnderTest, GraphUnderTest } from "./graphs.js";
import type { CaseResult } from "./cases/result.js";
import { runSuite, type SuiteOptions } from "./suite.js";

interface SmokeOptions extends Pick<SuiteOptions, "timeoutSeconds" | "signal" | "onResult" | "recordings"> {
  graphs: GraphsUnderTest;
  coverage?: Coverage;
}

/** Checks one graph; if it fails to load, the other checks are skipped. */
export async function smokeTest(graph: string, options: SmokeOptions): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const check = async (
    name: string,
    work: () => Promise<Partial<CaseResult> | undefined>,
  ): Promise<boolean> => {
    const result = await checked(graph, name, work);
    results.push(result);
    options.onResult?.(result);
    return result.status !== "failed";
  };
  let tested: GraphUnderTest | undefined;
  const loads = await check("load", async () => {
    tested = await options.graphs.open({ graph, folder: "." });
    return undefined;
  });
  if (!loads || !tested || options.signal.aborted) return results;
  const { client, assistantId, drawing } = tested;
  await check("draw", () => Promise.resolve(nodesNote(drawing.nodes.length)));
  await check("schemas", async () => {
    const schemas = Object.entries(await client.assistants.getSchemas(assistantId));
    const derived = schemas.flatMap(([name, schema]) =>
      name.endsWith("_schema") && schema ? [name.replace("_schema", "")] : [],
    );
    return { note: derived.join(" ") || "none" };
  });
  const ran = await smokeRun(graph, tested, options);
  results.push(ran);
  options.onResult?.(ran);
  return results;
}

const nodesNote = (count: number): Partial<CaseResult> => ({ note: `${count - 2} nodes` });

async function checked(
  graph: string,
  name: string,
  work: () => Promise<Partial<CaseResult> | undefined>,
): Promise<CaseResult> {
  const start = performance.now();
  const result: CaseResult = {
    file: graph,
    name,
    graph,
    status: "passed",
    failures: [],
    durationMs: 0,
    attempts: 1,
    nodes: [],
    tokens: 0,
  };
  try {
    Object.assign(result, await work());
  } catch (error) {
    if (!(error instanceof GraphServeError)) throw error;
    const { location } = error;
    result.status = "failed";
    result.failures = [{ expectation: name, message: errorMessage(error), ...(location && { location }) }];
    result.fault = error;
  }
  return { ...result, durationMs: performance.now() - start };
}

/** Runs the graph once with a minimal valid input. */
async function smokeRun(
  graph: string,
  { client, assistantId }: GraphUnderTest,
  options: SmokeOptions,
): Promise<CaseResult> {
  const { input_schema } = await client.assistants.getSchemas(assistantId);
  const derived = minimalInput(input_schema);
  if ("why" in derived) {
    return checked(graph, "run", () =>
      Promise.resolve({ status: "skipped", note: `cannot derive an input: ${derived.why}; ${WRITE}` }),
    );
  }
  const file: CaseFile = {
    file: graph,
    source: { graph, cases: [] },
    cases: [],
  };
  const one = {
    name: "run",
    skip: false,
    location: { file: graph },
    steps: [{ input: derived.input, locate: () => ({ file: graph }) }],
  };
  const { cases } = await runSuite([{ file, one }], { ...options, onResult: undefined });
  return cases[0] as CaseResult;
}

const WRITE = "write a case file such as agent.graph.yaml with cases: [{ name: runs, input: {...} }]";

// Derives a minimal input from an input schema.

type MinimalInput = { input: unknown } | { why: string };

const MESSAGE = { role: "user", content: "hello" };
const DEEPEST = 8;

/** A minimal input of the graph, or the reason why none can be derived. */
export function minimalInput(schema: JsonObject | null): MinimalInput {
  if (schema === null) return { why: "the graph declares no input schema" };
  try {
    return { input: derive(schema, { root: schema, depth: 0, path: "input" }) };
  } catch (error) {
    if (error instanceof Underivable) return { why: error.message };
    throw error;
  }
}

class Underivable extends Error {}

interface Place {
  root: JsonObject;
  depth: number;
  path: string;
}

function derive(given: unknown, place: Place): unknown {
  if (place.depth > DEEPEST) throw new Underivable(`${place.path} is nested too deeply`);
  const schema = resolved(given, place);
  if ("default" in schema) return schema.default;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  // A list of messages may have no type at run time, but its format is known.
  if (isMessages(schema, place)) return [MESSAGE];
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (choices) return firstDerivable(choices, place);
  const types = [schema.type].flat();
  const type = types.find((one) => one !== "null") ?? types[0];
  const make = typeof type === "string" ? MAKERS[type] : undefined;
  if (make) return make(schema, place);
  throw new Underivable(`the type of ${place.path} is unknown at run time`);
}

const MAKERS: Record<string, (schema: JsonObject, place: Place) => unknown> = {
  string: stringOf,
  number: (schema) => numberOf(schema, 0.5),
  integer: (schema) => numberOf(schema, 1),
  boolean: () => true,
  null: () => null,
  array: arrayOf,
  object: objectOf,
};

function firstDerivable(choices: readonly unknown[], place: Place): unknown {
  let fault: unknown;
  for (const choice of choices) {
    try {
      return derive(choice, { ...place, depth: place.depth + 1 });
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

const FORMATS: Record<string, string> = {
  "date-time": "2024-01-01T00:00:00Z",
  date: "2024-01-01",
  time: "00:00:00Z",
  email: "ada@example.com",
  uri: "https://example.com",
  url: "https://example.com",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function stringOf({ format, pattern, minLength, maxLength }: JsonObject, { path }: Place): string {
  if (typeof format === "string" && FORMATS[format] !== undefined) return FORMATS[format];
  if (pattern !== undefined)
    throw new Underivable(`${path} must match the pattern ${JSON.stringify(pattern)}`);
  const least = typeof minLength === "number" ? minLength : 0;
  const text = "hello".padEnd(least, " hello");
  return typeof maxLength === "number" ? text.slice(0, maxLength) : text;
}

function numberOf(
  { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject,
  gap: number,
): number {
  const isNumber = (value: unknown): value is number => typeof value === "number";
  const step = isNumber(multipleOf) ? multipleOf : gap;
  const inside = (value: number) =>
    (!isNumber(minimum) || value >= minimum) &&
    (!isNumber(exclusiveMinimum) || value > exclusiveMinimum) &&
    (!isNumber(maximum) || value <= maximum) &&
    (!isNumber(exclusiveMaximum) || value < exclusiveMaximum);
  const bounds = [minimum, exclusiveMinimum, maximum, exclusiveMaximum].filter(isNumber);
  const tries = [1, 0, ...bounds.flatMap((value) => [value, value + step, value - step])];
  const rounded = isNumber(multipleOf)
    ? tries.map((value) => Math.ceil(value / multipleOf) * multipleOf)
    : tries;
  return rounded.find(inside) ?? 1;
}

function arrayOf(schema: JsonObject, place: Place): unknown[] {
  if (Array.isArray(schema.prefixItems))
    return schema.prefixItems.map((item, index) => derive(item, inside(place, `[${index}]`)));
  const least = typeof schema.minItems === "number" ? schema.minItems : 0;
  return Array.from({ length: least }, () => derive(schema.items ?? {}, inside(place, "[]")));
}

const isMessages = ({ langgraph_type, type = "array" }: JsonObject, { path }: Place): boolean =>
  langgraph_type === "messages" || (path === "input.messages" && type === "array");

/** Required keys; if the schema does not list any, keys without a default. */
function objectOf(schema: JsonObject, place: Place): JsonObject {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const messages = names.find((name) => isMessages(resolved(properties[name], place), inside(place, name)));
  const required = Array.isArray(schema.required) ? schema.required.map(String) : undefined;
  // If other keys have unknown types, the input consists of messages only.
  const wanted =
    required ?? (messages && schema["x-source"] === "channels" ? [messages] : withoutDefault(schema, place));
  const chosen = messages !== undefined && !wanted.includes(messages) ? [messages, ...wanted] : wanted;
  // LangGraph rejects an empty input.
  const some = chosen.length === 0 && place.depth === 0 ? names.slice(0, 1) : chosen;
  return Object.fromEntries(some.map((name) => [name, derive(properties[name], inside(place, name))]));
}

function withoutDefault(schema: JsonObject, place: Place): string[] {
  const entries = Object.entries(isRecord(schema.properties) ? schema.properties : {});
  // In schemas inferred from channels, a known type means that the channel has a default. For types without a JSON schema,
  // no value can be generated.
  const hasDefault = (property: JsonObject) =>
    "default" in property ||
    UNKNOWN in property ||
    (schema["x-source"] === "channels" && property.type !== undefined);
  return entries.filter(([, property]) => !hasDefault(resolved(property, place))).map(([name]) => name);
}

function inside({ root, depth, path }: Place, name: string): Place {
  return { root, depth: depth + 1, path: name.startsWith("[") ? path + name : `${path}.${name}` };
}

/** Resolves local references and merges `allOf`. */
function resolved(schema: unknown, { root, depth }: Place): JsonObject {
  if (!isRecord(schema) || depth > 2 * DEEPEST) return {};
  if (typeof schema.$ref === "string") {
    const steps = schema.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
    const found = steps.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), root);
    return resolved(found, { root, depth: depth + 1, path: "" });
  }
  if (!Array.isArray(schema.allOf)) return schema;
  const parts = schema.allOf.map((part) => resolved(part, { root, depth: depth + 1, path: "" }));
  return Object.assign({}, ...parts, schema) as JsonObject;
}
