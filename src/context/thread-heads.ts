/** Tracks the newest checkpoint ids of a thread for one writer: a run or an edit. */
import { type KnownHead, timeOfCheckpoint } from "../storage/saver/known-head.js";
import type { NamespaceRef } from "../storage/saver/ref.js";
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

/** What a run or an edit knows of a namespace of its thread. */
export interface Head extends KnownHead {
  /** The id that the next checkpoint has to exceed; empty if there are no checkpoints. */
  last: string;
}

/** By namespace, those that the writer has read. */
export type Heads = Map<string, Head>;

/**
 * Records the newest id of a namespace, as read under the lease.
 * @returns a promise to await before the first write; undefined unless the clock is behind that id
 * @throws ClockBehindError if the clock is too far behind (`clock_behind`)
 */
export function noteHead(
  heads: Heads,
  { thread_id, checkpoint_ns }: NamespaceRef,
  id = "",
): Promise<void> | undefined {
  heads.set(checkpoint_ns, { last: id, greatest: id });
  const time = id === "" ? undefined : timeOfCheckpoint(id);
  const isAhead = time !== undefined && time >= Date.now();
  return isAhead ? clockPast(thread_id, time, LONG_CLOCK_WAIT_MS) : undefined;
}

/**
 * Records the id of the next write.
 * @throws ClockBehindError if the id would not be the newest (`clock_behind`)
 */
export function advance(head: Head, threadId: string, id: string): void {
  if (id < head.last) {
    const [newest, own] = [timeOfCheckpoint(head.last), timeOfCheckpoint(id)];
    throw new ClockBehindError(threadId, newest !== undefined && own !== undefined ? newest - own : 0);
  }
  head.last = id;
  if (id > head.greatest) head.greatest = id;
}
