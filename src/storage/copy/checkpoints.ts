/** Copies the checkpoints of a thread, a page at a time, and tells whether both storages hold the same. */
import type { ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Checkpointer } from "../storage.js";
import { checkpointDigest, factsOfCheckpoint } from "./digest.js";
import { UniqueVersions } from "./versions.js";

/** Checkpoints that are held at once, each with its whole state. */
const PAGE = 10;

/** Digests of checkpoints, by namespace and id. */
export type CheckpointIndex = Map<string, string>;

const keyOf = (namespace: string, id: string): string => JSON.stringify([namespace, id]);

/** What a storage holds of a thread. */
export async function indexCheckpoints(
  checkpointer: Checkpointer,
  threadId: string,
): Promise<CheckpointIndex> {
  const index: CheckpointIndex = new Map();
  for (const namespace of await checkpointer.namespaces(threadId))
    for await (const tuple of newestFirst(checkpointer, threadId, namespace)) {
      const facts = await factsOfCheckpoint(checkpointer.serde, tuple);
      index.set(keyOf(namespace, tuple.checkpoint.id), checkpointDigest(tuple.checkpoint, facts));
    }
  return index;
}

/** Ids of a thread's checkpoints by namespace, the oldest first. */
export async function idsOfCheckpoints(
  checkpointer: Checkpointer,
  threadId: string,
): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for (const namespace of await checkpointer.namespaces(threadId)) {
    const ids: string[] = [];
    for await (const { checkpoint } of newestFirst(checkpointer, threadId, namespace))
      ids.push(checkpoint.id);
    all.set(namespace, ids.reverse());
  }
  return all;
}

/** Whether none of `held` is missing in `ids`. */
export function holdsAll(ids: ReadonlyMap<string, readonly string[]>, held: CheckpointIndex): boolean {
  const known = new Set([...ids].flatMap(([namespace, own]) => own.map((id) => keyOf(namespace, id))));
  return [...held.keys()].every((key) => known.has(key));
}

interface CopyOptions {
  from: Checkpointer;
  to: Checkpointer;
  threadId: string;
  ids: ReadonlyMap<string, readonly string[]>;
  /** What the target holds already. */
  held: CheckpointIndex;
  /** Before each checkpoint; throws to stop. */
  onCheckpoint: () => void;
}

/** Store what the target lacks or has otherwise. Returns what it then has to hold, and how many were stored. */
export async function copyCheckpoints(
  options: CopyOptions,
): Promise<{ wanted: CheckpointIndex; stored: number }> {
  const wanted: CheckpointIndex = new Map();
  let stored = 0;
  for (const [namespace, ids] of options.ids) {
    const versions = new UniqueVersions();
    let last: CheckpointTuple | undefined;
    for (const id of ids) {
      options.onCheckpoint();
      const tuple = await read(options.from, options.threadId, namespace, id);
      // Pruned since: the thread is in use, which is found out when it is done.
      if (!tuple) continue;
      const facts = await factsOfCheckpoint(options.from.serde, tuple);
      const original = tuple.checkpoint.channel_versions;
      const checkpoint = versions.apply(tuple, facts);
      const key = keyOf(namespace, id);
      const digest = checkpointDigest(checkpoint, facts);
      wanted.set(key, digest);
      if (options.held.get(key) !== digest) {
        const news = changed(
          { ...tuple, checkpoint },
          await parentOf(options, namespace, tuple, last),
          original,
        );
        await options.to.store({ ...tuple, checkpoint }, news);
        stored += 1;
      }
      last = tuple;
    }
  }
  return { wanted, stored };
}

/** Versions that the parent lacks, or has without a value. */
function changed(
  { checkpoint }: CheckpointTuple,
  parent: CheckpointTuple | undefined,
  original: ChannelVersions,
): ChannelVersions {
  if (!parent) return checkpoint.channel_versions;
  const { channel_versions: before, channel_values: valued } = parent.checkpoint;
  return Object.fromEntries(
    Object.entries(checkpoint.channel_versions).filter(
      ([channel, version]) =>
        before[channel] !== original[channel] ||
        version !== original[channel] ||
        (Object.hasOwn(checkpoint.channel_values, channel) && !Object.hasOwn(valued, channel)),
    ),
  );
}

async function parentOf(
  { from, threadId }: CopyOptions,
  namespace: string,
  { parentConfig }: CheckpointTuple,
  last: CheckpointTuple | undefined,
): Promise<CheckpointTuple | undefined> {
  const id = parentConfig?.configurable?.checkpoint_id as string | undefined;
  if (id === undefined) return undefined;
  return last?.checkpoint.id === id ? last : read(from, threadId, namespace, id);
}

const read = (checkpointer: Checkpointer, thread_id: string, checkpoint_ns: string, checkpoint_id: string) =>
  checkpointer.getTuple({ configurable: { thread_id, checkpoint_ns, checkpoint_id } });

async function* newestFirst(
  checkpointer: Checkpointer,
  thread_id: string,
  checkpoint_ns: string,
): AsyncGenerator<CheckpointTuple> {
  const place = { thread_id, checkpoint_ns };
  let before: CheckpointTuple["config"] | undefined;
  for (;;) {
    let read = 0;
    for await (const tuple of checkpointer.list({ configurable: place }, { limit: PAGE, before })) {
      yield tuple;
      before = { configurable: { ...place, checkpoint_id: tuple.checkpoint.id } };
      read += 1;
    }
    if (read < PAGE) return;
  }
}
