/**
 * Renames nodes in stored checkpoints. Ids of tasks are hashes of the checkpoint's id and the node's name; namespaces of
 * subgraphs and ids of interrupts are derived from them. So a converted checkpoint has other ids throughout.
 */
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { interrupt, isGraphInterrupt } from "@langchain/langgraph";
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  uuid6,
  INTERRUPT,
} from "@langchain/langgraph-checkpoint";
import { isRecord } from "../../models/common.js";
import { SENDS } from "../../models/channels.js";
import { JOIN, namespaceOf, openTasks, type OpenTask, TO_NODE } from "../open-tasks.js";
import { MigrationRefusal } from "./migration.js";
import { pathOf, type StoredGraph } from "./stored-graph.js";

type Names = (name: string) => string;
type Version = ChannelVersions[string];
type PendingWrites = NonNullable<CheckpointTuple["pendingWrites"]>;

/** Task id of the writes of a command, which belong to no task. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

export interface Renaming {
  /** New names by paths of nodes: `ask`, or `child|ask` in a subgraph. */
  nodes: Readonly<Record<string, string>>;
  /** A channel version that is greater than all of the checkpoint. */
  nextVersion: (checkpoint: Checkpoint) => Version;
  /** Filled with the new ids of interrupts by their old ids. */
  interrupts: Map<string, string>;
}

/**
 * The thread with its nodes renamed and new ids, which is stored next to the old one.
 * @throws MigrationRefusal if something in it cannot be mapped
 */
export function renameNodes(stored: StoredGraph, renaming: Renaming): StoredGraph {
  // The root gets the greatest id: a fork of it copies the checkpoints of subgraphs that are older.
  const ids = Array.from({ length: countOf(stored) }, (_, index) => uuid6(index)).sort();
  const taskIds = new Map<string, string>();
  const walk = { ...renaming, taskIds, nextId: () => ids.pop() as string };
  return withWrites(stored, renamed(stored, walk, "", {}), walk);
}

const countOf = ({ children }: StoredGraph): number =>
  [...children.values()].reduce((sum, child) => sum + countOf(child), 1);

interface Walk extends Renaming {
  taskIds: Map<string, string>;
  nextId: () => string;
}

/** The checkpoints with new ids, without their writes. */
function renamed(
  stored: StoredGraph,
  walk: Walk,
  namespace: string,
  parents: Record<string, string>,
): StoredGraph {
  const { tuple, path } = stored;
  const names: Names = (name) => walk.nodes[pathOf(path, name)] ?? name;
  for (const name of stored.stateful)
    if (
      names(name) !== name ||
      Object.keys(walk.nodes).some((key) => key.startsWith(`${pathOf(path, name)}|`))
    )
      throw new MigrationRefusal(
        `the subgraph of node "${pathOf(path, name)}" keeps its state between calls, so it cannot be renamed`,
      );
  const id = walk.nextId();
  const metadata = { ...tuple.metadata, parents } as CheckpointMetadata;
  const config = {
    configurable: { thread_id: threadOf(tuple), checkpoint_ns: namespace, checkpoint_id: id },
  };
  const checkpoint = { ...withNames(tuple.checkpoint, names, walk), id, ts: new Date().toISOString() };
  const fresh: CheckpointTuple = { config, checkpoint, metadata, pendingWrites: [] };
  const children = new Map<string, StoredGraph>();
  for (const [old, task] of pairs(stored, fresh, names)) {
    walk.taskIds.set(old.id, task.id);
    walk.interrupts.set(
      interruptId(namespaceOf(stored.namespace, old)),
      interruptId(namespaceOf(namespace, task)),
    );
    const child = stored.children.get(old.id);
    if (child)
      children.set(
        task.id,
        renamed(child, walk, namespaceOf(namespace, task), { ...parents, [namespace]: id }),
      );
  }
  return { ...stored, tuple: fresh, namespace, path: renamedPath(path, walk.nodes), children };
}

const threadOf = ({ config }: CheckpointTuple): string => String(config.configurable?.thread_id);

/** The path of a node, such as `child|ask`, with the new names. */
export function renamedPath(path: string, nodes: Renaming["nodes"]): string {
  const parts = path === "" ? [] : path.split("|");
  return parts.map((name, at) => nodes[parts.slice(0, at + 1).join("|")] ?? name).join("|");
}

/** Each open task with the same task of the renamed checkpoint. */
function pairs(
  { tuple, path }: StoredGraph,
  fresh: CheckpointTuple,
  names: Names,
): [old: OpenTask, fresh: OpenTask][] {
  const tasks = openTasks(fresh);
  return openTasks(tuple).map((old) => {
    const isSend = old.trigger === undefined;
    const task = tasks.find(({ name, trigger, path: place }) =>
      isSend
        ? trigger === undefined && place?.[1] === old.path?.[1]
        : trigger === channelWith(old.trigger ?? "", names) && name === names(old.name),
    );
    if (!task) throw new MigrationRefusal(`the task of node "${pathOf(path, old.name)}" cannot be renamed`);
    return [old, task];
  });
}

// The checkpoint.

function withNames(checkpoint: Checkpoint, names: Names, { nextVersion }: Renaming): Checkpoint {
  const next = nextVersion(checkpoint);
  const versions: ChannelVersions = { ...checkpoint.channel_versions };
  const values: Record<string, unknown> = { ...checkpoint.channel_values };
  const moved = Object.keys(versions).filter((channel) => channelWith(channel, names) !== channel);
  for (const channel of moved) {
    delete versions[channel];
    delete values[channel];
  }
  for (const channel of moved) {
    const to = channelWith(channel, names);
    if (Object.hasOwn(values, to)) throw new MigrationRefusal(`two nodes would write the channel "${to}"`);
    // A version names one value of a channel. This channel may have had another value in that version.
    const isKnown = Object.hasOwn(checkpoint.channel_versions, to);
    versions[to] = isKnown ? next : (checkpoint.channel_versions[channel] as Version);
    if (Object.hasOwn(checkpoint.channel_values, channel))
      values[to] = namesIn(checkpoint.channel_values[channel], names);
  }
  const sends = values[SENDS];
  if (Array.isArray(sends) && sends.some((send) => isSend(send) && names(send.node) !== send.node)) {
    values[SENDS] = sends.map((send: unknown) => sendTo(send, names));
    versions[SENDS] = next;
  }
  const nodes = Object.entries(checkpoint.versions_seen);
  const seen = (isMoved: boolean) =>
    nodes
      .filter(([node]) => (names(node) !== node) === isMoved)
      .map(([node, channels]) => [names(node), renamedKeys(channels, names)] as const);
  // An earlier version may have had a node with the new name.
  const versions_seen = Object.fromEntries([...seen(false), ...seen(true)]);
  return { ...checkpoint, channel_values: values, channel_versions: versions, versions_seen };
}

const renamedKeys = (channels: ChannelVersions, names: Names): ChannelVersions =>
  Object.fromEntries(
    Object.entries(channels).map(([channel, version]) => [channelWith(channel, names), version]),
  );

/** `branch:to:ask` triggers `ask`; `join:a+b:c` triggers `c` after `a` and `b`. */
function channelWith(channel: string, names: Names): string {
  if (channel.startsWith(TO_NODE)) return TO_NODE + names(channel.slice(TO_NODE.length));
  if (!channel.startsWith(JOIN)) return channel;
  const end = channel.lastIndexOf(":");
  const starts = channel.slice(JOIN.length, end).split("+");
  return `${JOIN}${starts.map(names).join("+")}:${names(channel.slice(end + 1))}`;
}

/** The names of nodes in the value of a channel that triggers a node. */
function namesIn(value: unknown, names: Names): unknown {
  if (typeof value === "string") return names(value);
  return Array.isArray(value) ? value.map((item: unknown) => namesIn(item, names)) : value;
}

const isSend = (value: unknown): value is { node: string } =>
  isRecord(value) && typeof value.node === "string";

/** LangGraph recognizes a Send by its class. */
const sendTo = (send: unknown, names: Names): unknown =>
  isSend(send)
    ? Object.assign(Object.create(Object.getPrototypeOf(send) as object) as object, send, {
        node: names(send.node),
      })
    : send;

// The writes of tasks.

function withWrites(stored: StoredGraph, fresh: StoredGraph, walk: Walk): StoredGraph {
  const { path } = stored;
  const names: Names = (name) => walk.nodes[pathOf(path, name)] ?? name;
  const writes = (stored.tuple.pendingWrites ?? []).map(([taskId, channel, value]): PendingWrites[number] => {
    const to = taskId === NO_TASK ? NO_TASK : walk.taskIds.get(taskId);
    if (to === undefined)
      throw new MigrationRefusal("a node has called tasks with task(), whose results cannot be assigned");
    return [to, channelWith(channel, names), writtenWith(channel, value, names, walk)];
  });
  const children = [...stored.children].map(([taskId, child]): [string, StoredGraph] => {
    const to = walk.taskIds.get(taskId) ?? "";
    return [to, withWrites(child, fresh.children.get(to) as StoredGraph, walk)];
  });
  return { ...fresh, tuple: { ...fresh.tuple, pendingWrites: writes }, children: new Map(children) };
}

function writtenWith(channel: string, value: unknown, names: Names, { interrupts }: Renaming): unknown {
  const each = (change: (item: unknown) => unknown): unknown =>
    Array.isArray(value) ? (value as unknown[]).map(change) : change(value);
  if (channel === INTERRUPT) return each((item) => withNewId(item, interrupts));
  if (channel === SENDS) return each((send) => sendTo(send, names));
  return channel.startsWith(JOIN) ? namesIn(value, names) : value;
}

function withNewId(interrupted: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (!isRecord(interrupted) || typeof interrupted.id !== "string") return interrupted;
  // The server's own questions, such as those of budgets, have ids of their own.
  return { ...interrupted, id: ids.get(interrupted.id) ?? interrupted.id };
}

/** The id that LangGraph gives to an interrupt of the task with this namespace. The hash is not public. */
function interruptId(namespace: string): string {
  const scratchpad = { interruptCounter: -1, resume: [], nullResume: undefined };
  const config = {
    configurable: { __pregel_checkpointer: true, __pregel_scratchpad: scratchpad, checkpoint_ns: namespace },
  };
  try {
    AsyncLocalStorageProviderSingleton.runWithConfig(config, () => {
      interrupt(undefined);
    });
  } catch (error) {
    if (isGraphInterrupt(error)) return String(error.interrupts[0]?.id);
    throw error;
  }
  throw new MigrationRefusal("the ids of interrupts are unknown in this release of LangGraph");
}
