/** Crons: recurring runs (docs/schedules.md). */
import { createHash } from "node:crypto";
import type { Caller } from "../models/caller.js";
import { DEFAULT_LIMIT, type JsonObject, type Page } from "../models/common.js";
import {
  CRON_FIELDS,
  CRON_RUN_FIELDS,
  type Cron,
  type CronCountRequest,
  type CronCreateRequest,
  type CronPatchRequest,
  type CronSearchRequest,
} from "../models/cron.js";
import type { RunCreateRequest } from "../models/run.js";
import { contains, now } from "../storage/rows/rows.js";
import type { TimerRow, TimerTable } from "../storage/contract/timers.js";
import { GraphServeError, NotFoundError } from "../support/errors.js";
import { canonicalUuid, derivedId, newId, requireUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import { checkedSlot, latestSlot, nextSlot } from "./cron-times.js";
import { acceptLater, checkLater } from "./later-run.js";
import type { EngineContext } from "../runs/live-runs.js";
import { assertFilter } from "../context/request-limits.js";
import { scopeOf, visibleThread } from "../threads/thread-origin.js";
import { pageResult, selectFields } from "../threads/thread-search.js";
import { hasTimers, MAX_TIMERS_PER_USER, requireTimerRoom } from "../context/timer-limits.js";
import { timersWhere } from "../context/timers.js";

/** The JSON data of a cron row: all fields that are not columns. */
interface CronData extends Omit<Cron, "cron_id" | "thread_id" | "user_id" | "created_at"> {
  caller: Caller | null;
  /** Milliseconds from a slot to its run; absent in crons of earlier releases. */
  spread_ms?: number;
}

type CronRow = TimerRow & { data: CronData & JsonObject };

const cronModel = ({ id, thread_id, created_at, data }: CronRow): Cron => {
  const { caller, spread_ms: _, ...cron } = data;
  return { ...cron, cron_id: id, thread_id, created_at, user_id: caller?.user.identity ?? null };
};

/** The request of each run of the cron. */
const requestOf = (cronId: string, { payload, metadata, on_run_completed }: CronData): RunCreateRequest => ({
  ...(payload as Omit<RunCreateRequest, "assistant_id"> & { assistant_id: string }),
  metadata: { ...metadata, cron_id: cronId },
  on_completion: on_run_completed,
});

/** The fields that configure the runs. Unknown fields are ignored, as in a run request. */
const runFieldsOf = (request: CronPatchRequest): JsonObject =>
  Object.fromEntries(
    CRON_RUN_FIELDS.flatMap((field) => (request[field] == null ? [] : [[field, request[field]]])),
  );

// Crons with the same slot are spread out, so that a user with many crons does not delay the crons of others.

/** Number of crons of a user that may fire at the same moment. */
const TOGETHER = 20;
/** Average distance between further crons of a user, in milliseconds. */
const APART_MS = 20;

/** Random delay for a new cron of a user, in milliseconds. The range grows with the number of the user's crons. */
async function spreadOf(table: TimerTable, scope: string | null): Promise<number> {
  for (const count of [MAX_TIMERS_PER_USER / 2, MAX_TIMERS_PER_USER / 10, TOGETHER])
    if (await hasTimers(table, { kind: "cron", scope }, count))
      return Math.floor(Math.random() * count * 2 * APART_MS);
  return 0;
}

function dueAt({
  next_run_date,
  spread_ms = 0,
}: Pick<CronData, "next_run_date" | "spread_ms">): string | null {
  if (next_run_date === null || spread_ms === 0) return next_run_date;
  return new Date(Date.parse(next_run_date) + spread_ms).toISOString();
}

export class Crons {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * Creates a cron whose runs share a thread, or each get a temporary one.
   * @throws InvalidRequestError (`invalid_request`), NotFoundError (`assistant_not_found`, `thread_not_found`), and every
   *   error with which a run of that request would be refused
   */
  async create(request: CronCreateRequest, threadId?: string): Promise<Cron> {
    const { assistant_id, schedule, timezone, enabled, end_time, on_run_completed, metadata } = request;
    const timers = this.#timers();
    const thread =
      threadId === undefined ? undefined : (await visibleThread(this.#context, threadId)).thread_id;
    const at = now();
    const times = { schedule, timezone: timezone ?? null, end_time: timeOf(end_time) };
    const next = checkedSlot(times, at);
    const isEnabled = enabled ?? true;
    const cron = {
      ...times,
      assistant_id,
      enabled: isEnabled,
      next_run_date: isEnabled ? next : null,
      on_run_completed: on_run_completed ?? "delete",
      payload: { assistant_id, ...runFieldsOf(request) },
      metadata: metadata ?? {},
      updated_at: at,
      last_error: null,
    };
    const id = newId();
    const { caller } = await checkLater(this.#context, requestOf(id, { ...cron, caller: null }), thread);
    const scope = scopeOf(this.#context);
    await requireTimerRoom(timers.table, { kind: "cron", scope }, "crons are stored", "delete some");
    const data = { ...cron, caller, spread_ms: await spreadOf(timers.table, scope) };
    const row: CronRow = {
      kind: "cron",
      id,
      thread_id: thread ?? null,
      scope,
      due_at: dueAt(data),
      created_at: at,
      version: 1,
      data,
    };
    await timers.table.insert(row);
    if (thread !== undefined) await this.#keep(row, thread);
    timers.wake();
    return cronModel(row);
  }

  /**
   * Updates the thread of a new cron, so that a sweep which has not seen the cron does not delete the thread.
   * @throws NotFoundError if the thread was deleted meanwhile (`thread_not_found`)
   */
  async #keep({ kind, id }: CronRow, threadId: string): Promise<void> {
    const { storage } = this.#context;
    if (await storage.threads.update(threadId, { updated_at: now() })) return;
    await this.#timers().table.delete(kind, id);
    throw new NotFoundError("thread", threadId);
  }

  /** @throws NotFoundError (`cron_not_found`), also for a cron of another caller, and the errors of `create` */
  async update(cronId: string, request: CronPatchRequest): Promise<Cron> {
    const timers = this.#timers();
    for (;;) {
      const row = await this.#row(cronId);
      const data = await this.#changed(row, request);
      // If the slot stays the same, keep the lease of a server that is firing it.
      const due_at = data.next_run_date === row.data.next_run_date ? row.due_at : dueAt(data);
      const changed = { ...row, due_at, data: data as CronRow["data"] };
      // The row was claimed or changed concurrently: read it again.
      if (!(await timers.table.replace(changed))) continue;
      timers.wake();
      return cronModel(changed);
    }
  }

  /** @throws NotFoundError (`cron_not_found`), also for a cron of another caller */
  async delete(cronId: string): Promise<void> {
    const { id } = await this.#row(cronId);
    await this.#timers().table.delete("cron", id);
  }

  /** The crons of the caller, newest first by default. */
  async search(request: CronSearchRequest): Promise<Page<Partial<Cron>>> {
    const { sort_by, sort_order, limit, offset = 0, select } = request;
    const field = sort_by ?? "created_at";
    const textOf = (cron: Cron) => `${cron[field] ?? ""} ${cron.cron_id}`;
    const found = (await this.#matching(request)).sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
    if (sort_order !== "asc") found.reverse();
    const from = offset ?? 0;
    const page = found.slice(from, from + (limit ?? DEFAULT_LIMIT));
    const items = page.map((cron) => selectFields(cron, select, CRON_FIELDS));
    return pageResult(items, found.length, from);
  }

  async count(request: CronCountRequest): Promise<number> {
    return (await this.#matching(request)).length;
  }

  async #matching({ assistant_id, thread_id, enabled, metadata }: CronCountRequest): Promise<Cron[]> {
    if (metadata) assertFilter(metadata, ["body", "metadata"]);
    const { registry } = this.#context;
    // Crons stay when their assistant is deleted or not served: a search must find them.
    const idOf = (id: string) => registry.find(id) ?? canonicalUuid(id) ?? id;
    const threadId = thread_id == null ? undefined : requireUuid(thread_id, ["body", "thread_id"]);
    const own = (row: TimerRow) => (isVisible(this.#context, row) ? cronModel(row as CronRow) : undefined);
    return (await timersWhere(this.#timers(), { kind: "cron", threadId }, own)).filter(
      (cron) =>
        (assistant_id == null || idOf(cron.assistant_id) === idOf(assistant_id)) &&
        (enabled == null || cron.enabled === enabled) &&
        (metadata == null || contains(cron.metadata, metadata)),
    );
  }

  async #changed({ id, thread_id, data }: CronRow, request: CronPatchRequest): Promise<CronData> {
    const { schedule, timezone, enabled, end_time, on_run_completed, metadata } = request;
    const at = now();
    const changed: CronData = {
      ...data,
      schedule: schedule ?? data.schedule,
      timezone: timezone === undefined ? data.timezone : timezone,
      end_time: end_time === undefined ? data.end_time : timeOf(end_time),
      enabled: enabled ?? data.enabled,
      on_run_completed: on_run_completed ?? data.on_run_completed,
      metadata: metadata ?? data.metadata,
      payload: { ...data.payload, ...runFieldsOf(request) },
      updated_at: at,
    };
    const next = checkedSlot(changed, at);
    // Only a change of the schedule drops a slot that is already due.
    const changesSchedule = [schedule, timezone, enabled, end_time].some((field) => field !== undefined);
    if (changesSchedule) changed.next_run_date = changed.enabled ? next : null;
    // The schedule is not part of the run request, which is checked only if it changes.
    const changesRequest =
      Object.keys(runFieldsOf(request)).length > 0 || metadata != null || on_run_completed != null;
    if (changesRequest)
      ({ caller: changed.caller } = await checkLater(
        this.#context,
        requestOf(id, changed),
        thread_id ?? undefined,
      ));
    return changed;
  }

  async #row(cronId: string): Promise<CronRow> {
    const id = requireUuid(cronId, ["path", "cron_id"]);
    const row = await this.#timers().table.get("cron", id);
    if (!row || !isVisible(this.#context, row)) throw new NotFoundError("cron", id);
    return row as CronRow;
  }

  #timers() {
    const { timers } = this.#context;
    if (timers?.kinds.includes("cron")) return timers;
    throw new GraphServeError("unsupported_option", "crons are not served: the setting crons is off");
  }
}

const timeOf = (time: string | null | undefined): string | null =>
  time == null ? null : new Date(time).toISOString();

const isVisible = (context: OpsContext, { scope }: TimerRow): boolean =>
  !context.caller || scope === scopeOf(context);

/**
 * Accepts the run of the latest due slot, then schedules the next slot. The ids of the run are derived from the slot: if a
 * process crashes here, the next one finds the run and does not start it twice.
 */
export async function fireCron(context: EngineContext, timer: TimerRow, at: string): Promise<void> {
  const row = timer as CronRow;
  const { data, id, thread_id } = row;
  const table = context.timers?.table as TimerTable;
  if (data.next_run_date === null) return void (await table.replace({ ...row, due_at: null }));
  const slot = latestSlot(data, data.next_run_date, at);
  const idOf = (kind: string) => derivedId(Date.parse(slot), bytesOf(`${kind} ${id} ${slot}`));
  const refusal = await acceptLater(context, {
    run: { run_id: idOf("run"), thread_id: thread_id ?? idOf("thread") },
    request: requestOf(id, data),
    caller: data.caller,
    isStateless: thread_id === null,
  });
  if (refusal) {
    const { assistant_id, last_error } = data;
    const fields = { err: refusal, cron_id: id, assistant_id, thread_id, slot };
    // Warn once if slot after slot is refused for the same reason.
    const isNew = refusal.message !== last_error;
    context.logger[isNew ? "warn" : "debug"](
      fields,
      "the run of a cron was refused: fix the reported error, or change, pause or delete the cron",
    );
  }
  if (refusal?.code === "thread_not_found") {
    // The temporary thread was deleted before the run was stored: retry.
    if (thread_id === null) throw refusal;
    return void (await table.delete("cron", id));
  }
  await waitForNext(table, row, at, refusal?.message ?? null);
}

/** Schedules the next slot. Retries if the cron was changed in the meantime, so that the slot does not fire again. */
async function waitForNext(
  table: TimerTable,
  fired: CronRow,
  at: string,
  last_error: string | null,
): Promise<void> {
  for (let row: CronRow | undefined = fired; row;) {
    const { data } = row;
    // A change of the schedule has set the next slot already.
    if (data.next_run_date !== fired.data.next_run_date) return;
    const next = nextSlot(data, at);
    const changed = { ...data, next_run_date: next, last_error };
    if (await table.replace({ ...row, due_at: dueAt(changed), data: changed })) return;
    row = (await table.get("cron", fired.id)) as CronRow | undefined;
  }
}

const bytesOf = (name: string): Uint8Array => createHash("sha256").update(name).digest();
