/** Accepts runs: every new run passes through here. A queue decides where it executes (../runs/queue.ts). */
import type { RunCreateRequest } from "../models/run.js";
import type { RunKey } from "../storage/contract/runs.js";
import { requireUuid } from "../support/ids.js";
import { checkRequest } from "../runs/check-request.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import type { Accepted } from "../runs/queue.js";
import type { AcceptOptions } from "../runs/run-options.js";
import { type CheckedRequest, traceParent } from "../runs/run-request.js";
import { scopeOf } from "../threads/thread-origin.js";

/**
 * Accepts a run: it is in flight, or stored and queued. Without a shared queue, a run that its caller waits for is stored
 * only when it has its thread.
 * @throws NotFoundError (`assistant_not_found`, `thread_not_found`, `checkpoint_not_found`)
 * @throws ThreadBusyError (`thread_busy`)
 * @throws ThreadExistsError if the thread to create belongs to another caller (`thread_exists`)
 * @throws UnsupportedOptionError (`unsupported_option`)
 * @throws GraphChangedError (`graph_changed`)
 * @throws TooManyActiveRunsError (`too_many_runs`)
 */
export async function acceptRun(
  context: EngineContext,
  threadId: string,
  request: RunCreateRequest,
  options: AcceptOptions = {},
): Promise<Accepted<LiveRun>> {
  const { live, queue } = context;
  const active = queue.isShared ? undefined : live.active;
  const scope = scopeOf(context);
  active?.assertRoom(scope, 1);
  active?.count(scope, 1);
  try {
    live.stopping.throwIfAborted();
    const id = requireUuid(threadId, ["path", "thread_id"]);
    const { takesOver = context.settings.multitask_cancel, known } = options;
    const checked: CheckedRequest = { ...(await checkRequest(context, id, request)), known };
    checked.takesOver = takesOver && (checked.strategy === "interrupt" || checked.strategy === "rollback");
    if (context.tracing) checked.traceParent = await traceParent(context, id, request);
    return await queue.accept(context, checked, options);
  } finally {
    active?.count(scope, -1);
  }
}

/** A request that waits this long for its thread is logged, in milliseconds: proxies time out some time later. */
export const LONG_WAIT_MS = 10_000;

/** Logs the wait of a queued run that a caller waits for, if it has not started by then. */
export function reportQueuedWait(context: EngineContext, run: RunKey): void {
  setTimeout(reportQueued, LONG_WAIT_MS, context, run).unref();
}

function reportQueued(context: EngineContext, { thread_id, run_id: waiting_run_id }: RunKey): void {
  const { live, logger, storage } = context;
  if (live.stopping.aborted) return;
  const report = async () => {
    const row = await storage.runs.get(thread_id, waiting_run_id);
    if (row?.status !== "pending") return;
    const run_id = await runningOn(context, thread_id);
    logger.info(
      { thread_id, run_id, waiting_run_id, seconds: LONG_WAIT_MS / 1000 },
      run_id === undefined
        ? "a queued run waits for a process with free capacity"
        : "a run waits for its thread, which has a run in flight",
    );
  };
  // Without the storage there is nothing to report.
  report().catch(() => undefined);
}

/** Id of the run in flight on the thread, in any process. Undefined if there is none or the storage is unavailable. */
export async function runningOn(
  { live, storage }: EngineContext,
  threadId: string,
): Promise<string | undefined> {
  const local = live.ofThread(threadId).find(({ state }) => state === "running");
  if (local) return local.run.run_id;
  const query = { threadId, status: "running", limit: 1, offset: 0 } as const;
  const [row] = await storage.runs.list(query).catch(() => []);
  return row?.run_id;
}
