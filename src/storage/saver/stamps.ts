/** Stamps of a run in the metadata of its checkpoints: its id, its metadata and the public keys of its configuration. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { maskPasswords, namesSecret } from "../../support/secrets.js";

/** Metadata key that only the server writes; hidden from clients. */
export const ORIGIN_KEY = "graph_serve";

/** LangGraph's own metadata fields, and the ones that identify the checkpoint. */
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
  ORIGIN_KEY,
]);
/** Types of the values that are stamped. */
const SCALAR: ReadonlySet<string> = new Set(["string", "number", "boolean"]);
/** Prefixes of config keys that LangGraph and LangChain use internally. */
const INTERNAL_KEY = /^(__|langgraph_|ls_)/;

/** Id of the run that writes under this config; undefined for a write outside of runs. */
export function runIdOf(config: RunnableConfig): string | undefined {
  const id: unknown = config.configurable?.run_id ?? config.metadata?.run_id;
  return typeof id === "string" ? id : undefined;
}

/**
 * The metadata with the config's stamps. A run id that LangGraph copied from the previous checkpoint is removed: it
 * belongs to another run.
 */
export function stamped(config: RunnableConfig, metadata: CheckpointMetadata): CheckpointMetadata {
  const { run_id: _1, run_attempt: _2, ...own } = metadata as CheckpointMetadata<Record<string, unknown>>;
  const runId = runIdOf(config);
  const stamps: Record<string, unknown> = {};
  // Scalars only: objects in a graph's configurable may be anything, including models and clients with their API keys.
  for (const entries of [config.configurable, config.metadata])
    for (const [key, value] of Object.entries<unknown>(entries ?? {}))
      if (!INTERNAL_KEY.test(key) && SCALAR.has(typeof value) && !RESERVED.has(key) && !namesSecret(key))
        stamps[key] = typeof value === "string" ? maskPasswords(value) : value;
  return { ...stamps, ...own, ...(runId !== undefined && { run_id: runId }) };
}
