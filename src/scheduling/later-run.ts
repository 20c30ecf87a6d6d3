/** Runs that are accepted later than requested: checks them early, and accepts them when due. */
import type { Caller } from "../models/caller.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { RunHolder } from "../storage/contract/runs.js";
import { GraphServeError } from "../support/errors.js";
import { newId } from "../support/ids.js";
import { TooManyActiveRunsError } from "../runs/active-runs.js";
import { type OpsContext, withParts } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { checkRequest } from "../runs/check-request.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { assertStorable, storable } from "../runs/resumption.js";
import type { AcceptOptions } from "../runs/run-options.js";
import { acceptRun } from "../coordination/accept-run.js";
import { withTemporaryThread } from "../coordination/stateless-runs.js";

/**
 * Checks everything about a request that can be checked before the run starts. The thread must belong to the caller.
 * @returns the caller in its stored form, and the checked request
 * @throws GraphServeError like `acceptRun`, and for a request that cannot be stored (`invalid_request`)
 */
export async function checkLater(
  context: OpsContext,
  request: RunCreateRequest,
  threadId: string = newId(),
): Promise<{ caller: Caller | null; checked: CheckedRequest }> {
  const checked = await checkRequest(context, threadId, request, "later");
  assertStorable(context, request, "scheduled runs are stored without secrets");
  return { caller: (context.caller && storable(context.caller)) ?? null, checked };
}

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
  const accept = (threadId: string, options: AcceptOptions = {}) =>
    acceptRun(own, threadId, request, {
      ...options,
      log: context.live.newLog(threadId, { stateless: options.stateless }),
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
