import { splitList } from "../../config/parse-text.js";
import { InvalidRequestError } from "../../errors.js";
import type { GraphSchema } from "../../models/assistant.js";
import type { JsonObject } from "../../models/common.js";
import { nearest } from "../../nearest.js";

export const SCHEMA_KINDS = ["input", "output", "state", "config", "context"] as const;
export type SchemaKind = (typeof SCHEMA_KINDS)[number];

/**
 * The kinds that a flag names, in the order of the table; all without one.
 * @throws InvalidRequestError for an unknown kind (`invalid_request`)
 */
export function schemaKinds(text: string | undefined): SchemaKind[] {
  if (text === undefined) return [...SCHEMA_KINDS];
  const asked = splitList(text);
  for (const word of asked) if (!SCHEMA_KINDS.some((kind) => kind === word)) throw unknownKind(word);
  if (asked.length === 0) throw unknownKind(text);
  return SCHEMA_KINDS.filter((kind) => asked.includes(kind));
}

function unknownKind(word: string): InvalidRequestError {
  const similar = nearest(word, SCHEMA_KINDS);
  return new InvalidRequestError(`unknown kind of schema "${word}"`, undefined, {
    hint: similar === undefined ? `there are ${SCHEMA_KINDS.join(", ")}` : `did you mean "${similar}"?`,
  });
}

/** The schema of one kind; null where nothing is known. */
export function schemaOf(schemas: GraphSchema, kind: SchemaKind): JsonObject | null {
  return schemas[`${kind}_schema`] ?? null;
}

/** Whether a schema was read off the channels, so that its types are a part of the truth. */
export function isFromChannels(schema: JsonObject | null): boolean {
  return schema?.["x-source"] === "channels";
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
