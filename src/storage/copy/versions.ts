/**
 * Versions of channels, unique in a thread. Branches of a thread count on from the version where they part, so that two
 * of them may give one version to different values; backends that keep a value once by its version cannot hold both.
 */
import { createHash } from "node:crypto";
import type { Checkpoint, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { CheckpointFacts } from "./digest.js";

type Version = Checkpoint["channel_versions"][string];
/** By channel and version: the version to have instead. */
type Renames = ReadonlyMap<string, Version>;

const NONE: Renames = new Map();

/** The checkpoints of one namespace, asked in an order in which parents come first. */
export class UniqueVersions {
  /** Digest of the value that a version of a channel was first seen with. */
  readonly #seen = new Map<string, string | undefined>();
  /** What a checkpoint passes on to those after it; most pass on nothing. */
  readonly #renames = new Map<string, Renames>();

  /** The checkpoint with its versions made unique; always the same for the same thread. */
  apply({ checkpoint, parentConfig }: CheckpointTuple, facts: CheckpointFacts): Checkpoint {
    const parent = parentConfig?.configurable?.checkpoint_id as string | undefined;
    const inherited = (parent !== undefined && this.#renames.get(parent)) || NONE;
    const own = new Map<string, Version>();
    for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
      const key = keyOf(channel, version);
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

const keyOf = (channel: string, version: Version): string => JSON.stringify([channel, version]);

function renamed(checkpoint: Checkpoint, renames: Renames): Checkpoint {
  const rename = (versions: Record<string, Version>) =>
    Object.fromEntries(
      Object.entries(versions).map(([channel, version]) => [
        channel,
        renames.get(keyOf(channel, version)) ?? version,
      ]),
    );
  const seen = Object.entries(checkpoint.versions_seen).map(([node, versions]) => [node, rename(versions)]);
  return {
    ...checkpoint,
    channel_versions: rename(checkpoint.channel_versions),
    versions_seen: Object.fromEntries(seen) as Checkpoint["versions_seen"],
  };
}

/** Above the version, below the next whole one. */
function between(version: Version, id: string): Version {
  const fraction = (createHash("sha256").update(id).digest().readUInt32BE() + 1) / 2 ** 33;
  return typeof version === "number"
    ? version + fraction * (Math.floor(version) + 1 - version)
    : `${version}.${fraction}`;
}
