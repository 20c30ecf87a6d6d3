/** Reading JSON schemas: references followed, notes for humans left out, unions taken apart. */
import { splitList } from "../../config/environment.js";
import { oneOf } from "../session/options.js";
import { type GraphSchema, UNKNOWN } from "../../models/assistant.js";
import { isRecord, type JsonObject } from "../../models/common.js";

/** A schema within its document, which its references point into. */
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
  UNKNOWN,
]);

const MOST_REFERENCES = 50;

/** The schema behind a chain of local references; `true` and dangling references allow any value. */
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

/** The validating keywords, without annotations. */
function constraints(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !NOTES.has(key)));
}

/** Whether a schema says nothing of which values are valid. */
export const hasNoType = (node: SchemaNode): boolean => Object.keys(constraints(resolved(node))).length === 0;

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

const SCHEMA_KINDS = ["input", "output", "state", "config", "context"] as const;
export type SchemaKind = (typeof SCHEMA_KINDS)[number];

/**
 * The kinds that a flag names, in the order of the table; all without one.
 * @throws InvalidRequestError for an unknown kind (`invalid_request`)
 */
export function schemaKinds(text: string | undefined): SchemaKind[] {
  if (text === undefined) return [...SCHEMA_KINDS];
  const words = splitList(text);
  const kinds = (words.length === 0 ? [text] : words).map((word) => oneOf("--kind", word, SCHEMA_KINDS));
  return SCHEMA_KINDS.filter((kind) => kinds.includes(kind));
}

/** The schema of one kind; null where nothing is known. */
export function schemaOfKind(schemas: GraphSchema, kind: SchemaKind): JsonObject | null {
  return schemas[`${kind}_schema`] ?? null;
}

/** Whether a schema was read off the channels, so that its types are a part of the truth. */
export function isFromChannels(schema: JsonObject | null): boolean {
  return schema?.["x-source"] === "channels";
}

/** Whether a type has no JSON form: any value is valid, but that is not what was declared. */
export function isMarkedUnknown(schema: JsonObject): boolean {
  return typeof schema[UNKNOWN] === "string";
}

/** Name of the committed file of a kind. */
export function schemaFile(graphId: string, kind: SchemaKind): string {
  return `${fileName(graphId)}.${kind}.schema.json`;
}

/** Name of the committed file of the TypeScript types. */
export function typesFile(graphId: string): string {
  return `${fileName(graphId)}.types.ts`;
}

const fileName = (graphId: string): string => graphId.replace(/[^\w.-]/g, "_");
