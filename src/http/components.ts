/** Schemas with a title become components, named by it, and a reference stands in their place. */
import type { JsonObject } from "../models/common.js";

export interface Components {
  /** The schema as it stands in the document: titled parts replaced by references. */
  use(schema: object): JsonObject;
  /** Every component met so far, by name. */
  all(): Record<string, JsonObject>;
}

/** TypeBox spells a map by a pattern that matches every key. */
const ANY_KEY = "^(.*)$";

export function createComponents(): Components {
  const components = new Map<string, JsonObject>();

  function convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== "object" || value === null) return value;
    const node = value as JsonObject;
    return typeof node.title === "string" ? hoist(node.title, node) : convertFields(node);
  }

  function convertFields(node: JsonObject): JsonObject {
    const fields: JsonObject = {};
    for (const [key, value] of Object.entries(node)) {
      const map = key === "patternProperties" ? (value as JsonObject)[ANY_KEY] : undefined;
      if (map) fields.additionalProperties = convert(map);
      else fields[key] = convert(value);
    }
    return fields;
  }

  function hoist(title: string, node: JsonObject): JsonObject {
    const { title: _, ...rest } = node;
    const component = convertFields(rest);
    const known = components.get(title);
    if (known) assertSame(title, known, component);
    else components.set(title, component);
    const reference = { $ref: `#/components/schemas/${title}` };
    const { description } = components.get(title) ?? {};
    return node.description === description ? reference : { ...reference, description: node.description };
  }

  return {
    use: (schema) => convert(schema) as JsonObject,
    all: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function assertSame(title: string, one: JsonObject, other: JsonObject): void {
  const text = (schema: JsonObject) => JSON.stringify({ ...schema, description: undefined });
  if (text(one) !== text(other)) throw new Error(`two different schemas have the title ${title}`);
}
