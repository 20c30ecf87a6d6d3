/** What is done at the end of a run, before its end is reported: its webhook, and the removal of its temporary thread. */
import type { OpsContext } from "../context/context.js";
import type { Run } from "../models/run.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import type { RunKey, RunRow } from "../storage/contract/runs.js";
import { runModel } from "../storage/rows/run-rows.js";
import { removeThread } from "../threads/thread-state.js";

/**
 * Schedules the webhook of a run when it ends, then calls `atEnd`.
 * @param unbegun the run, if it never held its thread and may have been deleted with it
 */
export const onEnd =
  (
    context: OpsContext,
    run: RunKey,
    atEnd: LiveRunOptions["atEnd"],
    unbegun?: Run,
  ): NonNullable<LiveRunOptions["atEnd"]> =>
  async (isDead) => {
    const { scheduleWebhook } = await import("../webhooks/webhooks.js");
    // Until the end is recorded, the thread must stay; otherwise the sweep deletes it.
    if (await scheduleWebhook(context, run, unbegun)) await atEnd?.(isDead);
  };

/**
 * Schedules the webhook of the run, if it has one: once its row is deleted, nothing does.
 * @param unbegun its row, if it ended without the lock of its thread, which may be deleted meanwhile
 */
export async function scheduleEnd(context: OpsContext, run: RunKey, unbegun?: RunRow): Promise<void> {
  if (!context.timers?.kinds.includes("webhook")) return;
  await onEnd(context, run, undefined, unbegun && runModel(unbegun))(false);
}

/** Deletes a temporary thread when its run ends. The thread of a dead run stays until the sweep. */
export const removalOf =
  (context: OpsContext, thread_id: string): NonNullable<LiveRunOptions["atEnd"]> =>
  async (isDead) =>
    isDead ? undefined : removed(context, thread_id, () => removeThread(context, thread_id));

/** Ends a delayed run that never started: its webhook, and the removal of its thread if that is temporary. */
export async function endUnstarted(
  context: OpsContext,
  run: RunRow,
  { isTemporary, isDead = false }: { isTemporary: boolean; isDead?: boolean },
): Promise<void> {
  const atEnd = isTemporary ? removalOf(context, run.thread_id) : undefined;
  if (context.timers?.kinds.includes("webhook")) await onEnd(context, run, atEnd, runModel(run))(isDead);
  else await atEnd?.(isDead);
}

/** Never rejects: the sweep deletes a thread that could not be deleted here, and no client knows its id. */
export async function removed(
  { logger }: OpsContext,
  thread_id: string,
  remove: () => Promise<unknown>,
): Promise<void> {
  try {
    await remove();
  } catch (error) {
    logger.warn({ err: error, thread_id }, "a temporary thread could not be removed yet");
  }
}
