import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { CheckpointKey } from "../saver/wrap.js";
import { guardOf, knownHead } from "../saver/known-head.js";
import { requiredCheckpointRef, type CheckpointRef, checkpointRef } from "../saver/ref.js";
import { heldRun, type HeldRuns } from "../saver/held-run.js";
import { type NeededChannels, readingOf, isWriteNeeded } from "../saver/reading.js";
import { addSends, tupleOf } from "../saver/tuple.js";
import { numbered } from "../saver/writes.js";
import type { PostgresPool } from "./pool.js";
import { toJsonColumn } from "./rows.js";
import * as sql from "./saver-sql.js";
import type { CheckpointRow } from "./saver-sql.js";
import { type EditGuard, PostgresWriter, type Serialized } from "./writer.js";
import { compareTexts } from "../rows/rows.js";

/** Maximum number of checkpoints per statement in `list`, because each comes with all its values. */
const PAGE = 25;
/** Resolution of the random fraction of versions: exact for versions below ten million. */
const FRACTIONS = 1e9;

/**
 * A checkpointer on the tables of the official PostgresSaver; each can read what the other wrote. Every call is one atomic
 * statement, and concurrent calls share a statement: it stores the checkpoint of a superstep with its values, the writes
 * of tasks that have just finished, and entries of other runs.
 */
export class FastPostgresSaver extends BaseCheckpointSaver {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #writer: PostgresWriter;
  readonly #held: HeldRuns;
  readonly #sql: Record<"delete" | "prune" | "namespaces" | "version", string>;
  /** Of the versions that LangGraph assigns at once, for all channels of a superstep. */
  #fraction: number | undefined;

  constructor(pool: PostgresPool, schema: string, held: HeldRuns = new Map()) {
    super();
    this.#held = held;
    this.#pool = pool;
    this.#schema = schema;
    this.#writer = new PostgresWriter(pool, schema);
    this.#sql = {
      delete: `${sql.deleteCheckpoints(schema)} SELECT 1`,
      prune: sql.keepCheckpoints(schema),
      namespaces: sql.namespaces(schema),
      version: sql.threadVersion(schema),
    };
  }

  /**
   * Values are stored by channel and version, shared by all checkpoints of a thread. Two branches of its history continue
   * from the same version; a random fraction keeps their versions distinct. Nodes of one superstep see equal versions, as on
   * other storages: otherwise, LangGraph would attribute an edit to one of them at random.
   */
  override getNextVersion(current: number | undefined): number {
    if (typeof current === "string")
      throw new Error("this thread has string versions, which LangGraph for Python writes");
    if (this.#fraction === undefined) {
      this.#fraction = Math.floor(Math.random() * FRACTIONS) / FRACTIONS;
      queueMicrotask(() => (this.#fraction = undefined));
    }
    return Math.floor(current ?? 0) + 1 + this.#fraction;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.thread_id) return undefined;
    const [tuple] = await this.#read(checkpointRef(config), { limit: 1, needed: readingOf(config).channels });
    return tuple;
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { limit = Infinity, before, filter } = options;
    const place = (config.configurable ?? {}) as Partial<CheckpointRef>;
    // Ids are ordered only within a namespace.
    const isPaged = place.thread_id !== undefined && place.checkpoint_ns !== undefined;
    let end = before?.configurable?.checkpoint_id as string | undefined;
    for (let remaining = limit; remaining > 0; remaining -= PAGE) {
      const size = isPaged ? Math.min(remaining, PAGE) : limit;
      const needed = readingOf(config).channels;
      const tuples = await this.#read(place, { limit: size, before: end, filter, needed });
      yield* tuples;
      if (!isPaged || tuples.length < size) return;
      end = tuples.at(-1)?.config.configurable?.checkpoint_id as string;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { checkpoint_id: parent, ...place } = checkpointRef(config);
    const { thread_id, checkpoint_ns } = place;
    const { channel_values, ...rest } = checkpoint;
    const { id } = checkpoint;
    const [[, metadataBytes], values] = await Promise.all([
      this.serde.dumpsTyped(metadata),
      Promise.all(
        Object.entries(newVersions).map(async ([channel, version]) => {
          const isSet = Object.hasOwn(channel_values, channel);
          const value = isSet ? await this.serde.dumpsTyped(channel_values[channel]) : EMPTY;
          return { channel, version: String(version), value };
        }),
      ),
    ]);
    const entry = {
      thread: thread_id,
      ns: checkpoint_ns,
      id,
      parent,
      known: knownHead(config),
      checkpoint: JSON.stringify(rest),
      metadata: Buffer.from(metadataBytes).toString(),
      values,
    };
    const run = heldRun(this.#held, config);
    const edit = guardOf(config) as EditGuard | undefined;
    await this.#writer.store(thread_id, { run, edit, checkpoints: [entry], writes: [] });
    return { configurable: { ...place, checkpoint_id: id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread_id, checkpoint_ns, checkpoint_id } = requiredCheckpointRef(config);
    const { writes: own, replace } = numbered(writes);
    const entries = own.map(async ({ idx, channel, value }) => {
      const key = { thread: thread_id, ns: checkpoint_ns, id: checkpoint_id, task: taskId, idx };
      return { ...key, channel, value: await this.serde.dumpsTyped(value), replace };
    });
    const run = heldRun(this.#held, config);
    await this.#writer.store(thread_id, {
      run,
      edit: undefined,
      checkpoints: [],
      writes: await Promise.all(entries),
    });
  }

  /** See `WrapOptions.guardEdit`. */
  async guardEdit(threadId: string): Promise<EditGuard | undefined> {
    const [row] = await this.#pool.query<EditGuard>(this.#sql.version, [threadId]);
    return row;
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#pool.query(this.#sql.delete, [threadId]);
  }

  /** See `WrapOptions.keepOnly`. */
  async keepOnly(
    threadId: string,
    keep: readonly CheckpointKey[],
    newest: readonly CheckpointKey[],
  ): Promise<void> {
    const columns = (keys: readonly CheckpointKey[]) => [
      keys.map(({ checkpoint_ns }) => checkpoint_ns),
      keys.map(({ checkpoint_id }) => checkpoint_id),
    ];
    await this.#pool.query(this.#sql.prune, [threadId, ...columns(keep), ...columns(newest)]);
  }

  /** See `WrapOptions.namespaces`. */
  async namespaces(threadId: string): Promise<string[]> {
    const rows = await this.#pool.query<{ checkpoint_ns: string }>(this.#sql.namespaces, [threadId]);
    return rows.map(({ checkpoint_ns }) => checkpoint_ns);
  }

  async #read(
    place: Partial<CheckpointRef>,
    { limit, before, filter = {}, needed }: PageOptions,
  ): Promise<CheckpointTuple[]> {
    const values: unknown[] = [];
    const tests: string[] = [];
    const test = (left: string, value: unknown) => tests.push(`${left} $${values.push(value)}`);
    if (place.thread_id) test("thread_id =", place.thread_id);
    if (place.checkpoint_ns != null) test("checkpoint_ns =", place.checkpoint_ns);
    if (place.checkpoint_id) test("checkpoint_id =", place.checkpoint_id);
    if (before !== undefined) test("checkpoint_id <", before);
    if (Object.keys(filter).length > 0) test("metadata @>", toJsonColumn(filter));
    const where = tests.length > 0 ? `WHERE ${tests.join(" AND ")}` : "";
    const text = sql.readCheckpoints(
      this.#schema,
      where,
      `$${values.push(limit === Infinity ? null : limit)}`,
      needed && { ...needed, keys: `$${values.push(needed.keys)}` },
    );
    return tuplesOf(await this.#pool.query<CheckpointRow>(text, values), this.serde, needed);
  }
}

interface PageOptions {
  limit: number;
  /** Only checkpoints with smaller ids. */
  before?: string;
  filter?: Record<string, unknown>;
  needed?: NeededChannels;
}

/** The value of a channel without a value. */
const EMPTY: Serialized = ["empty", undefined];

// Conversion of rows to checkpoints.

type Write = NonNullable<CheckpointTuple["pendingWrites"]>[number];

/** The checkpoints of a page, in order, with their values and writes. */
async function tuplesOf(
  rows: readonly CheckpointRow[],
  serde: SerializerProtocol,
  needed: NeededChannels | undefined,
): Promise<CheckpointTuple[]> {
  const page: CheckpointRow[] = [];
  const parts = new Map<string, CheckpointRow[]>();
  for (const row of rows) {
    const { kind, detail, channel, checkpoint_id } = row;
    if (kind === "write" && !isWriteNeeded(detail ?? "", channel ?? "", needed)) continue;
    if (kind === "checkpoint") page.push(row);
    const key = keyOf(kind, row, kind === "value" ? channel : checkpoint_id, row);
    const found = parts.get(key);
    if (found) found.push(row);
    else parts.set(key, [row]);
  }
  page.sort(byPlace);
  const tuples: CheckpointTuple[] = [];
  for (const row of page) tuples.push(await readTuple(row, parts, serde));
  return tuples;
}

type Parts = ReadonlyMap<string, CheckpointRow[]>;
type Namespace = Pick<CheckpointRow, "thread_id" | "checkpoint_ns">;

const keyOf = (
  kind: CheckpointRow["kind"],
  { thread_id, checkpoint_ns }: Namespace,
  name: string | null,
  { detail }: Pick<CheckpointRow, "detail">,
) => JSON.stringify([kind, thread_id, checkpoint_ns, name, kind === "value" ? detail : ""]);

const byPlace = (a: CheckpointRow, b: CheckpointRow) => (a.place ?? 0) - (b.place ?? 0);
const byTask = (a: CheckpointRow, b: CheckpointRow) =>
  compareTexts(a.detail ?? "", b.detail ?? "") || byPlace(a, b);

async function readTuple(
  row: CheckpointRow,
  parts: Parts,
  serde: SerializerProtocol,
): Promise<CheckpointTuple> {
  const { checkpoint_id, detail: parent } = row;
  const stored = JSON.parse(row.checkpoint ?? "{}") as Checkpoint;
  const channel_versions = stored.channel_versions ?? {};
  const writes = (parts.get(keyOf("write", row, checkpoint_id, row)) ?? []).sort(byTask);
  const [metadata, channel_values, pendingWrites] = await Promise.all([
    serde.loadsTyped("json", row.type ?? "{}") as Promise<unknown>,
    loadValues(row, channel_versions, parts, serde),
    Promise.all(
      writes.map(async (write): Promise<Write> => {
        return [write.detail ?? "", write.channel ?? "", await load(write, serde)];
      }),
    ),
  ]);
  const checkpoint = {
    ...stored,
    channel_versions,
    versions_seen: stored.versions_seen ?? {},
    channel_values,
  };
  const sends = parent === null ? undefined : parts.get(keyOf("send", row, parent, row));
  if (sends && stored.v < 4)
    addSends(checkpoint, await Promise.all(sends.sort(byTask).map((send) => load(send, serde))));
  return tupleOf(row, { id: checkpoint_id ?? "", parent, checkpoint, metadata, pendingWrites });
}

async function loadValues(
  row: CheckpointRow,
  versions: Checkpoint["channel_versions"],
  parts: Parts,
  serde: SerializerProtocol,
): Promise<Record<string, unknown>> {
  const values = await Promise.all(
    Object.entries(versions).map(async ([channel, version]) => {
      const [value] = parts.get(keyOf("value", row, channel, { detail: String(version) })) ?? [];
      return value ? [[channel, await load(value, serde)] as const] : [];
    }),
  );
  return Object.fromEntries(values.flat());
}

function load({ type, blob }: CheckpointRow, serde: SerializerProtocol): Promise<unknown> {
  const data = blob ?? new Uint8Array();
  // pg returns a Buffer, but the stored value was a plain Uint8Array.
  return serde.loadsTyped(type ?? "json", type === "bytes" ? new Uint8Array(data) : data) as Promise<unknown>;
}
