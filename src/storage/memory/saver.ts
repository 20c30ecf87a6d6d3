/** Checkpoints in memory, in the form of the databases: a value that a step does not write is kept once. */
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
import type { CheckpointKey } from "../checkpointer.js";
import {
  addSends,
  checkpointOf,
  configOf,
  isNeeded,
  isWriteNeeded,
  type NeededChannels,
  numbered,
  type Place,
  placeOf,
  readingOf,
  textSerializer,
  tupleOf,
} from "../saver-parts.js";

/** A serialised value: as a text, or as bytes outside of the heap where it is large. */
type Dumped = string | Uint8Array;
const LARGE = 4096;

interface StoredValue {
  version: unknown;
  data: Dumped;
}

interface StoredCheckpoint {
  id: string;
  parent: string | undefined;
  /** The checkpoint without the values of its channels. */
  checkpoint: string;
  metadata: Dumped;
  /** By channel; those that are its parent's are the same objects. */
  values: ReadonlyMap<string, StoredValue>;
}

interface StoredWrite {
  taskId: string;
  /** Its number among those of its task. */
  idx: number;
  channel: string;
  data: Dumped;
}

/** The checkpoints of a namespace, by id, from the oldest to the newest. */
class Namespace {
  readonly byId = new Map<string, StoredCheckpoint>();
  readonly #ids: string[] = [];

  put(stored: StoredCheckpoint): void {
    if (!this.byId.has(stored.id)) this.#ids.splice(this.#countBefore(stored.id), 0, stored.id);
    this.byId.set(stored.id, stored);
  }

  latest(): StoredCheckpoint | undefined {
    return this.byId.get(this.#ids.at(-1) ?? "");
  }

  /** From the newest on, those before this one alone. They may be changed meanwhile. */
  *before(end: string | undefined): Generator<StoredCheckpoint> {
    const ids = end === undefined ? this.#ids.slice() : this.#ids.slice(0, this.#countBefore(end));
    for (let at = ids.length - 1; at >= 0; at -= 1) {
      const stored = this.byId.get(ids[at] as string);
      if (stored) yield stored;
    }
  }

  /** Mostly all: what comes is newer. */
  #countBefore(id: string): number {
    let [low, high] = [0, this.#ids.length];
    if (high > 0 && (this.#ids[high - 1] as string) < id) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ids[middle] as string) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

class Thread {
  readonly namespaces = new Map<string, Namespace>();
  /** By checkpoint, then by task and number; they may be stored before their checkpoint is. */
  readonly writes = new Map<string, Map<string, StoredWrite>>();

  at(checkpoint_ns: string): Namespace {
    let found = this.namespaces.get(checkpoint_ns);
    if (!found) this.namespaces.set(checkpoint_ns, (found = new Namespace()));
    return found;
  }
}

const keyOf = ({ checkpoint_ns, checkpoint_id }: CheckpointKey): string =>
  JSON.stringify([checkpoint_ns, checkpoint_id]);

export class ThreadMemorySaver extends BaseCheckpointSaver {
  readonly #threads = new Map<string, Thread>();

  constructor() {
    super();
    this.serde = textSerializer(this.serde);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.thread_id) return undefined;
    const { checkpoint_id, ...place } = placeOf(config);
    const namespace = this.#threads.get(place.thread_id)?.namespaces.get(place.checkpoint_ns);
    const stored = checkpoint_id === undefined ? namespace?.latest() : namespace?.byId.get(checkpoint_id);
    return stored && this.#tuple(place, stored, readingOf(config).channels);
  }

  async *list(
    config: RunnableConfig,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { channels } = readingOf(config);
    const wanted = config.configurable?.checkpoint_id as string | undefined;
    const end = before?.configurable?.checkpoint_id as string | undefined;
    const facts = Object.entries(filter);
    let left = limit;
    for (const [place, namespace] of this.#places(config))
      for (const stored of namespace.before(end)) {
        if (left <= 0) return;
        if (wanted && stored.id !== wanted) continue;
        if (facts.length > 0 && !hasFacts(stored.metadata, facts)) continue;
        yield await this.#tuple(place, stored, channels);
        left -= 1;
      }
  }

  *#places({ configurable = {} }: RunnableConfig): Generator<[Place, Namespace]> {
    const { thread_id, checkpoint_ns } = configurable as Partial<Place>;
    for (const [id, { namespaces }] of this.#threads)
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
    const { checkpoint_id: parent, ...place } = placeOf(config);
    const { channel_values, ...rest } = checkpoint;
    const values = new Map<string, StoredValue>();
    const before = this.#threads
      .get(place.thread_id)
      ?.namespaces.get(place.checkpoint_ns)
      ?.byId.get(parent ?? "");
    // Also of channels that the graph does not know: those of another graph on the same thread.
    for (const [channel, value] of before?.values ?? []) {
      const isSame = value.version === checkpoint.channel_versions[channel];
      if (isSame && !Object.hasOwn(newVersions, channel)) values.set(channel, value);
    }
    const written = Object.entries(channel_values).filter(([channel]) => !values.has(channel));
    const [dumped, ...others] = await this.#dump([metadata, ...written.map(([, value]) => value)]);
    for (const [index, [channel]] of written.entries())
      values.set(channel, { version: checkpoint.channel_versions[channel], data: others[index] as Dumped });
    const thread = this.#thread(place.thread_id);
    thread.at(place.checkpoint_ns).put({
      id: checkpoint.id,
      parent,
      checkpoint: JSON.stringify(rest),
      metadata: dumped as Dumped,
      values,
    });
    return configOf(place, checkpoint.id);
  }

  /** All writes or none. */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = checkpointOf(config);
    const { writes: own, replace } = numbered(writes);
    const dumped = await this.#dump(own.map(({ value }) => value));
    const thread = this.#thread(place.thread_id);
    const key = keyOf(place);
    let stored = thread.writes.get(key);
    if (!stored) thread.writes.set(key, (stored = new Map<string, StoredWrite>()));
    for (const [index, { idx, channel }] of own.entries()) {
      const id = `${taskId},${idx}`;
      if (replace || !stored.has(id)) stored.set(id, { taskId, idx, channel, data: dumped[index] as Dumped });
    }
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#threads.delete(threadId);
  }

  /** Deletes a thread's checkpoints and writes but these; see `WrapOptions.keepOnly`. */
  async keepOnly(threadId: string, keep: readonly CheckpointKey[]): Promise<void> {
    const old = this.#threads.get(threadId);
    const kept = new Thread();
    const keys = new Set(keep.map(keyOf));
    for (const place of keep) {
      const { checkpoint_ns, checkpoint_id } = place;
      const stored = old?.namespaces.get(checkpoint_ns)?.byId.get(checkpoint_id);
      if (!stored) continue;
      const { parent = "" } = stored;
      const hasParent = keys.has(keyOf({ checkpoint_ns, checkpoint_id: parent }));
      kept.at(checkpoint_ns).put({ ...stored, parent: hasParent ? parent : undefined });
      const writes = old?.writes.get(keyOf(place));
      if (writes) kept.writes.set(keyOf(place), writes);
    }
    this.#threads.set(threadId, kept);
  }

  /** Namespaces of a thread's checkpoints. */
  async namespaces(threadId: string): Promise<string[]> {
    return [...(this.#threads.get(threadId)?.namespaces.keys() ?? [])];
  }

  #thread(threadId: string): Thread {
    let found = this.#threads.get(threadId);
    if (!found) this.#threads.set(threadId, (found = new Thread()));
    return found;
  }

  async #tuple(
    place: Place,
    { id, parent, checkpoint: text, metadata, values }: StoredCheckpoint,
    needed: NeededChannels | undefined,
  ): Promise<CheckpointTuple> {
    const read = [...values].filter(([channel]) => isNeeded(channel, needed));
    const writes = this.#writesOf(place, id).filter(({ taskId, channel }) =>
      isWriteNeeded(taskId, channel, needed),
    );
    const [facts, channels, pendingWrites] = await Promise.all([
      this.#load(metadata),
      Promise.all(read.map(async ([channel, { data }]) => [channel, await this.#load(data)] as const)),
      Promise.all(
        writes.map(async ({ taskId, channel, data }): Promise<[string, string, unknown]> => [
          taskId,
          channel,
          await this.#load(data),
        ]),
      ),
    ]);
    const checkpoint = { ...(JSON.parse(text) as Checkpoint), channel_values: Object.fromEntries(channels) };
    if (checkpoint.v < 4 && parent !== undefined) addSends(checkpoint, await this.#sendsOf(place, parent));
    return tupleOf(place, { id, parent: parent ?? null, checkpoint, metadata: facts, pendingWrites });
  }

  /** By task, as databases give them: what tasks wrote side by side comes in one order wherever it is read. */
  #writesOf({ thread_id, checkpoint_ns }: Place, checkpoint_id: string): StoredWrite[] {
    const stored = this.#threads.get(thread_id)?.writes.get(keyOf({ checkpoint_ns, checkpoint_id }));
    return [...(stored?.values() ?? [])].sort(byTask);
  }

  async #sendsOf(place: Place, parent: string): Promise<unknown[]> {
    const sends = this.#writesOf(place, parent).filter(({ channel }) => channel === TASKS);
    return Promise.all(sends.map(({ data }) => this.#load(data)));
  }

  async #dump(values: readonly unknown[]): Promise<Dumped[]> {
    const typed = await Promise.all(values.map((value) => this.serde.dumpsTyped(value)));
    return typed.map(([, bytes]) =>
      bytes.length < LARGE ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() : bytes,
    );
  }

  #load(data: Dumped): Promise<unknown> {
    return this.serde.loadsTyped("json", data) as Promise<unknown>;
  }
}

const byTask = (a: StoredWrite, b: StoredWrite): number =>
  a.taskId < b.taskId ? -1 : a.taskId > b.taskId ? 1 : a.idx - b.idx;

/** What a filter asks for are texts and numbers, which are the same before LangChain's objects are made of the JSON. */
function hasFacts(metadata: Dumped, facts: readonly (readonly [string, unknown])[]): boolean {
  const text = typeof metadata === "string" ? metadata : new TextDecoder().decode(metadata);
  const found = JSON.parse(text) as Record<string, unknown>;
  return facts.every(([key, value]) => found[key] === value);
}
