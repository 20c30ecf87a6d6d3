/** Iterates over lists of any length page by page, so that only one page is in memory. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { MAX_LIMIT } from "../models/common.js";
import type { Run, RunFilter } from "../models/run.js";
import { reportedTokens } from "../models/token-counts.js";
import type { ThreadState, ThreadStateSearchRequest } from "../models/state.js";
import type { Thread, ThreadSearchRequest } from "../models/thread.js";
import type { Client } from "./client.js";
import type { ListedRun, RowsClient } from "./rows.js";

/** A state can be megabytes, so pages are small; the first is smaller to show results sooner. */
function* pageSizes(): Generator<number, never> {
  yield 5;
  for (;;) yield 40;
}

/**
 * States of a thread from the newest, or from the one before `before`; at most `limit`.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function* walkStates(
  client: Client,
  threadId: string,
  { limit, ...request }: ThreadStateSearchRequest = {},
): AsyncGenerator<ThreadState> {
  let before = request.before;
  let remaining = limit ?? Infinity;
  for (const size of pageSizes()) {
    if (remaining <= 0) return;
    const wanted = Math.min(size, remaining);
    const states = await client.threads.getHistory(threadId, { ...request, before, limit: wanted });
    yield* states;
    if (states.length < wanted) return;
    remaining -= states.length;
    // A storage with synchronous reads would starve the writer and the abort signal.
    await nextTurn();
    before = states.at(-1)?.checkpoint?.checkpoint_id;
  }
}

/** Threads that match the request, in its order; `limit` and `offset` apply to the whole list. */
export const walkThreads = (
  { threads }: Pick<RowsClient, "threads">,
  { limit, offset, ...request }: ThreadSearchRequest = {},
): AsyncGenerator<Partial<Thread>> =>
  walkPages((page) => threads.search({ ...request, ...page }), { limit, offset });

export const walkRuns = <Listed extends ListedRun = Run>(
  { runs }: { runs: { list(threadId: string, filter: RunFilter): Promise<Listed[]> } },
  threadId: string,
  { limit, offset, ...filter }: RunFilter = {},
): AsyncGenerator<Listed> =>
  walkPages((page) => runs.list(threadId, { ...filter, ...page }), { limit, offset });

/** Runs of all threads, newest first. */
export const walkAllRuns = (
  { runs }: Pick<RowsClient, "runs">,
  { limit, offset, ...filter }: RunFilter = {},
): AsyncGenerator<ListedRun> =>
  walkPages(async (page) => (await runs.search({ ...filter, ...page })) as ListedRun[], { limit, offset });

/** Any list; `limit` and `offset` apply to the whole of it. */
export async function* walkPages<Listed>(
  read: (page: { limit: number; offset: number }) => Promise<Listed[]>,
  { limit, offset }: Pick<ThreadSearchRequest, "limit" | "offset"> = {},
): AsyncGenerator<Listed> {
  let start = offset ?? 0;
  for (let remaining = limit ?? Infinity; remaining > 0;) {
    const wanted = Math.min(remaining, MAX_LIMIT);
    const page = await read({ limit: wanted, offset: start });
    yield* page;
    if (page.length < wanted) return;
    remaining -= page.length;
    start += page.length;
  }
}

/** Totals over the runs of a thread; `errors` counts runs with status error or timeout. */
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

// Storages do not list states oldest first. Their ids are collected first, then the states are read
// again.

/** Identifies the checkpoints of one namespace. */
type NamespaceRef = Pick<NonNullable<ThreadState["checkpoint"]>, "thread_id" | "checkpoint_ns">;

/** The checkpoint ids of a thread, oldest first. States are read on demand and not kept. */
export class CheckpointPath {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #namespace: NamespaceRef | undefined;
  /** Oldest first. */
  readonly #ids: readonly string[];

  constructor(client: Client, threadId: string, ids: readonly string[], namespace?: NamespaceRef) {
    this.#client = client;
    this.#threadId = threadId;
    this.#ids = ids;
    this.#namespace = namespace;
  }

  /** Collects the ids of `states`, which must be newest first and in one namespace. */
  static async of(
    client: Client,
    threadId: string,
    states: AsyncIterable<ThreadState>,
  ): Promise<CheckpointPath> {
    const ids: string[] = [];
    let namespace: NamespaceRef | undefined;
    for await (const { checkpoint } of states) {
      const { thread_id = "", checkpoint_ns = "", checkpoint_id } = checkpoint ?? {};
      if (!checkpoint_id) continue;
      ids.push(checkpoint_id);
      namespace ??= { thread_id, checkpoint_ns };
    }
    return new CheckpointPath(client, threadId, ids.reverse(), namespace);
  }

  get length(): number {
    return this.#ids.length;
  }

  idAt(index: number): string | undefined {
    return this.#ids[index];
  }

  /** @throws RangeError if the index is out of range */
  state(index: number): Promise<ThreadState> {
    const checkpoint_id = this.#ids[index];
    if (checkpoint_id === undefined) throw new RangeError(`state ${index} does not exist`);
    return this.#client.threads.getState(this.#threadId, {
      checkpoint: { ...this.#namespace, checkpoint_id },
    });
  }

  /** All states in order, one page in memory at a time. */
  async *states(): AsyncGenerator<ThreadState> {
    let start = 0;
    for (const size of pageSizes()) {
      if (start >= this.length) return;
      yield* this.#page(start, Math.min(start + size, this.length));
      start += size;
      await nextTurn();
    }
  }

  /**
   * Reads the page as one list: the states before its newest one. States that are not in this list,
   * because of forks, are read individually.
   */
  async *#page(start: number, end: number): AsyncGenerator<ThreadState> {
    const newest = await this.state(end - 1);
    const others = end - start - 1;
    const { checkpoint } = newest;
    const listed =
      others === 0
        ? []
        : await this.#client.threads.getHistory(this.#threadId, {
            ...(this.#namespace?.checkpoint_ns && { checkpoint: this.#namespace }),
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
 * All states of a thread, or of a subgraph's namespace, oldest first. Finding the oldest state
 * requires walking the whole thread; if the first state can be found directly, it is yielded before
 * that walk.
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

/**
 * Step -1 is the input of the first run. If there is exactly one such checkpoint, it is the
 * ancestor of all others.
 */
async function firstState(
  client: Client,
  threadId: string,
  within: Pick<ThreadStateSearchRequest, "checkpoint">,
): Promise<ThreadState | undefined> {
  const request = { ...within, metadata: { step: -1 }, limit: 2 };
  const [state, another] = await client.threads.getHistory(threadId, request);
  return another || state?.parent_checkpoint ? undefined : state;
}
