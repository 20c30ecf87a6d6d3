import {
  MemorySaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointKey } from "../checkpointer.js";
import { checkpointOf, numbered, textSerializer } from "../saver-parts.js";

interface Key extends CheckpointKey {
  thread_id: string;
}

type Dumped = [type: string, bytes: Uint8Array];
type StoredWrite = [taskId: string, channel: string, bytes: Uint8Array];

/** What is kept beside MemorySaver's own maps, which have no index by thread. */
interface ThreadIndex {
  /** Latest checkpoint of each namespace. */
  latest: Map<string, string>;
  /** Keys that MemorySaver keeps the thread's writes under. */
  writes: Set<string>;
}

/** MemorySaver whose cost does not grow with the checkpoints of a thread, nor with those of all the others. */
export class ThreadMemorySaver extends MemorySaver {
  readonly #index = new Map<string, ThreadIndex>();

  constructor() {
    super();
    this.serde = textSerializer(this.serde);
  }

  /** Names the latest checkpoint itself: MemorySaver sorts all ids of the thread to find it. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id = "", checkpoint_ns = "", checkpoint_id } = (config.configurable ?? {}) as Partial<Key>;
    const stored = this.storage[thread_id]?.[checkpoint_ns];
    if (!stored) return undefined;
    if (checkpoint_id) return checkpoint_id in stored ? super.getTuple(config) : undefined;
    const latest = this.#index.get(thread_id)?.latest.get(checkpoint_ns);
    if (!latest) return undefined;
    return super.getTuple({ configurable: { thread_id, checkpoint_id: latest, checkpoint_ns } });
  }

  /** Reads checkpoints one by one: MemorySaver sorts by locale, and refuses ids that no checkpoint can have. */
  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns } = (config.configurable ?? {}) as Partial<Key>;
    if (thread_id === undefined || checkpoint_ns === undefined) {
      yield* super.list(config, options);
      return;
    }
    const { limit = Infinity, before, filter = {} } = options;
    const stored = this.storage[thread_id]?.[checkpoint_ns] ?? {};
    const end = before?.configurable?.checkpoint_id as string | undefined;
    let left = limit;
    for (const id of Object.keys(stored).sort().reverse()) {
      if (left <= 0) return;
      const entry = stored[id];
      if (!entry || (end !== undefined && id >= end)) continue;
      const metadata = (await this.serde.loadsTyped("json", entry[1])) as Record<string, unknown>;
      if (Object.entries(filter).some(([key, value]) => metadata[key] !== value)) continue;
      const tuple = await super.getTuple({ configurable: { thread_id, checkpoint_ns, checkpoint_id: id } });
      if (!tuple) continue;
      yield tuple;
      left -= 1;
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const stored = await super.put(config, checkpoint, metadata);
    const { thread_id, checkpoint_ns, checkpoint_id } = stored.configurable as Key;
    const { latest } = this.#indexOf(thread_id);
    if (checkpoint_id > (latest.get(checkpoint_ns) ?? "")) latest.set(checkpoint_ns, checkpoint_id);
    return stored;
  }

  /** All writes or none: MemorySaver keeps those that it has when one of them cannot be stored. */
  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const key = checkpointOf(config);
    const { writes: own, replace } = numbered(writes);
    const dumped = await Promise.all(own.map(({ value }) => this.serde.dumpsTyped(value)));
    const place = writesKey(key.thread_id, key);
    const stored = (this.writes[place] ??= Object.create(null) as Record<string, StoredWrite>);
    own.forEach(({ idx, channel }, index) => {
      const id = `${taskId},${idx}`;
      if (replace || !(id in stored)) stored[id] = [taskId, channel, (dumped[index] as Dumped)[1]];
    });
    this.#indexOf(key.thread_id).writes.add(place);
  }

  /** Looks the thread's writes up: MemorySaver searches the writes of all threads. */
  override async deleteThread(threadId: string): Promise<void> {
    delete this.storage[threadId];
    for (const key of this.#index.get(threadId)?.writes ?? []) delete this.writes[key];
    this.#index.delete(threadId);
  }

  /** Deletes a thread's checkpoints and writes but these; see `WrapOptions.keepOnly`. */
  async keepOnly(threadId: string, keep: readonly CheckpointKey[]): Promise<void> {
    const stored = this.storage[threadId] ?? {};
    const index = this.#indexOf(threadId);
    const keptKeys = new Set(keep.map((key) => writesKey(threadId, key)));
    const kept = Object.create(null) as typeof stored;
    for (const { checkpoint_ns, checkpoint_id } of keep) {
      const entry = stored[checkpoint_ns]?.[checkpoint_id];
      if (!entry) continue;
      const [checkpoint, metadata, parent = ""] = entry;
      const hasParent = keptKeys.has(writesKey(threadId, { checkpoint_ns, checkpoint_id: parent }));
      const namespace = (kept[checkpoint_ns] ??= Object.create(null) as Record<string, typeof entry>);
      namespace[checkpoint_id] = [checkpoint, metadata, hasParent ? parent : undefined];
    }
    this.storage[threadId] = kept;
    for (const namespace of index.latest.keys()) if (!kept[namespace]) index.latest.delete(namespace);
    for (const key of index.writes) {
      if (keptKeys.has(key)) continue;
      index.writes.delete(key);
      delete this.writes[key];
    }
  }

  #indexOf(threadId: string): ThreadIndex {
    const index = this.#index.get(threadId) ?? { latest: new Map(), writes: new Set() };
    this.#index.set(threadId, index);
    return index;
  }
}

const writesKey = (threadId: string, { checkpoint_ns, checkpoint_id }: CheckpointKey): string =>
  JSON.stringify([threadId, checkpoint_ns, checkpoint_id]);
