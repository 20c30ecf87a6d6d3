/** The checks of a run request that need no lock. */
import { requireCheckpoint } from "../context/checkpoint-selector.js";
import type { OpsContext } from "../context/context.js";
import { unknownNode, withInnerBreakpoints } from "../graphs/breakpoints.js";
import type { ServedGraph } from "../graphs/graph.js";
import type { CommandRequest } from "../models/command.js";
import type { RunCreateRequest } from "../models/run.js";
import { InvalidRequestError } from "../support/errors.js";
import { callAs } from "../threads/stored-assistants.js";
import { assertNotForeign, visibleThread } from "../threads/thread-origin.js";
import {
  type CallOptions,
  type CheckedRequest,
  graphInput,
  readRequest,
  refuseUnfiltered,
  refuseUnsupported,
} from "./run-request.js";

/** `now`: the run is accepted if it passes. `later`: it is accepted at another time. `again`: it was accepted before. */
type Stage = "now" | "later" | "again";

/** Checks a request in the order in which errors are reported. @throws GraphServeError */
export async function checkRequest(
  context: OpsContext,
  threadId: string,
  given: RunCreateRequest,
  stage: Stage = "now",
): Promise<CheckedRequest> {
  const configured = context.registry.find(given.assistant_id);
  // An invalid request is reported before an unknown assistant.
  if (configured === undefined) readRequest(context, threadId, given);
  const { graphId, assistantId, request } =
    configured === undefined
      ? await callAs(context, given)
      : { graphId: configured, assistantId: undefined, request: given };
  const call = readRequest(context, threadId, request);
  if (stage === "now") {
    await assertReachable(context, request, call);
    if (call.configurable.checkpoint_id !== undefined) await requireCheckpoint(context, call.configurable);
  }
  const isAccepted = stage === "again";
  const isSpecial = request.after_seconds != null || request.webhook != null;
  if (isSpecial && !isAccepted) await refuseUnsupported(context, request);
  const { registry, settings } = context;
  const { configurable } = call;
  let bound = await registry.graph(graphId, "threads.create_run", { configurable });
  if (request.interrupt_before || request.interrupt_after) {
    // Unknown nodes are ignored. Clients of LangGraph's server send one list of breakpoints for all graphs.
    const isLenient = isAccepted || settings.compat === "langgraph";
    bound = { ...bound, graph: withInnerBreakpoints(bound.graph, request, isLenient) };
  }
  const input = await graphInput(request, bound.graph);
  if (!isAccepted) {
    if (call.modes.includes("events")) refuseUnfiltered(context, bound.filter);
    if (request.command?.goto != null) refuseUnknownTargets(bound.graph, request.command.goto);
  }
  const strategy = request.multitask_strategy ?? settings.multitask_strategy;
  const stamp = {
    graph_id: graphId,
    assistant_id: assistantId ?? bound.assistantId,
    ...(bound.version != null && { graph_version: bound.version }),
  };
  return { ...call, threadId, request, bound, stamp, strategy, input, since: performance.now() };
}

/**
 * LangGraph ignores a `goto` to a node that the graph does not have, and the run succeeds.
 * @throws InvalidRequestError (`invalid_request`)
 */
function refuseUnknownTargets(graph: ServedGraph, goto: NonNullable<CommandRequest["goto"]>): void {
  for (const [index, target] of [goto].flat().entries()) {
    const node = typeof target === "string" ? target : target.node;
    const fault = node === "__end__" ? undefined : unknownNode(graph, node);
    const place = Array.isArray(goto) ? [index] : [];
    if (fault !== undefined) throw InvalidRequestError.at(["body", "command", "goto", ...place], fault);
  }
}

/**
 * Checks the thread before locking it. Otherwise a caller could learn whether another caller's thread is busy, and a
 * missing thread must be reported before other errors of the request. If no other error is possible, the check after
 * locking suffices, which saves a query.
 * @throws the same errors as `requireThread`
 */
async function assertReachable(
  context: OpsContext,
  request: RunCreateRequest,
  { modes, configurable: { thread_id, checkpoint_id } }: CallOptions,
): Promise<void> {
  if (request.if_not_exists === "create") return assertNotForeign(context, thread_id);
  const mayBeRefused =
    checkpoint_id !== undefined ||
    request.after_seconds != null ||
    request.webhook != null ||
    modes.includes("events");
  if (context.caller || mayBeRefused) await visibleThread(context, thread_id);
}
