import type { RunTasks } from "../../models/run.js";
import { isHeldBy, isStart, patchRun } from "../rows/rows.js";
import { isFinished } from "../../models/run-status.js";
import { fromTextRun, type TextRun, toTextRun } from "../rows/run-rows.js";
import {
  type OwnedRun,
  RUN_COLUMNS,
  STORED_RUN_COLUMNS,
  unfinishedRun,
  runOrderSql,
  IS_UNFINISHED,
} from "../rows/sql-rows.js";
import type { Owner, OwnerTable } from "../contract/owners.js";
import type {
  RunHolder,
  RunKey,
  RunLease,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  RunSearch,
  RunTable,
  UnfinishedQuery,
  UnfinishedRun,
  DeadRunTable,
} from "../contract/runs.js";
import type { ThreadPatch } from "../contract/threads.js";
import type { SqliteFile } from "./file.js";
import type { SqliteThreads } from "./threads.js";
import { insertUsage } from "./usage.js";

export const columns = RUN_COLUMNS.join(", ");
const stored = STORED_RUN_COLUMNS.join(", ");
const values = STORED_RUN_COLUMNS.map((column) => `@${column}`).join(", ");

const INSERT = `INSERT INTO gs_runs (${stored}) VALUES (${values})`;
const GET = `SELECT ${columns} FROM gs_runs WHERE run_id = ?`;
const UPDATE = `UPDATE gs_runs SET updated_at = @updated_at, status = @status, error = @error, usage = @usage,
  fault = @fault, state = @state, owner = @owner, attempt = @attempt, resumption = @resumption, tasks = @tasks WHERE run_id = @run_id`;
const DELETE = "DELETE FROM gs_runs WHERE run_id = ? AND thread_id = ?";
const LIST = `SELECT ${columns} FROM gs_runs
  WHERE thread_id = @threadId AND (@status IS NULL OR status = @status)
  ORDER BY created_at DESC, run_id DESC LIMIT @limit OFFSET @offset`;
/** Conditions of a search, each used if its parameter is set. */
const SEARCHED: Readonly<Record<string, string>> = {
  assistantIds: "assistant_id IN (SELECT value FROM json_each(@assistantIds))",
  status: "status = @status",
  createdAfter: "created_at >= @createdAfter",
  createdBefore: "created_at < @createdBefore",
};
const UNFINISHED = `SELECT run_id, thread_id, gs_owners.* FROM gs_runs LEFT JOIN gs_owners ON id = owner
  WHERE ${IS_UNFINISHED} AND state <> 'delayed' AND (@threadId IS NULL OR thread_id = @threadId)
    AND (@ofAny OR owner IS @ownerId)
  ORDER BY created_at, run_id`;
const TASKS = "SELECT tasks FROM gs_runs WHERE thread_id = ? AND run_id = ?";
const REQUEST_CANCEL = `UPDATE gs_runs SET cancel_requested = 1 WHERE run_id = ? AND ${IS_UNFINISHED}`;
const CANCEL_REQUEST = "SELECT 1 FROM gs_runs WHERE run_id = ? AND cancel_requested";
const CANCEL_REQUESTS = `SELECT run_id FROM gs_runs WHERE owner IS ? AND cancel_requested AND ${IS_UNFINISHED}`;

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
      this.#file.statement(INSERT).run(toTextRun(row));
      return true;
    });
  }

  get(threadId: string, runId: string): Promise<RunRow | undefined> {
    return this.#file.read(() => {
      const run = this.find(runId);
      return run?.thread_id === threadId ? run : undefined;
    });
  }

  update(runId: string, patch: RunPatch, holder?: RunHolder): Promise<boolean> {
    return this.#file.write(() => this.#patch(this.find(runId), patch, holder));
  }

  take(run: RunKey, from: RunHolder, patch: RunPatch & RunLease, thread: ThreadPatch): Promise<boolean> {
    return this.#file.write(() => {
      const row = this.find(run.run_id);
      if (row?.thread_id !== run.thread_id) return false;
      if (isStart(from, patch) && this.#file.statement(CANCEL_REQUEST).get(run.run_id)) return false;
      if (!this.#patch(row, patch, from)) return false;
      this.#threads.patch(run.thread_id, thread);
      return true;
    });
  }

  settle(outcomes: readonly RunOutcome[]): Promise<void> {
    return this.#file.write(() => {
      for (const { runId, holder, run: patch, threadId, thread, usage } of outcomes) {
        if (usage) insertUsage(this.#file, usage);
        const run = this.find(runId);
        if (run?.thread_id !== threadId || !this.#patch(run, patch, holder)) continue;
        this.#threads.patch(threadId, thread);
      }
    });
  }

  delete(threadId: string, runId: string): Promise<boolean> {
    return this.#file.write(() => this.#file.statement(DELETE).run(runId, threadId).changes > 0);
  }

  list({ status, ...query }: RunQuery): Promise<RunRow[]> {
    return this.#file.read(() => {
      const stored = this.#file.statement(LIST).all({ ...query, status: status ?? null }) as TextRun[];
      return stored.map(fromTextRun);
    });
  }

  search({ threadIds, assistantIds, sortBy, sortOrder, ...query }: RunSearch): Promise<RunRow[]> {
    const order = runOrderSql(SORTED, sortBy, sortOrder);
    const wanted = {
      ...query,
      ...(threadIds && { threadIds: JSON.stringify([...new Set(threadIds)]) }),
      ...(assistantIds && { assistantIds: JSON.stringify(assistantIds) }),
    };
    return this.#file.read(() =>
      (this.#file.statement(searchOf(wanted, order)).all(wanted) as TextRun[]).map(fromTextRun),
    );
  }

  unfinished({ threadId, ownerId }: UnfinishedQuery = {}): Promise<UnfinishedRun[]> {
    return this.#file.read(() => {
      const ofAny = ownerId === undefined ? 1 : 0;
      const wanted = { threadId: threadId ?? null, ownerId: ownerId ?? null, ofAny };
      const runs = this.#file.statement(UNFINISHED).all(wanted) as OwnedRun[];
      return runs.map(unfinishedRun);
    });
  }

  requestCancel(runId: string): Promise<void> {
    return this.#file.write(() => void this.#file.statement(REQUEST_CANCEL).run(runId));
  }

  cancelRequests(ownerId: string | null): Promise<string[]> {
    return this.#file.read(() => this.#file.statement(CANCEL_REQUESTS).pluck().all(ownerId) as string[]);
  }

  tasks(threadId: string, runId: string): Promise<RunTasks | null> {
    return this.#file.read(() => {
      const text = this.#file.statement(TASKS).pluck().get(threadId, runId) as string | null | undefined;
      return text == null ? null : (JSON.parse(text) as RunTasks);
    });
  }

  /** Like `replace`, must be called within a `read` or `write`. */
  find(runId: string): RunRow | undefined {
    const stored = this.#file.statement(GET).get(runId) as TextRun | undefined;
    return stored && fromTextRun(stored);
  }

  /** Returns false and changes nothing if the run is unknown, has ended or has another lease owner. */
  #patch(run: RunRow | undefined, patch: RunPatch, holder?: RunHolder): boolean {
    if (!run || isFinished(run) || (holder && !isHeldBy(run, holder))) return false;
    this.replace(run, patch);
    return true;
  }

  /** Patch the row without any check. */
  replace(run: RunRow, patch: RunPatch): void {
    this.#file.statement(UPDATE).run(toTextRun(patchRun(run, patch)));
  }
}

const SORTED = {
  duration: `CASE WHEN ${IS_UNFINISHED} THEN -1
    ELSE round((julianday(updated_at) - julianday(created_at)) * 86400000) END`,
  tokens: `CASE WHEN json_extract(usage, '$.source') IS 'messages' THEN 0
    ELSE coalesce(json_extract(usage, '$.total_tokens'), 0) END`,
};

function searchOf(wanted: object, order: string): string {
  const from = "threadIds" in wanted ? "json_each(@threadIds) AS wanted CROSS JOIN gs_runs" : "gs_runs";
  const tests = Object.keys(wanted).flatMap((name) => SEARCHED[name] ?? []);
  if ("threadIds" in wanted) tests.push("thread_id = wanted.value");
  const where = tests.length > 0 ? `WHERE ${tests.join(" AND ")}` : "";
  return `SELECT ${columns} FROM ${from} ${where} ORDER BY ${order} LIMIT @limit OFFSET @offset`;
}

const BEAT = "INSERT OR REPLACE INTO gs_owners (id, host, pid, seen_at) VALUES (@id, @host, @pid, @seen_at)";

export const createSqliteOwners = (file: SqliteFile): OwnerTable => ({
  beat: (owner: Owner) => file.write(() => void file.statement(BEAT).run(owner)),
  remove: (ownerId) =>
    file.write(() => void file.statement("DELETE FROM gs_owners WHERE id = ?").run(ownerId)),
});

// Dead runs.

/** Must match the condition of the index gs_runs_dead. */
const IS_DEAD = "state = 'dead'";
const LIST_DEAD = `SELECT ${columns} FROM gs_runs WHERE ${IS_DEAD} ORDER BY created_at DESC, run_id DESC LIMIT ? OFFSET ?`;
const COUNT_DEAD = `SELECT count(*) FROM gs_runs WHERE ${IS_DEAD}`;
const CAN_REVIVE = `SELECT 1 FROM gs_runs WHERE run_id = @run_id AND thread_id = @thread_id AND ${IS_DEAD}
  AND NOT EXISTS (SELECT 1 FROM gs_runs WHERE thread_id = @thread_id AND ${IS_UNFINISHED} AND state <> 'delayed')`;
const FORGET_DEAD = `UPDATE gs_runs SET state = 'ended', resumption = NULL WHERE ${IS_DEAD} AND updated_at < ?`;

export const createSqliteDeadRuns = (
  file: SqliteFile,
  runs: SqliteRuns,
  threads: SqliteThreads,
): DeadRunTable => ({
  list: ({ limit, offset }) =>
    file.read(() => (file.statement(LIST_DEAD).all(limit, offset) as TextRun[]).map(fromTextRun)),
  count: () => file.read(() => file.statement(COUNT_DEAD).pluck().get() as number),
  revive: ({ run_id, thread_id }, patch, thread) =>
    file.write(() => {
      const row = runs.find(run_id);
      const asked = { run_id, thread_id };
      if (!row || file.statement(CAN_REVIVE).get(asked) === undefined) return false;
      runs.replace(row, patch);
      threads.patch(thread_id, thread);
      return true;
    }),
  forget: (before) => file.write(() => file.statement(FORGET_DEAD).run(before).changes),
});
