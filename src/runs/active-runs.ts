/** How many runs a process without a queue has at once: those in flight, and those that wait for their thread. */
import { GraphServeError } from "../support/errors.js";

/** The part of all places that the runs of one user may take. */
const SHARE_OF_USER = 0.5;

/** There is no place for another run now. */
export class TooManyActiveRunsError extends GraphServeError {
  constructor(count: number, whose: string) {
    super("too_many_runs", `${count} ${whose} in flight or wait in this process`, {
      hint: "try again when some have ended, or raise the setting max_active_runs",
    });
  }
}

export class ActiveRuns {
  readonly #most: number;
  readonly #mostOfUser: number;
  #count = 0;
  /** By user; see `scopeOf`. */
  readonly #counts = new Map<string, number>();

  /** @param most most runs of all users together */
  constructor(most: number) {
    this.#most = most;
    this.#mostOfUser = Math.max(1, Math.floor(most * SHARE_OF_USER));
  }

  /**
   * Do the work of accepting a run, which counts as one until it is done.
   * @param scope the user's; null where there are no users
   * @throws TooManyActiveRunsError (`too_many_runs`)
   */
  async during<T>(scope: string | null, work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#most) throw new TooManyActiveRunsError(this.#count, "runs are");
    const own = scope === null ? 0 : (this.#counts.get(scope) ?? 0);
    if (own >= this.#mostOfUser) throw new TooManyActiveRunsError(own, "of your runs are");
    const leave = this.enter(scope);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Count a run that was accepted.
   * @returns ends that, when the run has ended
   */
  enter(scope: string | null): () => void {
    this.#add(scope, 1);
    return () => this.#add(scope, -1);
  }

  #add(scope: string | null, change: 1 | -1): void {
    this.#count += change;
    if (scope === null) return;
    const count = (this.#counts.get(scope) ?? 0) + change;
    if (count === 0) this.#counts.delete(scope);
    else this.#counts.set(scope, count);
  }
}
