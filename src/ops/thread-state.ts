/** Reads a thread's state through the graph that made it. */
import { clientConfigurable } from "../graphs/coerce.js";
import type { BoundGraph } from "../graphs/registry.js";
import type { Snapshot } from "../graphs/graph.js";
import { UNKEYED } from "../graphs/output-filter.js";
import { toWire } from "../graphs/serialize.js";
import { openInterrupts } from "../graphs/snapshot.js";
import { byKey, isRecord, type JsonObject } from "../models/common.js";
import type { Thread, ThreadStatus } from "../models/thread.js";
import type { ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { callerConfigurable } from "./scope.js";
import { ttlModel } from "./ttl.js";

export type ThreadContent = Pick<Thread, "values" | "interrupts">;

/** The graph that a thread belongs to. A factory is told the thread. */
export function graphOf(context: OpsContext, row: ThreadRow): Promise<BoundGraph> {
  const { registry } = context;
  const graphId = registry.graphIdOf(row.metadata);
  return registry.graph(graphId, {
    configurable: {
      ...(isRecord(row.config.configurable) ? clientConfigurable(row.config.configurable) : {}),
      ...callerConfigurable(context),
      thread_id: row.thread_id,
    },
  });
}

/** The latest snapshot of a thread's root graph. */
export function latestSnapshot({ graph }: BoundGraph, threadId: string): Promise<Snapshot> {
  return graph.getState({ configurable: { thread_id: threadId, checkpoint_ns: "" } });
}

/** Latest visible values and open interrupts of a thread. */
export async function threadContent(context: OpsContext, row: ThreadRow): Promise<ThreadContent> {
  if (row.state_updated_at === null) return { values: {}, interrupts: {} };
  const bound = await graphOf(context, row);
  const snapshot = await latestSnapshot(bound, row.thread_id);
  const values = toWire(bound.filter.values(snapshot.values));
  return {
    values: isRecord(values) ? values : { [UNKEYED]: values },
    interrupts: openInterrupts(snapshot),
  };
}

/**
 * As `threadContent`, but a state that cannot be read is shown empty: the stored status is kept, and the log tells
 * why (spec, Thread).
 */
export async function readableContent(context: OpsContext, row: ThreadRow): Promise<ThreadContent> {
  try {
    return await threadContent(context, row);
  } catch (error) {
    context.logger.error(
      { err: error, thread_id: row.thread_id },
      "the thread's checkpoint could not be read",
    );
    return { values: {}, interrupts: {} };
  }
}

export function threadModel(row: ThreadRow, content: ThreadContent): Thread {
  const { thread_id, created_at, updated_at, state_updated_at, metadata, config, status, error } = row;
  return {
    thread_id,
    created_at,
    updated_at,
    state_updated_at,
    metadata: byKey(metadata),
    config,
    status,
    ...content,
    error,
    ttl: ttlModel(row),
  };
}

/** Status of a thread on which nothing runs, by its state (after a state write or a copy). */
export function restingStatus(snapshot: Snapshot): ThreadStatus {
  return snapshot.next.length > 0 ? "interrupted" : "idle";
}

/** Namespaces whose checkpoints the latest state, or the one named, needs: the root, and subgraphs that wait in it. */
export async function liveNamespaces(
  { graph }: BoundGraph,
  threadId: string,
  checkpointId?: string,
): Promise<string[]> {
  const root = await graph.getState(
    {
      configurable: {
        thread_id: threadId,
        checkpoint_ns: "",
        ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
      },
    },
    { subgraphs: true },
  );
  return ["", ...nestedNamespaces(root)];
}

function nestedNamespaces(snapshot: Snapshot): string[] {
  return snapshot.tasks.flatMap(({ state }) => {
    const config = state as { config?: { configurable?: JsonObject } } | undefined;
    const namespace = config?.config?.configurable?.checkpoint_ns;
    if (typeof namespace !== "string") return [];
    return [namespace, ...nestedNamespaces(state as Snapshot)];
  });
}
