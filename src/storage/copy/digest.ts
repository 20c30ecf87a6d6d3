/** Digests by which what two storages hold is compared, whatever order they keep keys and writes in. */
import { createHash } from "node:crypto";
import {
  WRITES_IDX_MAP,
  type Checkpoint,
  type CheckpointTuple,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { byKey } from "../../models/common.js";

/** Of a JSON value. */
export const digestOf = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(byKey(value)) ?? "")
    .digest("base64url");

/** Of anything that checkpoints hold. */
export async function valueDigest(serde: SerializerProtocol, value: unknown): Promise<string> {
  const [type, bytes] = await serde.dumpsTyped(value);
  if (type === "json") return digestOf(JSON.parse(Buffer.from(bytes).toString()));
  return createHash("sha256").update(bytes).digest("base64url");
}

export interface CheckpointFacts {
  /** Digest of the value of each channel that has one and a version: others are what a fresh graph begins with. */
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

/** Of a whole checkpoint. */
export function checkpointDigest(
  { v, id, ts, channel_versions, versions_seen }: Checkpoint,
  facts: CheckpointFacts,
): string {
  return digestOf([v, id, ts, channel_versions, versions_seen, facts.values, facts.rest]);
}

type Writes = NonNullable<CheckpointTuple["pendingWrites"]>;

/** A task's ordinary writes are in order; tasks, and writes with a number of their own, come as the backend has them. */
function inOrder(writes: Writes): Writes {
  const rankOf = ([task, channel]: Writes[number]): string =>
    JSON.stringify([task, channel in WRITES_IDX_MAP ? [0, channel] : [1]]);
  return writes
    .map((write) => ({ write, rank: rankOf(write) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ write }) => write);
}
