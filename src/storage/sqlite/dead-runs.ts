import type { DeadRunTable } from "../contract/storage.js";
import type { SqliteFile } from "./file.js";
import { fromTextRun, type TextRun } from "../rows/run-rows.js";
import { columns, IS_UNFINISHED, type SqliteRuns } from "./runs.js";
import type { SqliteThreads } from "./threads.js";

/** Must match the condition of the index gs_runs_dead. */
const IS_DEAD = "state = 'dead'";
const LIST = `SELECT ${columns} FROM gs_runs WHERE ${IS_DEAD} ORDER BY created_at DESC, run_id DESC LIMIT ? OFFSET ?`;
const COUNT = `SELECT count(*) FROM gs_runs WHERE ${IS_DEAD}`;
const CAN_REVIVE = `SELECT 1 FROM gs_runs WHERE run_id = @run_id AND thread_id = @thread_id AND ${IS_DEAD}
  AND NOT EXISTS (SELECT 1 FROM gs_runs WHERE thread_id = @thread_id AND ${IS_UNFINISHED} AND state <> 'delayed')`;
const FORGET = `UPDATE gs_runs SET state = 'ended', resumption = NULL WHERE ${IS_DEAD} AND updated_at < ?`;

export const createSqliteDeadRuns = (
  file: SqliteFile,
  runs: SqliteRuns,
  threads: SqliteThreads,
): DeadRunTable => ({
  list: ({ limit, offset }) =>
    file.read(() => (file.statement(LIST).all(limit, offset) as TextRun[]).map(fromTextRun)),
  count: () => file.read(() => file.statement(COUNT).pluck().get() as number),
  revive: ({ run_id, thread_id }, patch, thread) =>
    file.write(() => {
      const row = runs.find(run_id);
      const asked = { run_id, thread_id };
      if (!row || file.statement(CAN_REVIVE).get(asked) === undefined) return false;
      runs.replace(row, patch);
      threads.patch(thread_id, thread);
      return true;
    }),
  forget: (before) => file.write(() => file.statement(FORGET).run(before).changes),
});
