/** Digests of checkpoints, for comparing two storages, and channel versions that are unique within a thread. */
import { createHash } from "node:crypto";
import type { Checkpoint, CheckpointTuple, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { byKey } from "../../models/common.js";
import { compareTexts } from "../rows/rows.js";
import { isSpecial } from "../saver/writes.js";

// Digests do not depend on the order of keys and writes.

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
export function checkpointDigest(
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
    .sort((a, b) => compareTexts(a.rank, b.rank))
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
