/** The feeds of the threads whose events somebody reads, or read until a moment ago. */
import type { EventFilter } from "../models/protocol.js";
import { GraphServeError } from "../support/errors.js";
import { withParts } from "../context/context.js";
import type { EngineContext, LiveRun, ThreadFollower } from "../runs/live-runs.js";
import { answerFrom, type EndedRun } from "../frames/run-log.js";
import { StoredRuns } from "./stored-runs.js";
import { type FeedReader, ThreadFeed } from "../frames/thread-feed.js";

/** Streams of one thread that may be open at once. */
const MOST_STREAMS_A_THREAD = 100;
/** A feed that nobody reads is kept so long: clients leave and come back all the time. */
const LINGER_MS = 60_000;

interface Kept {
  feed: ThreadFeed;
  /** Tells the feed of runs without frames here. */
  stored: StoredRuns;
  linger: NodeJS.Timeout | undefined;
}

export class ThreadFeeds implements ThreadFollower {
  readonly #context: EngineContext;
  readonly #feeds = new Map<string, Kept>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The feeds of the service: made for the first who asks. */
  static of(context: EngineContext): ThreadFeeds {
    const { live } = context;
    // All callers of a thread share its feed: who may read it is asked elsewhere.
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
    const kept = this.#feeds.get(live.run.thread_id);
    if (kept) this.#followLive(kept.feed, live);
  }

  forget(threadId: string): void {
    const kept = this.#feeds.get(threadId);
    if (!kept) return;
    clearTimeout(kept.linger);
    kept.stored.close();
    this.#feeds.delete(threadId);
    kept.feed.close();
  }

  /** Readers get what has come, then the end. */
  stop(): void {
    // The last frames of runs are on their way to the feeds.
    setImmediate(() => {
      for (const threadId of [...this.#feeds.keys()]) this.forget(threadId);
    });
  }

  /** The feed of a thread, which goes on for a while from now on. */
  feed(threadId: string): ThreadFeed {
    const known = this.#feeds.get(threadId);
    if (known) {
      if (known.feed.readers === 0) this.#linger(threadId, known);
      return known.feed;
    }
    const { live } = this.#context;
    const feed = new ThreadFeed(
      () => this.#left(threadId, kept),
      live.budget,
      () => this.#drop(threadId, kept),
    );
    const stored = new StoredRuns(this.#context, threadId, feed, (followed) =>
      this.#follow(threadId, feed, followed),
    );
    const kept: Kept = { feed, stored, linger: undefined };
    this.#feeds.set(threadId, kept);
    this.#linger(threadId, kept);
    for (const ended of live.logs.ofThread(threadId)) this.#followEnded(feed, ended);
    for (const run of live.ofThread(threadId)) this.#followLive(feed, run);
    return feed;
  }

  /** @throws GraphServeError when too many read the thread already (`too_many_streams`) */
  read(threadId: string, filter: EventFilter): FeedReader {
    const feed = this.feed(threadId);
    if (feed.readers >= MOST_STREAMS_A_THREAD) {
      throw new GraphServeError(
        "too_many_streams",
        `thread "${threadId}" has ${MOST_STREAMS_A_THREAD} open streams`,
        { hint: "close subscriptions that are not read" },
      );
    }
    const kept = this.#feeds.get(threadId);
    clearTimeout(kept?.linger);
    kept?.stored.start();
    return feed.read(filter);
  }

  /** Let the feed of a thread know what the storage knows. */
  async look(threadId: string): Promise<void> {
    this.feed(threadId);
    await this.#feeds.get(threadId)?.stored.look();
  }

  /** The last reader of a feed has left. */
  #left(threadId: string, kept: Kept): void {
    if (this.#feeds.get(threadId) === kept) this.#linger(threadId, kept);
  }

  #linger(threadId: string, kept: Kept): void {
    clearTimeout(kept.linger);
    kept.stored.stop();
    kept.linger = setTimeout(() => this.#drop(threadId, kept), LINGER_MS).unref();
  }

  #drop(threadId: string, kept: Kept): void {
    if (this.#feeds.get(threadId) !== kept || kept.feed.readers > 0) return;
    clearTimeout(kept.linger);
    kept.stored.close();
    this.#feeds.delete(threadId);
    kept.feed.close();
  }

  #followLive(feed: ThreadFeed, live: LiveRun): void {
    const { run, log } = live;
    if (!log || log.stateless) return;
    const { run_id, created_at, metadata } = run;
    const facts = { run_id, created_at, graph_id: String(metadata.graph_id), answers: answerFrom(run) };
    this.#follow(
      run.thread_id,
      feed,
      feed.follow({ ...facts, endedAt: () => live.endedAt }, log.read(log.first - 1)),
    );
  }

  #followEnded(feed: ThreadFeed, { run, log }: EndedRun): void {
    if (log.stateless) return;
    const { run_id, created_at, graph_id, answers } = run;
    const fed = { run_id, created_at, graph_id, answers, endedAt: () => run.updated_at };
    this.#follow(run.thread_id, feed, feed.follow(fed, log.read(log.first - 1)));
  }

  /** Readers of a feed with a gap are sent away: what they come back to is made anew. */
  #follow(threadId: string, feed: ThreadFeed, followed: Promise<void>): void {
    followed.catch((error: unknown) => {
      this.#context.logger.error({ err: error, thread_id: threadId }, "the events of a thread broke off");
      if (this.#feeds.get(threadId)?.feed === feed) this.forget(threadId);
    });
  }
}
