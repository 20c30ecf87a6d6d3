/**
 * Keeps a run from skipping tasks that its thread waits for and that the graph no longer has, after a deploy
 * (docs/deploys.md). Threads that a migration covers are converted first.
 */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { GraphConfig } from "../graphs/graph.js";
import { lostTasks, type LostTask } from "../graphs/versions/lost-tasks.js";
import type { BoundGraph } from "../graphs/registry.js";
import type { JsonObject } from "../models/common.js";
import type { RunCreateRequest } from "../models/run.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { GraphChangedError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import type { Use } from "../threads/thread-migration.js";
import { writersWith } from "../threads/thread-origin.js";
import { asksForBudget } from "./budget-guard.js";
import type { CheckedRequest } from "./run-request.js";

type Bound = Pick<BoundGraph, "id" | "graph">;

interface Guarded extends Pick<CheckedRequest, "threadId" | "bound" | "configurable"> {
  /** Whether the run resumes the open tasks. New input replaces them. */
  resumes: boolean;
}

/**
 * Checks a run before it starts on a thread that may have open tasks, under the lease of the thread. New input is accepted,
 * and logged if the graph no longer has the tasks.
 * @returns whether the thread waits for an answer about a budget; undefined if its checkpoint was not read
 * @throws GraphChangedError if the run would resume a task that the graph no longer has, unless on_graph_changed is `drop`
 *   (`graph_changed`)
 */
export async function guardGraph(
  context: OpsContext,
  graphs: readonly string[] | null,
  { threadId: thread_id, bound, configurable, resumes }: Guarded,
): Promise<boolean | undefined> {
  let asks: boolean | undefined;
  const lost = await lostOf(context, graphs, bound, configurable, ({ pendingWrites }) => {
    asks = (asks ?? false) || asksForBudget(pendingWrites);
  });
  if (lost.length === 0) return asks;
  if (resumes && isRefused(context)) throw changedError(bound.id, thread_id, lost);
  const nodes = lost.map(({ node }) => node);
  context.logger.warn(
    { thread_id, graph_id: bound.id, nodes },
    resumes
      ? `the graph has changed: the run skips ${nodes.join(", ")} (on_graph_changed: drop)`
      : `the graph has changed: new input drops ${nodes.join(", ")}, which the thread waited for`,
  );
  return asks;
}

/**
 * What a run reads after its thread was converted, for projects with migrations. The module is loaded on first use.
 * @throws GraphChangedError if a migration fails (`graph_changed`)
 */
export async function migrated<Of extends Use>(
  context: OpsContext,
  row: ThreadRow,
  bound: Pick<BoundGraph, "id" | "graph" | "version">,
  lease: ThreadLease,
  use: Of,
): Promise<Of> {
  const { migrateThread } = await import("../threads/thread-migration.js");
  return migrateThread(context, row, bound, lease, use);
}

/** The request of an accepted run, whose breakpoints may name nodes that a migration renames. @throws GraphChangedError */
export async function withBreakpoints(
  context: OpsContext,
  row: RunRow,
  request: RunCreateRequest,
): Promise<RunCreateRequest> {
  if (!context.migrations) return request;
  const { renamedBreakpoints } = await import("../threads/thread-migration.js");
  return renamedBreakpoints(context, row, request);
}

/**
 * Checks that a graph has the open tasks of a thread; with `isAsked`, only those that wait for an answer.
 * @throws GraphChangedError unless on_graph_changed is `drop` (`graph_changed`)
 */
export async function requireTasks(
  context: OpsContext,
  row: ThreadRow,
  bound: Bound,
  { configurable, isAsked }: { configurable: JsonObject; isAsked: boolean },
): Promise<void> {
  if (!isRefused(context)) return;
  const graphs = await writersWith(context, row, bound.id);
  const lost = await lostOf(context, graphs, bound, configurable);
  const blocking = isAsked ? lost.filter((task) => task.isAsked) : lost;
  if (blocking.length > 0) throw changedError(bound.id, row.thread_id, blocking);
}

const isRefused = ({ settings }: OpsContext): boolean => settings.on_graph_changed === "refuse";

/** Open tasks that the graph no longer has. If another served graph has written to the thread, they may be its tasks. */
async function lostOf(
  { registry, storage }: OpsContext,
  writers: readonly string[] | null | undefined,
  { id, graph }: Bound,
  configurable: JsonObject,
  onRead?: (tuple: CheckpointTuple) => void,
): Promise<LostTask[]> {
  if (writers?.some((other) => other !== id && registry.ids.includes(other))) return [];
  const read = async (config: GraphConfig) => {
    const tuple = await storage.checkpointer.getTuple(config);
    if (tuple) onRead?.(tuple);
    return tuple;
  };
  return lostTasks(read, graph, configurable);
}

function changedError(graphId: string, threadId: string, lost: readonly LostTask[]): GraphChangedError {
  const unique = new Map(lost.map((task) => [`${task.namespace}|${task.node}`, task]));
  return new GraphChangedError(graphId, threadId, [...unique.values()]);
}
