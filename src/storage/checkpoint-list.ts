import type {
  BaseCheckpointSaver,
  CheckpointListOptions,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import { contains } from "./contains.js";

/** Checkpoints asked of the saver at once: some savers load all rows of a list before they yield the first. */
const BATCH = 100;

/** Checkpoints of one thread and namespace, newest first: what every saver's `list` does alike, and the rest done here. */
export async function* listCheckpoints(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
  { limit = Infinity, before, filter = {} }: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const { pushed, rest } = splitFilter(filter);
  const wanted = config.configurable?.checkpoint_id as string | undefined;
  let left = limit;
  let cursor = before;
  while (left > 0) {
    const size = rest || wanted ? BATCH : Math.min(left, BATCH);
    let read = 0;
    for await (const tuple of saver.list(config, { limit: size, before: cursor, filter: pushed })) {
      read += 1;
      cursor = tuple.config;
      if (rest && !contains(tuple.metadata, rest)) continue;
      if (wanted && tuple.checkpoint.id !== wanted) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
    if (read < size) return;
  }
}

/**
 * Savers agree on texts and whole numbers under plain keys. Objects they match by identity or not at all, and some keys
 * read as paths.
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
