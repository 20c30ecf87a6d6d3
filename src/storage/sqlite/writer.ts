/**
 * Runs calls that another process's lock may block. SQLite would wait inside the call and block the event loop. Here, a
 * locked call is retried from timers, and later writes queue behind it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { BUSY_TIMEOUT, isBusy } from "./errors.js";

/** How long one attempt waits inside SQLite, in milliseconds: enough for a short write of another process. */
export const TRY_MS = 5;
/** Milliseconds before the first retry; doubles up to `LAST_PAUSE`. */
const FIRST_PAUSE = 10;
const LAST_PAUSE = 50;

interface WaitingWrite {
  work: () => unknown;
  /** By `performance.now()`. */
  deadline: number;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

export class SqliteWriter {
  readonly #transaction: ReturnType<Database["transaction"]>;
  readonly #waiting: WaitingWrite[] = [];

  constructor(db: Database) {
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  /**
   * Run `work` in one transaction that takes the write lock at its start: SQLite refuses to upgrade a read lock
   * if another process has written since.
   * @returns the result, or a promise of it if another process holds the lock
   * @throws SqliteError with code SQLITE_BUSY if the lock is still held after `BUSY_TIMEOUT`
   */
  write<T>(work: () => T): T | Promise<T> {
    if (this.#waiting.length === 0) {
      try {
        return this.#transaction.immediate(work) as T;
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
    return new Promise<T>((resolve, reject) => {
      const deadline = performance.now() + BUSY_TIMEOUT;
      this.#waiting.push({ work, deadline, resolve: resolve as WaitingWrite["resolve"], reject });
      if (this.#waiting.length === 1) this.#later(FIRST_PAUSE);
    });
  }

  /**
   * Run a read.
   * @returns the result, or a promise of it if another process blocks readers
   * @throws SqliteError like `write`
   */
  read<T>(work: () => T): T | Promise<T> {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      return readAgain(work, performance.now() + BUSY_TIMEOUT);
    }
  }

  #later(pause: number): void {
    setTimeout(() => this.#drain(pause), pause);
  }

  /** Run the waiting writes in order, until one is blocked again. */
  #drain(pause: number): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      try {
        const result = this.#transaction.immediate(first.work);
        this.#waiting.shift();
        first.resolve(result);
      } catch (error) {
        if (isBusy(error) && performance.now() < first.deadline)
          return this.#later(Math.min(pause * 2, LAST_PAUSE));
        this.#waiting.shift();
        first.reject(error);
      }
    }
  }
}

async function readAgain<T>(work: () => T, deadline: number): Promise<T> {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LAST_PAUSE)) {
    await sleep(pause);
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
  }
}
