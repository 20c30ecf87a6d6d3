/** Applies the function `state` of a migration to the state of the root graph. */
import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import { isStateChannel, SENDS } from "../../models/channels.js";
import { isRecord } from "../../models/common.js";
import type { ServedGraph } from "../graph.js";
import { type Migration, MigrationRefusal } from "./migration.js";
import type { StoredGraph } from "./stored-graph.js";

interface Options {
  /** The graph that the state is converted for. */
  graph: ServedGraph;
  /** A channel version that is greater than all of the checkpoint. */
  nextVersion: (checkpoint: Checkpoint) => ChannelVersions[string];
}

/** Channels whose stored value is the value of the state key. */
const PLAIN = new Set(["LastValue", "BinaryOperatorAggregate"]);

/** @throws MigrationRefusal if the thread has values of the old state that the function does not convert */
export async function migratedState(
  stored: StoredGraph,
  state: NonNullable<Migration["state"]>,
  { graph, nextVersion }: Options,
): Promise<StoredGraph> {
  const { checkpoint, pendingWrites = [] } = stored.tuple;
  const written = pendingWrites.find(([, channel]) => isStateChannel(channel));
  if (written)
    throw new MigrationRefusal(
      `it converts only complete supersteps: a task of an unfinished one has written the state key "${written[1]}"`,
    );
  const sends = checkpoint.channel_values[SENDS];
  if ((Array.isArray(sends) && sends.length > 0) || pendingWrites.some(([, channel]) => channel === SENDS))
    throw new MigrationRefusal("it cannot convert the input of tasks that a Send has started");
  const before = entriesOf(checkpoint.channel_values);
  // The function may change what it receives, so all objects that it returns count as changed.
  const after: unknown = await state(Object.fromEntries(before));
  if (!isRecord(after)) throw new MigrationRefusal("`state` does not return an object");
  const next = nextVersion(checkpoint);
  const others = (of: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(of).filter(([channel]) => !isStateChannel(channel)));
  const values = others(checkpoint.channel_values);
  const versions = others(checkpoint.channel_versions) as ChannelVersions;
  const old = new Map(before);
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    if (!isStateChannel(key))
      throw new MigrationRefusal(`it returns the key "${key}", which is reserved by LangGraph`);
    const isSame = old.has(key) && Object.is(old.get(key), value) && !(value instanceof Object);
    const version = checkpoint.channel_versions[key];
    values[key] = value;
    versions[key] = isSame && version !== undefined ? version : next;
    if (!isSame) requirePlain(graph, key);
  }
  const converted = { ...checkpoint, channel_values: values, channel_versions: versions };
  return { ...stored, tuple: { ...stored.tuple, checkpoint: converted } };
}

const entriesOf = (values: Record<string, unknown>): [string, unknown][] =>
  Object.entries(values).filter(([channel]) => isStateChannel(channel));

function requirePlain({ channels }: ServedGraph, key: string): void {
  const channel = channels?.[key];
  const kind = isRecord(channel) ? channel.lc_graph_name : undefined;
  if (channel !== undefined && !(typeof kind === "string" && PLAIN.has(kind)))
    throw new MigrationRefusal(
      `it cannot convert the state key "${key}": its channel ${String(kind)} stores more than its value`,
    );
}
