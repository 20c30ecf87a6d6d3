/**
 * A run that was in flight when its process crashed may have caused the crash. Its next attempts are quarantined: they
 * execute alone in their process, so that another crash interrupts no other run.
 */
import type { ReadyQueues } from "../storage/contract/queue.js";

/** How long a quarantined run may wait while a process has other runs to start, in milliseconds. */
export const QUARANTINE_WAIT_MS = 5_000;

type Choice =
  /** Execute a quarantined run alone. */
  | "trial"
  /** Start no run until those in flight have ended: a quarantined run has waited long enough. */
  | "drain"
  /** Start other runs. */
  | "others";

export class Quarantine {
  /** When quarantined runs were first seen, in milliseconds of `performance.now()`. */
  #firstSeen: number | undefined;

  /** @param inFlight number of runs in flight in this process */
  choose({ runs, suspects }: ReadyQueues, inFlight: number): Choice {
    const at = performance.now();
    this.#firstSeen = suspects ? (this.#firstSeen ?? at) : undefined;
    if (this.#firstSeen === undefined) return "others";
    const isDue = at - this.#firstSeen >= QUARANTINE_WAIT_MS;
    if (inFlight > 0) return isDue ? "drain" : "others";
    return isDue || !runs ? "trial" : "others";
  }

  /** Call when a quarantined run has ended. Other runs start before the next one. */
  ended(): void {
    this.#firstSeen = undefined;
  }
}
