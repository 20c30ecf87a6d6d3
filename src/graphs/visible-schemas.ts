/** Schemas as clients may see them: which keys there are, but no value of a key that is hidden. */
import type { GraphSchema } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { PASS_ALL, type OutputFilter } from "./output-filter.js";

/** The schemas of a graph without the defaults of keys that its output leaves out. */
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

/** Defaults stand in properties that are shown, and nowhere else: what has no name is no key of the state. */
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

/** Words of JSON Schema under which schemas stand by names of the author's. */
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
