/**
 * Tasks of a stored checkpoint that a graph cannot execute, because it has changed since the checkpoint was written.
 * LangGraph skips such tasks without an error, and the run succeeds.
 */
import { type CheckpointTuple, INTERRUPT } from "@langchain/langgraph-checkpoint";
import type { JsonObject } from "../../models/common.js";
import { subgraphsOf, type GraphConfig, type ServedGraph, type SnapshotTask } from "../graph.js";
import {
  awaitedBy,
  hasWrites,
  namespaceOf,
  nextNodes,
  openJoins,
  openTasks,
  type OpenTask,
} from "../open-tasks.js";

/** A task that would be skipped. */
export interface LostTask {
  node: string;
  /** Namespace of the graph that the node belongs to; empty for the root graph. */
  namespace: string;
  /**
   * `node`: the graph has no such node. `edge`: it has the node, but not the edge with several starts that leads to it,
   * of which some or all starts have ended.
   */
  missing: "node" | "edge";
  /** Whether the task waits for the answer to an interrupt. */
  isAsked: boolean;
  /** The nodes of the graph. */
  nodes: readonly string[];
}

/** The latest checkpoint of a subgraph that an open task has begun. */
export interface BegunSubgraph {
  /** The graphs of the task's node, one of which wrote the checkpoint. */
  graphs: readonly ServedGraph[];
  tuple: CheckpointTuple;
  /** Names of the nodes that lead to it, separated by `|`. */
  path: string;
}

type ReadTuple = (config: GraphConfig) => Promise<CheckpointTuple | undefined>;

const START = "__start__";

/**
 * The tasks at a checkpoint, the latest by default, that `graph` would skip. Empty for a graph that does not list its
 * nodes, such as a remote one. Subgraphs that are nodes, or declared in the `subgraphs` option of a node, are included.
 * @param read reads checkpoints without a graph
 * @param onBegun called with each subgraph that an open task has begun
 */
export async function lostTasks(
  read: ReadTuple,
  graph: ServedGraph,
  { thread_id, checkpoint_ns = "", checkpoint_id, checkpoint_map }: JsonObject,
  onBegun?: (begun: BegunSubgraph) => void,
): Promise<LostTask[]> {
  if (!graph.nodes) return [];
  const at = (namespace: unknown, id?: unknown) =>
    read({
      configurable: { thread_id, checkpoint_ns: namespace, ...(id !== undefined && { checkpoint_id: id }) },
    });
  const rootId = checkpoint_ns === "" ? checkpoint_id : (checkpoint_map as JsonObject | undefined)?.[""];
  const tuple = await at("", rootId);
  if (!tuple) return [];
  // Resuming from an older checkpoint executes subgraphs from their beginning.
  const isHead = rootId === undefined || (await at(""))?.checkpoint.id === tuple.checkpoint.id;
  const walk = async (of: ServedGraph, from: CheckpointTuple, namespace: string): Promise<LostTask[]> => {
    const lost = lostIn(of, from, namespace);
    if (!isHead) return lost;
    for (const task of openTasks(from)) {
      if (hasWrites(from, task)) continue;
      const inner = subgraphsOf(of, task.name);
      if (inner.length === 0) continue;
      const place = namespaceOf(namespace, task);
      const below = (await at(place)) ?? (await at(withoutTaskId(namespace, task)));
      if (!below) continue;
      onBegun?.({ graphs: inner, tuple: below, path: pathIn(place) });
      const found = await Promise.all(inner.map((one) => walk(one, below, place)));
      // Which of the node's graphs wrote the checkpoint is unknown.
      if (found.every(({ length }) => length > 0)) lost.push(...(found[0] ?? []));
    }
    return lost;
  };
  return walk(graph, rootId === undefined ? tuple : withoutResults(tuple), "");
}

/** A namespace without the ids of its tasks. */
export const pathIn = (namespace: string): string => namespace.replace(/:[0-9a-f-]{36}/g, "");

/** A run from a selected checkpoint executes tasks again that had ended in its superstep. */
const withoutResults = (tuple: CheckpointTuple): CheckpointTuple => ({
  ...tuple,
  pendingWrites: tuple.pendingWrites?.filter(([, channel]) => channel === INTERRUPT),
});

/** Subgraphs with `checkpointer: true` keep their checkpoints from task to task. */
const withoutTaskId = (parent: string, { name }: SnapshotTask): string =>
  parent === "" ? name : `${parent}|${name}`;

/** The lost tasks at a checkpoint, without those of subgraphs. */
export function lostIn(graph: ServedGraph, tuple: CheckpointTuple, namespace: string): LostTask[] {
  const nodes = Object.keys(graph.nodes ?? {});
  const lost = (node: string, missing: LostTask["missing"], asked: SnapshotTask["interrupts"] = []) => ({
    ...{ node, namespace, missing, isAsked: asked.length > 0 },
    nodes: nodes.filter((name) => name !== START),
  });
  const tasks = openTasks(tuple).flatMap((task) => {
    if (task.name === START) return [];
    if (!nodes.includes(task.name)) return [lost(task.name, "node", task.interrupts)];
    return isTriggered(graph, task) ? [] : [lost(task.name, "edge", task.interrupts)];
  });
  const channels = Object.keys(graph.channels ?? {});
  const joins = openJoins(tuple).flatMap(({ channel, seen }) => {
    if (channels.includes(channel)) return [];
    // Another edge that waits for the same node would wait forever.
    const other = channels.find((name) => awaitedBy(name).some((start) => seen.includes(start)));
    return other === undefined ? [] : [lost(other.slice(other.lastIndexOf(":") + 1), "edge")];
  });
  const next = nextNodes(tuple).flatMap((name) => (nodes.includes(name) ? [] : [lost(name, "node")]));
  return [...tasks, ...next, ...joins];
}

function isTriggered(graph: ServedGraph, { name, trigger }: OpenTask): boolean {
  const { triggers } = (graph.nodes?.[name] ?? {}) as { triggers?: unknown };
  return trigger === undefined || !Array.isArray(triggers) || triggers.includes(trigger);
}
