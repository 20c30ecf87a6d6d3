/** Logs of runs that have ended, for clients that come back (bounded in time and memory). */
import type { RunLog } from "./run-log.js";

const KEEP_MS = 5 * 60_000;
/** Characters that all ended runs may keep together. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** What an entry costs beside its frames. */
const ENTRY_CHARACTERS = 512;

interface Kept {
  log: RunLog;
  endedAt: number;
}

export class RunLogs {
  /** By run id, the oldest first. */
  readonly #ended = new Map<string, Kept>();
  #characters = 0;

  keep(runId: string, log: RunLog, at = Date.now()): void {
    this.#ended.set(runId, { log, endedAt: at });
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

  /** Forget what is too old, and the oldest of what is too much. */
  expire(at = Date.now()): void {
    for (const [runId, { endedAt }] of this.#ended) {
      if (at - endedAt < KEEP_MS && this.#characters <= MAX_CHARACTERS) return;
      this.forget(runId);
    }
  }

  get count(): number {
    return this.#ended.size;
  }
}
