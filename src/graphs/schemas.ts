/** JSON schemas of a graph: those it declares (zod, StateSchema), else what its channels show. */
import type * as Schemas from "@langchain/langgraph/zod/schema";
import type { GraphSchema } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { ServedGraph } from "./graph.js";

type SchemaModule = typeof Schemas;
type SchemaGetter = (typeof GETTERS)[keyof typeof GETTERS];

const GETTERS = {
  input: "getInputTypeSchema",
  output: "getOutputTypeSchema",
  state: "getStateTypeSchema",
  context: "getConfigTypeSchema",
} as const satisfies Record<string, keyof SchemaModule>;

/**
 * The schemas of a graph. What a graph declares by zod or StateSchema is complete; for annotations there are no types
 * at run time, so their keys stand with the types that default values show, marked `"x-source": "channels"`. Null
 * where nothing is known: what a functional entrypoint takes, for instance. Never throws.
 */
export async function graphSchemas(graph: ServedGraph, graphId: string): Promise<GraphSchema> {
  const declared = await declaredSchemas(graph);
  const keys = schemaKeys(graph);
  const derive = (kind: keyof typeof keys): JsonObject | null =>
    declared(GETTERS[kind]) ?? schemaOfChannels(graph, keys[kind], `${graphId} ${kind}`);
  // An annotation given as context leaves no trace in the graph.
  const context = declared(GETTERS.context) ?? null;
  return {
    graph_id: graphId,
    input_schema: derive("input"),
    output_schema: derive("output"),
    state_schema: derive("state"),
    // LangGraph.js has one declaration for both.
    config_schema: context,
    context_schema: context,
  };
}

/** What is known of the types in a graph's state, by key. */
export async function stateTypes(graph: ServedGraph): Promise<JsonObject> {
  const { state_schema } = await graphSchemas(graph, "");
  return isRecord(state_schema?.properties) ? state_schema.properties : {};
}

/** Asks LangGraph for a schema, with the graph's own registry, which is right whichever copy made the graph. */
export async function declaredSchemas(
  graph: ServedGraph,
): Promise<(getter: SchemaGetter) => JsonObject | undefined> {
  const langgraph = await import("@langchain/langgraph/zod/schema").catch(() => undefined);
  const { _metaRegistry: registry } = graph as { _metaRegistry?: Parameters<SchemaModule[SchemaGetter]>[1] };
  return (getter) => {
    try {
      const schema: unknown = langgraph?.[getter](graph, registry);
      return isObject(schema) ? (JSON.parse(JSON.stringify(schema)) as JsonObject) : undefined;
    } catch {
      // A type without a JSON form, such as z.date(): the keys are known all the same.
      return undefined;
    }
  };
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

function schemaOfChannels(graph: ServedGraph, keys: string[] | undefined, title: string): JsonObject | null {
  if (!keys || keys.length === 0) return null;
  const properties = Object.fromEntries(keys.map((key) => [key, channelSchema(graph.channels?.[key])]));
  return { type: "object", title, properties, "x-source": "channels" };
}

interface ChannelLike {
  operator?: unknown;
  initialValueFactory?: unknown;
}

/** What a channel shows of its values: that they are messages, or the type of its default. */
function channelSchema(channel: unknown): JsonObject {
  if (!isObject(channel)) return {};
  const { operator, initialValueFactory } = channel as ChannelLike;
  // By name: the reducer may come from another copy of LangGraph.
  if (typeof operator === "function" && operator.name === "messagesStateReducer") {
    return {
      type: "array",
      items: { type: "object" },
      description: "A list of chat messages",
      langgraph_type: "messages",
    };
  }
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
