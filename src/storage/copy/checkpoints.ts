/** Copies the checkpoints of a thread, page by page, and compares what the two storages hold. */
import { createHash } from "node:crypto";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointTuple,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { byKey } from "../../models/common.js";
import { isSpecial } from "../saver/saver-parts.js";
import type { Checkpointer } from "../contract/storage.js";

/** Checkpoints held in memory at a time, each with its whole state. */
const PAGE = 10;

/** Digests of checkpoints, by namespace and id. */
export type CheckpointIndex = Map<string, string>;

const keyOf = (namespace: string, id: string): string => JSON.stringify([namespace, id]);

/** Index of all checkpoints of a thread. */
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

/** Ids of a thread's checkpoints by namespace, oldest first. */
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

/** Whether `ids` contains every checkpoint of `held`. */
export function holdsAll(ids: ReadonlyMap<string, readonly string[]>, held: CheckpointIndex): boolean {
  const known = new Set([...ids].flatMap(([namespace, own]) => own.map((id) => keyOf(namespace, id))));
  return [...held.keys()].every((key) => known.has(key));
}

interface CopyOptions {
  from: Checkpointer;
  to: Checkpointer;
  threadId: string;
  ids: ReadonlyMap<string, readonly string[]>;
  /** Checkpoints that the target already holds. */
  held: CheckpointIndex;
  /** Called before each checkpoint; may throw to stop. */
  onCheckpoint: () => void;
}

/**
 * Store the checkpoints that the target lacks or that differ.
 * @returns the index that the target should now have, and how many checkpoints were stored
 */
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
      // Pruned meanwhile: the thread is in use, which the final comparison of its row detects.
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

/** Channel versions to store: those that the parent does not have, or has without a value. */
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

// Digests for comparing two storages. They do not depend on the order of keys and writes.

/** Digest of a JSON value. */
export const digestOf = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(byKey(value)) ?? "")
    .digest("base64url");

/** Digest of any value that checkpoints can hold. */
async function valueDigest(serde: SerializerProtocol, value: unknown): Promise<string> {
  const [type, bytes] = await serde.dumpsTyped(value);
  if (type === "json") return digestOf(JSON.parse(Buffer.from(bytes).toString()));
  return createHash("sha256").update(bytes).digest("base64url");
}

interface CheckpointFacts {
  /** Digest of each channel value that has a version; values without one are a new graph's initial values. */
  values: Record<string, string>;
  /** Digest of metadata, parent and pending writes. */
  rest: string;
}

export async function factsOfCheckpoint(
  serde: SerializerProtocol,
  { checkpoint, metadata, parentConfig, pendingWrites = [] }: CheckpointTuple,
): Promise<CheckpointFacts> {
  const { channel_values, channel_versions } = checkpoint;
  const values: Record<string, string> = {};
  for (const [channel, value] of Object.entries(channel_values))
    if (Object.hasOwn(channel_versions, channel)) values[channel] = await valueDigest(serde, value);
  const parent = (parentConfig?.configurable?.checkpoint_id as string | undefined) ?? null;
  return { values, rest: await valueDigest(serde, [metadata, parent, inOrder(pendingWrites)]) };
}

/** Digest of a whole checkpoint. */
function checkpointDigest(
  { v, id, ts, channel_versions, versions_seen }: Checkpoint,
  facts: CheckpointFacts,
): string {
  return digestOf([v, id, ts, channel_versions, versions_seen, facts.values, facts.rest]);
}

type Writes = NonNullable<CheckpointTuple["pendingWrites"]>;

/** Sorts by task and special channel, whose order depends on the backend. Ordinary writes of a task keep their order. */
function inOrder(writes: Writes): Writes {
  const rankOf = ([task, channel]: Writes[number]): string =>
    JSON.stringify([task, isSpecial(channel) ? [0, channel] : [1]]);
  return writes
    .map((write) => ({ write, rank: rankOf(write) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ write }) => write);
}

// Makes channel versions unique within a thread. Two branches of a thread both count up from the version at the fork, so
// they may use one version for different values. Backends that store a value once per version cannot hold both.

type Version = Checkpoint["channel_versions"][string];
/** Replacement versions, by channel and version. */
type Renames = ReadonlyMap<string, Version>;

const NONE: Renames = new Map();

/** Renames the versions of one namespace's checkpoints, which must be passed parents first. */
export class UniqueVersions {
  /** Digest of the first value seen for each version of a channel. */
  readonly #seen = new Map<string, string | undefined>();
  /** Renames that the descendants of a checkpoint inherit; most checkpoints have none. */
  readonly #renames = new Map<string, Renames>();

  /** The checkpoint with unique versions. Deterministic for a given thread. */
  apply({ checkpoint, parentConfig }: CheckpointTuple, facts: CheckpointFacts): Checkpoint {
    const parent = parentConfig?.configurable?.checkpoint_id as string | undefined;
    const inherited = (parent !== undefined && this.#renames.get(parent)) || NONE;
    const own = new Map<string, Version>();
    for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
      const key = versionKey(channel, version);
      const value = Object.hasOwn(facts.values, channel) ? facts.values[channel] : undefined;
      if (inherited.has(key)) continue;
      if (!this.#seen.has(key)) this.#seen.set(key, value);
      else if (this.#seen.get(key) !== value) own.set(key, between(version, checkpoint.id));
    }
    if (own.size === 0 && inherited.size === 0) return checkpoint;
    const renames: Renames = new Map([...inherited, ...own]);
    this.#renames.set(checkpoint.id, renames);
    return renamed(checkpoint, renames);
  }
}

const versionKey = (channel: string, version: Version): string => JSON.stringify([channel, version]);

function renamed(checkpoint: Checkpoint, renames: Renames): Checkpoint {
  const rename = (versions: Record<string, Version>) =>
    Object.fromEntries(
      Object.entries(versions).map(([channel, version]) => [
        channel,
        renames.get(versionKey(channel, version)) ?? version,
      ]),
    );
  const seen = Object.entries(checkpoint.versions_seen).map(([node, versions]) => [node, rename(versions)]);
  return {
    ...checkpoint,
    channel_versions: rename(checkpoint.channel_versions),
    versions_seen: Object.fromEntries(seen) as Checkpoint["versions_seen"],
  };
}

/** A version between this one and the next integer, derived from the checkpoint id. */
function between(version: Version, id: string): Version {
  const fraction = (createHash("sha256").update(id).digest().readUInt32BE() + 1) / 2 ** 33;
  return typeof version === "number"
    ? version + fraction * (Math.floor(version) + 1 - version)
    : `${version}.${fraction}`;
}
