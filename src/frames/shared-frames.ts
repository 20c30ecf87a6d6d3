/** Writes the frames of this process's runs to the frame bus, and reads the frames of other processes' runs from it. */
import { setTimeout as sleep } from "node:timers/promises";
import { firstIdOf } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import {
  ENDED_MS,
  type FrameBus,
  type FramePage,
  type FramePart,
  type HintName,
  OPEN_MS,
} from "../storage/contract/frame-bus.js";
import type { RunHolder } from "../storage/contract/runs.js";
import { GraphServeError, StorageUnavailableError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { Logger } from "../support/log.js";
import type { Metrics } from "../support/metrics.js";
import { withTimeout, pauseUntil } from "../support/pause.js";
import { HeldCheckpoints, HOLD_MS } from "./held-checkpoints.js";
import type { LogTail, RunLog } from "./run-log.js";

/** Limits of one `append` call: the number of parts, and their characters. A single larger part is still sent. */
const MAX_PARTS = 200;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Maximum unsent frames of ended runs while the bus is unavailable, in characters. Beyond it the oldest runs are dropped. */
const MAX_ENDED_CHARACTERS = 64 * 1024 * 1024;
/** First and maximum delay between retries while the bus is unavailable, in milliseconds. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 2_000;
/** Timeout of a single read, in milliseconds. */
const READ_MS = 1_000;
/** Maximum time to flush the last frames when the service closes, in milliseconds. */
const CLOSE_MS = 2_000;
/** Minimum milliseconds between two `append` calls while a checkpoint waits for frames. */
const HELD_PACE_MS = 5;

/** A run of this process. */
interface OwnRun {
  run: Pick<Run, "run_id" | "thread_id">;
  log: RunLog | undefined;
  holder: RunHolder;
  /** Set when the run has ended, or another process has taken it over. */
  readonly endedAt: string | undefined;
  readonly hasLeft: boolean;
  onEnd(listener: () => void): void;
}

/** A run with frames that are not on the bus yet. */
interface PublishedRun {
  live: Pick<OwnRun, "hasLeft" | "endedAt">;
  about: FramePart["about"];
  run_id: string;
  attempt: number;
  log: RunLog | undefined;
  tail: LogTail | undefined;
}

/**
 * An ended run with all frames on the bus, for as long as the bus keeps them. It refers to the log weakly, and not to the
 * run, which would keep the log in memory.
 */
interface StoredRun extends Omit<PublishedRun, "log" | "tail"> {
  log: WeakRef<RunLog> | undefined;
  at: number;
}

export class SharedFrames {
  readonly #bus: FrameBus;
  readonly #logger: Logger;
  readonly #metrics: Metrics | undefined;
  readonly #published = new Map<string, PublishedRun>();
  /** Runs with frames or an end to send. */
  readonly #due = new Set<PublishedRun>();
  /** Runs of a call that was rejected for its content. Each is sent alone, to find the faulty one. */
  readonly #isolated = new Set<PublishedRun>();
  readonly #held = new HeldCheckpoints<PublishedRun>();
  /** By run id, oldest first. */
  readonly #kept = new Map<string, StoredRun>();
  readonly #renewal: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #flush: Promise<void> | undefined;
  #lastAt = 0;
  /** Consecutive failures of each call. */
  readonly #failures = { append: 0, read: 0 };
  /** Whether the last call to the bus failed. */
  isAway = false;
  #isClosed = false;
  #lostAt = -Infinity;

  constructor(bus: FrameBus, logger: Logger, metrics?: Metrics) {
    this.#bus = bus;
    this.#logger = logger;
    this.#metrics = metrics;
    metrics?.frameBusIsAway(false);
    // The bus must not expire a run that continues without new frames.
    this.#renewal = setInterval(() => {
      this.#renew();
      this.#expire();
    }, OPEN_MS / 5).unref();
    bus.onLoss(() => this.#refill());
  }

  /** Milliseconds since the bus last may have lost frames, which processes then write again. */
  get msSinceLoss(): number {
    return performance.now() - this.#lostAt;
  }

  // What this process writes.

  /** Writes the frames of a run to the bus until it ends. For a run without a log, only its end is published. */
  publish(live: OwnRun): void {
    const { run, log, holder } = live;
    const { run_id, thread_id } = run;
    const { stateless, capturesAllModes = false } = log ?? {};
    const about = {
      thread_id,
      all_modes: capturesAllModes,
      ...(stateless && { stateless: { scope: stateless.scope } }),
    };
    const published: PublishedRun = { live, about, run_id, attempt: holder.attempt, log, tail: undefined };
    this.#published.set(run_id, published);
    published.tail = log?.tail(() => this.#enqueue(published));
    if (log) this.#enqueue(published);
    else live.onEnd(() => this.#enqueue(published));
  }

  /**
   * Resolves when all frames of a run so far are on the bus. A checkpoint waits for this: once it is stored, no later
   * attempt produces these frames again. Undefined if nothing has to be published, or the bus is unavailable or slow.
   */
  stored(runId: string): Promise<void> | undefined {
    const published = this.#published.get(runId);
    const next = published?.log?.next ?? 0;
    if (!published?.tail || published.tail.next >= next || this.#isClosed) return undefined;
    if (this.isAway || this.#held.isLate) return undefined;
    const stored = this.#held.hold(published, next);
    // Sends the frames now instead of at the next scheduled flush.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#enqueue(published);
    return stored;
  }

  /** Flushes the remaining frames, for at most `CLOSE_MS`, and closes the bus. */
  async close(): Promise<void> {
    const all = async () => {
      while (this.#due.size > 0 && !this.#isClosed) await (this.#flush ??= this.#next());
    };
    await withTimeout(CLOSE_MS, all());
    this.#isClosed = true;
    clearInterval(this.#renewal);
    clearTimeout(this.#timer);
    await this.#bus.close();
  }

  #enqueue(published: PublishedRun): void {
    this.#due.add(published);
    if (this.#flush || this.#timer || this.#isClosed) return;
    const inMs = Math.max(0, this.#lastAt + this.#pauseMs() - performance.now());
    this.#timer = setTimeout(() => (this.#flush ??= this.#next()), inMs);
  }

  #pauseMs(): number {
    const { append } = this.#failures;
    const { paceMs } = this.#bus;
    if (append === 0) return this.#held.waiting.size === 0 ? paceMs : Math.min(paceMs, HELD_PACE_MS);
    return Math.min(FIRST_PAUSE_MS * 2 ** (append - 1), LAST_PAUSE_MS);
  }

  /** Sends one call at a time; frames that arrive meanwhile are batched into the next one. Never rejects. */
  async #next(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const inMs = this.#lastAt + this.#pauseMs() - performance.now();
    if (inMs > 0) await sleep(inMs);
    this.#lastAt = performance.now();
    const taken = this.#take();
    try {
      // Always awaits: `#flush` is set after the first await, and must be set before it is reset below.
      const answers = await (taken.size > 0 ? this.#bus.append([...taken.values()]) : undefined);
      if (answers) this.#sent(taken, answers);
    } catch (error) {
      this.#unsent([...taken.keys()], error);
    }
    this.#flush = undefined;
    const [first] = this.#due;
    if (first) this.#enqueue(first);
  }

  /** The parts of the next call. Their runs are due again if it fails. */
  #take(): Map<PublishedRun, FramePart> {
    const taken = new Map<PublishedRun, FramePart>();
    let characters = 0;
    const [isolated] = this.#isolated;
    for (const published of isolated ? [isolated] : [...this.#due].slice(0, MAX_PARTS)) {
      const { run_id, attempt, about, log, tail, live } = published;
      // Another process has taken the run over, and writes the next frames.
      if (live.hasLeft) {
        this.#drop(published);
        continue;
      }
      const frames = tail?.ready() ?? [];
      const from = tail?.next ?? firstIdOf(attempt);
      const isLast = log ? log.isClosed && from + frames.length === log.next : live.endedAt !== undefined;
      for (const { data } of frames) characters += data.length;
      if (characters > MAX_CHARACTERS && taken.size > 0) break;
      const first = log?.first ?? from;
      taken.set(published, { run_id, attempt, about, first, from, frames, is_last: isLast });
      this.#due.delete(published);
    }
    return taken;
  }

  #unsent(runs: readonly PublishedRun[], error: unknown): void {
    for (const published of runs) this.#due.add(published);
    if (!isRefusal(error)) {
      this.#setAway("append", error);
      this.#dropOldestEnded();
    } else if (runs.length > 1) for (const published of runs) this.#isolated.add(published);
    else for (const published of runs) this.#refused(published, error);
  }

  /** Drops a run whose content the bus rejects: a retry would be rejected too. */
  #refused(published: PublishedRun, error: unknown): void {
    this.#logger.warn(
      { run_id: published.run_id, stream: this.#bus.kind, reason: errorMessage(error) },
      "frames of a run cannot be shared with other processes; readers there get a summary of the run",
    );
    this.#metrics?.framesDropped(published.tail?.ready().length ?? 0);
    this.#drop(published);
  }

  /** `answers` are the next ids that the bus expects. If it lost frames, they are sent again from there if retained. */
  #sent(taken: ReadonlyMap<PublishedRun, FramePart>, answers: readonly (number | undefined)[]): void {
    if (this.isAway) this.#setAway("append", undefined);
    if (performance.now() - this.#lastAt < HOLD_MS) this.#held.isLate = false;
    for (const [index, [published, { from, frames, is_last }]] of [...taken].entries()) {
      this.#isolated.delete(published);
      const wanted = answers[index];
      if (wanted === undefined) {
        this.#drop(published);
        continue;
      }
      this.#metrics?.framesShared(frames.length);
      const { log, tail } = published;
      if (tail) {
        tail.next = wanted;
        this.#held.frameStored(published, wanted);
      }
      const isWhole = is_last && (!tail || wanted === from + frames.length);
      if (isWhole) this.#keep(published);
      else if (tail && (tail.ready().length > 0 || log?.isClosed)) this.#due.add(published);
    }
  }

  #keep(published: PublishedRun): void {
    const { live, about, run_id, attempt, log } = published;
    this.#drop(published);
    const { hasLeft, endedAt = new Date().toISOString() } = live;
    const entry = { about, run_id, attempt, live: { hasLeft, endedAt } };
    this.#kept.set(run_id, { ...entry, log: log && new WeakRef(log), at: performance.now() });
    this.#expire();
  }

  #expire(): void {
    for (const [runId, { at }] of this.#kept) {
      if (performance.now() - at < ENDED_MS) return;
      this.#kept.delete(runId);
    }
  }

  #drop(published: PublishedRun): undefined {
    published.tail?.leave();
    this.#due.delete(published);
    this.#isolated.delete(published);
    if (this.#published.get(published.run_id) === published) this.#published.delete(published.run_id);
    this.#held.frameStored(published);
  }

  /** Drops the oldest ended runs, whose readers get a summary. Frames of active runs are limited by their logs. */
  #dropOldestEnded(): void {
    const ended = [...this.#due].filter(({ live }) => live.endedAt !== undefined);
    let held = ended.reduce((sum, { log }) => sum + (log?.size ?? 0), 0);
    for (const published of ended) {
      const isOld = Date.now() - Date.parse(published.live.endedAt ?? "") > ENDED_MS;
      if (!isOld && held <= MAX_ENDED_CHARACTERS) return;
      held -= published.log?.size ?? 0;
      this.#metrics?.framesDropped(published.log?.kept.length ?? 0);
      this.#drop(published);
    }
  }

  #renew(): void {
    for (const published of this.#published.values()) this.#enqueue(published);
  }

  /** Checks each run on the bus again and rewrites lost frames. */
  #refill(): void {
    this.#lostAt = performance.now();
    this.#renew();
    for (const { log: kept, at, ...entry } of this.#kept.values()) {
      const log = kept?.deref();
      if ((kept && !log) || performance.now() - at > ENDED_MS || this.#published.has(entry.run_id)) continue;
      const published: PublishedRun = { ...entry, log, tail: undefined };
      published.tail = log?.tail(() => undefined);
      if (published.tail && log) published.tail.next = log.next;
      this.#published.set(entry.run_id, published);
      this.#enqueue(published);
    }
  }

  /** Logs each change of availability once. A successful read does not prove that writes succeed. */
  #setAway(call: "append" | "read", error: unknown): void {
    const wasAway = this.isAway;
    if (error !== undefined) this.#failures[call] += 1;
    else {
      this.#failures.read = 0;
      if (call === "append") this.#failures.append = 0;
    }
    this.isAway = this.#failures.append + this.#failures.read > 0;
    if (this.isAway) this.#held.releaseAll();
    if (this.isAway === wasAway) return;
    this.#metrics?.frameBusIsAway(error !== undefined);
    const fields = { stream: this.#bus.kind, location: this.#bus.location };
    if (error === undefined) this.#logger.info(fields, "frames are shared with other processes again");
    else
      this.#logger.warn(
        { ...fields, reason: errorMessage(error) },
        "frames cannot be shared with other processes; runs continue and sharing is retried",
      );
  }

  // What this process reads.

  /**
   * Yields pages with the frames of a run after a frame. Also yields pages without frames, after `pollMs` at the latest;
   * undefined while the bus does not know the run, and `false` while the bus is unavailable. Throws the reason of `signal`.
   */
  async *pages(
    runId: string,
    after: number,
    signal: AbortSignal,
    hint: HintName = `run:${runId}`,
  ): AsyncGenerator<FramePage | undefined | false, never> {
    let isHinted = false;
    let wake = () => {};
    const stop = this.#bus.listen(hint, () => {
      isHinted = true;
      wake();
    });
    try {
      for (let last = after; ;) {
        isHinted = false;
        const page = await this.#read(runId, last).catch(() => false as const);
        signal.throwIfAborted();
        yield page;
        const frames = page ? page.frames : [];
        last = frames.at(-1)?.id ?? last;
        if (isHinted || frames.length > 0) continue;
        const pollMs = page === false ? LAST_PAUSE_MS / 4 : this.#bus.pollMs;
        await pauseUntil(pollMs, signal, (end) => (wake = end));
        signal.throwIfAborted();
      }
    } finally {
      stop();
    }
  }

  /** Reads one page; undefined if the bus does not know the run, fails, or does not respond within `READ_MS`. */
  async read(runId: string, after: number): Promise<FramePage | undefined> {
    return withTimeout(
      READ_MS,
      this.#read(runId, after).catch(() => undefined),
    );
  }

  async #read(runId: string, after: number): Promise<FramePage | undefined> {
    try {
      const page = await this.#bus.read(runId, after);
      if (this.isAway) this.#setAway("read", undefined);
      return page;
    } catch (error) {
      this.#setAway("read", error);
      throw error;
    }
  }

  /** Resolves when the bus has the end of a run; rejects with the reason of `signal`. */
  async ended(runId: string, signal: AbortSignal): Promise<void> {
    for await (const page of this.pages(runId, Number.MAX_SAFE_INTEGER, signal, `end:${runId}`))
      if (page && page.is_ended) return;
  }

  /** Calls `onHint` when any process starts a run on a thread. Returns a function that stops it. */
  listen(threadId: string, onHint: () => void): () => void {
    return this.#bus.listen(`thread:${threadId}`, onHint);
  }
}

/** Whether a call failed because of its content: a value that the bus rejects, or a string that is too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RangeError ||
  (error instanceof GraphServeError && !(error instanceof StorageUnavailableError));
