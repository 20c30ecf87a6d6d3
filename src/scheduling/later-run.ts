/** Runs that are accepted later than they are asked for: what is checked at once, and how they are accepted then. */
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
 * All that can be wrong with a request before it has a thread's turn; a thread that it names is the caller's.
 * @returns on whose behalf it will run, as rows keep it
 * @throws GraphServeError as `startRun`, and for a request that rows cannot keep (`invalid_request`)
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
      ? "the identity that the auth function gives holds a secret, and what runs later is stored without secrets: let graphs look it up by the identity"
      : "holds a secret, or what is no JSON, and what runs later is stored without secrets: let the graph read it from its environment",
    "not_storable",
  );

export interface LaterRun {
  run: Pick<Run, "run_id" | "thread_id"> & Partial<Pick<Run, "created_at">>;
  request: RunCreateRequest;
  caller: Caller | null;
  /** On a thread of its own, which is made for it. */
  isStateless: boolean;
  /** Who has it until then, where its row is there already. */
  from?: RunHolder;
}

/**
 * Accept the run as if its client asked for it now; one that was accepted before is left as it is.
 * @returns why it is refused; undefined when it is accepted
 * @throws GraphServeError when it may be accepted another time, such as `storage_unavailable`, or `too_many_runs` in this process
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
