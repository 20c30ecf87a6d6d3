/** Links a requeued run to its next attempt in the same process, so that its clients can follow it there. */
import { EventEmitter, once } from "node:events";
import type { RunKey } from "../storage/contract/runs.js";
import { pause } from "../support/pause.js";

/** How long a requeued run remembers that its next attempt may execute here, in milliseconds. */
const NEXT_ATTEMPT_MS = 60_000;

/** The next attempt of a run, once this process has taken it up. */
export class NextAttempt<Live> {
  #live: Live | undefined;
  readonly #events = new EventEmitter().setMaxListeners(0);

  get live(): Live | undefined {
    return this.#live;
  }

  set(live: Live): void {
    this.#live = live;
    this.#events.emit("set");
  }

  /** Resolves when the attempt is known, or after `ms` milliseconds. Rejects with the signal's reason if it aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const known = once(this.#events, "set", { signal: done.signal }).catch(() => undefined);
    try {
      await Promise.race([known, pause(ms, AbortSignal.any([signal, done.signal])).catch(() => undefined)]);
      signal.throwIfAborted();
    } finally {
      done.abort();
    }
  }
}

/** What following a run to its next attempt needs of it. */
export interface Attempt<Live> {
  readonly run: RunKey;
  readonly isAttended: boolean;
  readonly next: NextAttempt<Live>;
}

export class RequeuedRuns<Live extends Attempt<Live>> {
  readonly #requeued = new Map<string, Live>();

  /** Records a requeued run, so that its next attempt here becomes its `next`. */
  add(live: Live): void {
    const { run_id } = live.run;
    this.taken(live);
    this.#requeued.set(run_id, live);
    const forget = () => this.#requeued.get(run_id) === live && this.#requeued.delete(run_id);
    setTimeout(forget, NEXT_ATTEMPT_MS).unref();
  }

  /** Called when this process executes a run. */
  taken(live: Live): void {
    const { run_id } = live.run;
    const earlier = this.#requeued.get(run_id);
    if (!earlier || earlier === live) return;
    this.#requeued.delete(run_id);
    earlier.next.set(live);
  }

  /** Whether the client of a requeued run is connected to this process. */
  hasClient(runId: string): boolean {
    return this.#requeued.get(runId)?.isAttended ?? false;
  }
}
