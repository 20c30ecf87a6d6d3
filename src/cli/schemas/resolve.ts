/** Reading JSON schemas: references followed, notes for humans left out, unions taken apart. */
import { isRecord, type JsonObject } from "../../models/common.js";

/** A schema as it stands in its document, which its references lead into. */
export interface SchemaNode {
  schema: unknown;
  root: JsonObject;
}

/** Keywords that say nothing about which values are valid. */
const NOTES = new Set([
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "jsonSchemaExtra",
  "langgraph_type",
  "langgraph_nodes",
  "x-source",
]);

const MOST_REFERENCES = 50;

/** The schema behind a chain of local references; true and what leads nowhere stand for any value. */
export function resolved({ schema, root }: SchemaNode): JsonObject {
  let current = schema;
  for (let step = 0; step < MOST_REFERENCES; step += 1) {
    if (!isRecord(current)) return current === false ? { not: {} } : {};
    if (typeof current.$ref !== "string") return current;
    current = atPointer(root, current.$ref) ?? {};
  }
  return {};
}

/** What a local reference such as `#/$defs/Name` leads to; undefined when it leads nowhere. */
export function atPointer(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  return reference
    .slice(1)
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), root);
}

/** The keywords that decide, without those that only tell. */
export function constraints(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !NOTES.has(key)));
}

/** The alternatives of a schema: members of its unions, each of its types, each value of its enum. */
export function alternatives(node: SchemaNode): JsonObject[] {
  const schema = constraints(resolved(node));
  for (const key of ["anyOf", "oneOf"]) {
    const members = schema[key];
    if (!Array.isArray(members)) continue;
    const { [key]: _, ...rest } = schema;
    return members.flatMap((member) =>
      alternatives({
        schema: { ...rest, ...resolved({ schema: member, root: node.root }) },
        root: node.root,
      }),
    );
  }
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value: unknown) => ({ const: value }));
  }
  const { type } = schema;
  return Array.isArray(type) ? type.map((each: unknown) => ({ ...schema, type: each })) : [schema];
}

/** The properties of an object schema. */
export function propertiesOf(schema: JsonObject): JsonObject {
  return isRecord(schema.properties) ? schema.properties : {};
}

export function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema.required) ? schema.required.map(String) : [];
}
