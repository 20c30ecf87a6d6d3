/** Schemas for clients: all keys, but no values of hidden keys. */
import type { GraphSchema } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { PASS_ALL, type OutputFilter } from "./output-filter.js";

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
