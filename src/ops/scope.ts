/**
 * Whose a thread is. The scope of the user who made it stands in its row, apart from the metadata, of which clients
 * write what they like. Without a caller every thread may be known of.
 */
import type { Caller } from "../models/caller.js";
import { byKey, type JsonObject } from "../models/common.js";
import { contains } from "../storage/rows.js";
import type { ThreadFilter, ThreadPatch, ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";

type Scoped = Pick<OpsContext, "caller">;

/** A scope as rows keep it: equal texts are equal scopes. */
const textOf = ({ scope }: Caller): string => JSON.stringify(byKey(scope));

/** The scope of what the caller makes. */
export const scopeOf = ({ caller }: Scoped): string | null => (caller ? textOf(caller) : null);

/**
 * Whether the caller may know of it: the whole scope counts. What no user made, or release 0.1.0 stored, has none; it is
 * the caller's when its metadata says so, until a user writes to it: see `claim`.
 */
export function isOwn(
  { caller }: Scoped,
  { scope, metadata }: Pick<ThreadRow, "scope" | "metadata">,
): boolean {
  if (!caller) return true;
  return scope == null ? contains(metadata, caller.scope) : scope === textOf(caller);
}

/** A thread that a caller writes to is its own from then on. */
export const claim = ({ caller }: Scoped): Pick<ThreadPatch, "scope"> =>
  caller ? { scope: textOf(caller) } : {};

/** Metadata of something that the caller creates. */
export function stampScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  return caller ? { ...metadata, ...caller.scope } : metadata;
}

/** Metadata that is merged into a thread's: what it says of the caller stays as it was. */
export function withoutScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  if (!caller) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !Object.hasOwn(caller.scope, key)));
}

/** The filter, kept to the caller's threads. */
export function scopeFilter({ caller }: Scoped, filter: ThreadFilter): ThreadFilter {
  if (!caller) return filter;
  // Who asks for the threads of another scope gets none, not its own.
  const { metadata = {} } = filter;
  const own = stampScope({ caller }, metadata);
  return contains(own, metadata)
    ? { ...filter, metadata: own, scope: textOf(caller) }
    : { ...filter, ids: [] };
}

/** The caller, under the name that graphs know from LangGraph. */
export function callerConfigurable({ caller }: Scoped): JsonObject {
  return caller ? { langgraph_auth_user: caller.user } : {};
}

/** Where the caller's long-term memory begins. The characters that labels may not have, or that match any, are escaped. */
export function storeRoot({ caller }: Scoped): string[] {
  return caller ? [caller.user.identity.replace(/[%.*]/g, encodeLabel)] : [];
}

const encodeLabel = (char: string): string =>
  `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
