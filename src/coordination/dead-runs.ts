/** Dead runs: runs whose processes crashed too often. Lists and redrives them (docs/deployment.md#runs-that-died). */
import { Command } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import type { DeadRun, DeadRunFilter } from "../models/dead-run.js";
import type { Run } from "../models/run.js";
import { acceptanceKey, now } from "../storage/rows/rows.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { DeadRunTable, Resumption, RunRow } from "../storage/contract/runs.js";
import { GraphServeError, StorageUnavailableError, ThreadBusyError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { inPagesByOffset } from "../support/read-ahead.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { guardGraph, migrated } from "../runs/graph-guard.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { redriven } from "../runs/state.js";
import { callAgain } from "./resume-run.js";
import { idleLease } from "../threads/idle-lease.js";
import { hasWritten, rootOf, writerOf } from "../threads/run-checkpoints.js";
import { runRow, scopeFilter } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";

/** How long a dead run can be redriven, in days. */
const KEEP_DEAD_DAYS = 30;

type DeadRow = RunRow & { resumption: Resumption };

export class DeadRuns {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The dead runs on the caller's threads, newest first. */
  async list({ limit = DEFAULT_LIMIT, offset = 0 }: DeadRunFilter): Promise<Page<DeadRun>> {
    const found: DeadRun[] = [];
    let toSkip = offset;
    for await (const row of ownRows(this.#context)) {
      if (toSkip > 0) toSkip -= 1;
      else if (found.push(deadRun(row)) > limit) break;
    }
    const next = found.length > limit ? offset + limit : null;
    return { items: found.slice(0, limit), total: null, next };
  }

  /**
   * Requeues a dead run from its last checkpoint, as a new attempt; any server with free capacity resumes it. Earlier
   * crashes no longer count towards `max_attempts`.
   * @throws NotFoundError (`run_not_found`)
   * @throws GraphServeError if the run is not dead or cannot be resumed (`run_not_redrivable`); if runs do not outlive their
   *   process (`unsupported_option`)
   * @throws GraphChangedError while its graph lacks nodes that the run resumes (`graph_changed`)
   * @throws ThreadBusyError while another run of its thread is unfinished (`thread_busy`)
   * @throws GraphServeError if the run has a webhook and too many webhooks are unsent (`too_many_runs`)
   */
  async redrive(threadId: string, runId: string): Promise<Run> {
    const context = this.#context;
    const row = deadRow(await runRow(context, threadId, runId));
    const table = this.#table();
    context.live.stopping.throwIfAborted();
    if (!context.settings.resume_runs)
      throw new GraphServeError(
        "unsupported_option",
        "runs are not resumed after a crash: resume_runs is false",
        { hint: "remove the setting resume_runs, or set it to true" },
      );
    const { thread_id, run_id } = row;
    const checked = context.requeues ? await callable(context, row) : undefined;
    const lease = await idleLease(context, thread_id);
    try {
      await assertUnmoved(context, row);
      if (checked) await assertGraph(context, row, checked, lease);
      await withWebhook(context, row, () => revive(context, table, row));
    } finally {
      await lease.release();
    }
    context.live.logs.forget(run_id);
    await resumeRevived(context, row);
    return runModel(await runRow(context, thread_id, run_id));
  }

  /** @throws GraphServeError (`unsupported_option`) */
  #table(): DeadRunTable {
    const { deadRuns, scheme } = this.#context.storage;
    if (deadRuns) return deadRuns;
    throw new GraphServeError(
      "unsupported_option",
      `runs do not outlive their process with the storage ${scheme}, so there are no dead runs`,
      { hint: "use sqlite, postgres or mongodb" },
    );
  }
}

/** Turns runs that died more than 30 days before `at` into ordinary failed runs. */
export async function forgetDead({ storage: { deadRuns }, logger }: OpsContext, at: string): Promise<void> {
  const before = new Date(Date.parse(at) - KEEP_DEAD_DAYS * 24 * 60 * 60 * 1000).toISOString();
  const forgotten = (await deadRuns?.forget(before)) ?? 0;
  if (forgotten > 0)
    logger.info({ runs: forgotten }, "old dead runs were removed from the list of dead runs");
}

async function* ownRows(context: OpsContext): AsyncGenerator<RunRow, void, undefined> {
  const { deadRuns } = context.storage;
  // Without this table, runs do not outlive their process.
  if (!deadRuns) return;
  const own = new Set<string>();
  const rows = inPagesByOffset(
    async (place) => {
      const page = await deadRuns.list(place);
      for (const id of await ownThreads(context, page)) own.add(id);
      return page;
    },
    ({ run_id }) => run_id,
  );
  for await (const row of rows) if (own.has(row.thread_id)) yield row;
}

/** Ids of the rows' threads that belong to the caller. */
async function ownThreads(context: OpsContext, page: readonly RunRow[]): Promise<string[]> {
  const ids = [...new Set(page.map(({ thread_id }) => thread_id))];
  if (!context.caller || ids.length === 0) return ids;
  const sorted = { sortBy: "updated_at", sortOrder: "desc" } as const;
  const filter = scopeFilter(context, { ids });
  const { rows } = await context.storage.threads.search({
    ...filter,
    ...sorted,
    limit: ids.length,
    offset: 0,
  });
  return rows.map((row) => row.thread_id);
}

const deadRun = (row: RunRow): DeadRun => ({
  run_id: row.run_id,
  thread_id: row.thread_id,
  assistant_id: row.assistant_id,
  graph_id: typeof row.metadata.graph_id === "string" ? row.metadata.graph_id : null,
  created_at: row.created_at,
  died_at: row.updated_at,
  attempts: row.attempt,
  reason: row.error,
});

/** @throws GraphServeError (`run_not_redrivable`) */
function deadRow(row: RunRow): DeadRow {
  const { resumption, run_id, state, status } = row;
  if (state === "dead" && resumption) return { ...row, resumption };
  throw new GraphServeError("run_not_redrivable", `run "${run_id}" is not dead: it is ${status}`, {
    hint:
      status === "error"
        ? "its graph failed, or it died more than 30 days ago: start another run on its thread"
        : "list dead runs with: graph-serve runs dead",
  });
}

const notRedrivable = ({ run_id }: RunRow, why: string, hint: string, cause?: unknown): GraphServeError =>
  new GraphServeError("run_not_redrivable", `run "${run_id}" cannot be requeued: ${why}`, { hint, cause });

/** The stored request, if its graph is served and accepts it. @throws GraphServeError (`run_not_redrivable`) */
async function callable(context: EngineContext, row: DeadRow): Promise<CheckedRequest> {
  try {
    return (await callAgain(context, row, row.resumption)).checked;
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    throw notRedrivable(row, errorMessage(error), "add its graph to the configuration again", error);
  }
}

/** @throws GraphChangedError if the run would die again, because its graph lacks nodes that it resumes (`graph_changed`) */
async function assertGraph(
  context: OpsContext,
  row: DeadRow,
  checked: CheckedRequest,
  lease: ThreadLease,
): Promise<void> {
  const { threadId, bound } = checked;
  const { input, configurable } = (await hasWritten(context, row))
    ? { input: null, ...rootOf(row) }
    : checked;
  const thread = await context.storage.threads.get(row.thread_id);
  const use =
    context.migrations && thread
      ? await migrated(context, thread, bound, lease, { input, configurable })
      : { input, configurable };
  const { graphs = null } = thread ?? {};
  const resumes = use.input === null || use.input instanceof Command;
  if (resumes)
    await guardGraph(context, graphs, { threadId, bound, configurable: use.configurable, resumes });
}

/**
 * Checks that the thread was not written to after the run died. If the run wrote nothing itself, this compares the order
 * of the runs and the timestamps.
 * @throws GraphServeError (`run_not_redrivable`)
 */
async function assertUnmoved(context: OpsContext, row: RunRow): Promise<void> {
  const { checkpointer, runs } = context.storage;
  const latest = await checkpointer.getTuple(rootOf(row));
  const writer = latest && writerOf(latest);
  if (!latest || writer === row.run_id) return;
  const other = typeof writer === "string" ? await runs.get(row.thread_id, writer) : undefined;
  const isMoved =
    (other !== undefined && acceptanceKey(other) > acceptanceKey(row)) ||
    writtenAt(latest) > row.updated_at ||
    (await hasWritten(context, row));
  if (!isMoved) return;
  const by = other ? `run "${other.run_id}" has` : "another writer has";
  throw notRedrivable(row, `${by} written to its thread since`, "start another run on the thread");
}

const writtenAt = ({ checkpoint }: CheckpointTuple): string => checkpoint.ts;

/** @throws ThreadBusyError while another run of its thread is unfinished (`thread_busy`) */
async function revive(context: OpsContext, table: DeadRunTable, row: DeadRow): Promise<void> {
  const { thread_id, run_id } = row;
  const thread = { updated_at: now(), status: "busy" as const, error: null };
  if (await table.revive(row, { updated_at: now(), ...redriven(row) }, thread)) return;
  deadRow(await runRow(context, thread_id, run_id));
  throw new ThreadBusyError(thread_id, "another run on it is in flight or queued");
}

/**
 * Registers the webhook of the run again before `work` revives it, so that no end is missed, and removes it if `work`
 * fails. If this process crashes in between, the webhook for the earlier death is sent again, under the same id.
 */
async function withWebhook(context: OpsContext, row: DeadRow, work: () => Promise<void>): Promise<void> {
  const { webhook } = row.resumption;
  if (webhook === undefined || !context.timers?.kinds.includes("webhook")) return work();
  const { reregisterWebhook } = await import("../webhooks/webhooks.js");
  const unregister = await reregisterWebhook(context, row, webhook);
  try {
    await work();
  } catch (error) {
    // After a storage error, the run may have been revived.
    if (!(error instanceof StorageUnavailableError)) await unregister();
    throw error;
  }
}

/** Resumes the run, here or in another process. If that fails now, the poll for requeued runs finds it. */
async function resumeRevived(context: EngineContext, { run_id, thread_id }: RunRow): Promise<void> {
  await context.queue
    .takeUp(thread_id)
    .catch((error: unknown) =>
      context.logger.warn(
        { err: error, run_id },
        "a redriven run could not be resumed yet; this will be retried",
      ),
    );
}
