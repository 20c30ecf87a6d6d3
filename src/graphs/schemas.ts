/** JSON schemas of a graph: the declared ones (zod, StateSchema), otherwise derived from its channels. */
import { type GraphSchema, UNKNOWN } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { declaredSchemas, MESSAGES_SCHEMA, type SchemaGetter } from "./declared-schemas.js";
import type { ServedGraph } from "./graph.js";

const GETTERS = {
  input: "getInputTypeSchema",
  output: "getOutputTypeSchema",
  state: "getStateTypeSchema",
  context: "getConfigTypeSchema",
} as const satisfies Record<string, SchemaGetter>;

/**
 * The schemas of a graph. Declarations with zod or StateSchema yield complete schemas, except for types without a JSON
 * form, which are marked `"x-unknown": "z.date()"`. Annotations have no types at run time, so their keys get the types of
 * the default values, marked `"x-source": "channels"`. Null if nothing is known, such as for the input of a functional
 * entrypoint. Never throws.
 */
export async function graphSchemas(graph: ServedGraph, graphId: string): Promise<GraphSchema> {
  const declared = await declaredSchemas(graph);
  const keys = schemaKeys(graph);
  const derive = (kind: keyof typeof keys): JsonObject | null => {
    const { schema, fault } = declared(GETTERS[kind]);
    return schema ?? schemaOfChannels(graph, keys[kind], `${graphId} ${kind}`, fault);
  };
  // A compiled graph does not contain the annotation of its context.
  const { schema: known, fault } = declared(GETTERS.context);
  const context = known ?? (fault === undefined ? null : { type: "object", [UNKNOWN]: fault });
  return {
    graph_id: graphId,
    input_schema: derive("input"),
    output_schema: derive("output"),
    state_schema: derive("state"),
    // LangGraph.js uses one declaration for both.
    config_schema: context,
    context_schema: context,
  };
}

/** Schemas of a graph's state keys, as far as they are known. */
export async function stateTypes(graph: ServedGraph): Promise<JsonObject> {
  const { state_schema } = await graphSchemas(graph, "");
  return isRecord(state_schema?.properties) ? state_schema.properties : {};
}

interface SchemaKeys {
  input?: string[];
  output?: string[];
  state?: string[];
}

/** The keys of each schema, as far as the compiled graph knows them. */
export function schemaKeys(graph: ServedGraph): SchemaKeys {
  const builder = isObject(graph.builder) ? graph.builder : {};
  const state = keysOf(builder._schemaDefinition);
  const output = graph.outputChannels;
  return {
    input: keysOf(builder._inputDefinition) ?? state,
    output: Array.isArray(output) ? output.map(String) : undefined,
    state,
  };
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;
const keysOf = (value: unknown): string[] | undefined => (isObject(value) ? Object.keys(value) : undefined);

function schemaOfChannels(
  graph: ServedGraph,
  keys: string[] | undefined,
  title: string,
  fault: string | undefined,
): JsonObject | null {
  if (!keys || keys.length === 0) return null;
  const properties = Object.fromEntries(keys.map((key) => [key, channelSchema(graph.channels?.[key])]));
  const why = fault === undefined ? {} : { [UNKNOWN]: fault };
  return { type: "object", title, properties, "x-source": "channels", ...why };
}

interface ChannelLike {
  operator?: unknown;
  initialValueFactory?: unknown;
}

/** Schema of a channel: messages, or the type of its default value. */
function channelSchema(channel: unknown): JsonObject {
  if (!isObject(channel)) return {};
  const { operator, initialValueFactory } = channel as ChannelLike;
  // By name: the reducer may come from another copy of LangGraph.
  if (typeof operator === "function" && operator.name === "messagesStateReducer")
    return { ...MESSAGES_SCHEMA };
  return typeof initialValueFactory === "function" ? typeOf(initialValueFactory as () => unknown) : {};
}

function typeOf(makeDefault: () => unknown): JsonObject {
  let value: unknown;
  try {
    value = makeDefault();
  } catch {
    return {};
  }
  if (Array.isArray(value)) return { type: "array" };
  if (isObject(value)) return Object.getPrototypeOf(value) === Object.prototype ? { type: "object" } : {};
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? { type } : {};
}
