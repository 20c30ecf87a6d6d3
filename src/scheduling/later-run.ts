/** Runs that are accepted later than requested: checks them early, and accepts them when due. */
import type { Caller } from "../models/caller.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { RunHolder } from "../storage/contract/storage.js";
import { GraphServeError, InvalidRequestError } from "../support/errors.js";
import { newId } from "../support/ids.js";
import { TooManyActiveRunsError } from "../runs/active-runs.js";
import { type OpsContext, withParts } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { isStorable, storable } from "../runs/resumption.js";
import {
  bindGraph,
  graphInput,
  readRequest,
  refuseUnfiltered,
  refuseUnsupported,
} from "../runs/run-request.js";
import { enqueueRun } from "../coordination/start-run.js";
import { withTemporaryThread } from "../coordination/stateless-runs.js";

/**
 * Checks everything about a request that can be checked before the run starts. The thread must belong to the caller.
 * @returns the caller in its stored form
 * @throws GraphServeError like `startRun`, and for a request that cannot be stored (`invalid_request`)
 */
export async function checkLater(
  context: OpsContext,
  request: RunCreateRequest,
  threadId: string = newId(),
): Promise<Caller | null> {
  const call = readRequest(context, threadId, request);
  const graphId = context.registry.resolve(request.assistant_id);
  await refuseUnsupported(context, request);
  const bound = await bindGraph(context, graphId, call, request);
  await graphInput(request, bound.graph);
  refuseUnfiltered(context, call, bound);
  for (const field of ["config", "context"] as const) if (!isStorable(request[field])) throw secretIn(field);
  if (!isStorable(context.caller)) throw secretIn("auth");
  return (context.caller && storable(context.caller)) ?? null;
}

const secretIn = (place: "config" | "context" | "auth") =>
  InvalidRequestError.at(
    place === "auth" ? ["body"] : ["body", place],
    place === "auth"
      ? "the identity returned by the auth function holds a secret, and scheduled runs are stored without secrets: let graphs look the secret up by the identity"
      : "holds a secret, or a value that is not JSON, and scheduled runs are stored without secrets: let the graph read it from its environment",
    "not_storable",
  );

export interface LaterRun {
  run: Pick<Run, "run_id" | "thread_id"> & Partial<Pick<Run, "created_at">>;
  request: RunCreateRequest;
  caller: Caller | null;
  /** Whether to create a temporary thread for the run. */
  isStateless: boolean;
  /** The current holder of the run, if its row is stored already. */
  from?: RunHolder;
}

/**
 * Accepts the run as if its client requested it now. Has no effect if the run was accepted before.
 * @returns the error if the run is refused permanently; undefined if it is accepted
 * @throws GraphServeError if a retry may succeed, such as `storage_unavailable`, or `too_many_runs` in this process
 */
export async function acceptLater(
  context: EngineContext,
  later: LaterRun,
): Promise<GraphServeError | undefined> {
  const { run, request, caller, isStateless, from } = later;
  const own = withParts(context, { caller: caller ?? undefined });
  if (!from && (await context.storage.runs.get(run.thread_id, run.run_id))) return undefined;
  const accept = (threadId: string, options: Partial<Parameters<typeof enqueueRun>[3]> = {}) =>
    enqueueRun(own, threadId, request, {
      ...options,
      log: context.live.newLog(threadId, options.stateless),
      unattended: true,
      known: { run_id: run.run_id, created_at: run.created_at, from },
    });
  try {
    if (isStateless) await withTemporaryThread(own, request, accept, { threadId: run.thread_id });
    else await accept(run.thread_id);
    return undefined;
  } catch (error) {
    if (error instanceof TooManyActiveRunsError) throw error;
    if (error instanceof GraphServeError && error.status < 500) return error;
    throw error;
  }
}
