/** Logs of frames, such as those of one run: kept for every reader that follows, also for one that comes late. */
import { firstIdOf, FramesLostError, type RunFrame, withoutNul } from "../models/run-stream.js";
import { isRecord } from "../models/common.js";
import type { Run } from "../models/run.js";
import { type CountedLog, type FrameBudget, LOG_BYTES, type Loss, memoryOf } from "./frame-budget.js";

/** What one log may hold; older frames are forgotten first. */
const MAX_FRAMES = 10_000;
const MAX_BYTES_A_LOG = 16 * 1024 * 1024;

/** What a reader gets at once, and holds while it is slow: so many frames, of so many characters but for a larger one. */
const BATCH_FRAMES = 256;
const BATCH_CHARACTERS = 64 * 1024;

/** Somebody who follows a run. */
export interface LogReader<Frame = RunFrame> extends AsyncIterable<readonly Frame[]> {
  /** The reader is gone: its iteration ends, also while it waits for a frame. */
  leave(): void;
}

/** Somebody who takes the frames away at a pace of its own. */
export interface LogTail<Frame = RunFrame> {
  /** Place of the frame that it has yet to take; it may go back as far as frames are kept. */
  next: number;
  /** The frames from there on, as a reader gets them; none while none is ready. */
  ready(): readonly Frame[];
  leave(): void;
}

/** Where a reader is. */
interface Place {
  /** Place of the frame that it has yet to see. */
  next: number;
  hasLeft: boolean;
  /** Ends its waiting; undefined while it does not wait. */
  wake: (() => void) | undefined;
}

export interface Stateless {
  thread_id: string;
  scope: string | null;
}

export interface FrameLogOptions {
  /** Place of the first frame of all. */
  base?: number;
  /** Limits what all logs keep together. */
  budget?: FrameBudget;
}

export class FrameLog<Frame extends { readonly data: string }> implements CountedLog {
  #frames: Frame[] = [];
  /** Place of the first frame of all. */
  readonly base: number;
  /** Place of the oldest frame that is kept. */
  #first: number;
  #bytes = 0;
  #closed = false;
  readonly #readers = new Set<Place>();
  readonly #budget: FrameBudget | undefined;
  #isCounted = false;
  /** Set while the log is kept for readers who may come, though nothing else needs it. */
  #letGo: (() => void) | undefined;

  constructor({ base = 0, budget }: FrameLogOptions = {}) {
    this.base = this.#first = base;
    this.#budget = budget;
  }

  append(frame: Frame): void {
    if (this.#closed) return;
    const bytes = memoryOf(frame);
    this.#budget?.makeRoom(bytes);
    // Making room may have ended this log.
    if (this.#closed) return;
    this.#frames.push(frame);
    this.#grow(bytes);
    this.#recount();
    if (this.#frames.length > MAX_FRAMES || this.#bytes > MAX_BYTES_A_LOG) this.#forget();
    this.#wake();
  }

  /** No more frames come; those that are kept can still be read. */
  close(): void {
    this.#closed = true;
    this.#recount();
    this.#wake();
  }

  /** Keep the log for readers who may come, until `letGo` is called to free memory; undefined ends that. */
  keep(letGo: (() => void) | undefined): void {
    this.#uncount();
    this.#letGo = letGo;
    this.#recount();
  }

  /** Place of the frame that comes next: so many there have been. */
  get next(): number {
    return this.#first + this.#frames.length;
  }

  /** Whether no more frames come. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** The frames that are kept. */
  get kept(): readonly Frame[] {
    return this.#frames;
  }

  /** Place of the oldest frame that is kept. */
  get first(): number {
    return this.#first;
  }

  /** Memory of the frames that are kept, in bytes. */
  get size(): number {
    return this.#bytes;
  }

  /** The same with what the log itself takes while it is kept for readers who may come. */
  get memory(): number {
    return this.#bytes + (this.#letGo ? LOG_BYTES : 0);
  }

  get loss(): Loss {
    let loss: Loss = this.#letGo ? "spare" : "unread";
    for (const { next } of this.#readers) {
      // It has lost its place: nothing of what is kept can be read by it.
      if (next < this.#first) continue;
      if (next < this.next) return "behind";
      loss = "current";
    }
    return loss;
  }

  release(bytes: number): number {
    if (this.loss === "spare") {
      this.#letGo?.();
      return 0;
    }
    const first = this.#first;
    let count = 0;
    for (let freed = 0; count < this.#frames.length && freed < bytes; count += 1)
      freed += memoryOf(this.#frames[count] as Frame);
    this.#drop(count);
    this.#recount();
    return [...this.#readers].filter(({ next }) => next >= first && next < this.#first).length;
  }

  /** True when the log has had the frame at `after`, or begins after it, and holds every one that follows. */
  reaches(after: number): boolean {
    const next = this.#nextOf(after);
    return next >= this.#first && next <= this.next;
  }

  /** Those who follow it, or are about to. */
  get readers(): number {
    return this.#readers.size;
  }

  /** True when no frame comes after the one at `after`. */
  endsWith(after: number): boolean {
    return this.#closed && after === this.next - 1;
  }

  /**
   * The frames after the one at `after`, in batches of those that are ready together, to the run's end; read once.
   * From this call on, frames are not forgotten before the reader has seen them, unless they are too large together.
   * Its iteration throws FramesLostError when it has fallen behind what is kept: a gap must not look like a whole stream.
   */
  read(after = -1): LogReader<Frame> {
    const place: Place = { next: this.#nextOf(after), hasLeft: false, wake: undefined };
    this.#readers.add(place);
    this.#recount();
    this.#budget?.touch(this);
    const leave = () => {
      place.hasLeft = true;
      this.#remove(place);
      place.wake?.();
    };
    return { leave, [Symbol.asyncIterator]: () => this.#follow(place) };
  }

  /** All frames that are kept, then what comes, for one who is told of each. They are kept for it as for a reader. */
  tail(onFrame: () => void): LogTail<Frame> {
    const place: Place = { next: this.#first, hasLeft: false, wake: onFrame };
    this.#readers.add(place);
    return {
      get next() {
        return place.next;
      },
      set next(next) {
        place.next = next;
      },
      ready: () => {
        place.next = Math.max(place.next, this.#first);
        return this.#batch(place.next - this.#first);
      },
      leave: () => this.#remove(place),
    };
  }

  #remove(place: Place): void {
    this.#readers.delete(place);
    this.#recount();
  }

  /** What an earlier attempt's reader has seen was of that one. */
  #nextOf(after: number): number {
    return Math.max(after + 1, this.base);
  }

  async *#follow(place: Place): AsyncGenerator<readonly Frame[], void, undefined> {
    try {
      while (!place.hasLeft) {
        if (place.next < this.#first) throw new FramesLostError();
        const batch = this.#batch(place.next - this.#first);
        if (batch.length > 0) {
          place.next += batch.length;
          this.#budget?.touch(this);
          yield batch;
        } else if (this.#closed) {
          return;
        } else {
          await this.#woken(place);
        }
      }
    } finally {
      this.#remove(place);
    }
  }

  /**
   * Settles once there is something for a reader, or it leaves: when this turn of the event loop is over, so that it gets
   * all that the turn brings at once. Each batch is a write to its client, and costs more than its frames.
   */
  #woken(place: Place): Promise<void> {
    return new Promise((resolve) => {
      place.wake = () => {
        place.wake = undefined;
        setImmediate(resolve);
      };
    });
  }

  /** The frames from an index on that one reader gets at once. A large one goes alone: its readers share it. */
  #batch(start: number): readonly Frame[] {
    let end = start;
    for (let characters = 0; end < this.#frames.length && end - start < BATCH_FRAMES; end += 1) {
      characters += this.#frames[end]?.data.length ?? 0;
      if (characters > BATCH_CHARACTERS && end > start) break;
    }
    return this.#frames.slice(start, end);
  }

  #forget(): void {
    const isTooLarge = this.#bytes > MAX_BYTES_A_LOG;
    let seen = Infinity;
    for (const { next } of this.#readers) seen = Math.min(seen, Math.max(0, next - this.#first));
    // A quarter at once, so that a full log is not moved for every frame.
    this.#drop(Math.min(Math.ceil(this.#frames.length / 4), isTooLarge ? Infinity : seen));
  }

  /** Drop the oldest frames. */
  #drop(count: number): void {
    const gone = this.#frames.splice(0, count);
    this.#first += gone.length;
    for (const frame of gone) this.#grow(-memoryOf(frame));
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#isCounted) this.#budget?.grow(bytes);
  }

  /** It counts while it is open, while it is read, and while it is kept for readers who may come. */
  #recount(): void {
    const hasReaders = this.#readers.size > 0 && this.#frames.length > 0;
    const counts = this.#letGo !== undefined || hasReaders || (!this.#closed && this.next > this.base);
    if (!counts) this.#uncount();
    else if (!this.#isCounted) {
      this.#isCounted = true;
      this.#budget?.add(this);
    }
  }

  #uncount(): void {
    if (this.#isCounted) this.#budget?.remove(this);
    this.#isCounted = false;
  }

  #wake(): void {
    for (const { wake } of this.#readers) wake?.();
  }
}

export interface RunLogOptions extends Pick<FrameLogOptions, "budget"> {
  /** Set for a run whose thread is none of its client's: it is found by its id alone, within this scope. */
  stateless?: Stateless;
  /** Whether the run is collected for readers of its thread's events too: see `thread-feed.ts`. */
  isWide?: boolean;
  /** Which attempt it is of; the first when left out. */
  attempt?: number;
}

/** The frames of one run; a frame's id is its place. */
export class RunLog extends FrameLog<RunFrame> {
  readonly stateless: Stateless | undefined;
  readonly capturesAllModes: boolean;

  constructor({ stateless, isWide = false, attempt = 1, budget }: RunLogOptions = {}) {
    super({ base: attempt > 1 ? firstIdOf(attempt) : 0, budget });
    this.stateless = stateless;
    this.capturesAllModes = isWide;
  }

  push(event: string, data: string, { at = Date.now() } = {}): void {
    this.append({ id: this.next, event, data: withoutNul(data), at });
  }
}

// Logs of runs that have ended, for clients that come back: for a time, as far as the budget has room.

const KEEP_MS = 5 * 60_000;

/** What is known of an ended run beside its frames. */
export interface EndedRun {
  run: Pick<Run, "run_id" | "thread_id" | "created_at" | "updated_at"> & {
    graph_id: string;
    /** As `answeredBy` has it. */
    answers?: readonly string[];
  };
  log: RunLog;
}

/** Whether a text may be an interrupt's id, as LangGraph makes them. */
export const isInterruptId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/**
 * Ids of the interrupts that a run was started to answer; none when its answer does not say for which it is, undefined
 * when it answers nothing.
 */
export function answerFrom({ kwargs: { command } }: Pick<Run, "kwargs">): string[] | undefined {
  if (!isRecord(command) || command.resume === undefined) return undefined;
  const ids = isRecord(command.resume) ? Object.keys(command.resume) : [];
  return ids.every(isInterruptId) ? ids : [];
}

interface Kept extends EndedRun {
  endedAt: number;
}

export class RunLogs {
  /** By run id, the oldest first. */
  readonly #ended = new Map<string, Kept>();
  /** By thread, in the order in which they ended. */
  readonly #ofThread = new Map<string, Set<Kept>>();

  keep(run: EndedRun["run"], log: RunLog, at = Date.now()): void {
    this.forget(run.run_id);
    const kept: Kept = { run, log, endedAt: at };
    this.#ended.set(run.run_id, kept);
    const others = this.#ofThread.get(run.thread_id);
    if (others) others.add(kept);
    else this.#ofThread.set(run.thread_id, new Set([kept]));
    log.keep(() => this.forget(run.run_id));
    this.expire(at);
  }

  get(runId: string): RunLog | undefined {
    return this.#ended.get(runId)?.log;
  }

  /** The runs of a thread, in the order in which they ended. */
  ofThread(threadId: string): EndedRun[] {
    return [...(this.#ofThread.get(threadId) ?? [])];
  }

  forget(runId: string): void {
    const kept = this.#ended.get(runId);
    if (!kept) return;
    this.#ended.delete(runId);
    const { thread_id } = kept.run;
    const others = this.#ofThread.get(thread_id);
    others?.delete(kept);
    if (others?.size === 0) this.#ofThread.delete(thread_id);
    kept.log.keep(undefined);
  }

  /** Forget the runs of a thread: it is deleted, and nobody can ask for them. */
  forgetThread(threadId: string): void {
    for (const { run } of this.ofThread(threadId)) this.forget(run.run_id);
  }

  /** Forget what is too old. */
  expire(at = Date.now()): void {
    for (const [runId, { endedAt }] of this.#ended) {
      if (at - endedAt < KEEP_MS) return;
      this.forget(runId);
    }
  }

  get count(): number {
    return this.#ended.size;
  }
}
