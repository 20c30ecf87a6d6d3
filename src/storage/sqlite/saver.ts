import type { RunnableConfig } from "@langchain/core/runnables";
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
import type { Database, Statement } from "better-sqlite3";
import { RunTakenError } from "../../support/errors.js";
import { CHECKPOINT_TABLES } from "./schema.js";
import type { CheckpointKey } from "../saver/wrap.js";
import { requireKnownHead } from "../saver/known-head.js";
import { requiredCheckpointRef, type CheckpointRef, checkpointRef } from "../saver/ref.js";
import { type HeldRun, heldRun, type HeldRuns } from "../saver/held-run.js";
import { isNeeded, isWriteNeeded, type NeededChannels, readingOf } from "../saver/reading.js";
import { addSends, storedVersions, tupleOf } from "../saver/tuple.js";
import { numbered } from "../saver/writes.js";
import { textSerializer } from "../saver/serializer.js";
import { SqliteValues } from "./values.js";
import { SqliteWriter } from "./writer.js";

/** Checkpoints read per query. */
const PAGE = 25;
/** Values of fewer bytes are stored in the row of their checkpoint. */
const LARGE = 1024;

/** Checkpoints in the tables of ./schema.ts, which must exist. Each call that writes is one transaction. */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #rows: SqliteCheckpoints;
  readonly #db: Database;
  /** Created for the first large value. */
  #largeValues: SqliteValues | undefined;
  readonly #held: HeldRuns;

  constructor(db: Database, held: HeldRuns = new Map(), writer = new SqliteWriter(db)) {
    super();
    this.#held = held;
    this.serde = textSerializer(this.serde);
    this.#rows = new SqliteCheckpoints(db, writer);
    this.#db = db;
  }

  get #values(): SqliteValues {
    return (this.#largeValues ??= new SqliteValues(this.#db));
  }

  /** A function that reads large values and caches them. */
  #reader(): (id: number) => Buffer {
    let read: ((id: number) => Buffer) | undefined;
    return (id) => (read ??= this.#values.reader())(id);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.thread_id) return undefined;
    const found = this.#rows.page({ ...checkpointRef(config), limit: 1 });
    const [row] = found instanceof Promise ? await found : found;
    return row && this.#tuple(row, this.#reader(), readingOf(config).channels);
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { limit = Infinity, before, filter = {} } = options;
    const place = (config.configurable ?? {}) as Partial<CheckpointRef>;
    const end = before?.configurable?.checkpoint_id as string | undefined;
    let after: SqliteCheckpointRow | undefined;
    for (let remaining = limit; remaining > 0; remaining -= PAGE) {
      const size = Math.min(remaining, PAGE);
      const rows = await this.#rows.page({ ...place, before: end, after, filter, limit: size });
      const read = this.#reader();
      for (const row of rows) yield await this.#tuple(row, read, readingOf(config).channels);
      if (rows.length < size) return;
      after = rows.at(-1);
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
    const inherited = parent === undefined ? {} : this.#rows.valuesOf(thread_id, checkpoint_ns, parent);
    const values: Record<string, StoredValue> = {};
    // Includes channels unknown to this graph, which belong to another graph on the same thread.
    for (const [channel, value] of Object.entries(inherited)) {
      const isSame = value.version === checkpoint.channel_versions[channel];
      if (isSame && !Object.hasOwn(newVersions, channel)) values[channel] = value;
    }
    const versions = storedVersions(checkpoint, metadata, newVersions);
    const written = new Map<string, Buffer>();
    for (const [channel, value] of Object.entries(channel_values))
      if (Object.hasOwn(versions, channel) && !Object.hasOwn(values, channel))
        written.set(channel, await this.#bytes(value));
    const row = {
      ...place,
      checkpoint_id: checkpoint.id,
      parent_checkpoint_id: parent ?? null,
      checkpoint: JSON.stringify(rest),
      metadata: (await this.#bytes(metadata)).toString(),
    };
    const run = heldRun(this.#held, config);
    const stored = this.#rows.transaction(
      () => {
        if (run) this.#rows.requireHeld(run);
        requireKnownHead(config, this.#rows.newestOf(thread_id, checkpoint_ns));
        for (const [channel, bytes] of written) {
          const version = versions[channel];
          values[channel] =
            bytes.length < LARGE
              ? { version, text: bytes.toString() }
              : { version, id: this.#values.insert(thread_id, `${checkpoint_ns}\n${channel}`, bytes) };
        }
        this.#rows.insert({ ...row, channel_values: JSON.stringify(values) });
      },
      () => this.#largeValues?.forget(thread_id),
    );
    if (stored) await stored;
    return { configurable: { ...place, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = requiredCheckpointRef(config);
    const { writes: own, replace } = numbered(writes);
    const rows = await Promise.all(
      own.map(async ({ value, ...write }): Promise<WriteRow> => {
        return { ...place, task_id: taskId, ...write, value: (await this.#bytes(value)).toString() };
      }),
    );
    const run = heldRun(this.#held, config);
    const stored = this.#rows.transaction(() => {
      if (run) this.#rows.requireHeld(run);
      this.#rows.insertWrites(rows, replace);
    });
    if (stored) await stored;
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#largeValues?.forget(threadId);
    await this.#rows.deleteThread(threadId);
  }

  /** See `WrapOptions.keepOnly`. */
  async keepOnly(
    threadId: string,
    keep: readonly CheckpointKey[],
    newest: readonly CheckpointKey[],
  ): Promise<void> {
    await this.#rows.transaction(() => {
      const all = [...keep, ...this.#rows.writtenSince(threadId, newest)];
      const kept = all.flatMap((key) =>
        Object.values(this.#rows.valuesOf(threadId, key.checkpoint_ns, key.checkpoint_id)),
      );
      this.#values.keepOnly(
        threadId,
        kept.flatMap((value) => ("id" in value ? [value.id] : [])),
      );
      this.#rows.keepOnly(threadId, all);
    });
  }

  /** Namespaces of a thread's checkpoints, read from the primary key only. */
  async namespaces(threadId: string): Promise<string[]> {
    return this.#rows.namespaces(threadId);
  }

  async #tuple(
    row: SqliteCheckpointRow,
    read: (id: number) => Buffer,
    needed: NeededChannels | undefined,
  ): Promise<CheckpointTuple> {
    const { checkpoint_id, parent_checkpoint_id: parent } = row;
    const stored = Object.entries(JSON.parse(row.channel_values) as Record<string, StoredValue>).filter(
      ([channel]) => isNeeded(channel, needed),
    );
    const writes = this.#rows
      .writesOf(row)
      .filter(({ task_id, channel }) => isWriteNeeded(task_id, channel, needed));
    const [metadata, values, pendingWrites] = await Promise.all([
      this.#load(row.metadata),
      Promise.all(
        stored.map(async ([channel, value]): Promise<[string, unknown]> => [
          channel,
          await this.#load("id" in value ? read(value.id) : value.text),
        ]),
      ),
      Promise.all(
        writes.map(async ({ task_id, channel, value }): Promise<[string, string, unknown]> => [
          task_id,
          channel,
          await this.#load(value),
        ]),
      ),
    ]);
    const checkpoint = {
      ...(JSON.parse(row.checkpoint) as Checkpoint),
      channel_values: Object.fromEntries(values),
    };
    if (checkpoint.v < 4 && parent !== null)
      addSends(checkpoint, await this.#sendsOf({ ...row, checkpoint_id: parent }));
    return tupleOf(row, { id: checkpoint_id, parent, checkpoint, metadata, pendingWrites });
  }

  async #sendsOf(parent: SqliteCheckpointRow): Promise<unknown[]> {
    const sends = this.#rows.writesOf(parent).filter(({ channel }) => channel === TASKS);
    return Promise.all(sends.map(({ value }) => this.#load(value)));
  }

  async #bytes(value: unknown): Promise<Buffer> {
    const [, bytes] = await this.serde.dumpsTyped(value);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #load(data: string | Buffer): Promise<unknown> {
    return this.serde.loadsTyped("json", data) as Promise<unknown>;
  }
}

export interface SqliteCheckpointRow extends CheckpointKey {
  thread_id: string;
  parent_checkpoint_id: string | null;
  /** JSON of the checkpoint without its values. */
  checkpoint: string;
  /** JSON of a `StoredValue` for each channel. */
  channel_values: string;
  metadata: string;
}

/** The value of a channel: inline, or the id of a large value. */
type StoredValue = { version: ChannelVersions[string] | undefined } & ({ text: string } | { id: number });

interface WriteRow extends CheckpointKey {
  thread_id: string;
  task_id: string;
  idx: number;
  channel: string;
  value: string;
}

interface PageQuery {
  thread_id?: string;
  checkpoint_ns?: string;
  checkpoint_id?: string;
  /** Only checkpoints with lower ids. */
  before?: string;
  /** Only rows after this one. */
  after?: SqliteCheckpointRow;
  /** Metadata values by key: strings and integers. */
  filter?: Record<string, unknown>;
  limit: number;
}

const IS_KEPT = (id: string) =>
  `(checkpoint_ns, ${id}) IN (SELECT value ->> 'checkpoint_ns', value ->> 'checkpoint_id' FROM json_each(@keep))`;

/** The tables of checkpoints and their pending writes. */
class SqliteCheckpoints {
  readonly #db: Database;
  readonly #writer: SqliteWriter;
  readonly #pages = new Map<string, Statement<unknown[], SqliteCheckpointRow>>();
  readonly #sql;

  constructor(db: Database, writer: SqliteWriter) {
    this.#db = db;
    this.#writer = writer;
    const write = (conflict: string) =>
      db.prepare<[WriteRow]>(
        `INSERT OR ${conflict} INTO gs_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, value)
         VALUES (@thread_id, @checkpoint_ns, @checkpoint_id, @task_id, @idx, @channel, @value)`,
      );
    this.#sql = {
      held: db.prepare<[HeldRun]>(
        "SELECT 1 FROM gs_runs WHERE run_id = @run_id AND owner = @owner AND attempt = @attempt AND status = 'running'",
      ),
      insert: db.prepare<[SqliteCheckpointRow]>(
        `INSERT OR REPLACE INTO gs_checkpoints
           (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, channel_values, metadata)
         VALUES
           (@thread_id, @checkpoint_ns, @checkpoint_id, @parent_checkpoint_id, @checkpoint, @channel_values, @metadata)`,
      ),
      keepWrite: write("IGNORE"),
      replaceWrite: write("REPLACE"),
      writes: db.prepare<[CheckpointKey], WriteRow>(
        `SELECT * FROM gs_writes
         WHERE thread_id = @thread_id AND checkpoint_ns = @checkpoint_ns AND checkpoint_id = @checkpoint_id
         ORDER BY task_id, idx`,
      ),
      values: db
        .prepare<[string, string, string], string>(
          "SELECT channel_values FROM gs_checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
        )
        .pluck(),
      newest: db
        .prepare<[string, string], string | null>(
          "SELECT max(checkpoint_id) FROM gs_checkpoints WHERE thread_id = ? AND checkpoint_ns = ?",
        )
        .pluck(),
      namespaces: db
        .prepare<[string], string>("SELECT DISTINCT checkpoint_ns FROM gs_checkpoints WHERE thread_id = ?")
        .pluck(),
      delete: CHECKPOINT_TABLES.map((table) =>
        db.prepare<[string]>(`DELETE FROM ${table} WHERE thread_id = ?`),
      ),
      writtenSince: db.prepare<[{ threadId: string; newest: string }], CheckpointKey>(
        `SELECT checkpoint_ns, checkpoint_id FROM (
           SELECT thread_id, checkpoint_ns, checkpoint_id FROM gs_checkpoints
           UNION SELECT thread_id, checkpoint_ns, checkpoint_id FROM gs_writes
         ) WHERE thread_id = @threadId AND NOT EXISTS (
           SELECT 1 FROM json_each(@newest) WHERE value ->> 'checkpoint_ns' = checkpoint_ns
             AND value ->> 'checkpoint_id' >= checkpoint_id)`,
      ),
      keepOnly: [
        `DELETE FROM gs_checkpoints WHERE thread_id = @threadId AND NOT ${IS_KEPT("checkpoint_id")}`,
        `DELETE FROM gs_writes WHERE thread_id = @threadId AND NOT ${IS_KEPT("checkpoint_id")}`,
        `UPDATE gs_checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = @threadId
           AND parent_checkpoint_id IS NOT NULL AND NOT ${IS_KEPT("parent_checkpoint_id")}`,
      ].map((sql) => db.prepare<[{ threadId: string; keep: string }]>(sql)),
    };
  }

  /**
   * Run `work` atomically; see `SqliteWriter.write`. `undo` is called if nothing was stored.
   * @returns a promise if another process holds the lock
   */
  transaction(work: () => void, undo?: () => void): void | Promise<void> {
    const undone = (error: unknown): never => {
      undo?.();
      throw error;
    };
    try {
      const written = this.#writer.write(work);
      return written instanceof Promise ? written.catch(undone) : written;
    } catch (error) {
      return undone(error);
    }
  }

  /** @throws RunTakenError if the run has ended or has another lease owner (`run_failed`) */
  requireHeld(run: HeldRun): void {
    if (!this.#sql.held.get(run)) throw new RunTakenError(run.run_id);
  }

  newestOf(threadId: string, namespace: string): string | undefined {
    return this.#sql.newest.get(threadId, namespace) ?? undefined;
  }

  insert(row: SqliteCheckpointRow): void {
    this.#sql.insert.run(row);
  }

  insertWrites(rows: readonly WriteRow[], replace: boolean): void {
    const statement = replace ? this.#sql.replaceWrite : this.#sql.keepWrite;
    for (const row of rows) statement.run(row);
  }

  writesOf(key: SqliteCheckpointRow): WriteRow[] {
    return this.#sql.writes.all(key);
  }

  /** Stored channel values of a checkpoint; empty if there is no such checkpoint. */
  valuesOf(threadId: string, namespace: string, id: string): Record<string, StoredValue> {
    const json = this.#sql.values.get(threadId, namespace, id);
    return json === undefined ? {} : (JSON.parse(json) as Record<string, StoredValue>);
  }

  /** Checkpoints, and those with pending writes, with higher ids than these, or in other namespaces. */
  writtenSince(threadId: string, newest: readonly CheckpointKey[]): CheckpointKey[] {
    return this.#sql.writtenSince.all({ threadId, newest: JSON.stringify(newest) });
  }

  namespaces(threadId: string): string[] {
    return this.#sql.namespaces.all(threadId);
  }

  deleteThread(threadId: string): void | Promise<void> {
    return this.transaction(() => {
      for (const statement of this.#sql.delete) statement.run(threadId);
    });
  }

  keepOnly(threadId: string, keep: readonly CheckpointKey[]): void {
    for (const statement of this.#sql.keepOnly) statement.run({ threadId, keep: JSON.stringify(keep) });
  }

  /** Newest first. */
  page({
    thread_id,
    checkpoint_ns,
    checkpoint_id,
    before,
    after,
    filter = {},
    limit,
  }: PageQuery): SqliteCheckpointRow[] | Promise<SqliteCheckpointRow[]> {
    const tests: string[] = [];
    const params: unknown[] = [];
    const test = (sql: string, ...values: unknown[]) => {
      tests.push(sql);
      params.push(...values);
    };
    if (thread_id) test("thread_id = ?", thread_id);
    if (checkpoint_ns != null) test("checkpoint_ns = ?", checkpoint_ns);
    if (checkpoint_id) test("checkpoint_id = ?", checkpoint_id);
    if (before !== undefined) test("checkpoint_id < ?", before);
    if (after) {
      const { checkpoint_id: id, checkpoint_ns: namespace, thread_id: thread } = after;
      test("(checkpoint_id, checkpoint_ns, thread_id) < (?, ?, ?)", id, namespace, thread);
    }
    for (const [key, value] of Object.entries(filter))
      test("metadata ->> ? IS ?", `$.${JSON.stringify(key)}`, value);
    const statement = this.#statement(tests);
    return this.#writer.read(() => statement.all(...params, limit));
  }

  #statement(tests: readonly string[]): Statement<unknown[], SqliteCheckpointRow> {
    const where = tests.length > 0 ? `WHERE ${tests.join(" AND ")}` : "";
    const sql = `SELECT * FROM gs_checkpoints ${where}
      ORDER BY checkpoint_id DESC, checkpoint_ns DESC, thread_id DESC LIMIT ?`;
    const statement = this.#pages.get(sql) ?? this.#db.prepare<unknown[], SqliteCheckpointRow>(sql);
    this.#pages.set(sql, statement);
    return statement;
  }
}
