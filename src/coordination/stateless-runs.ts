/** Stateless runs: each gets a temporary thread, which is deleted before the end of the run is reported. */
import type { RunCreateRequest } from "../models/run.js";
import { MAX_TTL_MINUTES } from "../models/thread.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { Stateless } from "../frames/run-log.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import type { RunKey } from "../storage/contract/runs.js";
import { scopeOf } from "../threads/thread-origin.js";
import { ThreadExistsError } from "../support/errors.js";
import { removalOf, removed } from "./at-end.js";
import { deleteThread } from "./delete-thread.js";
import { createThread, removeUnchanged } from "../threads/thread-state.js";

/** Time to live of a temporary thread: if the server crashes, the sweep deletes the thread after this time. */
const LEFTOVER_TTL_MINUTES = 60;

export interface StatelessOptions extends Pick<LiveRunOptions, "atEnd"> {
  stateless: Stateless;
}

export interface OwnThread {
  /** Fixed id of the thread. Another server may have created the thread already, for the same run. */
  threadId?: string;
  /** Whether the thread stays until the sweep, so that a retried request can still read the run. */
  stays?: boolean;
}

/** Starts a run on a new thread, which is deleted with the run unless `on_completion` is `keep`. */
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

/** Cancels a run and deletes its temporary thread, as if the run had not been requested. Never rejects. */
export async function withdraw(context: EngineContext, { run_id, thread_id }: RunKey): Promise<void> {
  await removed(context, thread_id, async () => {
    await context.timers?.table.delete("webhook", run_id);
    if (await context.storage.threads.get(thread_id)) await deleteThread(context, thread_id);
  });
}

/** Tolerates invalid delays: they are rejected later, when the run is accepted. */
const ttlAfter = (seconds: number): number =>
  Math.min(LEFTOVER_TTL_MINUTES + Math.ceil(Math.max(seconds, 0) / 60), MAX_TTL_MINUTES);

/** Keeps the thread if another server has accepted the run on it in the meantime. */
async function removeUnused(context: EngineContext, thread_id: string): Promise<void> {
  const { locks, runs, threads } = context.storage;
  const lease = await locks.acquire(thread_id, { wait: false });
  if (!lease) return;
  try {
    const row = await threads.get(thread_id);
    const [run] = await runs.list({ threadId: thread_id, limit: 1, offset: 0 });
    if (row && !run) await removeUnchanged(context, row);
  } finally {
    await lease.release();
  }
}
