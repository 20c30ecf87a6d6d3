/** Limits the runs of a process without a queue: those in flight and those that wait for their thread. */
import { GraphServeError } from "../support/errors.js";

/** The part of the limit that the runs of one user may use. */
const SHARE_OF_USER = 0.5;

export class TooManyActiveRunsError extends GraphServeError {
  constructor(count: number, whose: string) {
    super("too_many_runs", `${count} ${whose} in flight or waiting in this process`, {
      hint: "retry when some runs have ended, or raise the setting max_active_runs",
    });
  }
}

export class ActiveRuns {
  readonly #most: number;
  readonly #mostOfUser: number;
  #count = 0;
  /** By user; see `scopeOf`. */
  readonly #counts = new Map<string, number>();

  /** @param most limit for all users together */
  constructor(most: number) {
    this.#most = most;
    this.#mostOfUser = Math.max(1, Math.floor(most * SHARE_OF_USER));
  }

  /**
   * @param scope the user's scope; null if there are no users
   * @throws TooManyActiveRunsError if fewer than `wanted` more runs may be active (`too_many_runs`)
   */
  assertRoom(scope: string | null, wanted: number): void {
    if (this.#count + wanted > this.#most) throw new TooManyActiveRunsError(this.#count, "runs are");
    const own = scope === null ? 0 : (this.#counts.get(scope) ?? 0);
    if (own + wanted > this.#mostOfUser && scope !== null)
      throw new TooManyActiveRunsError(own, "of your runs are");
  }

  /** Counts a run that is accepted or being accepted, or one that has ended or was refused. */
  count(scope: string | null, change: 1 | -1): void {
    this.#count += change;
    if (scope === null) return;
    const count = (this.#counts.get(scope) ?? 0) + change;
    if (count === 0) this.#counts.delete(scope);
    else this.#counts.set(scope, count);
  }
}
