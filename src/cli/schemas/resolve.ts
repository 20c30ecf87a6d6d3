/** Reads JSON schemas: resolves references, drops annotations and expands unions. */
import { splitList } from "../../config/environment.js";
import { oneOf } from "../session/options.js";
import { type GraphSchema, UNKNOWN } from "../../models/assistant.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import { pointerKeys } from "../../support/schema/schema-errors.js";

/** A schema and the document that its references point into. */
export interface SchemaNode {
  schema: unknown;
  root: JsonObject;
}

/** Annotation keywords, which do not affect validation. */
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

/** Resolves a local reference such as `#/$defs/Name`; undefined if it is dangling. */
export function atPointer(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  return pointerKeys(decodeURIComponent(reference.slice(1))).reduce<unknown>(
    (value, part) => (isRecord(value) ? value[part] : undefined),
    root,
  );
}

/** The schema without annotations. */
function constraints(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !NOTES.has(key)));
}

/** Whether a schema accepts any value. */
export const hasNoType = (node: SchemaNode): boolean => Object.keys(constraints(resolved(node))).length === 0;

/** The alternatives of a schema: union members, types and enum values. */
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

export function propertiesOf(schema: JsonObject): JsonObject {
  return isRecord(schema.properties) ? schema.properties : {};
}

export function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema.required) ? schema.required.map(String) : [];
}

const SCHEMA_KINDS = ["input", "output", "state", "config", "context"] as const;
export type SchemaKind = (typeof SCHEMA_KINDS)[number];

/**
 * The kinds in a flag's value, in the order of `SCHEMA_KINDS`; all kinds without the flag.
 * @throws InvalidRequestError for an unknown kind (`invalid_request`)
 */
export function schemaKinds(text: string | undefined): SchemaKind[] {
  if (text === undefined) return [...SCHEMA_KINDS];
  const words = splitList(text);
  const kinds = (words.length === 0 ? [text] : words).map((word) => oneOf("--kind", word, SCHEMA_KINDS));
  return SCHEMA_KINDS.filter((kind) => kinds.includes(kind));
}

/** The schema of one kind; null if unknown. */
export function schemaOfKind(schemas: GraphSchema, kind: SchemaKind): JsonObject | null {
  return schemas[`${kind}_schema`] ?? null;
}

/** Whether a schema was inferred from channels, so that its types are incomplete. */
export function isFromChannels(schema: JsonObject | null): boolean {
  return schema?.["x-source"] === "channels";
}

/** Whether a declared type has no JSON schema, so that the schema accepts any value. */
export function isMarkedUnknown(schema: JsonObject): boolean {
  return typeof schema[UNKNOWN] === "string";
}

/** File name of the committed schema of a kind. */
export function schemaFile(graphId: string, kind: SchemaKind): string {
  return `${fileName(graphId)}.${kind}.schema.json`;
}

/** File name of the committed TypeScript types. */
export function typesFile(graphId: string): string {
  return `${fileName(graphId)}.types.ts`;
}

const fileName = (graphId: string): string => graphId.replace(/[^\w.-]/g, "_");
