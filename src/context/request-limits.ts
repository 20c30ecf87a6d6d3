/** Limits of request parts that cost more than their length: filters and metadata keys. */
import { InvalidRequestError } from "../support/errors.js";
import type { Issue } from "../support/errors/codes.js";
import type { JsonObject } from "../models/common.js";

/** Maximum values of a filter, nested ones included, and maximum characters of its keys and strings. */
const MAX_FILTER_VALUES = 100;
const MAX_FILTER_CHARACTERS = 64 * 1024;
/** Maximum metadata keys of a thread. Every key is indexed for search. */
const MAX_METADATA_KEYS = 1000;

/**
 * Rejects a filter that would take long to evaluate.
 * @throws InvalidRequestError if it exceeds the limits (`invalid_request`)
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

const tooLarge = (loc: Issue["loc"], limit: string) =>
  InvalidRequestError.at(
    loc,
    `a filter may contain at most ${limit}, nested ones included: use a smaller filter and filter the results in the client`,
    "filter_too_large",
  );

/**
 * Rejects new metadata keys if the thread would exceed the limit.
 * @throws InvalidRequestError (`invalid_request`)
 */
export function assertMetadataKeys(added: JsonObject, metadata: JsonObject = {}): void {
  const more = Object.keys(added).filter((key) => !Object.hasOwn(metadata, key)).length;
  if (more === 0 || Object.keys(metadata).length + more <= MAX_METADATA_KEYS) return;
  throw InvalidRequestError.at(
    ["body", "metadata"],
    `a thread may have at most ${MAX_METADATA_KEYS} metadata keys: group related keys into one object`,
    "too_many_keys",
  );
}
