import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";

/**
 * The checkpoint of this config and, when it has delta channels, the ancestors that these are rebuilt from; newest
 * first, empty when there is no such checkpoint. A delta channel's value is kept in some checkpoints only, and in
 * between as the writes since.
 */
export async function lineage(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  const deltas = new Set<string>();
  const seeded = new Set<string>();
  let next: RunnableConfig | undefined = config;
  while (next) {
    const tuple: CheckpointTuple | undefined = await saver.getTuple(next);
    if (!tuple) break;
    tuples.push(tuple);
    for (const channel of Object.keys(tuple.metadata?.counters_since_delta_snapshot ?? {}))
      deltas.add(channel);
    for (const channel of Object.keys(tuple.checkpoint.channel_values)) seeded.add(channel);
    if (!isEdit(tuple) && [...deltas].every((channel) => seeded.has(channel))) break;
    next = tuple.parentConfig;
  }
  return deltas.size > 0 ? tuples : tuples.slice(0, 1);
}

/** An edit does not say which channels are deltas: the checkpoint before it does. */
function isEdit({ metadata }: CheckpointTuple): boolean {
  return metadata?.source === "update" || metadata?.source === "fork";
}
