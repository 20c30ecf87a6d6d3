import { NotFoundError } from "../errors.js";
import { assertPlainData } from "../graphs/coerce.js";
import { newId, requireUuid } from "../ids.js";
import type { ThreadCreateRequest } from "../models/thread.js";
import type { ThreadRow } from "../storage/storage.js";
import { now, type OpsContext } from "./context.js";
import { isOwn, stampScope } from "./scope.js";
import { ttlOf } from "./ttl.js";

/**
 * The row of the thread that a path names, in any letter case.
 * @throws InvalidRequestError when it is no UUID (`invalid_request`)
 * @throws NotFoundError (`thread_not_found`), for a thread of another caller too
 */
export async function threadRow(context: OpsContext, threadId: string): Promise<ThreadRow> {
  const id = requireUuid(threadId, ["path", "thread_id"]);
  const row = await ownThread(context, id);
  if (!row) throw new NotFoundError("thread", id);
  return row;
}

/** The row of a thread; undefined when there is none, or it is none of the caller's. */
export async function ownThread(context: OpsContext, threadId: string): Promise<ThreadRow | undefined> {
  const row = await context.storage.metadata.getThread(threadId);
  return row && isOwn(context, row) ? row : undefined;
}

/** A row for a new thread of the caller's; ids and times are set here. */
export function newThreadRow(context: OpsContext, request: ThreadCreateRequest): ThreadRow {
  const at = now();
  if (request.metadata) assertPlainData(request.metadata, ["body", "metadata"]);
  return {
    thread_id: request.thread_id == null ? newId() : requireUuid(request.thread_id, ["body", "thread_id"]),
    created_at: at,
    updated_at: at,
    state_updated_at: null,
    metadata: stampScope(context, request.metadata ?? {}),
    config: {},
    status: "idle",
    error: null,
    ttl: ttlOf(request.ttl),
  };
}
