/** What a request may hold of that which costs more than its own length: filters, and the keys of metadata. */
import { InvalidRequestError, type Issue } from "../support/errors.js";
import type { JsonObject } from "../models/common.js";

/** Entries of objects and elements of lists that a filter may hold in all, and the characters of its keys and texts. */
const MAX_FILTER_VALUES = 1000;
const MAX_FILTER_CHARACTERS = 64 * 1024;
/** Keys of a thread's metadata: each may be searched by, so each is indexed. */
const MAX_METADATA_KEYS = 1000;

/**
 * Refuse a filter that would take long to compare with what is stored.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function assertFilter(filter: unknown, loc: Issue["loc"]): void {
  const rest: unknown[] = [filter];
  let values = 0;
  let characters = 0;
  while (rest.length > 0) {
    const item = rest.pop();
    if (typeof item === "string") characters += item.length;
    if (typeof item === "object" && item !== null) {
      const inner: unknown[] = Array.isArray(item) ? item : Object.values(item);
      values += inner.length;
      if (!Array.isArray(item)) for (const key of Object.keys(item)) characters += key.length;
      if (values <= MAX_FILTER_VALUES) for (const value of inner) rest.push(value);
    }
    if (values > MAX_FILTER_VALUES) throw tooLarge(loc, `${MAX_FILTER_VALUES} values`);
    if (characters > MAX_FILTER_CHARACTERS) throw tooLarge(loc, `${MAX_FILTER_CHARACTERS} characters`);
  }
}

const tooLarge = (loc: Issue["loc"], most: string) =>
  InvalidRequestError.at(
    loc,
    `a filter may hold ${most} at most, those of inner lists and objects included: filter by less, and compare what is found yourself`,
    "filter_too_large",
  );

/**
 * Refuse to add more keys to the metadata of a thread than can be kept searchable.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function assertMetadataKeys(added: JsonObject, metadata: JsonObject = {}): void {
  const more = Object.keys(added).filter((key) => !Object.hasOwn(metadata, key)).length;
  if (more === 0 || Object.keys(metadata).length + more <= MAX_METADATA_KEYS) return;
  throw InvalidRequestError.at(
    ["body", "metadata"],
    `a thread may have ${MAX_METADATA_KEYS} keys of metadata at most: put what belongs together into one object`,
    "too_many_keys",
  );
}
