import type { ChannelVersions } from "@langchain/langgraph-checkpoint";
import type { Database, Statement } from "better-sqlite3";
import type { CheckpointKey } from "./checkpointer.js";

export interface CheckpointRow extends CheckpointKey {
  thread_id: string;
  parent_checkpoint_id: string | null;
  /** JSON of the checkpoint without its values. */
  checkpoint: string;
  /** JSON of a `StoredValue` for each channel. */
  channel_values: string;
  metadata: string;
}

/** The value of a channel: itself, or the id of a large one. */
export type StoredValue = { version: ChannelVersions[string] | undefined } & (
  { text: string } | { id: number }
);

export interface WriteRow extends CheckpointKey {
  thread_id: string;
  task_id: string;
  idx: number;
  channel: string;
  value: string;
}

export interface PageQuery {
  thread_id?: string;
  checkpoint_ns?: string;
  checkpoint_id?: string;
  /** Only checkpoints with lesser ids. */
  before?: string;
  /** Only what follows this row. */
  after?: CheckpointRow;
  /** Values that the metadata have, by key: texts and whole numbers. */
  filter?: Record<string, unknown>;
  limit: number;
}

const IS_KEPT = (id: string) =>
  `(checkpoint_ns, ${id}) IN (SELECT value ->> 'checkpoint_ns', value ->> 'checkpoint_id' FROM json_each(@keep))`;

/** The rows of checkpoints and of their pending writes. */
export class SqliteCheckpoints {
  readonly #db: Database;
  readonly #pages = new Map<string, Statement<unknown[], CheckpointRow>>();
  readonly #sql;

  constructor(db: Database) {
    this.#db = db;
    const write = (conflict: string) =>
      db.prepare<[WriteRow]>(
        `INSERT OR ${conflict} INTO gs_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, value)
         VALUES (@thread_id, @checkpoint_ns, @checkpoint_id, @task_id, @idx, @channel, @value)`,
      );
    this.#sql = {
      insert: db.prepare<[CheckpointRow]>(
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
      namespaces: db
        .prepare<[string], string>("SELECT DISTINCT checkpoint_ns FROM gs_checkpoints WHERE thread_id = ?")
        .pluck(),
      delete: ["gs_checkpoints", "gs_writes", "gs_values"].map((table) =>
        db.prepare<[string]>(`DELETE FROM ${table} WHERE thread_id = ?`),
      ),
      keepOnly: [
        `DELETE FROM gs_checkpoints WHERE thread_id = @threadId AND NOT ${IS_KEPT("checkpoint_id")}`,
        `DELETE FROM gs_writes WHERE thread_id = @threadId AND NOT ${IS_KEPT("checkpoint_id")}`,
        `UPDATE gs_checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = @threadId
           AND parent_checkpoint_id IS NOT NULL AND NOT ${IS_KEPT("parent_checkpoint_id")}`,
      ].map((sql) => db.prepare<[{ threadId: string; keep: string }]>(sql)),
    };
  }

  /** All or nothing; takes the write lock at its start. `undo` is called when nothing was stored. */
  transaction(work: () => void, undo?: () => void): void {
    try {
      this.#db.transaction(work).immediate();
    } catch (error) {
      undo?.();
      throw error;
    }
  }

  insert(row: CheckpointRow): void {
    this.#sql.insert.run(row);
  }

  insertWrites(rows: readonly WriteRow[], replace: boolean): void {
    const statement = replace ? this.#sql.replaceWrite : this.#sql.keepWrite;
    for (const row of rows) statement.run(row);
  }

  writesOf(key: CheckpointRow): WriteRow[] {
    return this.#sql.writes.all(key);
  }

  /** What a checkpoint stores of each channel; nothing when there is no such checkpoint. */
  valuesOf(threadId: string, namespace: string, id: string): Record<string, StoredValue> {
    const json = this.#sql.values.get(threadId, namespace, id);
    return json === undefined ? {} : (JSON.parse(json) as Record<string, StoredValue>);
  }

  namespaces(threadId: string): string[] {
    return this.#sql.namespaces.all(threadId);
  }

  deleteThread(threadId: string): void {
    this.transaction(() => {
      for (const statement of this.#sql.delete) statement.run(threadId);
    });
  }

  keepOnly(threadId: string, keep: readonly CheckpointKey[]): void {
    for (const statement of this.#sql.keepOnly) statement.run({ threadId, keep: JSON.stringify(keep) });
  }

  /** The newest first. */
  page({
    thread_id,
    checkpoint_ns,
    checkpoint_id,
    before,
    after,
    filter = {},
    limit,
  }: PageQuery): CheckpointRow[] {
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
    return this.#statement(tests).all(...params, limit);
  }

  #statement(tests: readonly string[]): Statement<unknown[], CheckpointRow> {
    const where = tests.length > 0 ? `WHERE ${tests.join(" AND ")}` : "";
    const sql = `SELECT * FROM gs_checkpoints ${where}
      ORDER BY checkpoint_id DESC, checkpoint_ns DESC, thread_id DESC LIMIT ?`;
    const statement = this.#pages.get(sql) ?? this.#db.prepare<unknown[], CheckpointRow>(sql);
    this.#pages.set(sql, statement);
    return statement;
  }
}
