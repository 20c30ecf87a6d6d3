/** Reading the state of a graph through LangGraph. */
import { isRecord } from "../models/common.js";
import type { GraphConfig, ServedGraph, Snapshot } from "./graph.js";

/**
 * The state at a checkpoint, the latest when none is named. To the latest belongs what tasks of the next superstep have
 * written, unless LangGraph cannot put that together: a run then failed over it, and the state is that of the checkpoint.
 */
export async function readState(
  graph: ServedGraph,
  config: GraphConfig,
  options?: { subgraphs?: boolean },
): Promise<Snapshot> {
  try {
    return await graph.getState(config, options);
  } catch (error) {
    const latest = isConflict(error) ? await latestOf(graph, config) : undefined;
    if (!latest) throw error;
    return graph.getState(latest, options);
  }
}

/** By name: it may come from another copy of LangGraph. */
const isConflict = (error: unknown): boolean => isRecord(error) && error.name === "InvalidUpdateError";

async function latestOf(graph: ServedGraph, config: GraphConfig): Promise<GraphConfig | undefined> {
  for await (const { config: found } of graph.getStateHistory(config, { limit: 1 })) {
    const { checkpoint_id } = found.configurable ?? {};
    return { ...config, configurable: { ...config.configurable, checkpoint_id } };
  }
  return undefined;
}
