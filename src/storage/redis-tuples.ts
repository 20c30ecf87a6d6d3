/** Reads checkpoints as LangGraph has them. */
import {
  TASKS,
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import { contains } from "./contains.js";
import { addSends } from "./pending-sends.js";
import type { RedisConnection } from "./redis-client.js";
import type { NamespaceKeys, RedisKeys } from "./redis-keys.js";
import { fieldOf, readRefs, unpack, unpackValue } from "./redis-records.js";

/** Checkpoints that a list reads at once, with all their values. */
const PAGE = 25;

export interface NamespacePlace {
  thread_id: string;
  checkpoint_ns: string;
}

type Saver = Pick<BaseCheckpointSaver, "serde">;

export class RedisTuples {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #saver: Saver;

  constructor(connection: RedisConnection, keys: RedisKeys, saver: Saver) {
    this.#connection = connection;
    this.#keys = keys;
    this.#saver = saver;
  }

  async get({ thread_id, checkpoint_ns }: NamespacePlace, id: string): Promise<CheckpointTuple | undefined> {
    const keys = this.#keys.namespace(thread_id, checkpoint_ns);
    const [record, writes] = await Promise.all([
      this.#connection.client.hGetAll(keys.checkpoint(id)),
      this.#writes(keys, id),
    ]);
    // Writes may be stored before their checkpoint is.
    if (!record.checkpoint || !record.metadata) return undefined;
    const parent = record.parent?.toString() ?? "";
    const checkpoint = (await unpackValue(this.#saver.serde, record.checkpoint)) as Checkpoint;
    checkpoint.channel_values = await this.#values(keys, record.refs);
    if (checkpoint.v < 4 && parent !== "") addSends(checkpoint, await this.#sendsOf(keys, parent));
    const configOf = (checkpoint_id: string) => ({
      configurable: { thread_id, checkpoint_ns, checkpoint_id },
    });
    return {
      config: configOf(id),
      checkpoint,
      metadata: (await unpackValue(this.#saver.serde, record.metadata)) as CheckpointMetadata,
      pendingWrites: writes,
      ...(parent !== "" && { parentConfig: configOf(parent) }),
    };
  }

  /** Checkpoints of a namespace, those below the id `before`. */
  async *newestFirst(
    place: NamespacePlace,
    { before, pageSize = PAGE }: { before?: string; pageSize?: number } = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { ids } = this.#keys.namespace(place.thread_id, place.checkpoint_ns);
    for (let end = before; ;) {
      const page = await this.#connection.client.zRange(ids, end === undefined ? "+" : `(${end}`, "-", {
        BY: "LEX",
        REV: true,
        LIMIT: { offset: 0, count: pageSize },
      });
      const tuples = await Promise.all(page.map((id) => this.get(place, id.toString())));
      for (const tuple of tuples) if (tuple) yield tuple;
      if (page.length < pageSize) return;
      end = page.at(-1)?.toString();
    }
  }

  /** As `BaseCheckpointSaver.list`; over all threads or namespaces when the place leaves them open. */
  async *list(
    place: Partial<NamespacePlace>,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const places = await this.#places(place);
    const options = { before: before?.configurable?.checkpoint_id as string | undefined };
    const [only] = places;
    const tuples =
      places.length === 1 && only ? this.newestFirst(only, options) : this.#merged(places, options);
    let left = limit;
    for await (const tuple of tuples) {
      if (left <= 0) return;
      if (!contains(tuple.metadata, filter)) continue;
      yield tuple;
      left -= 1;
    }
  }

  async *#merged(places: NamespacePlace[], options: { before?: string }): AsyncGenerator<CheckpointTuple> {
    const all: CheckpointTuple[] = [];
    for (const place of places) {
      for await (const tuple of this.newestFirst(place, options)) all.push(tuple);
    }
    yield* all.sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? 1 : -1));
  }

  async #places({ thread_id, checkpoint_ns }: Partial<NamespacePlace>): Promise<NamespacePlace[]> {
    const threads = thread_id === undefined ? await this.#threads() : [thread_id];
    const places: NamespacePlace[] = [];
    for (const thread of threads) {
      const namespaces =
        checkpoint_ns === undefined
          ? (await this.#connection.client.sMembers(this.#keys.thread(thread).namespaces)).map(String)
          : [checkpoint_ns];
      for (const namespace of namespaces) places.push({ thread_id: thread, checkpoint_ns: namespace });
    }
    return places;
  }

  async #threads(): Promise<string[]> {
    const threads = new Set<string>();
    // The iterator knows the end by a text, and would go on for ever with bytes.
    const client = this.#connection.client.withTypeMapping({});
    for await (const keys of client.scanIterator({ MATCH: this.#keys.everyThread, COUNT: 1000 })) {
      for (const key of keys) threads.add(this.#keys.threadOf(key));
    }
    return [...threads];
  }

  async #values(keys: NamespaceKeys, text: Buffer | undefined): Promise<Record<string, unknown>> {
    const refs = readRefs(text);
    if (refs.length === 0) return {};
    const records = await this.#connection.client.hmGet(keys.values, refs.map(fieldOf));
    const entries = await Promise.all(
      refs.map(async ({ channel }, index): Promise<[string, unknown][]> => {
        const record = records[index];
        return record ? [[channel, await unpackValue(this.#saver.serde, record)]] : [];
      }),
    );
    return Object.fromEntries(entries.flat());
  }

  /** By task and index, as they were made. */
  async #writes(keys: NamespaceKeys, id: string): Promise<CheckpointPendingWrite[]> {
    const fields = Object.entries(await this.#connection.client.hGetAll(keys.writes(id)));
    const writes = fields.map(([field, record]) => {
      const [taskId, index] = JSON.parse(field) as [string, number];
      const { head, body } = unpack<[channel: string, type: string]>(record);
      return { taskId, index, channel: head[0], type: head[1], body };
    });
    writes.sort((a, b) => (a.taskId === b.taskId ? a.index - b.index : a.taskId < b.taskId ? -1 : 1));
    return Promise.all(
      writes.map(async ({ taskId, channel, type, body }): Promise<CheckpointPendingWrite> => [
        taskId,
        channel,
        await this.#saver.serde.loadsTyped(type, body),
      ]),
    );
  }

  async #sendsOf(keys: NamespaceKeys, parent: string): Promise<unknown[]> {
    const writes = await this.#writes(keys, parent);
    return writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
  }
}
