/** The frames of one run: kept for every reader that follows it, also for one that comes late. */
import { FramesLostError, type RunFrame } from "../models/run-stream.js";
import type { Run } from "../models/run.js";

/** What one run's log may hold; older frames are forgotten first. */
const MAX_FRAMES = 10_000;
const MAX_CHARACTERS_A_RUN = 16 * 1024 * 1024;

/** What a reader gets at once, and holds while it is slow: so many frames, of so many characters but for a larger one. */
const BATCH_FRAMES = 256;
const BATCH_CHARACTERS = 64 * 1024;

/** Somebody who follows a run. */
export interface LogReader extends AsyncIterable<readonly RunFrame[]> {
  /** The reader is gone: its iteration ends, also while it waits for a frame. */
  leave(): void;
}

/** Where a reader is. */
interface Place {
  /** Id of the frame that it has yet to see. */
  next: number;
  hasLeft: boolean;
  /** Ends its waiting; undefined while it does not wait. */
  wake: (() => void) | undefined;
}

export interface Stateless {
  thread_id: string;
  scope: string | null;
}

export class RunLog {
  /** Set for a run whose thread is none of its client's: it is found by its id alone, within this scope. */
  readonly stateless: Stateless | undefined;
  #frames: RunFrame[] = [];
  /** Id of the oldest frame that is kept. */
  #first = 0;
  #characters = 0;
  #closed = false;
  readonly #readers = new Set<Place>();

  constructor(stateless?: Stateless) {
    this.stateless = stateless;
  }

  push(event: string, data: string): void {
    if (this.#closed) return;
    this.#frames.push({ id: this.#first + this.#frames.length, event, data });
    this.#characters += data.length;
    if (this.#frames.length > MAX_FRAMES || this.#characters > MAX_CHARACTERS_A_RUN) this.#forget();
    this.#wake();
  }

  /** No more frames come; those that are kept can still be read. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Memory that the log takes, roughly, in characters. */
  get size(): number {
    return this.#characters;
  }

  /** True when the log has had the frame with id `after`, and holds every one after it. */
  reaches(after: number): boolean {
    const next = after + 1;
    return next >= this.#first && next <= this.#first + this.#frames.length;
  }

  /** Those who follow it, or are about to. */
  get readers(): number {
    return this.#readers.size;
  }

  /** True when no frame comes after the one with id `after`. */
  endsWith(after: number): boolean {
    return this.#closed && after === this.#first + this.#frames.length - 1;
  }

  /**
   * The frames after the one with id `after`, in batches of those that are ready together, to the run's end; read once.
   * From this call on, frames are not forgotten before the reader has seen them, unless they are too large together.
   * Its iteration throws FramesLostError when it has fallen behind what is kept: a gap must not look like a whole stream.
   */
  read(after = -1): LogReader {
    const place: Place = { next: after + 1, hasLeft: false, wake: undefined };
    this.#readers.add(place);
    const leave = () => {
      place.hasLeft = true;
      this.#readers.delete(place);
      place.wake?.();
    };
    return { leave, [Symbol.asyncIterator]: () => this.#follow(place) };
  }

  async *#follow(place: Place): AsyncGenerator<readonly RunFrame[], void, undefined> {
    try {
      while (!place.hasLeft) {
        if (place.next < this.#first) throw new FramesLostError();
        const batch = this.#batch(place.next - this.#first);
        if (batch.length > 0) {
          place.next += batch.length;
          yield batch;
        } else if (this.#closed) {
          return;
        } else {
          await new Promise<void>((resolve) => (place.wake = resolve));
          place.wake = undefined;
        }
      }
    } finally {
      this.#readers.delete(place);
    }
  }

  /** The frames from an index on that one reader gets at once. A large one goes alone: its readers share it. */
  #batch(start: number): readonly RunFrame[] {
    let end = start;
    for (let characters = 0; end < this.#frames.length && end - start < BATCH_FRAMES; end += 1) {
      characters += this.#frames[end]?.data.length ?? 0;
      if (characters > BATCH_CHARACTERS && end > start) break;
    }
    return this.#frames.slice(start, end);
  }

  #forget(): void {
    const isTooLarge = this.#characters > MAX_CHARACTERS_A_RUN;
    let seen = Infinity;
    for (const { next } of this.#readers) seen = Math.min(seen, next - this.#first);
    // A quarter at once, so that a full log is not moved for every frame.
    const gone = this.#frames.splice(
      0,
      Math.min(Math.ceil(this.#frames.length / 4), isTooLarge ? Infinity : seen),
    );
    this.#first += gone.length;
    for (const { data } of gone) this.#characters -= data.length;
  }

  #wake(): void {
    for (const { wake } of this.#readers) wake?.();
  }
}

// Logs of runs that have ended, for clients that come back (bounded in time and memory).

const KEEP_MS = 5 * 60_000;
/** Characters that all ended runs may keep together. */
const MAX_CHARACTERS_OF_ALL = 64 * 1024 * 1024;
/** What an entry costs beside its frames. */
const ENTRY_CHARACTERS = 512;

interface Kept {
  log: RunLog;
  threadId: string;
  endedAt: number;
}

export class RunLogs {
  /** By run id, the oldest first. */
  readonly #ended = new Map<string, Kept>();
  #characters = 0;

  keep({ run_id, thread_id }: Pick<Run, "run_id" | "thread_id">, log: RunLog, at = Date.now()): void {
    this.#ended.set(run_id, { log, threadId: thread_id, endedAt: at });
    this.#characters += log.size + ENTRY_CHARACTERS;
    this.expire(at);
  }

  get(runId: string): RunLog | undefined {
    return this.#ended.get(runId)?.log;
  }

  forget(runId: string): void {
    const kept = this.#ended.get(runId);
    if (!kept) return;
    this.#ended.delete(runId);
    this.#characters -= kept.log.size + ENTRY_CHARACTERS;
  }

  /** Forget the runs of a thread: it is deleted, and nobody can ask for them. */
  forgetThread(threadId: string): void {
    for (const [runId, kept] of this.#ended) if (kept.threadId === threadId) this.forget(runId);
  }

  /** Forget what is too old, and the oldest of what is too much. */
  expire(at = Date.now()): void {
    for (const [runId, { endedAt }] of this.#ended) {
      if (at - endedAt < KEEP_MS && this.#characters <= MAX_CHARACTERS_OF_ALL) return;
      this.forget(runId);
    }
  }

  get count(): number {
    return this.#ended.size;
  }
}
