/** What a checkpoint's metadata says of its run: its id, its own metadata, the public keys of its configuration. */
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";

/** LangGraph's own fields of the metadata, and those that name the checkpoint. */
const RESERVED = new Set([
  "source",
  "step",
  "parents",
  "writes",
  "counters_since_delta_snapshot",
  "checkpoint_ns",
  "checkpoint_id",
  "checkpoint_map",
  "run_id",
]);
/** What LangGraph and LangChain note in a config for themselves. */
const LIBRARYS_OWN = /^(__|langgraph_|ls_)/;
const SECRET = /key|token|secret|password|auth/i;

/** The run that writes under this config; undefined for a write outside of runs. */
export function runIdOf(config: RunnableConfig): string | undefined {
  const id: unknown = config.configurable?.run_id ?? config.metadata?.run_id;
  return typeof id === "string" ? id : undefined;
}

/**
 * The metadata with the config's stamps. A run id that LangGraph carried over from the checkpoint before goes: it is
 * the id of another run.
 */
export function stamped(config: RunnableConfig, metadata: CheckpointMetadata): CheckpointMetadata {
  const { run_id: _carriedOver, ...own } = metadata as CheckpointMetadata<{ run_id?: unknown }>;
  const runId = runIdOf(config);
  const stamps = { ...publicKeys(config.configurable), ...publicKeys(config.metadata) };
  return { ...stamps, ...own, ...(runId !== undefined && { run_id: runId }) };
}

/** Scalars only: objects of a graph's configurable may be anything, models and clients with their keys included. */
function publicKeys(entries: Record<string, unknown> = {}): Record<string, unknown> {
  const stamps: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entries)) {
    if (!LIBRARYS_OWN.test(key) && isScalar(value) && !RESERVED.has(key) && !SECRET.test(key))
      stamps[key] = value;
  }
  return stamps;
}

const isScalar = (value: unknown) =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";
