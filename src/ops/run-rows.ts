import { NotFoundError } from "../errors.js";
import { newId, requireUuid } from "../ids.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { RunRow, ThreadPatch } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { kwargsOf, publicConfig } from "./run-request.js";
import { stampScope } from "./scope.js";
import { ownThread } from "./thread-rows.js";

/** Clients find threads by the graph and the assistant that last ran on them; runs carry the same. */
export interface GraphStamp {
  graph_id: string;
  /** The assistant's UUID. */
  assistant_id: string;
}

/** The row of a run that was just accepted. */
export function newRunRow(
  context: OpsContext,
  threadId: string,
  request: RunCreateRequest,
  stamp: GraphStamp,
  at: string,
): RunRow {
  return {
    run_id: newId(),
    thread_id: threadId,
    assistant_id: request.assistant_id,
    created_at: at,
    updated_at: at,
    status: "pending",
    metadata: { ...stampScope(context, request.metadata ?? {}), ...stamp },
    kwargs: kwargsOf(request),
    multitask_strategy: request.multitask_strategy ?? "enqueue",
    error: null,
    usage: null,
    owner: context.ownerId,
  };
}

/** What a run that begins makes of its thread. */
export function busyThread({ config }: RunCreateRequest, stamp: GraphStamp, at: string): ThreadPatch {
  return {
    updated_at: at,
    status: "busy",
    mergeMetadata: { ...stamp },
    ...(config && { config: publicConfig(config) }),
  };
}

/**
 * The row of the run that a path names.
 * @throws InvalidRequestError when an id is no UUID (`invalid_request`)
 * @throws NotFoundError (`run_not_found`), also for a run of another thread, and on a thread of another caller
 */
export async function runRow(context: OpsContext, threadId: string, runId: string): Promise<RunRow> {
  const id = requireUuid(runId, ["path", "run_id"]);
  const thread = requireUuid(threadId, ["path", "thread_id"]);
  const isVisible = !context.caller || (await ownThread(context, thread)) !== undefined;
  const row = isVisible ? await context.storage.metadata.getRun(thread, id) : undefined;
  if (!row) throw new NotFoundError("run", id);
  return row;
}

export function runModel({ owner: _, ...run }: RunRow): Run {
  return run;
}
