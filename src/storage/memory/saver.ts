/** Checkpoints in memory, stored as in the databases: checkpoints share values that a step did not write. */
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointKey } from "../saver/wrap.js";
import { requireKnownHead } from "../saver/known-head.js";
import { requiredCheckpointRef, type NamespaceRef, checkpointRef } from "../saver/ref.js";
import { isNeeded, isWriteNeeded, type NeededChannels, readingOf } from "../saver/reading.js";
import { addSends, tupleOf } from "../saver/tuple.js";
import { numbered } from "../saver/writes.js";
import { plainJson, textSerializer } from "../saver/serializer.js";
import { compareTexts } from "../rows/rows.js";

/** A serialized value: a string, or bytes outside the V8 heap if it is large. */
type Dumped = string | Uint8Array;
/** Bytes from which a value counts as large. */
const LARGE = 4096;

interface StoredValue {
  channel: string;
  version: unknown;
  data: Dumped;
}

interface StoredCheckpoint {
  id: string;
  parent: string | undefined;
  /** JSON of the checkpoint without its channel values. */
  checkpoint: string;
  metadata: Dumped;
  /** One per channel. Values inherited from the parent are shared objects. */
  values: readonly StoredValue[];
}

interface StoredWrite {
  taskId: string;
  /** Number of the write within its task. */
  idx: number;
  channel: string;
  data: Dumped;
}

/** Binary search: the number of sorted items before this one. Usually all, as new items are appended. */
export function countBefore<Item>(
  items: readonly Item[],
  item: Item,
  compare: (a: Item, b: Item) => number,
): number {
  let [low, high] = [0, items.length];
  if (high > 0 && compare(items[high - 1] as Item, item) < 0) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(items[middle] as Item, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The checkpoints of a namespace, oldest first, and the pending writes of their tasks. */
class Namespace {
  readonly byId = new Map<string, StoredCheckpoint>();
  latest: StoredCheckpoint | undefined;
  readonly #ids: string[] = [];
  /** Writes by checkpoint, ordered by task and number as in the databases. They may be stored before their checkpoint. */
  readonly #writes = new Map<string, StoredWrite[]>();

  put(stored: StoredCheckpoint): void {
    const { id } = stored;
    if (!this.byId.has(id)) this.#ids.splice(countBefore(this.#ids, id, compareTexts), 0, id);
    this.byId.set(id, stored);
    if (!this.latest || id >= this.latest.id) this.latest = stored;
  }

  /** Newest first, only those with ids below `end`. Checkpoints may be changed during the iteration. */
  *before(end: string | undefined): Generator<StoredCheckpoint> {
    const ids = this.#ids.slice(0, end === undefined ? undefined : countBefore(this.#ids, end, compareTexts));
    for (let at = ids.length - 1; at >= 0; at -= 1) {
      const stored = this.byId.get(ids[at] as string);
      if (stored) yield stored;
    }
  }

  writesOf(checkpointId: string): readonly StoredWrite[] {
    return this.#writes.get(checkpointId) ?? [];
  }

  /** A stored write with the same number is kept unless `replace` is set. */
  putWrites(checkpointId: string, writes: readonly StoredWrite[], replace: boolean): void {
    let stored = this.#writes.get(checkpointId);
    if (!stored) this.#writes.set(checkpointId, (stored = []));
    for (const write of writes) {
      const at = countBefore(stored, write, byTask);
      const isTaken = at < stored.length && byTask(stored[at] as StoredWrite, write) === 0;
      if (!isTaken || replace) stored.splice(at, isTaken ? 1 : 0, write);
    }
  }

  /** Deletes the checkpoints and writes that `isKept` does not accept, and references to deleted parents. */
  keep(isKept: (checkpointId: string) => boolean): void {
    for (const id of this.#ids.splice(0)) {
      const stored = this.byId.get(id);
      if (!stored || !isKept(id)) this.byId.delete(id);
      else {
        this.#ids.push(id);
        if (stored.parent !== undefined && !isKept(stored.parent))
          this.byId.set(id, { ...stored, parent: undefined });
      }
    }
    this.latest = this.byId.get(this.#ids.at(-1) ?? "");
    for (const id of this.#writes.keys()) if (!isKept(id)) this.#writes.delete(id);
  }
}

const keyOf = ({ checkpoint_ns, checkpoint_id }: CheckpointKey): string =>
  JSON.stringify([checkpoint_ns, checkpoint_id]);

export class ThreadMemorySaver extends BaseCheckpointSaver {
  readonly #threads = new Map<string, Map<string, Namespace>>();

  constructor() {
    super();
    this.serde = textSerializer(this.serde);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.thread_id) return undefined;
    const { checkpoint_id, ...place } = checkpointRef(config);
    const namespace = this.#threads.get(place.thread_id)?.get(place.checkpoint_ns);
    if (!namespace) return undefined;
    const stored = checkpoint_id === undefined ? namespace.latest : namespace.byId.get(checkpoint_id);
    return stored && this.#tuple(place, namespace, stored, readingOf(config).channels);
  }

  async *list(
    config: RunnableConfig,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { channels } = readingOf(config);
    const wanted = config.configurable?.checkpoint_id as string | undefined;
    const end = before?.configurable?.checkpoint_id as string | undefined;
    const entries = Object.entries(filter);
    let remaining = limit;
    for (const [place, namespace] of this.#places(config))
      for (const stored of namespace.before(end)) {
        if (remaining <= 0) return;
        if (wanted && stored.id !== wanted) continue;
        if (entries.length > 0 && !hasEntries(stored.metadata, entries)) continue;
        yield await this.#tuple(place, namespace, stored, channels);
        remaining -= 1;
      }
  }

  *#places({ configurable = {} }: RunnableConfig): Generator<[NamespaceRef, Namespace]> {
    const { thread_id, checkpoint_ns } = configurable as Partial<NamespaceRef>;
    for (const [id, namespaces] of this.#threads)
      for (const [ns, namespace] of thread_id === undefined || id === thread_id ? namespaces : [])
        if (checkpoint_ns === undefined || ns === checkpoint_ns)
          yield [{ thread_id: id, checkpoint_ns: ns }, namespace];
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions = {},
  ): Promise<RunnableConfig> {
    const { checkpoint_id: parent, ...place } = checkpointRef(config);
    const { channel_values, ...rest } = checkpoint;
    const { channel_versions: versions } = checkpoint;
    const values: StoredValue[] = [];
    const kept = new Set<string>();
    // Includes channels unknown to this graph, which belong to another graph on the same thread. A channel without a version
    // has its default value.
    const namespaces = this.#threads.get(place.thread_id);
    const earlier = namespaces?.get(place.checkpoint_ns)?.byId.get(parent ?? "");
    for (const value of earlier?.values ?? []) {
      const { channel, version } = value;
      if (version === undefined || version !== versions[channel] || Object.hasOwn(newVersions, channel))
        continue;
      values.push(value);
      kept.add(channel);
    }
    const dumped = this.#dump(metadata);
    const stamps = dumped instanceof Promise ? await dumped : dumped;
    for (const [channel, value] of Object.entries(channel_values)) {
      if (kept.has(channel)) continue;
      const data = this.#dump(value);
      // No turn for plain data: until they are written, the next node may change them.
      values.push({ channel, version: versions[channel], data: data instanceof Promise ? await data : data });
    }
    const namespace = this.#namespace(place);
    requireKnownHead(config, namespace.latest?.id);
    namespace.put({
      id: checkpoint.id,
      parent,
      checkpoint: JSON.stringify(rest),
      metadata: stamps,
      values,
    });
    return { configurable: { ...place, checkpoint_id: checkpoint.id } };
  }

  /** Atomic: stores all writes or none. */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = requiredCheckpointRef(config);
    const { writes: own, replace } = numbered(writes);
    const stored: StoredWrite[] = [];
    for (const { idx, channel, value } of own) {
      const data = this.#dump(value);
      stored.push({ taskId, idx, channel, data: data instanceof Promise ? await data : data });
    }
    this.#namespace(place).putWrites(place.checkpoint_id, stored, replace);
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#threads.delete(threadId);
  }

  /** See `WrapOptions.keepOnly`. */
  async keepOnly(
    threadId: string,
    keep: readonly CheckpointKey[],
    newest: readonly CheckpointKey[],
  ): Promise<void> {
    const namespaces = this.#threads.get(threadId);
    const keys = new Set(keep.map(keyOf));
    for (const { checkpoint_ns, checkpoint_id: last } of newest)
      namespaces
        ?.get(checkpoint_ns)
        ?.keep((checkpoint_id) => checkpoint_id > last || keys.has(keyOf({ checkpoint_ns, checkpoint_id })));
  }

  async namespaces(threadId: string): Promise<string[]> {
    const namespaces = [...(this.#threads.get(threadId) ?? [])];
    return namespaces.flatMap(([name, { byId }]) => (byId.size > 0 ? name : []));
  }

  #namespace({ thread_id, checkpoint_ns }: NamespaceRef): Namespace {
    let namespaces = this.#threads.get(thread_id);
    if (!namespaces) this.#threads.set(thread_id, (namespaces = new Map<string, Namespace>()));
    let found = namespaces.get(checkpoint_ns);
    if (!found) namespaces.set(checkpoint_ns, (found = new Namespace()));
    return found;
  }

  async #tuple(
    place: NamespaceRef,
    namespace: Namespace,
    { id, parent, checkpoint: text, metadata, values }: StoredCheckpoint,
    needed: NeededChannels | undefined,
  ): Promise<CheckpointTuple> {
    const read = values.filter(({ channel }) => isNeeded(channel, needed));
    const writes = namespace
      .writesOf(id)
      .filter(({ taskId, channel }) => isWriteNeeded(taskId, channel, needed));
    const [facts, channels, pendingWrites] = await Promise.all([
      this.#load(metadata),
      Promise.all(read.map(async ({ channel, data }) => [channel, await this.#load(data)] as const)),
      Promise.all(
        writes.map(async ({ taskId, channel, data }): Promise<[string, string, unknown]> => [
          taskId,
          channel,
          await this.#load(data),
        ]),
      ),
    ]);
    const checkpoint = { ...(JSON.parse(text) as Checkpoint), channel_values: Object.fromEntries(channels) };
    if (checkpoint.v < 4 && parent !== undefined)
      addSends(checkpoint, await this.#sendsOf(namespace, parent));
    return tupleOf(place, { id, parent: parent ?? null, checkpoint, metadata: facts, pendingWrites });
  }

  async #sendsOf(namespace: Namespace, parent: string): Promise<unknown[]> {
    const sends = namespace.writesOf(parent).filter(({ channel }) => channel === TASKS);
    return Promise.all(sends.map(({ data }) => this.#load(data)));
  }

  /** Most values are plain data, whose text needs no promise. */
  #dump(value: unknown): Dumped | Promise<Dumped> {
    const text = plainJson(value);
    if (text === undefined) return this.#dumpTyped(value);
    return text.length < LARGE ? text : Buffer.from(text);
  }

  async #dumpTyped(value: unknown): Promise<Dumped> {
    const [, bytes] = await this.serde.dumpsTyped(value);
    return sized(bytes);
  }

  #load(data: Dumped): Promise<unknown> {
    return this.serde.loadsTyped("json", data) as Promise<unknown>;
  }
}

/** Large values are kept as bytes, outside of the heap. */
const sized = (bytes: Uint8Array): Dumped =>
  bytes.length < LARGE ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() : bytes;

const byTask = (a: StoredWrite, b: StoredWrite): number => compareTexts(a.taskId, b.taskId) || a.idx - b.idx;

/** Compares the raw JSON: filters hold only strings and numbers, which deserializing does not change. */
function hasEntries(metadata: Dumped, entries: readonly (readonly [string, unknown])[]): boolean {
  const text = typeof metadata === "string" ? metadata : new TextDecoder().decode(metadata);
  const found = JSON.parse(text) as Record<string, unknown>;
  return entries.every(([key, value]) => found[key] === value);
}
