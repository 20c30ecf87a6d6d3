/** Delayed runs: `after_seconds` (docs/schedules.md). They join the queue of their thread when due. */
import type { Caller } from "../models/caller.js";
import type { JsonObject } from "../models/common.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import { now } from "../storage/rows/rows.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { TimerRow, TimerTable } from "../storage/contract/timers.js";
import {
  asServiceError,
  GraphChangedError,
  type GraphServeError,
  InvalidRequestError,
  NotFoundError,
  ThreadBusyError,
} from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { requireUuid } from "../support/ids.js";
import { TooManyActiveRunsError } from "../runs/active-runs.js";
import { endUnstarted } from "../coordination/at-end.js";
import { cancelRun } from "../coordination/cancel.js";
import { acceptLater, checkLater } from "./later-run.js";
import type { EngineContext } from "../runs/live-runs.js";
import { delayed, died, ended, isDelayed } from "../runs/state.js";
import { requireCheckpoint } from "../context/checkpoint-selector.js";
import { type CheckedRequest, newRun } from "../runs/run-request.js";
import type { KnownRun } from "../runs/run-options.js";
import { registerRunWebhook, requireThread, withdrawRunWebhook } from "../coordination/start-run.js";
import type { StatelessOptions } from "../coordination/stateless-runs.js";
import { callAs } from "../threads/stored-assistants.js";
import { scopeOf } from "../threads/thread-origin.js";
import { requireTimerRoom } from "../context/timer-limits.js";
import type { Timers } from "../context/timers.js";
import { withParts } from "../context/context.js";
import { resumptionOf } from "../runs/resumption.js";

/** Maximum delay of a run. */
const LONGEST_DELAY_MINUTES = 366 * 24 * 60;
/** Maximum number of delayed runs on one thread. */
const MOST_WAITING_OF_THREAD = 100;
/** A timer without a run row is deleted after this time: its request crashed before storing the row. In milliseconds. */
const ACCEPTING_MS = 60_000;
/** Delay before checking again a timer that cannot fire yet, in milliseconds. */
const SOON_MS = 1_000;

interface DelayedData {
  request: RunCreateRequest;
  caller: Caller | null;
  is_stateless: boolean;
  /** Whether the thread is deleted with the run. */
  is_temporary: boolean;
  /** When the run is due, ISO 8601. The timer may be due later, for a retry. */
  time: string;
}

type DelayedRow = TimerRow & { thread_id: string; data: DelayedData & JsonObject };

/**
 * Stores a delayed run.
 * @throws GraphServeError like `acceptRun`; for a request that cannot be stored or a delay that is too long
 *   (`invalid_request`); if too many runs are delayed (`thread_busy`, `too_many_runs`)
 */
export async function delayRun(
  context: EngineContext,
  threadId: string,
  { after_seconds, ...asked }: RunCreateRequest,
  { stateless, atEnd, known }: Partial<StatelessOptions> & { known?: KnownRun },
): Promise<Run> {
  const { storage, live, registry } = context;
  live.stopping.throwIfAborted();
  const id = requireUuid(threadId, ["path", "thread_id"]);
  const delayMs = delayOf(after_seconds ?? 0);
  const called = registry.find(asked.assistant_id) === undefined ? await callAs(context, asked) : undefined;
  const request = called?.request ?? asked;
  const { caller, checked } = await checkLater(context, request, id);
  await requireThread(context, id, request);
  await requireCheckpoint(context, checked.configurable);
  const timers = context.timers as Timers;
  await postpone(context, timers.table, checked);
  await requireRoom(timers.table, id, scopeOf(context));
  const own = { ...checked, request: { ...request, after_seconds }, known };
  const run = newRun(context, own, delayed.attempt);
  const due_at = new Date(Date.parse(run.created_at) + delayMs).toISOString();
  const data = {
    request,
    caller,
    is_stateless: stateless !== undefined,
    is_temporary: atEnd !== undefined,
    time: due_at,
  };
  await registerRunWebhook(context, run, { request, known });
  await timers.table.insert({
    kind: "run",
    id: run.run_id,
    thread_id: id,
    scope: scopeOf(context),
    due_at,
    created_at: run.created_at,
    version: 1,
    data: data,
  });
  const row = { ...run, ...delayed, resumption: null };
  if (!(await storage.runs.insert(row, { updated_at: run.updated_at }))) {
    await timers.table.delete("run", run.run_id);
    await withdrawRunWebhook(context, run, { request, known });
    throw new NotFoundError("thread", id);
  }
  timers.wake();
  return run;
}

/** In milliseconds. @throws InvalidRequestError (`invalid_request`) */
function delayOf(seconds: number): number {
  const most = LONGEST_DELAY_MINUTES * 60;
  if (seconds > 0 && seconds <= most) return Math.ceil(seconds * 1000);
  throw InvalidRequestError.at(["body", "after_seconds"], `must be from 0 to ${most}, which is 366 days`);
}

/** A run with a takeover strategy replaces the delayed runs of its thread. Clients use this to postpone a job repeatedly. */
async function postpone(
  context: EngineContext,
  table: TimerTable,
  { threadId, strategy: action }: CheckedRequest,
): Promise<void> {
  if (!context.settings.multitask_cancel || (action !== "interrupt" && action !== "rollback")) return;
  const rows = await table.list({ kind: "run", threadId, limit: MOST_WAITING_OF_THREAD, offset: 0 });
  for (const { id } of rows) {
    const row = await context.storage.runs.get(threadId, id);
    if (row && isDelayed(row)) await cancelRun(context, threadId, id, { action });
  }
}

/** @throws GraphServeError (`thread_busy`, `too_many_runs`) */
async function requireRoom(table: TimerTable, threadId: string, scope: string | null): Promise<void> {
  const last = { kind: "run", threadId, limit: 1, offset: MOST_WAITING_OF_THREAD - 1 } as const;
  if ((await table.list(last)).length > 0)
    throw new ThreadBusyError(threadId, `it already has ${MOST_WAITING_OF_THREAD} delayed runs`);
  const hint = "try again when some have started, or cancel some";
  await requireTimerRoom(table, { kind: "run", scope }, "runs are delayed", hint);
}

/**
 * Accepts a delayed run that is due, as if its client requested it now. Runs of the same thread that were due earlier are
 * accepted first. A refused run ends as `error`.
 */
export async function fireDelayedRun(context: EngineContext, timer: TimerRow, at: string): Promise<void> {
  const own = timer as DelayedRow;
  const { id, thread_id, created_at } = own;
  const table = context.timers?.table as TimerTable;
  const row = await context.storage.runs.get(thread_id, id);
  const isBeingMade = !row && Date.parse(at) - Date.parse(created_at) < ACCEPTING_MS;
  if (isBeingMade || (await isBehind(table, own))) {
    const due_at = new Date(Date.parse(at) + SOON_MS).toISOString();
    return void (await table.replace({ ...timer, due_at }));
  }
  if (row && isDelayed(row)) await acceptNow(context, own, row);
  await table.delete("run", id);
}

/** Whether an earlier delayed run of the thread is not accepted or refused yet: its timer would be deleted then. */
async function isBehind(table: TimerTable, { id, thread_id, data }: DelayedRow): Promise<boolean> {
  const keyOf = (time: string, runId: string) => `${time} ${runId}`;
  const query = { kind: "run", threadId: thread_id, limit: MOST_WAITING_OF_THREAD, offset: 0 } as const;
  const waiting = (await table.list(query)) as DelayedRow[];
  return waiting.some((other) => keyOf(other.data.time, other.id) < keyOf(data.time, id));
}

async function acceptNow(context: EngineContext, { id, thread_id, data }: DelayedRow, row: RunRow) {
  const { request, caller, is_stateless, is_temporary } = data;
  const run = { run_id: id, thread_id, created_at: row.created_at };
  const later = { run, request, caller, isStateless: is_stateless, from: delayed };
  const refusal = await acceptLater(context, later).catch(refusalOf);
  if (!refusal) return;
  // The run can be redriven under a graph that has its nodes again.
  const isDead = refusal instanceof GraphChangedError && context.storage.deadRuns !== undefined;
  const own = withParts(context, { caller: caller ?? undefined });
  const end = isDead ? died(resumptionOf(own, request, { unattended: true })) : ended("error");
  const patch = { updated_at: now(), ...end, error: errorMessage(refusal) };
  // The run may have been cancelled, or claimed by another process, in the meantime.
  if (!(await context.storage.runs.update(id, patch, delayed))) return;
  context.logger.warn({ err: refusal, run_id: id, thread_id }, "a delayed run was refused when it was due");
  await endUnstarted(context, { ...row, ...patch }, { isTemporary: is_temporary, isDead });
}

/** The error of a run that will never start. Rethrows the error if a retry may succeed. */
function refusalOf(thrown: unknown): GraphServeError {
  const error = asServiceError(thrown);
  const isTemporary = error.code === "storage_unavailable" || error.code === "shutting_down";
  if (isTemporary || error instanceof TooManyActiveRunsError) throw error;
  return error;
}
