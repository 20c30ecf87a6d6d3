/** In-memory logs of frames, such as the frames of one run. Late readers get the retained frames first. */
import { firstIdOf, FramesLostError, type RunFrame } from "../models/run-stream.js";
import { type SplitJson, withoutNul } from "../models/json.js";
import { type CountedLog, type FrameBudget, LOG_BYTES, type Loss, memoryOf } from "./frame-budget.js";

/** Limits of one log; the oldest frames are dropped first. */
const MAX_FRAMES = 10_000;
const MAX_BYTES_PER_LOG = 16 * 1024 * 1024;

/** Limits of one batch, which a slow reader keeps in memory. A single larger frame is a batch by itself. */
const BATCH_FRAMES = 256;
const BATCH_CHARACTERS = 64 * 1024;

/** Iterates over batches of frames. */
export interface LogReader<Frame = RunFrame> extends AsyncIterable<readonly Frame[]> {
  /** Ends the iteration, even while it waits for a frame. */
  leave(): void;
}

/** Polls frames at its own pace, and may go back to retained ones. */
export interface LogTail<Frame = RunFrame> {
  /** Position of the next frame to take. May be set back to any retained frame. */
  next: number;
  /** The next batch of frames from there; empty if no frame is ready. */
  ready(): readonly Frame[];
  leave(): void;
}

/** Position of a reader. */
interface ReadPosition {
  /** Position of its next frame. */
  next: number;
  hasLeft: boolean;
  /** Ends its wait; undefined while it does not wait. */
  wake: (() => void) | undefined;
}

export interface FrameLogOptions {
  /** Position of the first frame ever appended; 0 by default. */
  base?: number;
  /** Memory limit shared by all logs. */
  budget?: FrameBudget;
}

/** A frame as a log keeps it: its data ends with `tail`, which the log keeps once for all frames that share it. */
type Kept<Frame> = Frame & { readonly tail?: string };

/** The end that frames of a log share. */
interface Tail {
  text: string;
  /** Number of retained frames that end with it. */
  uses: number;
}

/** Longer frames are kept whole, in characters without the tail. */
const MAX_SPLIT_HEAD = 4 * 1024;

export class FrameLog<Frame extends { readonly data: string }> implements CountedLog {
  #frames: Kept<Frame>[] = [];
  readonly #tails = new Map<string, Tail>();
  /** The last split frame that was read, as readers get it: readers of one frame should get the same object. */
  #made: { kept: Kept<Frame>; frame: Frame } | undefined;
  /** Position of the first frame ever appended. Frames of an earlier attempt precede it: their readers start here. */
  readonly base: number;
  /** Position of the oldest retained frame. */
  first: number;
  /** Position of the next frame to be appended. */
  next: number;
  #bytes = 0;
  isClosed = false;
  readonly #readers = new Set<ReadPosition>();
  readonly #budget: FrameBudget | undefined;
  /** Bytes that count towards the budget. */
  #counted: number | undefined;
  /** Set while the log is retained only for possible readers. */
  #onEvict: (() => void) | undefined;

  constructor({ base = 0, budget }: FrameLogOptions = {}) {
    this.base = this.first = this.next = base;
    this.#budget = budget;
  }

  append(frame: Kept<Frame>): void {
    if (this.isClosed) return;
    const { tail } = frame;
    const bytes = memoryOf(frame);
    const isNewTail = tail !== undefined && !this.#tails.has(tail);
    this.#budget?.makeRoom(bytes + (isNewTail ? memoryOf({ data: tail }) : 0));
    // Making room may have closed this log.
    if (this.isClosed) return;
    this.#frames.push(frame);
    this.next += 1;
    this.#bytes += bytes;
    if (tail !== undefined) this.#use(tail);
    if (this.#frames.length > MAX_FRAMES || this.#bytes > MAX_BYTES_PER_LOG) this.#trim();
    this.#recount();
    for (const { wake } of this.#readers) wake?.();
  }

  /** Ends the log. Retained frames can still be read; later appends are ignored. */
  close(): void {
    this.isClosed = true;
    this.#recount();
    for (const { wake } of this.#readers) wake?.();
  }

  /**
   * Retains the log for possible readers.
   * @param onEvict called to free its memory; undefined ends the retention
   */
  keep(onEvict: (() => void) | undefined): void {
    this.#onEvict = onEvict;
    this.#recount();
    this.#budget?.touch(this);
  }

  /** The retained frames. */
  get kept(): readonly Frame[] {
    return this.#tails.size === 0 ? this.#frames : this.#frames.map((kept) => this.#whole(kept));
  }

  /** Memory of the retained frames, in bytes. */
  get size(): number {
    return this.#bytes;
  }

  get loss(): Loss {
    let loss: Loss = this.#onEvict ? "spare" : "unread";
    for (const { next } of this.#readers) {
      // This reader has lost frames and cannot continue.
      if (next < this.first) continue;
      if (next < this.next) return "behind";
      loss = "current";
    }
    return loss;
  }

  release(bytes: number): number {
    if (this.loss === "spare") {
      this.#onEvict?.();
      return 0;
    }
    const first = this.first;
    let count = 0;
    for (let freed = 0; count < this.#frames.length && freed < bytes; count += 1)
      freed += memoryOf(this.#frames[count] as Frame);
    this.#drop(count);
    this.#recount();
    return [...this.#readers].filter(({ next }) => next >= first && next < this.first).length;
  }

  /** True if a reader that has seen the frame at `after` can continue without a gap. */
  reaches(after: number): boolean {
    const next = Math.max(after + 1, this.base);
    return next >= this.first && next <= this.next;
  }

  /** Number of readers, including those that have not started to iterate. */
  get readers(): number {
    return this.#readers.size;
  }

  /** True if the frame at `after` is the last one. */
  endsWith(after: number): boolean {
    return this.isClosed && after === this.next - 1;
  }

  /**
   * Reads the frames after the one at `after`, in batches, until the log is closed. Can be iterated once.
   * From this call on, the log retains unread frames for the reader, up to its memory limit.
   * The iteration throws FramesLostError if unread frames were dropped, because a gap must not look like a complete stream.
   */
  read(after = -1): LogReader<Frame> {
    const position: ReadPosition = { next: Math.max(after + 1, this.base), hasLeft: false, wake: undefined };
    this.#readers.add(position);
    this.#recount();
    this.#budget?.touch(this);
    const leave = () => {
      position.hasLeft = true;
      this.#remove(position);
      position.wake?.();
    };
    return Object.assign(this.#follow(position), { leave });
  }

  /**
   * Reads all retained frames, then new ones. Unread frames are retained as for a reader.
   * @param onFrame called after each append and when the log is closed
   */
  tail(onFrame: () => void): LogTail<Frame> {
    const tail: ReadPosition & LogTail<Frame> = {
      next: this.first,
      hasLeft: false,
      wake: onFrame,
      ready: () => {
        tail.next = Math.max(tail.next, this.first);
        return this.#batch(tail.next - this.first);
      },
      leave: () => this.#remove(tail),
    };
    this.#readers.add(tail);
    return tail;
  }

  #remove(position: ReadPosition): void {
    this.#readers.delete(position);
    this.#recount();
  }

  async *#follow(position: ReadPosition): AsyncGenerator<readonly Frame[], void, undefined> {
    try {
      while (!position.hasLeft) {
        if (position.next < this.first) throw new FramesLostError();
        const batch = this.#batch(position.next - this.first);
        if (batch.length > 0) {
          position.next += batch.length;
          this.#budget?.touch(this);
          yield batch;
        } else if (this.isClosed) {
          return;
        } else {
          // All frames of a turn of the event loop form one batch: a write to the client costs more than its frames.
          await new Promise<void>((resolve) => {
            position.wake = () => {
              position.wake = undefined;
              setImmediate(resolve);
            };
          });
        }
      }
    } finally {
      this.#remove(position);
    }
  }

  /** The batch that starts at an index. A frame above the limit is a batch by itself. */
  #batch(start: number): readonly Frame[] {
    let end = start;
    for (let characters = 0; end < this.#frames.length && end - start < BATCH_FRAMES; end += 1) {
      const { data, tail = "" } = this.#frames[end] as Kept<Frame>;
      characters += data.length + tail.length;
      if (characters > BATCH_CHARACTERS && end > start) break;
    }
    const batch = this.#frames.slice(start, end);
    return this.#tails.size === 0 ? batch : batch.map((kept) => this.#whole(kept));
  }

  /** The frame as readers get it. */
  #whole(kept: Kept<Frame>): Frame {
    if (kept.tail === undefined) return kept;
    if (this.#made?.kept === kept) return this.#made.frame;
    const { tail, ...frame } = kept;
    const whole = { ...frame, data: kept.data + tail } as unknown as Frame;
    this.#made = { kept, frame: whole };
    return whole;
  }

  /** The tail to append: an equal text that the log has already, or the given one. */
  protected sharedTail(text: string): string {
    return this.#tails.get(text)?.text ?? text;
  }

  #use(text: string): void {
    const tail = this.#tails.get(text);
    if (tail) tail.uses += 1;
    else {
      this.#tails.set(text, { text, uses: 1 });
      this.#bytes += memoryOf({ data: text });
    }
  }

  #unuse(text: string): void {
    const tail = this.#tails.get(text);
    if (!tail || (tail.uses -= 1) > 0) return;
    this.#tails.delete(text);
    this.#bytes -= memoryOf({ data: text });
  }

  #trim(): void {
    const isTooLarge = this.#bytes > MAX_BYTES_PER_LOG;
    let seen = Infinity;
    for (const { next } of this.#readers) seen = Math.min(seen, Math.max(0, next - this.first));
    // Drops a quarter, so that the array of a full log is not shifted for every frame.
    this.#drop(Math.min(Math.ceil(this.#frames.length / 4), isTooLarge ? Infinity : seen));
  }

  /** Drops the oldest `count` frames. */
  #drop(count: number): void {
    const dropped = this.#frames.splice(0, count);
    this.first += dropped.length;
    for (const frame of dropped) {
      this.#bytes -= memoryOf(frame);
      if (frame.tail !== undefined) this.#unuse(frame.tail);
    }
  }

  /** A log counts towards the budget while it is open, read, or retained for possible readers: then with its own memory. */
  #recount(): void {
    const hasReaders = this.#readers.size > 0 && this.#frames.length > 0;
    const counts = this.#onEvict !== undefined || hasReaders || (!this.isClosed && this.next > this.base);
    const bytes = counts ? this.#bytes + (this.#onEvict ? LOG_BYTES : 0) : undefined;
    this.#budget?.count(this, this.#counted, bytes);
    this.#counted = bytes;
  }
}

export interface Stateless {
  thread_id: string;
  scope: string | null;
}

export interface RunLogOptions extends Pick<FrameLogOptions, "budget"> {
  /** Set for a stateless run, which is found by its run id alone within this scope. */
  stateless?: Stateless;
  /** Whether the log captures all stream modes, for readers of the thread's events (`thread-feed.ts`). */
  isWide?: boolean;
  /** Number of the attempt, 1 by default. */
  attempt?: number;
}

/** The frames of one run. A frame's id is its position. */
export class RunLog extends FrameLog<RunFrame> {
  readonly stateless: Stateless | undefined;
  readonly capturesAllModes: boolean;

  constructor({ stateless, isWide = false, attempt = 1, budget }: RunLogOptions = {}) {
    super({ base: attempt > 1 ? firstIdOf(attempt) : 0, budget });
    this.stateless = stateless;
    this.capturesAllModes = isWide;
  }

  push(event: string, data: string | SplitJson, { at = Date.now() } = {}): void {
    const id = this.next;
    if (typeof data === "string") return this.append({ id, event, data: withoutNul(data), at });
    const head = withoutNul(data.head);
    // Readers of a long frame share its bytes by its identity, so it is kept whole.
    if (head.length > MAX_SPLIT_HEAD) this.append({ id, event, data: head + data.tail, at });
    // One literal: an object that gains a property after a spread takes four times the memory.
    else this.append({ id, event, data: head, at, tail: this.sharedTail(data.tail) });
  }
}
