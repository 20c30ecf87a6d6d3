import { v5, v7 } from "uuid";
import { InvalidRequestError } from "./errors.js";
import type { Issue } from "./errors/codes.js";

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Creates an id for a thread or a run: UUID version 7, so ids sort by time. */
export const newId = (): string => v7();

/** Creates an id that sorts by the time of another id, if that id has a time. */
export const newIdLike = (id: string): string => {
  const time = timeOfId(id);
  return time === undefined ? newId() : v7({ msecs: time });
};

/**
 * Creates the same id for the same time and bytes; sorts by that time.
 * @param bytes at least 16
 */
export const derivedId = (msecs: number, bytes: Uint8Array): string =>
  v7({ msecs, random: bytes.slice(0, 16) });

/** Creation time of a version 7 UUID, in milliseconds since 1970; undefined for any other string. */
export function timeOfId(id: string): number | undefined {
  if (!CANONICAL.test(id) || id[14] !== "7") return undefined;
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * The canonical lower-case form of a UUID that is plain, in braces, a URN or without hyphens;
 * undefined for anything else (docs/specification.md#assistants, 5).
 */
export function canonicalUuid(text: string): string | undefined {
  const hex = text
    .toLowerCase()
    .replace(/^urn:/, "")
    .replace(/^uuid:/, "")
    .replace(/^\{(.*)\}$/, "$1")
    .replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/.test(hex)) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Lower-case thread or run id, the form used for storage and locks, so that an upper-case id names
 * the same thread.
 * @throws InvalidRequestError if `text` is not a UUID (`invalid_request`)
 */
export function requireUuid(text: string, loc: Issue["loc"]): string {
  const lower = text.toLowerCase();
  if (!CANONICAL.test(lower)) {
    throw InvalidRequestError.at(loc, `${JSON.stringify(text.slice(0, 64))} is not a UUID`, "uuid_parsing");
  }
  return lower;
}

export const isUuidUrn = (uri: string): boolean => /^urn:uuid:/i.test(uri);

/**
 * Deterministic assistant id (docs/specification.md#assistants, 4): UUID version 5 in the URL
 * namespace, or in the namespace given by a `urn:uuid:` URI.
 */
export function assistantUuid(namespace: string, assistantId: string): string {
  const own = isUuidUrn(namespace) ? canonicalUuid(namespace) : undefined;
  return own === undefined ? v5(`${namespace}/${assistantId}`, v5.URL) : v5(assistantId, own);
}
