/** Runs without a thread of the client's: each gets one of its own, which is gone when anybody hears of the run's end. */
import type { RunCreateRequest } from "../models/run.js";
import { MAX_TTL_MINUTES } from "../models/thread.js";
import type { RunKey } from "../storage/contract/storage.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { Stateless } from "../frames/run-log.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { scopeOf } from "../threads/thread-origin.js";
import { ThreadExistsError } from "../support/errors.js";
import { deleteThread } from "./delete-thread.js";
import { createThread, removeThread } from "../threads/thread-state.js";

/** Should the server die meanwhile, the sweep removes what is left of a temporary thread after this time. */
const LEFTOVER_TTL_MINUTES = 60;

/** What makes a run a stateless one. */
export interface StatelessOptions extends Pick<LiveRunOptions, "atEnd"> {
  stateless: Stateless;
}

export interface OwnThread {
  /** The thread's id where that is settled; another server may have made it, for the same run. */
  threadId?: string;
  /** Whether the sweep takes the thread, some time after the run: who asks again is told of it. */
  stays?: boolean;
}

/** Start a run on a thread of its own, which goes with the run unless `on_completion` is `keep`. */
export async function withTemporaryThread<T>(
  context: EngineContext,
  { on_completion, after_seconds, metadata }: RunCreateRequest,
  start: (threadId: string, options: StatelessOptions) => Promise<T>,
  { threadId, stays = false }: OwnThread = {},
): Promise<T> {
  const keep = on_completion === "keep";
  // Undefined if another server created the thread for the same run.
  const made = await createThread(context, {
    metadata,
    ...(threadId !== undefined && { thread_id: threadId }),
    ...(!keep && { ttl: ttlAfter(after_seconds ?? 0) }),
  }).catch((error: unknown) => {
    if (threadId !== undefined && error instanceof ThreadExistsError) return undefined;
    throw error;
  });
  const thread_id = made?.thread_id ?? String(threadId);
  const atEnd = removalOf(context, thread_id);
  const stateless = { thread_id, scope: scopeOf(context) };
  try {
    return await start(thread_id, { stateless, ...(!keep && !stays && { atEnd }) });
  } catch (error) {
    if (threadId === undefined) await removed(context, thread_id, () => deleteThread(context, thread_id));
    else if (made) await removed(context, thread_id, () => removeUnused(context, thread_id));
    throw error;
  }
}

/** What is wrong with the delay of a run is told when that is accepted. */
const ttlAfter = (seconds: number): number =>
  Math.min(LEFTOVER_TTL_MINUTES + Math.ceil(Math.max(seconds, 0) / 60), MAX_TTL_MINUTES);

/** The run that was accepted meanwhile for another server has the thread. */
async function removeUnused(context: EngineContext, thread_id: string): Promise<void> {
  const { locks, runs } = context.storage;
  const lease = await locks.acquire(thread_id, { wait: false });
  if (!lease) return;
  try {
    const [run] = await runs.list({ threadId: thread_id, limit: 1, offset: 0 });
    if (!run) await removeThread(context, thread_id);
  } finally {
    await lease.release();
  }
}

/** What a run's end does to a thread that is temporary: with one that is dead it stays until the sweep. */
export const removalOf =
  (context: EngineContext, thread_id: string): NonNullable<LiveRunOptions["atEnd"]> =>
  async (isDead) =>
    isDead ? undefined : removed(context, thread_id, () => removeThread(context, thread_id));

/** The end of a run is noted for its webhook, before what else its end does. */
export const onEnd =
  (
    context: EngineContext,
    run: RunKey,
    atEnd: LiveRunOptions["atEnd"],
  ): NonNullable<LiveRunOptions["atEnd"]> =>
  async (isDead) => {
    const { scheduleWebhook: noteEnd } = await import("../webhooks/webhooks.js");
    // Its thread stays until then, or until the sweep.
    if (await noteEnd(context, run)) await atEnd?.(isDead);
  };

/** A thread that cannot be removed now is left to the sweep: nobody knows of it. */
async function removed(
  { logger }: EngineContext,
  thread_id: string,
  remove: () => Promise<unknown>,
): Promise<void> {
  try {
    await remove();
  } catch (error) {
    logger.warn({ err: error, thread_id }, "a temporary thread could not be removed yet");
  }
}
