/**
 * A run over which a process died may be what killed it. From then on it is executed alone in its process, so that no
 * run of another user dies with it again: innocent runs end well, and the one that kills dies by itself.
 */
import type { ReadyRun } from "../storage/contract/storage.js";

/** How long a run may wait for its trial while a process has other runs to begin, in milliseconds. */
export const QUARANTINE_WAIT_MS = 5_000;

type Choice =
  /** Execute this one alone. */
  | { trial: ReadyRun }
  /** Begin no other run until those in flight have ended: one has waited for its trial long enough. */
  | "drain"
  /** Begin other runs. */
  | "others";

export class Quarantine {
  /** Since when those that wait have been seen here, by run, in milliseconds of `performance.now()`. */
  #seen = new Map<string, number>();

  /**
   * @param suspects those that wait for a trial, in their order
   * @param hasOthers whether other runs wait
   * @param inFlight runs in flight here
   */
  choose(suspects: readonly ReadyRun[], hasOthers: boolean, inFlight: number, at: number): Choice {
    this.#seen = new Map(suspects.map(({ run_id }) => [run_id, this.#seen.get(run_id) ?? at]));
    const [first] = suspects;
    if (!first) return "others";
    const isDue = [...this.#seen.values()].some((since) => at - since >= QUARANTINE_WAIT_MS);
    if (inFlight > 0) return isDue ? "drain" : "others";
    return isDue || !hasOthers ? { trial: first } : "others";
  }

  /** A trial has ended: other runs have their turn before the next one. */
  ended(): void {
    this.#seen.clear();
  }
}
