import type { Run } from "../models/run.js";
import type { ThreadPatch } from "../storage/contract/storage.js";
import { NotFoundError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import type { LiveRun } from "../runs/live-runs.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { claimed } from "../runs/state.js";

/**
 * Registers the webhook of a run, if it has one. Call this before storing the run, so that no end is missed. A
 * delayed run has had its webhook registered already.
 */
export async function registerRunWebhook(
  context: OpsContext,
  run: Run,
  { request: { webhook }, known }: CheckedRequest,
): Promise<void> {
  if (webhook == null || known?.from) return;
  const { registerWebhook } = await import("../webhooks/webhooks.js");
  await registerWebhook(context, run, webhook);
}

/**
 * Stores that a queued run is running and its thread busy again.
 * @throws NotFoundError (`run_not_found`, `thread_not_found`)
 */
export async function resumeThreadRow(
  { storage }: OpsContext,
  { run, holder: { owner } }: LiveRun,
  patch: ThreadPatch,
): Promise<true> {
  const { runs, threads } = storage;
  const { run_id, thread_id, attempt } = run;
  const begun = { updated_at: patch.updated_at, status: "running" as const, ...claimed(owner, run) };
  if (runs.take) {
    if (await runs.take(run, { owner, attempt }, begun, patch)) return true;
    throw new NotFoundError("run", run_id);
  }
  if (!(await runs.update(run_id, begun))) throw new NotFoundError("run", run_id);
  if (!(await threads.update(thread_id, patch))) throw new NotFoundError("thread", thread_id);
  return true;
}
