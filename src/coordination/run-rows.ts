/** What not every run that is accepted and begins needs: a webhook that hears of its end, a thread that is busy again. */
import type { Run } from "../models/run.js";
import type { ThreadPatch } from "../storage/contract/storage.js";
import { NotFoundError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import type { LiveRun } from "../runs/live-runs.js";
import type { CheckedRequest } from "../runs/run-request.js";

/**
 * To be called before the run is stored: no way of its ending is missed then. One that is there already is expected to
 * end since then.
 */
export async function registerRunWebhook(
  context: OpsContext,
  run: Run,
  { request: { webhook }, known }: CheckedRequest,
): Promise<void> {
  if (webhook == null || known?.from) return;
  const { registerWebhook: expectEnd } = await import("../webhooks/webhooks.js");
  await expectEnd(context, run, webhook);
}

/** The thread was freed by the run before: it is busy again. */
export async function resumeThreadRow(
  { storage }: OpsContext,
  { run, holder }: LiveRun,
  patch: ThreadPatch,
): Promise<true> {
  const { runs, threads } = storage;
  const { run_id, thread_id, attempt } = run;
  const begun = { updated_at: patch.updated_at, status: "running" as const, attempt: holder.attempt };
  if (runs.take) {
    if (await runs.take(run, { ...holder, attempt }, { ...begun, ...holder }, patch)) return true;
    throw new NotFoundError("run", run_id);
  }
  if (!(await runs.update(run_id, begun))) throw new NotFoundError("run", run_id);
  if (!(await threads.update(thread_id, patch))) throw new NotFoundError("thread", thread_id);
  return true;
}
