/** Which threads a caller may know of: those whose metadata holds its scope. Without a caller, all of them. */
import { ThreadExistsError } from "../errors.js";
import type { JsonObject } from "../models/common.js";
import { contains } from "../storage/contains.js";
import type { ThreadFilter, ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";

type Scoped = Pick<OpsContext, "caller">;

export function isOwn({ caller }: Scoped, row: ThreadRow): boolean {
  return !caller || contains(row.metadata, caller.scope);
}

/** Metadata of something that the caller creates. */
export function stampScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  return caller ? { ...metadata, ...caller.scope } : metadata;
}

/** Metadata that is merged into a thread's: whose it is stays as it was. */
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
  return contains(own, metadata) ? { ...filter, metadata: own } : { ...filter, ids: [] };
}

/**
 * An id that is taken cannot be created; of whose thread it is, and what is on it, the caller learns nothing.
 * @throws ThreadExistsError when the thread is another's (`thread_exists`)
 */
export async function assertNotForeign(context: OpsContext, threadId: string): Promise<void> {
  if (!context.caller) return;
  const row = await context.storage.metadata.getThread(threadId);
  if (row && !isOwn(context, row)) throw new ThreadExistsError(threadId);
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
