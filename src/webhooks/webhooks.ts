/**
 * Webhooks: post the end of a run to the URL in its request (docs/webhooks.md). A row is stored before the run is
 * accepted, and polled until the run has ended, so that no kind of end is missed.
 */
import { Buffer } from "node:buffer";
import type { JsonObject } from "../models/common.js";
import { now } from "../storage/rows/rows.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import type { RunKey, RunRow } from "../storage/contract/runs.js";
import type { TimerRow, TimerTable } from "../storage/contract/timers.js";
import { type OpsContext, withParts } from "../context/context.js";
import { storedValues } from "../delivery/poll-run.js";
import type { EngineContext } from "../runs/live-runs.js";
import { ended, isDelayed, isRolledBack } from "../runs/state.js";
import { isStorable, storable } from "../runs/resumption.js";
import { scopeOf } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";
import { requireTimerRoom } from "../context/timer-limits.js";
import { type Timers, timersWhere } from "../context/timers.js";
import { webhookSender, type WebhookData, type WebhookRow } from "./webhook-sender.js";

/** How often a run is polled in case the notification of its end is lost, in milliseconds. */
const POLL_MS = 30_000;
const DELAYED_POLL_MS = 600_000;
/**
 * Maximum time between the row of the webhook and the row of its run, in milliseconds. After a failure of the storage, a
 * run may be stored two minutes late (../runs/uncertain-runs.ts).
 */
const ACCEPTING_MS = 180_000;
/** Maximum size of a payload, in bytes. Values that exceed it are omitted. */
const LARGEST_PAYLOAD = 1024 * 1024;

/** Called before the run is stored. @throws GraphServeError if too many webhooks are unsent (`too_many_runs`) */
export async function registerWebhook(
  context: OpsContext,
  { run_id, thread_id }: RunKey,
  url: string,
): Promise<void> {
  const table = context.timers?.table as TimerTable;
  await requireTimerRoom(
    table,
    { kind: "webhook", scope: scopeOf(context) },
    "webhooks wait to be sent",
    "send or delete those that failed: graph-serve webhooks list",
  );
  const { caller } = context;
  const at = now();
  const data: WebhookData = {
    url,
    thread_id,
    caller: caller && isStorable(caller) ? (storable(caller) ?? null) : null,
    ...UNSENT,
  };
  await table.insert({
    kind: "webhook",
    id: run_id,
    // The thread may be deleted with the run.
    thread_id: null,
    scope: scopeOf(context),
    due_at: after(at, POLL_MS),
    created_at: at,
    version: 1,
    data: data as WebhookData & JsonObject,
  });
}

const UNSENT = { payload: null, attempt: null, sendings: 0, last_error: null, failed_at: null };

/**
 * Registers the webhook of a run that has ended and will end again. An unsent webhook for the previous end is dropped.
 * @returns a function that reverts the change
 */
export async function reregisterWebhook(
  context: OpsContext,
  run: RunKey,
  url: string,
): Promise<() => Promise<unknown>> {
  const table = context.timers?.table as TimerTable;
  for (;;) {
    const row = (await table.get("webhook", run.run_id)) as WebhookRow | undefined;
    if (!row) {
      await registerWebhook(context, run, url);
      return () => table.delete("webhook", run.run_id, 1);
    }
    const data = { ...row.data, ...UNSENT };
    if (await table.replace({ ...row, due_at: after(now(), POLL_MS), data }))
      return () => table.replace({ ...row, version: row.version + 1 });
  }
}

/**
 * Schedules the webhook of an ended run while its values can still be read. False if storing failed. Never rejects.
 * @param unbegun sent if the row of the run is gone, because its thread was deleted before it began; as interrupted unless
 *   it has ended
 */
export async function scheduleWebhook(
  context: OpsContext,
  { run_id, thread_id }: RunKey,
  unbegun?: Run,
): Promise<boolean> {
  const { timers, storage, logger } = context;
  try {
    for (;;) {
      const row = (await timers?.table.get("webhook", run_id)) as WebhookRow | undefined;
      if (!timers || !row || row.data.payload !== null) return true;
      const found = await storage.runs.get(thread_id, run_id);
      // A run that is rolled back is deleted without an end.
      const run = found && isRolledBack(found) ? { ...found, ...ended("interrupted") } : found;
      if (run ? !isFinished(run) : !unbegun) return true;
      const data = { ...row.data, ...(run ? await endOf(context, run) : deletedEnd(unbegun as Run)) };
      if (!(await timers.table.replace({ ...row, due_at: now(), data }))) continue;
      timers.wake();
      return true;
    }
  } catch (error) {
    logger.warn(
      { err: error, run_id },
      "a webhook could not be scheduled at the end of its run, and will be later",
    );
    return false;
  }
}

/** The runs whose webhooks are not scheduled: they are unfinished, or their process died at their end. */
export const unscheduledRuns = (timers: Timers): Promise<RunKey[]> =>
  timersWhere(timers, { kind: "webhook" }, (timer) => {
    const { id, data } = timer as WebhookRow;
    return data.payload === null ? { run_id: id, thread_id: data.thread_id } : undefined;
  });

/** Sends a due webhook, or checks whether its run has ended. */
export async function fireWebhook(context: EngineContext, timer: TimerRow, at: string): Promise<void> {
  const row = timer as WebhookRow;
  const table = context.timers?.table as TimerTable;
  const { webhooks } = context.settings;
  if (row.data.failed_at !== null || !webhooks) return void (await table.delete("webhook", row.id));
  const sender = webhookSender(webhooks);
  if (row.data.payload !== null) return sender.send(context, row, at);
  const end = await findEnd(context, row);
  if (end) {
    const found = { ...row, data: { ...row.data, ...end } };
    // Otherwise, the end of the run has scheduled it in the meantime.
    if (await table.replace(found)) await sender.send(context, { ...found, version: row.version + 1 }, at);
    return;
  }
  const run = await context.storage.runs.get(row.data.thread_id, row.id);
  const isGone = !run && Date.parse(at) - Date.parse(row.created_at) > ACCEPTING_MS;
  if (isGone) await table.delete("webhook", row.id);
  else await table.replace({ ...row, due_at: after(at, run && isDelayed(run) ? DELAYED_POLL_MS : POLL_MS) });
}

const deletedEnd = (run: Run): End => ({
  payload: fittingPayload(isFinished(run) ? run : { ...run, status: "interrupted", updated_at: now() }, {}),
  attempt: 1,
});

type End = Pick<WebhookData, "payload" | "attempt" | "traceparent">;

async function findEnd(context: OpsContext, { id, data }: WebhookRow): Promise<End | undefined> {
  const run = await context.storage.runs.get(data.thread_id, id);
  if (!run || !isFinished(run)) return undefined;
  return endOf(withParts(context, { caller: data.caller ?? undefined }), run);
}

async function endOf(context: OpsContext, run: RunRow): Promise<End> {
  const traceparent = context.tracing?.parentOf(run);
  return {
    payload: await payloadOf(context, run),
    attempt: run.attempt ?? 1,
    ...(traceparent !== undefined && { traceparent }),
  };
}

/** The run as `GET` returns it, with its values; `values` is null if they cannot be read. */
async function payloadOf(context: OpsContext, row: RunRow): Promise<string> {
  const run = runModel(row);
  const values = await storedValues(context, row).catch((error: unknown) => {
    context.logger.warn({ err: error, run_id: row.run_id }, "the values for a webhook cannot be read");
    return null;
  });
  return fittingPayload(run, values);
}

/** Leaves out what makes the payload too large. */
function fittingPayload(run: Run, values: JsonObject | null): string {
  const whole = [
    { ...run, values },
    { ...run, values: null },
  ].map((payload) => JSON.stringify(payload));
  const fitting = whole.find((text) => Buffer.byteLength(text) <= LARGEST_PAYLOAD);
  return fitting ?? JSON.stringify({ ...run, kwargs: {}, values: null });
}

const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
