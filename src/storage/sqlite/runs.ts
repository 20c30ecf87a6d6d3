import type { Database, Statement } from "better-sqlite3";
import { isFinished, patchRun } from "../rows.js";
import { readRun, RUN_COLUMNS, storeRun, type StoredRun } from "./threads.js";
import type { Owner, RunPatch, RunQuery, RunRow, UnfinishedRun } from "../storage.js";

const columns = RUN_COLUMNS.join(", ");
const values = RUN_COLUMNS.map((column) => `@${column}`).join(", ");

/** Run rows and owners of a SQLite file. Methods are plain calls: the caller puts them into a transaction. */
export class SqliteRuns {
  readonly #insert: Statement;
  readonly #get: Statement;
  readonly #update: Statement;
  readonly #delete: Statement;
  readonly #list: Statement;
  readonly #unfinished: Statement;
  readonly #requestCancel: Statement;
  readonly #cancelRequests: Statement;
  readonly #beat: Statement;
  readonly #removeOwner: Statement;

  constructor(db: Database) {
    this.#insert = db.prepare(`INSERT INTO gs_runs (${columns}) VALUES (${values})`);
    this.#get = db.prepare(`SELECT ${columns} FROM gs_runs WHERE run_id = ?`);
    this.#update = db.prepare(
      "UPDATE gs_runs SET updated_at = @updated_at, status = @status, error = @error, usage = @usage WHERE run_id = @run_id",
    );
    this.#delete = db.prepare("DELETE FROM gs_runs WHERE run_id = ? AND thread_id = ?");
    this.#list = db.prepare(
      `SELECT ${columns} FROM gs_runs WHERE thread_id = @threadId AND (@status IS NULL OR status = @status)
       ORDER BY created_at DESC, run_id DESC LIMIT @limit OFFSET @offset`,
    );
    this.#unfinished = db.prepare(
      `SELECT run_id, thread_id, gs_owners.* FROM gs_runs LEFT JOIN gs_owners ON id = owner
       WHERE status IN ('pending', 'running') ORDER BY run_id`,
    );
    this.#requestCancel = db.prepare(
      "UPDATE gs_runs SET cancel_requested = 1 WHERE run_id = ? AND status IN ('pending', 'running')",
    );
    this.#cancelRequests = db
      .prepare(
        "SELECT run_id FROM gs_runs WHERE owner = ? AND cancel_requested AND status IN ('pending', 'running')",
      )
      .pluck();
    this.#beat = db.prepare(
      "INSERT OR REPLACE INTO gs_owners (id, host, pid, seen_at) VALUES (@id, @host, @pid, @seen_at)",
    );
    this.#removeOwner = db.prepare("DELETE FROM gs_owners WHERE id = ?");
  }

  insert(row: RunRow): void {
    this.#insert.run(storeRun(row));
  }

  get(runId: string): RunRow | undefined {
    const stored = this.#get.get(runId) as StoredRun | undefined;
    return stored && readRun(stored);
  }

  delete(threadId: string, runId: string): boolean {
    return this.#delete.run(runId, threadId).changes > 0;
  }

  /** False, and nothing changed, when the run has ended, is unknown, or is of another thread than this one. */
  update(runId: string, patch: RunPatch, threadId?: string): boolean {
    const run = this.get(runId);
    if (!run || isFinished(run) || (threadId !== undefined && run.thread_id !== threadId)) return false;
    this.#update.run(storeRun(patchRun(run, patch)));
    return true;
  }

  list({ status, ...query }: RunQuery): RunRow[] {
    return (this.#list.all({ ...query, status: status ?? null }) as StoredRun[]).map(readRun);
  }

  unfinished(): UnfinishedRun[] {
    const rows = this.#unfinished.all() as (Omit<UnfinishedRun, "owner"> & {
      [K in keyof Owner]: Owner[K] | null;
    })[];
    return rows.map(({ run_id, thread_id, id, host, pid, seen_at }) => {
      const known = id !== null && host !== null && pid !== null && seen_at !== null;
      return { run_id, thread_id, owner: known ? { id, host, pid, seen_at } : undefined };
    });
  }

  requestCancel(runId: string): void {
    this.#requestCancel.run(runId);
  }

  cancelRequests(ownerId: string): string[] {
    return this.#cancelRequests.all(ownerId) as string[];
  }

  beat(owner: Owner): void {
    this.#beat.run(owner);
  }

  removeOwner(ownerId: string): void {
    this.#removeOwner.run(ownerId);
  }
}
