/** From the flags of `threads list` and `threads prune` to a search. */
import { InvalidRequestError } from "../../errors.js";
import { nearest } from "../../nearest.js";
import { SORT_ORDERS } from "../../models/common.js";
import { THREAD_SORT_FIELDS, THREAD_STATUSES, type ThreadSearchRequest } from "../../models/thread.js";
import { keyValues } from "../key-values.js";

export interface FilterFlags {
  status?: string;
  metadata?: string[];
  values?: string[];
}

/** @throws InvalidRequestError (`invalid_request`) */
export function filterOf({ status, metadata, values }: FilterFlags): ThreadSearchRequest {
  return {
    ...(status !== undefined && { status: oneOf("--status", status, THREAD_STATUSES) }),
    ...(metadata && { metadata: keyValues("--metadata", metadata) }),
    ...(values && { values: keyValues("--values", values) }),
  };
}

/**
 * `updated_at`, `created_at:asc`, ...
 * @throws InvalidRequestError (`invalid_request`)
 */
export function sortOf(text: string | undefined): ThreadSearchRequest {
  if (text === undefined) return {};
  const [field = "", order] = text.split(":", 2);
  return {
    sort_by: oneOf("--sort", field, THREAD_SORT_FIELDS),
    ...(order !== undefined && { sort_order: oneOf("--sort", order, SORT_ORDERS) }),
  };
}

/** @throws InvalidRequestError (`invalid_request`) */
export function oneOf<T extends string>(flag: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  const similar = nearest(text, known);
  throw new InvalidRequestError(`${flag} does not know "${text}"`, undefined, {
    hint: `${similar === undefined ? "" : `did you mean ${similar}? `}There are: ${known.join(", ")}`,
  });
}
