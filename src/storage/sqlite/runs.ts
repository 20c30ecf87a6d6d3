import type { JsonObject } from "../../models/common.js";
import type { TokenUsage } from "../../models/run.js";
import type { RunFault } from "../../support/run-fault.js";
import { isFinished, patchRun } from "../rows.js";
import { type OwnedRun, RUN_COLUMNS, unfinishedRun } from "../sql-rows.js";
import type {
  Owner,
  OwnerTable,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  RunTable,
  ThreadPatch,
  UnfinishedQuery,
  UnfinishedRun,
} from "../storage.js";
import type { SqliteFile } from "./file.js";
import type { SqliteThreads } from "./threads.js";

interface StoredRun extends Omit<RunRow, "metadata" | "kwargs" | "usage" | "fault"> {
  metadata: string;
  kwargs: string;
  usage: string | null;
  fault: string | null;
}

const storeRun = (row: RunRow): StoredRun => ({
  ...row,
  metadata: JSON.stringify(row.metadata),
  kwargs: JSON.stringify(row.kwargs),
  usage: row.usage && JSON.stringify(row.usage),
  fault: row.fault ? JSON.stringify(row.fault) : null,
});

const readRun = (stored: StoredRun): RunRow => ({
  ...stored,
  metadata: JSON.parse(stored.metadata) as JsonObject,
  kwargs: JSON.parse(stored.kwargs) as JsonObject,
  usage: stored.usage === null ? null : (JSON.parse(stored.usage) as TokenUsage),
  fault: stored.fault === null ? null : (JSON.parse(stored.fault) as RunFault),
});

const columns = RUN_COLUMNS.join(", ");
const values = RUN_COLUMNS.map((column) => `@${column}`).join(", ");

const INSERT = `INSERT INTO gs_runs (${columns}) VALUES (${values})`;
const GET = `SELECT ${columns} FROM gs_runs WHERE run_id = ?`;
const UPDATE = `UPDATE gs_runs SET updated_at = @updated_at, status = @status, error = @error, usage = @usage,
  fault = @fault WHERE run_id = @run_id`;
const DELETE = "DELETE FROM gs_runs WHERE run_id = ? AND thread_id = ?";
const LIST = `SELECT ${columns} FROM gs_runs
  WHERE thread_id = @threadId AND (@status IS NULL OR status = @status)
  ORDER BY created_at DESC, run_id DESC LIMIT @limit OFFSET @offset`;
const IS_UNFINISHED = "status IN ('pending', 'running')";
const UNFINISHED = `SELECT run_id, thread_id, gs_owners.* FROM gs_runs LEFT JOIN gs_owners ON id = owner
  WHERE ${IS_UNFINISHED} AND (@threadId IS NULL OR thread_id = @threadId) AND (@ownerId IS NULL OR owner = @ownerId)
  ORDER BY run_id`;
const REQUEST_CANCEL = `UPDATE gs_runs SET cancel_requested = 1 WHERE run_id = ? AND ${IS_UNFINISHED}`;
const CANCEL_REQUESTS = `SELECT run_id FROM gs_runs WHERE owner = ? AND cancel_requested AND ${IS_UNFINISHED}`;

/** Run rows of a SQLite file. */
export class SqliteRuns implements RunTable {
  readonly #file: SqliteFile;
  readonly #threads: SqliteThreads;

  constructor(file: SqliteFile, threads: SqliteThreads) {
    this.#file = file;
    this.#threads = threads;
  }

  insert(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    return this.#file.write(() => {
      if (!this.#threads.patch(row.thread_id, thread)) return false;
      this.#file.statement(INSERT).run(storeRun(row));
      return true;
    });
  }

  get(threadId: string, runId: string): Promise<RunRow | undefined> {
    return this.#file.read(() => {
      const run = this.#find(runId);
      return run?.thread_id === threadId ? run : undefined;
    });
  }

  update(runId: string, patch: RunPatch): Promise<boolean> {
    return this.#file.write(() => this.#patch(this.#find(runId), patch));
  }

  settle(outcomes: readonly RunOutcome[]): Promise<void> {
    return this.#file.write(() => {
      for (const { runId, run: patch, threadId, thread } of outcomes) {
        const run = this.#find(runId);
        if (run?.thread_id === threadId && this.#patch(run, patch)) this.#threads.patch(threadId, thread);
      }
    });
  }

  delete(threadId: string, runId: string): Promise<boolean> {
    return this.#file.write(() => this.#file.statement(DELETE).run(runId, threadId).changes > 0);
  }

  list({ status, ...query }: RunQuery): Promise<RunRow[]> {
    return this.#file.read(() => {
      const stored = this.#file.statement(LIST).all({ ...query, status: status ?? null }) as StoredRun[];
      return stored.map(readRun);
    });
  }

  unfinished({ threadId, ownerId }: UnfinishedQuery = {}): Promise<UnfinishedRun[]> {
    return this.#file.read(() => {
      const wanted = { threadId: threadId ?? null, ownerId: ownerId ?? null };
      const runs = this.#file.statement(UNFINISHED).all(wanted) as OwnedRun[];
      return runs.map(unfinishedRun);
    });
  }

  requestCancel(runId: string): Promise<void> {
    return this.#file.write(() => void this.#file.statement(REQUEST_CANCEL).run(runId));
  }

  cancelRequests(ownerId: string): Promise<string[]> {
    return this.#file.read(() => this.#file.statement(CANCEL_REQUESTS).pluck().all(ownerId) as string[]);
  }

  #find(runId: string): RunRow | undefined {
    const stored = this.#file.statement(GET).get(runId) as StoredRun | undefined;
    return stored && readRun(stored);
  }

  /** False, and nothing changed, when the run has ended or is unknown. */
  #patch(run: RunRow | undefined, patch: RunPatch): boolean {
    if (!run || isFinished(run)) return false;
    this.#file.statement(UPDATE).run(storeRun(patchRun(run, patch)));
    return true;
  }
}

const BEAT = "INSERT OR REPLACE INTO gs_owners (id, host, pid, seen_at) VALUES (@id, @host, @pid, @seen_at)";

export const createSqliteOwners = (file: SqliteFile): OwnerTable => ({
  beat: (owner: Owner) => file.write(() => void file.statement(BEAT).run(owner)),
  remove: (ownerId) =>
    file.write(() => void file.statement("DELETE FROM gs_owners WHERE id = ?").run(ownerId)),
});
