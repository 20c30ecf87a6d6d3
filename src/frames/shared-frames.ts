/** Frames of this process's runs on the bus, for readers of other processes; and those of theirs, for readers here. */
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
import type { RunHolder } from "../storage/contract/storage.js";
import { errorMessage, GraphServeError, StorageUnavailableError } from "../support/errors.js";
import type { Logger } from "../support/log.js";
import type { Metrics } from "../support/metrics.js";
import { withTimeout, pauseUntil } from "../support/pause.js";
import { HeldCheckpoints, HOLD_MS } from "./held-checkpoints.js";
import type { LogTail, RunLog } from "./run-log.js";

/** Parts of one call, of different runs; and their characters, but for one part that has more. */
const PARTS = 200;
const CHARACTERS = 4 * 1024 * 1024;
/** What runs that have ended may hold together while the bus is away, in characters; then the oldest are given up. */
const MAX_CHARACTERS_OF_ENDED = 64 * 1024 * 1024;
/** How often a bus that is away is tried again, at first and at last. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 2_000;
/** Longest wait for what is not waited for again. */
const READ_MS = 1_000;
/** Longest wait for the last frames when the service closes. */
const LAST_MS = 2_000;
/** Milliseconds between two calls for frames that a checkpoint waits for, at least. */
const HURRY_MS = 5;

/** A run of this process. */
interface OwnRun {
  run: Pick<Run, "run_id" | "thread_id">;
  log: RunLog | undefined;
  holder: RunHolder;
  /** Set once it has ended, or another process has it. */
  readonly endedAt: string | undefined;
  readonly isTaken: boolean;
  onEnd(listener: () => void): void;
}

/** One whose frames are put on the bus. */
interface Written {
  live: Pick<OwnRun, "isTaken" | "endedAt">;
  about: FramePart["about"];
  run_id: string;
  attempt: number;
  log: RunLog | undefined;
  tail: LogTail | undefined;
}

/** One whose frames have all been put there, as long as they stay. Of the run itself it has nothing: that holds its log. */
interface Kept extends Omit<Written, "log" | "tail"> {
  log: WeakRef<RunLog> | undefined;
  at: number;
}

export class SharedFrames {
  readonly #bus: FrameBus;
  readonly #logger: Logger;
  readonly #metrics: Metrics | undefined;
  readonly #written = new Map<string, Written>();
  /** Those with something to say. */
  readonly #due = new Set<Written>();
  /** Those of a call that was refused for what is in it: each goes alone. */
  readonly #suspects = new Set<Written>();
  readonly #held = new HeldCheckpoints<Written>();
  /** By run id, the oldest first. */
  readonly #kept = new Map<string, Kept>();
  readonly #renewal: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #flush: Promise<void> | undefined;
  #lastAt = 0;
  /** Calls of each kind that failed one after the other. */
  readonly #failures = { append: 0, read: 0 };
  #isClosed = false;
  #lostAt = -Infinity;

  constructor(bus: FrameBus, logger: Logger, metrics?: Metrics) {
    this.#bus = bus;
    this.#logger = logger;
    this.#metrics = metrics;
    metrics?.frameBusIsAway(false);
    // What has long said nothing must not be forgotten while it goes on.
    this.#renewal = setInterval(() => {
      this.#renew();
      this.#expire();
    }, OPEN_MS / 5).unref();
    bus.onLoss(() => this.#refill());
  }

  /** Whether the bus could not be reached when it was last needed. */
  get isAway(): boolean {
    return this.#failures.append + this.#failures.read > 0;
  }

  /** Milliseconds since the bus may have lost frames last, which processes put there again. */
  get msSinceLoss(): number {
    return performance.now() - this.#lostAt;
  }

  // What this process writes.

  /** Put the frames of a run there, from the first to the last; of one without frames, that it has ended. */
  publish(live: OwnRun): void {
    const { run, log, holder } = live;
    const { run_id, thread_id } = run;
    const { stateless, capturesAllModes: isWide = false } = log ?? {};
    const about = { thread_id, is_wide: isWide, ...(stateless && { stateless: { scope: stateless.scope } }) };
    const written: Written = { live, about, run_id, attempt: holder.attempt, log, tail: undefined };
    this.#written.set(run_id, written);
    written.tail = log?.tail(() => this.#say(written));
    if (log) this.#say(written);
    else live.onEnd(() => this.#say(written));
  }

  /**
   * Resolves when all that a run has told so far is there: once its checkpoint is stored, no later attempt tells it again.
   * Undefined where there is nothing to wait for; a bus that is away or slow is not waited for.
   */
  stored(runId: string): Promise<void> | undefined {
    const written = this.#written.get(runId);
    const next = written?.log?.next ?? 0;
    if (!written?.tail || written.tail.next >= next || this.#isClosed) return undefined;
    if (this.isAway || this.#held.isLate) return undefined;
    const stored = this.#held.hold(written, next);
    // What waits for its turn goes sooner.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#say(written);
    return stored;
  }

  /** Wait for what has yet to be put there, for a while. */
  async close(): Promise<void> {
    const all = async () => {
      while (this.#due.size > 0 && !this.#isClosed) await this.#next();
    };
    await withTimeout(LAST_MS, all());
    this.#isClosed = true;
    clearInterval(this.#renewal);
    clearTimeout(this.#timer);
    await this.#bus.close();
  }

  #say(written: Written): void {
    this.#due.add(written);
    if (this.#flush || this.#timer || this.#isClosed) return;
    const inMs = Math.max(0, this.#lastAt + this.#pauseMs() - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#next();
    }, inMs);
  }

  #pauseMs(): number {
    const { append } = this.#failures;
    const { paceMs } = this.#bus;
    if (append === 0) return this.#held.isEmpty ? paceMs : Math.min(paceMs, HURRY_MS);
    return Math.min(FIRST_PAUSE_MS * 2 ** (append - 1), LAST_PAUSE_MS);
  }

  /** One call after the other; what comes meanwhile goes together into the next. Never rejects. */
  async #next(): Promise<void> {
    if (this.#flush) return this.#flush;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const inMs = this.#lastAt + this.#pauseMs() - performance.now();
    this.#flush = (inMs > 0 ? sleep(inMs) : Promise.resolve())
      .then(() => this.#send())
      .finally(() => {
        this.#flush = undefined;
        const [first] = this.#due;
        if (first) this.#say(first);
      });
    return this.#flush;
  }

  async #send(): Promise<void> {
    this.#lastAt = performance.now();
    const taken = this.#take();
    if (taken.length === 0) return;
    for (const { written } of taken) this.#due.delete(written);
    try {
      const wanted = await this.#bus.append(taken.map(({ part }) => part));
      this.#setAway("append", undefined);
      if (performance.now() - this.#lastAt < HOLD_MS) this.#held.isLate = false;
      for (const { written } of taken) this.#suspects.delete(written);
      taken.forEach(({ written, part }, index) => this.#sent(written, part, wanted[index]));
    } catch (error) {
      for (const { written } of taken) this.#due.add(written);
      if (!isRefusal(error)) {
        this.#setAway("append", error);
        this.#giveUp();
      } else if (taken.length > 1) for (const { written } of taken) this.#suspects.add(written);
      else this.#refused(taken[0]?.written, error);
    }
  }

  /** What goes into the next call. */
  #take(): { written: Written; part: FramePart }[] {
    const taken: { written: Written; part: FramePart }[] = [];
    let characters = 0;
    const [suspect] = this.#suspects;
    for (const written of suspect ? [suspect] : [...this.#due].slice(0, PARTS)) {
      const part = this.#partOf(written);
      if (!part) continue;
      for (const { data } of part.frames) characters += data.length;
      if (characters > CHARACTERS && taken.length > 0) break;
      taken.push({ written, part });
    }
    return taken;
  }

  /** Tried again, it would be refused again. */
  #refused(written: Written | undefined, error: unknown): void {
    if (!written) return;
    this.#logger.warn(
      { run_id: written.run_id, stream: this.#bus.kind, reason: errorMessage(error) },
      "a run has frames that cannot be shared with other processes: those of them who read it get a summary",
    );
    this.#metrics?.framesDropped(written.tail?.ready().length ?? 0);
    this.#drop(written);
  }

  /** Undefined for a run that another process has by now: the frames to come are its. */
  #partOf(written: Written): FramePart | undefined {
    const { run_id, attempt, about, log, tail, live } = written;
    if (live.isTaken) return this.#drop(written);
    const frames = tail?.ready() ?? [];
    const from = tail?.next ?? firstIdOf(attempt);
    const isLast = log ? log.isClosed && from + frames.length === log.next : live.endedAt !== undefined;
    return { run_id, attempt, about, first: log?.first ?? from, from, frames, is_last: isLast };
  }

  /** The bus may have lost some: then it goes on from there, as far as they are kept. */
  #sent(written: Written, { from, frames, is_last }: FramePart, wanted: number | undefined): void {
    if (wanted === undefined) return this.#drop(written);
    this.#metrics?.framesShared(frames.length);
    const { log, tail } = written;
    if (!tail || !log) return is_last ? this.#keep(written) : undefined;
    tail.next = wanted;
    this.#held.frameStored(written, wanted);
    if (is_last && wanted === from + frames.length) this.#keep(written);
    else if (tail.ready().length > 0 || log.isClosed) this.#due.add(written);
  }

  #keep(written: Written): void {
    const { live, about, run_id, attempt, log } = written;
    this.#drop(written);
    const { isTaken, endedAt = new Date().toISOString() } = live;
    const facts = { about, run_id, attempt, live: { isTaken, endedAt } };
    this.#kept.set(run_id, { ...facts, log: log && new WeakRef(log), at: performance.now() });
    this.#expire();
  }

  #expire(): void {
    for (const [runId, { at }] of this.#kept) {
      if (performance.now() - at < ENDED_MS) return;
      this.#kept.delete(runId);
    }
  }

  #drop(written: Written): undefined {
    written.tail?.leave();
    this.#due.delete(written);
    this.#suspects.delete(written);
    if (this.#written.get(written.run_id) === written) this.#written.delete(written.run_id);
    this.#held.frameStored(written);
  }

  /** Readers of what is given up get a summary. Of runs that go on, their logs bound what is held. */
  #giveUp(): void {
    const ended = [...this.#due].filter(({ live }) => live.endedAt !== undefined);
    let held = ended.reduce((sum, { log }) => sum + (log?.size ?? 0), 0);
    for (const written of ended) {
      const isOld = Date.now() - Date.parse(written.live.endedAt ?? "") > ENDED_MS;
      if (!isOld && held <= MAX_CHARACTERS_OF_ENDED) return;
      held -= written.log?.size ?? 0;
      this.#metrics?.framesDropped(written.log?.kept.length ?? 0);
      this.#drop(written);
    }
  }

  #renew(): void {
    for (const written of this.#written.values()) this.#say(written);
  }

  /** What the bus has of each run is looked at again, and what it has lost is put there anew. */
  #refill(): void {
    this.#lostAt = performance.now();
    this.#renew();
    for (const { log: kept, at, ...facts } of this.#kept.values()) {
      const log = kept?.deref();
      if ((kept && !log) || performance.now() - at > ENDED_MS || this.#written.has(facts.run_id)) continue;
      const written: Written = { ...facts, log, tail: undefined };
      written.tail = log?.tail(() => undefined);
      if (written.tail && log) written.tail.next = log.next;
      this.#written.set(facts.run_id, written);
      this.#say(written);
    }
  }

  /** Told once when it goes, and once when it is back. What can be read says nothing of what can be put there. */
  #setAway(call: "append" | "read", error: unknown): void {
    const wasAway = this.isAway;
    if (error !== undefined) this.#failures[call] += 1;
    else {
      this.#failures.read = 0;
      if (call === "append") this.#failures.append = 0;
    }
    if (this.isAway) this.#held.releaseAll();
    if (this.isAway === wasAway) return;
    this.#metrics?.frameBusIsAway(error !== undefined);
    const facts = { stream: this.#bus.kind, location: this.#bus.location };
    if (error === undefined) this.#logger.info(facts, "frames are shared with other processes again");
    else
      this.#logger.warn(
        { ...facts, reason: errorMessage(error) },
        "frames cannot be shared with other processes; runs continue and sharing is retried",
      );
  }

  // What readers here get of other processes' runs.

  /**
   * What the bus has of a run after a frame, as it comes: also pages without frames, after `pollMs` at the latest;
   * undefined while nothing is known of the run, and `false` while the bus is away. Rejects with the reason of `signal`.
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

  /** As a page; undefined also where the bus does not say in time. */
  async read(runId: string, after: number): Promise<FramePage | undefined> {
    return withTimeout(
      READ_MS,
      this.#read(runId, after).catch(() => undefined),
    );
  }

  async #read(runId: string, after: number): Promise<FramePage | undefined> {
    try {
      const page = await this.#bus.read(runId, after);
      this.#setAway("read", undefined);
      return page;
    } catch (error) {
      this.#setAway("read", error);
      throw error;
    }
  }

  /** Resolves when the bus knows that a run has ended; rejects with the reason of `signal`. */
  async ended(runId: string, signal: AbortSignal): Promise<void> {
    for await (const page of this.pages(runId, Number.MAX_SAFE_INTEGER, signal, `end:${runId}`))
      if (page && page.is_ended) return;
  }

  /** Hear that a run of a thread has come somewhere. Returns what ends that. */
  listen(threadId: string, hear: () => void): () => void {
    return this.#bus.listen(`thread:${threadId}`, hear);
  }
}

/** Whether a call failed for what is in it: a value that the bus does not take, or a text that is too long to be one. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RangeError ||
  (error instanceof GraphServeError && !(error instanceof StorageUnavailableError));
