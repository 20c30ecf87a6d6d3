/** Lists checkpoints alike on all savers. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  CheckpointListOptions,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import { dueYield } from "../../support/event-loop.js";
import { containing } from "../rows/rows.js";

/** Checkpoints requested from the saver per call: some savers load all rows of a list before they yield the first. */
const BATCH = 100;

/** Checkpoints of one thread and namespace, newest first. Filters that savers treat differently are applied here. */
export async function* listCheckpoints(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
  { limit = Infinity, before, filter = {} }: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const { pushed, rest } = splitFilter(filter);
  const wanted = config.configurable?.checkpoint_id as string | undefined;
  const hasMetadata = rest && containing(rest);
  let remaining = limit;
  let cursor = before;
  while (remaining > 0) {
    const size = rest || wanted ? BATCH : Math.min(remaining, BATCH);
    let read = 0;
    for await (const tuple of saver.list(config, { limit: size, before: cursor, filter: pushed })) {
      read += 1;
      cursor = tuple.config;
      await dueYield();
      if (hasMetadata && !hasMetadata(tuple.metadata)) continue;
      if (wanted && tuple.checkpoint.id !== wanted) continue;
      yield tuple;
      remaining -= 1;
      if (remaining <= 0) return;
    }
    if (read < size) return;
  }
}

/**
 * Splits a filter into the part that all savers match alike, strings and integers under plain keys, and the rest. Savers
 * match objects by identity or not at all, and interpret some keys as paths.
 */
function splitFilter(filter: Record<string, unknown>) {
  const pushed: [string, unknown][] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const isAgreed = typeof value === "string" || Number.isSafeInteger(value);
    if (isAgreed && /^[a-z]\w*$/i.test(key)) pushed.push([key, value]);
    else rest.push([key, value]);
  }
  return { pushed: Object.fromEntries(pushed), rest: rest.length > 0 ? Object.fromEntries(rest) : undefined };
}
