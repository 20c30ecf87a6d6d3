/** Tracks the newest checkpoint ids of a thread for one writer: a run or an edit. */
import { timeOfCheckpoint } from "../storage/saver/known-head.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { ClockBehindError } from "../support/errors.js";
import { pause } from "../support/pause.js";

/** Maximum wait for the clock during a request, in milliseconds. Servers that run NTP differ by far less. */
export const CLOCK_WAIT_MS = 2000;
/** Maximum wait for an accepted run, which would otherwise fail, in milliseconds. */
const LONG_CLOCK_WAIT_MS = 120_000;

/**
 * Waits until this process's clock has passed `time`, in milliseconds since 1970.
 * @throws ClockBehindError if that takes longer than `maxMs` (`clock_behind`)
 */
async function clockPast(threadId: string, time: number, maxMs: number): Promise<void> {
  for (let behind = time - Date.now(); behind >= 0; behind = time - Date.now()) {
    if (behind > maxMs) throw new ClockBehindError(threadId, behind);
    await pause(behind + 1, undefined);
  }
}

/**
 * Waits until the clock has passed the last change of the thread; undefined if it has. Call under the thread's lease,
 * before the first write.
 * @param maxMs maximum wait in milliseconds
 * @throws ClockBehindError if the wait would be longer (`clock_behind`)
 */
export function clockPastRow(
  { thread_id, updated_at, state_updated_at }: ThreadRow,
  maxMs = LONG_CLOCK_WAIT_MS,
): Promise<void> | undefined {
  const changed = Date.parse(state_updated_at ?? updated_at);
  return changed > Date.now() ? clockPast(thread_id, changed, maxMs) : undefined;
}

export class ThreadHeads {
  readonly #threadId: string;
  /** By namespace: the id that the next checkpoint has to exceed; empty if there are no checkpoints. */
  readonly #last = new Map<string, string>();
  /** By namespace: the greatest known id. Writes of a task may be stored before their checkpoint. */
  readonly #greatest = new Map<string, string>();

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  has(namespace: string): boolean {
    return this.#last.has(namespace);
  }

  /**
   * Records the newest id of a namespace, as read under the lease.
   * @returns a promise to await before the first write; undefined unless the clock is behind that id
   * @throws ClockBehindError if the clock is too far behind (`clock_behind`)
   */
  note(namespace: string, id: string | undefined): Promise<void> | undefined {
    this.#last.set(namespace, id ?? "");
    this.#raise(namespace, id ?? "");
    const time = id === undefined ? undefined : timeOfCheckpoint(id);
    const isAhead = time !== undefined && time >= Date.now();
    return isAhead ? clockPast(this.#threadId, time, LONG_CLOCK_WAIT_MS) : undefined;
  }

  /**
   * Records the id of the next write.
   * @returns a function that returns the greatest id known when it is called; undefined if the namespace was never read
   * @throws ClockBehindError if the id would not be the newest (`clock_behind`)
   */
  advance(namespace: string, id: string): (() => string) | undefined {
    const last = this.#last.get(namespace);
    if (last === undefined) return undefined;
    if (id < last) {
      const [newest, own] = [timeOfCheckpoint(last), timeOfCheckpoint(id)];
      throw new ClockBehindError(
        this.#threadId,
        newest !== undefined && own !== undefined ? newest - own : 0,
      );
    }
    this.#last.set(namespace, id);
    this.#raise(namespace, id);
    return () => this.#greatest.get(namespace) ?? "";
  }

  #raise(namespace: string, id: string): void {
    if (id >= (this.#greatest.get(namespace) ?? "")) this.#greatest.set(namespace, id);
  }

  /** Records the checkpoint of a task's writes. */
  noteWrites(namespace: string, id: string): void {
    if (this.#last.has(namespace)) this.#raise(namespace, id);
  }
}
