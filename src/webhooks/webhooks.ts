/**
 * Webhooks: how a run ended, posted to where its request says (docs/webhooks.md). A row for each is stored before the run
 * is accepted, and looked at until the run has ended: no way of ending is missed.
 */
import { Buffer } from "node:buffer";
import type { JsonObject } from "../models/common.js";
import { isFinished, now } from "../storage/rows/rows.js";
import type { RunKey, RunRow, TimerRow, TimerTable } from "../storage/contract/storage.js";
import { type OpsContext, withParts } from "../context/context.js";
import { storedValues } from "../delivery/remote-runs.js";
import type { EngineContext } from "../runs/live-runs.js";
import { isDelayed } from "../runs/run-owners.js";
import { isStorable, storable } from "../runs/resumption.js";
import { runModel, scopeOf } from "../threads/thread-origin.js";
import { requireTimerRoom } from "../context/timer-limits.js";
import { webhookSender, type WebhookData, type WebhookRow } from "./webhook-sender.js";

/** How often a run is looked at, should nobody tell that it has ended. */
const LOOK_MS = 30_000;
/** The same of one that waits for its time. */
const RARE_LOOK_MS = 600_000;
/** A request may be between this row and that of its run for so long. */
const ACCEPTING_MS = 60_000;
/** What is sent of a run, in bytes; values that make it larger are left out. */
const LARGEST_PAYLOAD = 1024 * 1024;

/** Before the run is stored. @throws GraphServeError where too many are unsent (`too_many_runs`) */
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
    // Its thread may go with the run.
    thread_id: null,
    scope: scopeOf(context),
    due_at: after(at, LOOK_MS),
    created_at: at,
    version: 1,
    data: data as WebhookData & JsonObject,
  });
}

const UNSENT = { payload: null, attempt: null, sendings: 0, last_error: null, failed_at: null };

/**
 * The same for a run that had ended, and is to end another time; how it ended before is not sent any more. Returns what
 * takes that back.
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
    if (await table.replace({ ...row, due_at: after(now(), LOOK_MS), data }))
      return () => table.replace({ ...row, version: row.version + 1 });
  }
}

/** The run has ended, and its values can still be read: what is to be sent, is due. False when that is not stored yet. Never rejects. */
export async function scheduleWebhook(context: OpsContext, { run_id, thread_id }: RunKey): Promise<boolean> {
  const { timers, storage, logger } = context;
  try {
    for (;;) {
      const row = (await timers?.table.get("webhook", run_id)) as WebhookRow | undefined;
      if (!timers || !row || row.data.payload !== null) return true;
      const run = await storage.runs.get(thread_id, run_id);
      if (!run || !isFinished(run)) return true;
      const data = { ...row.data, ...(await endOf(context, run)) };
      if (!(await timers.table.replace({ ...row, due_at: now(), data }))) continue;
      timers.wake();
      return true;
    }
  } catch (error) {
    logger.warn({ err: error, run_id }, "the end of a run with a webhook is noted later");
    return false;
  }
}

/** Send what is due, or look whether the run has ended. */
export async function fireWebhook(context: EngineContext, timer: TimerRow, at: string): Promise<void> {
  const row = timer as WebhookRow;
  const table = context.timers?.table as TimerTable;
  const { webhooks } = context.settings;
  if (row.data.failed_at !== null || !webhooks) return void (await table.delete("webhook", row.id));
  const end = row.data.payload === null ? await lookForEnd(context, row) : {};
  if (end) return webhookSender(webhooks).send(context, { ...row, data: { ...row.data, ...end } }, at);
  const run = await context.storage.runs.get(row.data.thread_id, row.id);
  const isGone = !run && Date.parse(at) - Date.parse(row.created_at) > ACCEPTING_MS;
  if (isGone) await table.delete("webhook", row.id);
  else await table.replace({ ...row, due_at: after(at, run && isDelayed(run) ? RARE_LOOK_MS : LOOK_MS) });
}

type End = Pick<WebhookData, "payload" | "attempt">;

async function lookForEnd(context: OpsContext, { id, data }: WebhookRow): Promise<End | undefined> {
  const run = await context.storage.runs.get(data.thread_id, id);
  if (!run || !isFinished(run)) return undefined;
  return endOf(withParts(context, { caller: data.caller ?? undefined }), run);
}

const endOf = async (context: OpsContext, run: RunRow): Promise<End> => ({
  payload: await payloadOf(context, run),
  attempt: run.attempt ?? 1,
});

/** The run as `GET` shows it, with what it answers; values that cannot be read are none. */
async function payloadOf(context: OpsContext, row: RunRow): Promise<string> {
  const run = runModel(row);
  const values = await storedValues(context, row).catch((error: unknown) => {
    context.logger.warn({ err: error, run_id: row.run_id }, "the values for a webhook cannot be read");
    return null;
  });
  const whole = [
    { ...run, values },
    { ...run, values: null },
  ].map((payload) => JSON.stringify(payload));
  const fitting = whole.find((text) => Buffer.byteLength(text) <= LARGEST_PAYLOAD);
  return fitting ?? JSON.stringify({ ...run, kwargs: {}, values: null });
}

const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
