/** Finds unknown types in a schema, with the reason for each. */
import { UNKNOWN } from "../../models/assistant.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import { hasNoType, isFromChannels, propertiesOf, resolved } from "./resolve.js";

export interface UnknownType {
  /** Path such as `items[].at`; empty for the schema itself. */
  path: string;
  /** The reason, such as `z.date() has no JSON schema`. */
  message: string;
}

export function unknownTypes(schema: JsonObject | null): UnknownType[] {
  if (schema === null) return [];
  if (isFromChannels(schema)) return ofChannels(schema);
  const found = new Map<string, UnknownType>();
  walk(schema, { root: schema, path: "", above: [] }, (unknown) => found.set(unknown.path, unknown));
  return [...found.values()];
}

/** Why the types had to be inferred from channels. */
export function channelsError(schema: JsonObject): string {
  const fault = schema[UNKNOWN];
  return typeof fault === "string" ? fault : "an Annotation has no types at run time";
}

function ofChannels(schema: JsonObject): UnknownType[] {
  const keys = Object.entries(propertiesOf(schema)).filter(([, key]) =>
    hasNoType({ schema: key, root: schema }),
  );
  return keys.map(([key]) => ({ path: childPath("", key), message: channelsError(schema) }));
}

interface Place {
  root: JsonObject;
  path: string;
  /** The enclosing schemas, to stop at recursive types. */
  above: readonly unknown[];
}

function walk(given: unknown, { root, path, above }: Place, note: (unknown: UnknownType) => void): void {
  const schema = resolved({ schema: given, root });
  if (above.includes(schema)) return;
  const inside = (part: unknown, place: string) =>
    walk(part, { root, path: place, above: [...above, schema] }, note);
  const reason = schema[UNKNOWN];
  if (typeof reason === "string") note({ path, message: inWords(reason) });
  for (const [key, part] of Object.entries(propertiesOf(schema))) inside(part, childPath(path, key));
  for (const word of ["anyOf", "oneOf", "allOf"]) for (const part of listOf(schema[word])) inside(part, path);
  for (const part of [...listOf(schema.prefixItems), ...listOf(schema.items)]) inside(part, `${path}[]`);
  if (isRecord(schema.additionalProperties)) inside(schema.additionalProperties, `${path || "*"}{}`);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : isRecord(value) ? [value] : []);

const inWords = (reason: string): string =>
  /^z\.[\w]+\(.*\)$/.test(reason) ? `${reason} has no JSON schema` : reason;

/** Appends a key to a path. */
export const childPath = (path: string, key: string): string => {
  const name = /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
  return path === "" ? name : `${path}.${name}`;
};
