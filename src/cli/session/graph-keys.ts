/** Checks input and state keys against a graph's schemas, because LangGraph silently drops unknown keys. */
import { type Client, graphIdOf } from "../../client/client.js";
import type { GraphSchema } from "../../models/assistant.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { Thread } from "../../models/thread.js";
import { InvalidRequestError } from "../../support/errors.js";
import { GraphTimeoutError } from "../../support/graph-code.js";
import { didYouMean } from "../../support/nearest.js";

/**
 * A schema of a graph; null if the graph does not declare one.
 * @throws GraphTimeoutError (`graph_load_failed`)
 */
export async function graphSchema(
  client: Client,
  graphId: string,
  schema: keyof Pick<GraphSchema, "input_schema" | "state_schema">,
): Promise<JsonObject | null> {
  try {
    return (await client.assistants.getSchemas(graphId))[schema];
  } catch (error) {
    if (error instanceof GraphTimeoutError) throw error;
    // The next step reports why the graph failed to load.
    return null;
  }
}

const keysOf = (schema: JsonObject | null): string[] =>
  isRecord(schema?.properties) ? Object.keys(schema.properties) : [];

const unknownIn = (values: JsonObject, known: readonly string[]): string[] =>
  known.length === 0 ? [] : Object.keys(values).filter((key) => !known.includes(key));

/**
 * A warning about input keys that the graph ignores; undefined if it has all of them.
 * @throws InvalidRequestError if the graph has none of the keys (`invalid_request`)
 */
export function unknownInput(
  schema: JsonObject | null,
  input: JsonObject,
  { isMessage }: { isMessage: boolean },
): string | undefined {
  const known = keysOf(schema);
  const keys = Object.keys(input);
  const unknown = unknownIn(input, known);
  if (unknown.length === 0) return undefined;
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  const has = `its keys are: ${known.join(", ")}`;
  if (isMessage)
    refuse("--message requires a graph with messages in its input", `${has}; use ${inputFlag(schema)}`);
  const fault = `the graph's input has no key ${unknown.join(", ")}`;
  if (unknown.length === keys.length) refuse(fault, `${has}; use ${inputFlag(schema)}`);
  return `${fault}, which is ignored; ${has}`;
}

/**
 * Checks that the thread's graph has every key of the values to write.
 * @throws InvalidRequestError (`invalid_request`)
 */
export async function refuseUnknownState(
  client: Client,
  thread: Partial<Pick<Thread, "metadata">>,
  values: unknown,
): Promise<void> {
  if (!isRecord(values)) return;
  const graphId = graphIdOf(thread) ?? (await client.defaultAssistant());
  const known = keysOf(await graphSchema(client, graphId, "state_schema"));
  const [unknown, ...others] = unknownIn(values, known);
  if (unknown === undefined) return;
  throw new InvalidRequestError(
    `the state of graph ${JSON.stringify(graphId)} has no key ${[unknown, ...others].join(", ")}`,
    undefined,
    { hint: didYouMean(unknown, known) ?? `its keys are: ${known.join(", ")}` },
  );
}

/** An example flag for the graph's input: `--message`, or `--input` with the keys of its input schema. */
export function inputFlag(schema: JsonObject | null, message = "..."): string {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const keys = Object.keys(properties);
  if (keys.length === 0 || keys.includes(MESSAGES)) return `--message ${JSON.stringify(message)}`;
  const required = Array.isArray(schema?.required) ? schema.required.map(String) : [];
  const shown = required.length > 0 ? required : keys.slice(0, MOST_KEYS);
  const input = Object.fromEntries(shown.map((key) => [key, sampleOf(properties[key], message)]));
  return `--input '${JSON.stringify(input).replaceAll("'", `'\\''`)}'`;
}

/** As `inputFlag`, for the graph of a thread; a message if its input schema is unknown. */
export async function inputFlagFor(client: Client, thread: Pick<Thread, "metadata">): Promise<string> {
  const graphId = async () => graphIdOf(thread) ?? (await client.defaultAssistant());
  return inputFlag(
    await graphId().then(
      (id) => graphSchema(client, id, "input_schema"),
      () => null,
    ),
  );
}

const MESSAGES = "messages";
const MOST_KEYS = 4;

/** A placeholder value of the schema's type. */
function sampleOf(schema: unknown, message: string): unknown {
  if (!isRecord(schema)) return "...";
  const { default: preset, const: only, enum: words, anyOf } = schema;
  if (schema.langgraph_type === MESSAGES) return [{ role: "user", content: message }];
  const [given] = [preset, only, Array.isArray(words) ? (words[0] as unknown) : undefined].filter(
    (value) => value !== undefined,
  );
  if (given !== undefined) return given;
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0], message);
  const samples: Record<string, unknown> = {
    number: 1,
    integer: 1,
    boolean: true,
    array: [],
    object: {},
    null: null,
  };
  return typeof schema.type === "string" && schema.type in samples ? samples[schema.type] : "...";
}
