/** The thread of a run that begins; the caller holds its lease. */
import type { GraphConfig } from "../graphs/graph.js";
import type { BoundGraph } from "../graphs/registry.js";
import type { Origin } from "../models/origin.js";
import type { RunCreateRequest } from "../models/run.js";
import type { ThreadRow } from "../storage/storage.js";
import { NotFoundError } from "../support/errors.js";
import type { OpsContext } from "./context.js";
import type { Invocation } from "./run-request.js";
import { scopeOf } from "./scope.js";
import { assertNotForeign, createThread, ownThread, threadRow } from "./thread-state.js";
import { writersWith } from "./thread-writers.js";

interface RunThread {
  /** The graph to run, with the filter of all graphs that have written to the thread. */
  bound: BoundGraph;
  /** What the run's checkpoints say of themselves. */
  origin: Origin;
}

/**
 * What is told of the thread before its lock is asked for: whether another's is busy is nobody's business, and a thread
 * that is not there is told before other faults of the request. A request without any learns of it when it has the lock,
 * which saves a look.
 * @throws as `requireThread`
 */
export async function assertReachable(
  context: OpsContext,
  request: RunCreateRequest,
  { modes, configurable: { thread_id, checkpoint_id } }: Omit<Invocation, "input">,
): Promise<void> {
  if (request.if_not_exists === "create") return assertNotForeign(context, thread_id);
  const mayBeRefused =
    checkpoint_id !== undefined ||
    request.after_seconds != null ||
    request.webhook != null ||
    modes.includes("events");
  if (context.caller || mayBeRefused) await threadRow(context, thread_id);
}

/**
 * A thread that is missing is made where the request says so.
 * @throws NotFoundError (`thread_not_found`), for a thread of another caller too
 * @throws ThreadExistsError when it would make one that is another's (`thread_exists`)
 */
export async function requireThread(
  context: OpsContext,
  threadId: string,
  { if_not_exists }: RunCreateRequest,
): Promise<ThreadRow> {
  const row = await ownThread(context, threadId);
  if (row) return row;
  if (if_not_exists === "create") {
    const made = await createThread(context, { thread_id: threadId });
    if (made) return made;
  }
  throw new NotFoundError("thread", threadId);
}

export async function openRunThread(
  context: OpsContext,
  row: ThreadRow,
  bound: BoundGraph,
  config: GraphConfig,
): Promise<RunThread> {
  const graphs = await writersWith(context, row, bound.id);
  const filter = await context.registry.filterAmong(bound, graphs, config);
  return { bound: { ...bound, filter }, origin: { graphs, scope: scopeOf(context) ?? row.scope } };
}
