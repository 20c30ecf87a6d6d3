/** Reports changes of threads and runs, of this process and others, to clients that show lists. */
import type { Changes } from "../models/changes.js";
import type { Frame, FrameStream } from "../models/run-stream.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext, LiveRuns } from "../runs/live-runs.js";
import { searchRuns } from "../storage/run-search.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { ThreadFilter, ThreadRow } from "../storage/contract/threads.js";
import { GraphServeError } from "../support/errors.js";
import { scopeFilter, scopeOf } from "../threads/thread-origin.js";

/** Poll interval in milliseconds. Every storage is polled, because notifications of other processes may be lost. */
const POLL_MS = 500;
/** Pause after a poll relative to its duration, so that polls of a large table do not load the database. */
const PAUSE_RATIO = 10;
const MAX_POLL_MS = 10_000;
/** Events after a model call: its usage may be stored after the first one. */
const USAGE_EVENTS = 2;
/** Maximum number of threads and of runs in one event. */
const MOST_CHANGES = 200;
/** Maximum number of open streams of one user, or of all clients without authentication. */
const MOST_CHANGE_STREAMS = 200;

/** What a poll of the threads can see. */
type ListedChanges = Omit<Changes, "usage">;
type ChangedThread = Changes["threads"][number];
type ChangedRun = Changes["runs"][number];

const feedsOf = new WeakMap<LiveRuns, Map<string, ChangeFeed>>();

/**
 * Opens a stream of the changes to the caller's threads and their runs. It begins with an empty event, after which no
 * change is missed.
 * @throws GraphServeError if there are too many streams (`too_many_streams`)
 */
export function streamChanges(context: EngineContext): FrameStream {
  const { live } = context;
  live.stopping.throwIfAborted();
  const feeds = feedsOf.get(live) ?? new Map<string, ChangeFeed>();
  feedsOf.set(live, feeds);
  const filter = scopeFilter(context, {});
  const key = JSON.stringify(filter);
  let feed = feeds.get(key);
  if (!feed) feeds.set(key, (feed = new ChangeFeed(context, filter, live.stopping, () => feeds.delete(key))));
  return feed.read();
}

/** Polls the threads of one user for all streams of that user, while there are any. */
class ChangeFeed {
  readonly #context: OpsContext;
  readonly #filter: ThreadFilter;
  readonly #stopping: AbortSignal;
  readonly #onIdle: () => void;
  readonly #readers = new Set<ChangeReader>();
  readonly #poll = new ThreadPoll();
  readonly #unsubscribe: () => void;
  readonly #stopUsage: (() => void) | undefined;
  /** Number of events that have to report usage. */
  #usageEvents = 0;
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(context: OpsContext, filter: ThreadFilter, stopping: AbortSignal, onIdle: () => void) {
    this.#context = context;
    this.#filter = filter;
    this.#stopping = stopping;
    this.#onIdle = onIdle;
    stopping.addEventListener("abort", this.#close);
    this.#unsubscribe = context.wakeups.listen(() => void this.#look());
    const scope = scopeOf(context);
    this.#stopUsage = context.recorder?.listen((of) => {
      if (scope === null || of === scope) this.#usageEvents = USAGE_EVENTS;
    });
    void this.#look();
  }

  read(): FrameStream {
    if (this.#readers.size >= MOST_CHANGE_STREAMS)
      throw new GraphServeError("too_many_streams", `${MOST_CHANGE_STREAMS} streams of changes are open`, {
        hint: "close streams that are not read",
      });
    const reader = new ChangeReader(() => this.#leave(reader));
    this.#readers.add(reader);
    const { total } = this.#poll;
    if (total !== undefined) reader.push({ ...nothing(total), usage: false });
    return { frames: reader.frames(), disconnect: () => reader.close() };
  }

  #leave(reader: ChangeReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) this.#close();
  }

  readonly #close = (): void => {
    clearTimeout(this.#timer);
    this.#unsubscribe();
    this.#stopUsage?.();
    this.#stopping.removeEventListener("abort", this.#close);
    this.#onIdle();
    for (const reader of this.#readers) reader.close();
  };

  async #look(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    clearTimeout(this.#timer);
    const start = performance.now();
    let pause = POLL_MS;
    try {
      const changes = await this.#poll.next(this.#context, this.#filter);
      const usage = this.#usageEvents > 0;
      if (usage) this.#usageEvents -= 1;
      if (changes || usage)
        for (const reader of this.#readers) reader.push({ ...nothing(this.#poll.total), ...changes, usage });
    } catch (error) {
      this.#context.logger.warn({ err: error }, "cannot read changes of threads; retrying");
      pause = MAX_POLL_MS;
    }
    this.#isPolling = false;
    if (this.#readers.size === 0 || this.#stopping.aborted) return;
    pause = Math.min(Math.max(pause, (performance.now() - start) * PAUSE_RATIO), MAX_POLL_MS);
    this.#timer = setTimeout(() => void this.#look(), pause).unref();
  }
}

/** Compares the most recently updated threads with those of the previous poll. */
class ThreadPoll {
  total: number | undefined;
  /** Time and status of the threads, by id. */
  #known = new Map<string, ThreadRow>();
  /** Threads updated before were not read. */
  #since = "";

  /** The changes since the previous call; undefined if there are none. The first call returns an empty change. */
  async next({ storage }: OpsContext, filter: ThreadFilter): Promise<ListedChanges | undefined> {
    const query = {
      ...filter,
      sortBy: "updated_at",
      sortOrder: "desc",
      limit: MOST_CHANGES,
      offset: 0,
    } as const;
    const { rows, total } = await storage.threads.search(query);
    const [known, since] = [this.#known, this.#since];
    const isFirst = this.total === undefined;
    const isSame = total === this.total;
    this.total = total;
    this.#known = new Map(rows.map((row) => [row.thread_id, row]));
    this.#since = rows.length < MOST_CHANGES ? "" : (rows.at(-1)?.updated_at ?? "");
    if (isFirst) return nothing(total);
    // A deletion moves older threads into the page: they have not changed.
    const changed = rows.filter(
      (row) => row.updated_at >= since && hasChanged(known.get(row.thread_id), row),
    );
    if (changed.length === 0) return isSame ? undefined : nothing(total);
    const threadIds = changed.map(({ thread_id }) => thread_id);
    const runs = await searchRuns(storage, { threadIds, limit: MOST_CHANGES, offset: 0 });
    const isNew = (run: RunRow) => run.updated_at >= (known.get(run.thread_id)?.updated_at ?? since);
    return {
      threads: changed.map(threadOf),
      runs: runs.filter(isNew).map(runOf),
      total,
      is_complete: changed.length < MOST_CHANGES && (runs.length < MOST_CHANGES || !runs.every(isNew)),
    };
  }
}

const nothing = (total = 0): ListedChanges => ({ threads: [], runs: [], total, is_complete: true });

const hasChanged = (before: ThreadRow | undefined, { updated_at, status }: ThreadRow): boolean =>
  before?.updated_at !== updated_at || before.status !== status;

const threadOf = ({ thread_id, status, updated_at }: ThreadRow): ChangedThread => ({
  thread_id,
  status,
  updated_at,
});

const runOf = ({ run_id, thread_id, status, updated_at }: RunRow): ChangedRun => ({
  run_id,
  thread_id,
  status,
  updated_at,
});

/** Changes that one client has not received yet, merged if it reads slowly. */
class ChangeReader {
  readonly #onLeave: () => void;
  #threads = new Map<string, ChangedThread>();
  #runs = new Map<string, ChangedRun>();
  #rest: Pick<Changes, "total" | "usage" | "is_complete"> | undefined;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  push({ threads, runs, total, usage, is_complete }: Changes): void {
    for (const thread of threads) this.#threads.set(thread.thread_id, thread);
    for (const run of runs) this.#runs.set(run.run_id, run);
    const fits = this.#threads.size <= MOST_CHANGES && this.#runs.size <= MOST_CHANGES;
    if (!fits) this.#forget();
    const { usage: hadUsage = false, is_complete: wasComplete = true } = this.#rest ?? {};
    this.#rest = { total, usage: usage || hadUsage, is_complete: is_complete && fits && wasComplete };
    this.#wake();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake();
    this.#onLeave();
  }

  async *frames(): AsyncGenerator<readonly Frame[], void, undefined> {
    try {
      for (let id = 0; !this.#isClosed; id += 1) {
        while (!this.#rest && !this.#isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
        if (this.#rest && !this.#isClosed)
          yield [{ id, event: "changes", data: JSON.stringify(this.#take()) }];
      }
    } finally {
      this.close();
    }
  }

  #take(): Changes {
    const rest = this.#rest ?? { total: 0, usage: false, is_complete: true };
    const changes = { threads: [...this.#threads.values()], runs: [...this.#runs.values()], ...rest };
    this.#forget();
    this.#rest = undefined;
    return changes;
  }

  #forget(): void {
    this.#threads = new Map();
    this.#runs = new Map();
  }
}
