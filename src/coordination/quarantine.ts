/**
 * A run that was in flight when its process crashed may have caused the crash. Its next attempts are quarantined: they
 * execute alone in their process, so that another crash interrupts no other run.
 */
import type { ReadyRun } from "../storage/contract/storage.js";

/** How long a quarantined run may wait while a process has other runs to start, in milliseconds. */
export const QUARANTINE_WAIT_MS = 5_000;

type Choice =
  /** Execute this run alone. */
  | { trial: ReadyRun }
  /** Start no run until those in flight have ended: a quarantined run has waited long enough. */
  | "drain"
  /** Start other runs. */
  | "others";

export class Quarantine {
  /** When each quarantined run was first seen, by run id, in milliseconds of `performance.now()`. */
  #firstSeen = new Map<string, number>();

  /**
   * @param suspects quarantined runs that are ready, in queue order
   * @param hasOthers whether other runs are ready
   * @param inFlight number of runs in flight in this process
   * @param at current time, in milliseconds of `performance.now()`
   */
  choose(suspects: readonly ReadyRun[], hasOthers: boolean, inFlight: number, at: number): Choice {
    this.#firstSeen = new Map(suspects.map(({ run_id }) => [run_id, this.#firstSeen.get(run_id) ?? at]));
    const [first] = suspects;
    if (!first) return "others";
    const isDue = [...this.#firstSeen.values()].some((since) => at - since >= QUARANTINE_WAIT_MS);
    if (inFlight > 0) return isDue ? "drain" : "others";
    return isDue || !hasOthers ? { trial: first } : "others";
  }

  /** Call when a quarantined run has ended. Other runs start before the next one. */
  ended(): void {
    this.#firstSeen.clear();
  }
}
