/** Schemas for clients: all keys, but no values of hidden keys; and how writes change each state key. */
import type { ChannelKind, GraphSchema, StateChannel } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { ServedGraph } from "./graph.js";
import { PASS_ALL, type OutputFilter } from "./output-filter.js";
import { graphSchemas, schemaKeys } from "./schemas.js";

/** Removes the defaults of keys outside the output schema. */
export function visibleSchemas(schemas: GraphSchema, filter: OutputFilter): GraphSchema {
  if (filter === PASS_ALL) return schemas;
  const { input_schema, output_schema, state_schema } = schemas;
  return {
    ...schemas,
    input_schema: visibleState(input_schema, filter),
    output_schema: visibleState(output_schema, filter),
    state_schema: visibleState(state_schema, filter),
  };
}

/** Keeps defaults only in visible properties: a default elsewhere cannot be assigned to a state key. */
function visibleState(schema: JsonObject | null, filter: OutputFilter): JsonObject | null {
  if (schema === null) return null;
  const stripped = withoutDefaults(schema) as JsonObject;
  const { properties } = schema;
  if (!isRecord(properties)) return stripped;
  const shown = Object.entries(properties).filter(([key]) => filter.shows(key));
  return {
    ...stripped,
    properties: { ...(stripped.properties as JsonObject), ...Object.fromEntries(shown) },
  };
}

/** JSON Schema keywords whose keys are chosen by the author. */
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

function withoutDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([word]) => word !== "default");
  return Object.fromEntries(
    kept.map(([word, value]) => [word, NAMED.has(word) ? named(value) : withoutDefaults(value)]),
  );
}

const named = (schemas: unknown): unknown =>
  isRecord(schemas)
    ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutDefaults(schema)]))
    : schemas;

/** By the name of LangGraph's class: the graph may use another copy of LangGraph. */
const KINDS: Readonly<Record<string, ChannelKind>> = {
  LastValue: "last_value",
  LastValueAfterFinish: "last_value",
  AnyValue: "last_value",
  BinaryOperatorAggregate: "reducer",
  DeltaChannel: "reducer",
  Topic: "topic",
  EphemeralValue: "ephemeral",
  UntrackedValue: "untracked",
};
const MESSAGE_REDUCERS = new Set(["messagesStateReducer", "messagesDeltaReducer"]);

/**
 * The schemas of a graph as clients see them, with the channels of its state keys. `graphSchemas` has no channels, because
 * its hash is the version of the graph.
 */
export async function clientSchemas(
  graph: ServedGraph,
  graphId: string,
  filter: OutputFilter,
): Promise<GraphSchema> {
  const schemas = visibleSchemas(await graphSchemas(graph, graphId), filter);
  const channels = (schemaKeys(graph).state ?? []).map((key): [string, StateChannel] => [
    key,
    { kind: kindOf(graph.channels?.[key]), visible: filter.shows(key) },
  ]);
  return { ...schemas, channels: channels.length > 0 ? Object.fromEntries(channels) : null };
}

function kindOf(channel: unknown): ChannelKind {
  if (!isRecord(channel)) return "unknown";
  const reducer = channel.operator ?? channel.reducer;
  if (typeof reducer === "function" && MESSAGE_REDUCERS.has(reducer.name)) return "messages";
  return KINDS[String(channel.lc_graph_name)] ?? "unknown";
}
