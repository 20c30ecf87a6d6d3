/** Runs without a thread of the client's: each gets one of its own, which is gone when anybody hears of the run's end. */
import type { RunCreateRequest } from "../models/run.js";
import type { EngineContext, LiveRunOptions } from "./live-runs.js";
import type { Stateless } from "./run-log.js";
import { scopeOf } from "./thread-origin.js";
import { Threads } from "./threads.js";

/** Should the server die meanwhile, the sweep removes what is left of a temporary thread after this time. */
const LEFTOVER_TTL_MINUTES = 60;

/** What makes a run a stateless one. */
export interface StatelessOptions extends Pick<LiveRunOptions, "atEnd"> {
  stateless: Stateless;
}

/** Start a run on a thread of its own, which goes with the run unless `on_completion` is `keep`. */
export async function onOwnThread<T>(
  context: EngineContext,
  { on_completion }: RunCreateRequest,
  start: (threadId: string, options: StatelessOptions) => Promise<T>,
): Promise<T> {
  const threads = new Threads(context);
  const keep = on_completion === "keep";
  const { thread_id } = await threads.create(keep ? {} : { ttl: LEFTOVER_TTL_MINUTES });
  const atEnd = () => removed(context, thread_id, () => threads.remove(thread_id));
  const stateless = { thread_id, scope: scopeOf(context) };
  try {
    return await start(thread_id, { stateless, ...(!keep && { atEnd }) });
  } catch (error) {
    await removed(context, thread_id, () => threads.delete(thread_id));
    throw error;
  }
}

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
