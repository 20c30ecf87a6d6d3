/** Event feeds of threads, kept while they have readers and for a short time after. */
import type { EventFilter } from "../models/protocol.js";
import { GraphServeError } from "../support/errors.js";
import { withParts } from "../context/context.js";
import type { EngineContext, LiveRun, ThreadFollower } from "../runs/live-runs.js";
import { answerFrom } from "../models/interrupt-answer.js";
import type { EndedRun } from "../frames/run-logs.js";
import { StoredRuns } from "./stored-runs.js";
import { type FeedReader, ThreadFeed } from "../frames/thread-feed.js";

/** Maximum number of open streams of one thread. */
const MOST_STREAMS_A_THREAD = 100;
/** How long a feed without readers is kept, in milliseconds: clients disconnect and reconnect often. */
const LINGER_MS = 60_000;

interface FeedEntry {
  feed: ThreadFeed;
  /** Feeds the runs that have no log in this process. */
  stored: StoredRuns;
  linger: NodeJS.Timeout | undefined;
}

export class ThreadFeeds implements ThreadFollower {
  readonly #context: EngineContext;
  readonly #feeds = new Map<string, FeedEntry>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The feeds of the service, created on first use. */
  static of(context: EngineContext): ThreadFeeds {
    const { live } = context;
    // All callers share the feed of a thread. Access is checked elsewhere.
    const feeds =
      live.follower instanceof ThreadFeeds
        ? live.follower
        : new ThreadFeeds(withParts(context, { caller: undefined }));
    live.follower = feeds;
    return feeds;
  }

  follows(threadId: string): boolean {
    return this.#feeds.has(threadId.toLowerCase());
  }

  added(live: LiveRun): void {
    const entry = this.#feeds.get(live.run.thread_id);
    if (entry) this.#followLive(entry.feed, live);
  }

  forget(threadId: string): void {
    const entry = this.#feeds.get(threadId);
    if (!entry) return;
    clearTimeout(entry.linger);
    entry.stored.close();
    this.#feeds.delete(threadId);
    entry.feed.close();
  }

  /** Closes all feeds; readers get the remaining events first. */
  stop(): void {
    // The last frames of runs may not have reached the feeds yet.
    setImmediate(() => {
      for (const threadId of [...this.#feeds.keys()]) this.forget(threadId);
    });
  }

  /** The feed of a thread. Without readers, it is kept for another `LINGER_MS`. */
  feed(threadId: string): ThreadFeed {
    const existing = this.#feeds.get(threadId);
    if (existing) {
      if (existing.feed.readers === 0) this.#linger(threadId, existing);
      return existing.feed;
    }
    const { live } = this.#context;
    const feed = new ThreadFeed(
      () => this.#onIdle(threadId, entry),
      live.budget,
      () => this.#drop(threadId, entry),
    );
    const stored = new StoredRuns(
      this.#context,
      threadId,
      feed,
      (followed) => this.#follow(threadId, feed, followed),
      () => this.#feeds.get(threadId) === entry && this.forget(threadId),
    );
    const entry: FeedEntry = { feed, stored, linger: undefined };
    this.#feeds.set(threadId, entry);
    this.#linger(threadId, entry);
    for (const ended of live.logs.ofThread(threadId)) this.#followEnded(feed, ended);
    for (const run of live.ofThread(threadId)) this.#followLive(feed, run);
    return feed;
  }

  /** @throws GraphServeError if the thread has too many open streams (`too_many_streams`) */
  read(threadId: string, filter: EventFilter): FeedReader {
    const feed = this.feed(threadId);
    if (feed.readers >= MOST_STREAMS_A_THREAD) {
      throw new GraphServeError(
        "too_many_streams",
        `thread "${threadId}" has ${MOST_STREAMS_A_THREAD} open streams`,
        { hint: "close subscriptions that are not read" },
      );
    }
    const entry = this.#feeds.get(threadId);
    clearTimeout(entry?.linger);
    entry?.stored.start();
    return feed.read(filter);
  }

  /** Reads new events of a thread from the storage into its feed. */
  async poll(threadId: string): Promise<void> {
    this.feed(threadId);
    await this.#feeds.get(threadId)?.stored.poll();
  }

  #onIdle(threadId: string, entry: FeedEntry): void {
    if (this.#feeds.get(threadId) === entry) this.#linger(threadId, entry);
  }

  #linger(threadId: string, entry: FeedEntry): void {
    clearTimeout(entry.linger);
    entry.stored.stop();
    entry.linger = setTimeout(() => this.#drop(threadId, entry), LINGER_MS).unref();
  }

  #drop(threadId: string, entry: FeedEntry): void {
    if (this.#feeds.get(threadId) !== entry || entry.feed.readers > 0) return;
    clearTimeout(entry.linger);
    entry.stored.close();
    this.#feeds.delete(threadId);
    entry.feed.close();
  }

  #followLive(feed: ThreadFeed, live: LiveRun): void {
    const { run, log } = live;
    if (!log || log.stateless) return;
    const { run_id, created_at, metadata } = run;
    const labels = { run_id, created_at, graph_id: String(metadata.graph_id), answers: answerFrom(run) };
    this.#follow(
      run.thread_id,
      feed,
      feed.follow({ ...labels, endedAt: () => live.endedAt }, log.read(log.first - 1)),
    );
  }

  #followEnded(feed: ThreadFeed, { run, log }: EndedRun): void {
    if (log.stateless) return;
    const { run_id, created_at, graph_id, answers } = run;
    const fed = { run_id, created_at, graph_id, answers, endedAt: () => run.updated_at };
    this.#follow(run.thread_id, feed, feed.follow(fed, log.read(log.first - 1)));
  }

  /** Closes a feed with a gap: its readers reconnect to a new one. */
  #follow(threadId: string, feed: ThreadFeed, followed: Promise<void>): void {
    followed.catch((error: unknown) => {
      this.#context.logger.error(
        { err: error, thread_id: threadId },
        "the event feed of a thread failed and was closed",
      );
      if (this.#feeds.get(threadId)?.feed === feed) this.forget(threadId);
    });
  }
}
