/** Walks over lists of any length in pages, so that memory holds one page at a time. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { MAX_LIMIT } from "../models/common.js";
import type { Run, RunFilter } from "../models/run.js";
import { reportedTokens } from "../models/token-counts.js";
import type { ThreadState, ThreadStateSearchRequest } from "../models/state.js";
import type { Thread, ThreadSearchRequest } from "../models/thread.js";
import type { Client } from "./client.js";
import type { ListedRun, RowsClient } from "./rows.js";

/** A state may hold megabytes: few at once, and fewer still until the first is shown. */
function* pageSizes(): Generator<number, never> {
  yield 5;
  for (;;) yield 40;
}

/**
 * States of a thread from the newest on, or from the one before `before`; `limit` of them when it is given.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function* walkStates(
  client: Client,
  threadId: string,
  { limit, ...request }: ThreadStateSearchRequest = {},
): AsyncGenerator<ThreadState> {
  let before = request.before;
  let left = limit ?? Infinity;
  for (const size of pageSizes()) {
    if (left <= 0) return;
    const wanted = Math.min(size, left);
    const states = await client.threads.getHistory(threadId, { ...request, before, limit: wanted });
    yield* states;
    if (states.length < wanted) return;
    left -= states.length;
    // A storage that answers synchronously would starve the writer and the abort signal.
    await nextTurn();
    before = states.at(-1)?.checkpoint?.checkpoint_id;
  }
}

/** Threads that match, in the order of the request; `limit` and `offset` as there. */
export async function* walkThreads(
  client: Pick<RowsClient, "threads">,
  { limit, offset, ...request }: ThreadSearchRequest = {},
): AsyncGenerator<Partial<Thread>> {
  let start = offset ?? 0;
  for (let left = limit ?? Infinity; left > 0;) {
    const wanted = Math.min(left, MAX_LIMIT);
    const threads = await client.threads.search({ ...request, limit: wanted, offset: start });
    yield* threads;
    if (threads.length < wanted) return;
    left -= threads.length;
    start += threads.length;
  }
}

/** Runs of a thread, newest first. */
export function walkRuns<Listed extends ListedRun = Run>(
  { runs }: { runs: { list(threadId: string, filter: RunFilter): Promise<Listed[]> } },
  threadId: string,
  filter?: RunFilter,
): AsyncGenerator<Listed> {
  return walkPages((page) => runs.list(threadId, page), filter);
}

/** Runs of all threads, newest first. */
export function walkAllRuns(
  { runs }: Pick<RowsClient, "runs">,
  filter?: RunFilter,
): AsyncGenerator<ListedRun> {
  return walkPages(async (page) => (await runs.search(page)) as ListedRun[], filter);
}

async function* walkPages<Listed>(
  read: (page: RunFilter) => Promise<Listed[]>,
  { limit = Infinity, offset = 0, status }: RunFilter = {},
): AsyncGenerator<Listed> {
  let start = offset;
  for (let left = limit; left > 0;) {
    const wanted = Math.min(left, MAX_LIMIT);
    const runs = await read({ limit: wanted, offset: start, ...(status && { status }) });
    yield* runs;
    if (runs.length < wanted) return;
    left -= runs.length;
    start += runs.length;
  }
}

/** What the runs of a thread add up to; `errors` counts those that ended in error or ran out of time. */
export async function runTotals(
  client: Pick<RowsClient, "runs">,
  threadId: string,
): Promise<{ runs: number; tokens: number; errors: number }> {
  const totals = { runs: 0, tokens: 0, errors: 0 };
  for await (const { usage, status } of walkRuns(client, threadId)) {
    totals.runs += 1;
    totals.tokens += reportedTokens(usage).total_tokens;
    if (status === "error" || status === "timeout") totals.errors += 1;
  }
  return totals;
}

// States of a thread from the oldest on, which no storage lists: their ids are collected first, the states read again.

/** What names the checkpoints of one namespace, but for their ids. */
type Place = Pick<NonNullable<ThreadState["checkpoint"]>, "thread_id" | "checkpoint_ns">;

/** The way through a thread by the ids of its checkpoints: all that is held of states that are not looked at. */
export class CheckpointPath {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #place: Place | undefined;
  /** Oldest first. */
  readonly #ids: readonly string[];

  constructor(client: Client, threadId: string, ids: readonly string[], place?: Place) {
    this.#client = client;
    this.#threadId = threadId;
    this.#ids = ids;
    this.#place = place;
  }

  /** Through all of these states, which must be newest first and of one namespace. */
  static async of(
    client: Client,
    threadId: string,
    states: AsyncIterable<ThreadState>,
  ): Promise<CheckpointPath> {
    const ids: string[] = [];
    let place: Place | undefined;
    for await (const { checkpoint } of states) {
      const { thread_id = "", checkpoint_ns = "", checkpoint_id } = checkpoint ?? {};
      if (!checkpoint_id) continue;
      ids.push(checkpoint_id);
      place ??= { thread_id, checkpoint_ns };
    }
    return new CheckpointPath(client, threadId, ids.reverse(), place);
  }

  get length(): number {
    return this.#ids.length;
  }

  idAt(index: number): string | undefined {
    return this.#ids[index];
  }

  /** @throws RangeError beyond the end */
  state(index: number): Promise<ThreadState> {
    const checkpoint_id = this.#ids[index];
    if (checkpoint_id === undefined) throw new RangeError(`there is no state ${index}`);
    return this.#client.threads.getState(this.#threadId, { checkpoint: { ...this.#place, checkpoint_id } });
  }

  /** All states in order, a page held at a time. */
  async *states(): AsyncGenerator<ThreadState> {
    let start = 0;
    for (const size of pageSizes()) {
      if (start >= this.length) return;
      yield* this.#page(start, Math.min(start + size, this.length));
      start += size;
      await nextTurn();
    }
  }

  /** What lies before the newest one of the page is one list; where others are in it, each is read by itself. */
  async *#page(start: number, end: number): AsyncGenerator<ThreadState> {
    const newest = await this.state(end - 1);
    const others = end - start - 1;
    const { checkpoint } = newest;
    const listed =
      others === 0
        ? []
        : await this.#client.threads.getHistory(this.#threadId, {
            ...(this.#place?.checkpoint_ns && { checkpoint: this.#place }),
            before: checkpoint?.checkpoint_id,
            limit: others,
          });
    const read = new Map(listed.map((state) => [state.checkpoint?.checkpoint_id, state]));
    for (let index = start; index < end - 1; index += 1)
      yield read.get(this.#ids[index]) ?? (await this.state(index));
    yield newest;
  }
}

/**
 * All states of a thread, or of a subgraph's namespace, oldest first. Finding the oldest of a long thread takes walking
 * all of it; where the very first one is known otherwise, it comes before that walk.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function* walkOldestFirst(
  client: Client,
  threadId: string,
  ns = "",
): AsyncGenerator<ThreadState> {
  const within = ns === "" ? {} : { checkpoint: { checkpoint_ns: ns } };
  const first = await firstState(client, threadId, within);
  if (first) yield first;
  const path = await CheckpointPath.of(client, threadId, walkStates(client, threadId, within));
  for await (const state of path.states())
    if (state.checkpoint?.checkpoint_id !== first?.checkpoint?.checkpoint_id) yield state;
}

/** Step -1 is what the first run was given: when there is one such checkpoint, all others came of it. */
async function firstState(
  client: Client,
  threadId: string,
  within: Pick<ThreadStateSearchRequest, "checkpoint">,
): Promise<ThreadState | undefined> {
  const request = { ...within, metadata: { step: -1 }, limit: 2 };
  const [state, another] = await client.threads.getHistory(threadId, request);
  return another || state?.parent_checkpoint ? undefined : state;
}
