/** What one writer, a run or an edit, knows of the newest checkpoints of its thread. */
import { timeOfCheckpoint } from "../storage/saver/known-head.js";
import type { ThreadRow } from "../storage/contract/storage.js";
import { ClockBehindError } from "../support/errors.js";
import { pause } from "../support/pause.js";

/** Longest wait for the clock with a client that waits, in milliseconds: servers that run NTP differ by far less. */
export const CLOCK_WAIT_MS = 2000;
/** The same for a run that is accepted already, and would fail otherwise. */
const LONG_CLOCK_WAIT_MS = 120_000;

/**
 * Wait until this process's clock has passed `time`, in milliseconds since 1970.
 * @throws ClockBehindError if that takes longer than `mostMs` (`clock_behind`)
 */
async function clockPast(threadId: string, time: number, mostMs: number): Promise<void> {
  for (let behind = time - Date.now(); behind >= 0; behind = time - Date.now()) {
    if (behind > mostMs) throw new ClockBehindError(threadId, behind);
    await pause(behind + 1, undefined);
  }
}

/**
 * Undefined, which is nothing to wait for, if the clock is past the last change of the thread. To be called under the
 * thread's lease, before anything is stored.
 * @throws ClockBehindError (`clock_behind`)
 */
export function clockPastRow(
  { thread_id, updated_at, state_updated_at }: ThreadRow,
  mostMs = LONG_CLOCK_WAIT_MS,
): Promise<void> | undefined {
  const changed = Date.parse(state_updated_at ?? updated_at);
  return changed > Date.now() ? clockPast(thread_id, changed, mostMs) : undefined;
}

export class ThreadHeads {
  readonly #threadId: string;
  /** By namespace: the id that the next one has to exceed; empty for a namespace without checkpoints. */
  readonly #last = new Map<string, string>();
  /** By namespace: the greatest known id. Writes of tasks may be stored before their checkpoint is. */
  readonly #greatest = new Map<string, string>();

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  has(namespace: string): boolean {
    return this.#last.has(namespace);
  }

  /**
   * Note the newest id of a namespace, as read under the lease.
   * @returns what to wait for before the writer begins, if the clock is behind it
   * @throws ClockBehindError (`clock_behind`)
   */
  note(namespace: string, id: string | undefined): Promise<void> | undefined {
    this.#last.set(namespace, id ?? "");
    this.#see(namespace, id ?? "");
    const time = id === undefined ? undefined : timeOfCheckpoint(id);
    const isAhead = time !== undefined && time >= Date.now();
    return isAhead ? clockPast(this.#threadId, time, LONG_CLOCK_WAIT_MS) : undefined;
  }

  /**
   * Note an id that is about to be written.
   * @returns the greatest known id at the time of the call; undefined for a namespace that was never read
   * @throws ClockBehindError if it would not be the newest (`clock_behind`)
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
    this.#see(namespace, id);
    return () => this.#greatest.get(namespace) ?? "";
  }

  /** Note an id that the writer stores something for. */
  #see(namespace: string, id: string): void {
    if (id >= (this.#greatest.get(namespace) ?? "")) this.#greatest.set(namespace, id);
  }

  /** Note the checkpoint that a task's writes belong to. */
  seeWrites(namespace: string, id: string): void {
    if (this.#last.has(namespace)) this.#see(namespace, id);
  }
}
