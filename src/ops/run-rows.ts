/** The rows of a run that is accepted, and that begins, where no queue sees to that. */
import type { Run } from "../models/run.js";
import type { RunHolder, RunRow, Storage, ThreadPatch } from "../storage/storage.js";
import { NotFoundError } from "../support/errors.js";
import type { OpsContext } from "./context.js";
import type { EngineContext, LiveRun } from "./live-runs.js";
import type { CheckedRequest } from "./run-request.js";

/**
 * To be called before the run is stored: no way of its ending is missed then. One that is there already is expected to
 * end since then.
 */
export async function expectWebhook(
  context: OpsContext,
  run: Run,
  { request: { webhook }, known }: CheckedRequest,
): Promise<void> {
  if (webhook == null || known?.from) return;
  const { expectEnd } = await import("./webhooks.js");
  await expectEnd(context, run, webhook);
}

/**
 * Store the run's row and change its thread. A storage that does not answer may have stored the row all the same: one whose id is known goes on then.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function insertRun(
  context: EngineContext,
  checked: CheckedRequest,
  { run, resumption }: LiveRun,
  thread: ThreadPatch,
): Promise<false> {
  const { storage, live, ownerId } = context;
  const { known } = checked;
  const row = { ...run, owner: ownerId, resumption };
  await expectWebhook(context, run, checked);
  let isStored: boolean;
  try {
    isStored = await storeRow(storage, row, thread, known?.from);
  } catch (error) {
    live.results.suspect(run, known !== undefined);
    throw error;
  }
  if (!isStored) throw new NotFoundError("thread", run.thread_id);
  return false;
}

/** The thread was freed by the run before: it is busy again. */
export async function wakeRun(
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

/**
 * Store a run and change its thread. One that is there already comes from whoever has it to this process, once. False when
 * there is no such thread, or the run is not that one's.
 */
async function storeRow(
  { runs, threads }: Storage,
  row: RunRow,
  thread: ThreadPatch,
  from: RunHolder | undefined,
): Promise<boolean> {
  if (!from) return runs.insert(row, thread);
  const { run_id, thread_id, owner, attempt = 1, resumption } = row;
  const patch = { updated_at: thread.updated_at, owner, attempt, resumption };
  if (runs.take) return runs.take({ run_id, thread_id }, from, patch, thread);
  if (!(await runs.update(run_id, patch, from))) return false;
  return (await threads.update(thread_id, thread)) !== undefined;
}
