/** Walks over lists of any length in pages, so that memory holds one page at a time. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { MAX_LIMIT } from "../../models/common.js";
import type { Run, RunListQuery } from "../../models/run.js";
import type { ThreadState, ThreadStateSearchRequest } from "../../models/state.js";
import type { Thread, ThreadSearchRequest } from "../../models/thread.js";
import type { Source } from "./source.js";

/** A state may hold megabytes: few at once, and fewer still until the first is shown. */
export function* pageSizes(): Generator<number, never> {
  yield 5;
  for (;;) yield 40;
}

/**
 * States of a thread from the newest on, or from the one before `before`; `limit` of them when it is given.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function* walkStates(
  source: Source,
  threadId: string,
  { limit, ...request }: ThreadStateSearchRequest = {},
): AsyncGenerator<ThreadState> {
  let before = request.before;
  let left = limit ?? Infinity;
  for (const size of pageSizes()) {
    if (left <= 0) return;
    const wanted = Math.min(size, left);
    const states = await source.state.history(threadId, { ...request, before, limit: wanted });
    yield* states;
    if (states.length < wanted) return;
    left -= states.length;
    // A storage that answers at once would starve what is being written, and whoever wants to stop it.
    await nextTurn();
    before = states.at(-1)?.checkpoint?.checkpoint_id;
  }
}

/** Threads that match, in the order of the request; `limit` and `offset` as there. */
export async function* walkThreads(
  source: Source,
  { limit, offset, ...request }: ThreadSearchRequest = {},
): AsyncGenerator<Partial<Thread>> {
  let start = offset ?? 0;
  for (let left = limit ?? Infinity; left > 0;) {
    const wanted = Math.min(left, MAX_LIMIT);
    const { items } = await source.threads.search({ ...request, limit: wanted, offset: start });
    yield* items;
    if (items.length < wanted) return;
    left -= items.length;
    start += items.length;
  }
}

/** Runs of a thread, newest first. */
export async function* walkRuns(
  source: Source,
  threadId: string,
  { limit = Infinity, offset = 0, status }: RunListQuery = {},
): AsyncGenerator<Run> {
  let start = offset;
  for (let left = limit; left > 0;) {
    const wanted = Math.min(left, MAX_LIMIT);
    const runs = await source.runs.list(threadId, {
      limit: wanted,
      offset: start,
      ...(status && { status }),
    });
    yield* runs;
    if (runs.length < wanted) return;
    left -= runs.length;
    start += runs.length;
  }
}
