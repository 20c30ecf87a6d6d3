/**
 * Calls that may meet a lock of another process. SQLite itself would wait for another process's lock inside the call, and stop the event loop
 * for as long: here a call that meets a lock is tried again between other work, and later writes wait behind a write.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { BUSY_TIMEOUT, isBusy } from "./errors.js";

/** How long one try waits inside SQLite, in milliseconds: enough for a short write of another process. */
export const TRY_MS = 5;
/** Milliseconds between the first two tries, and between later ones. */
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
   * Do the work in one transaction, which has the write lock from its start: a lock taken after a read fails at once
   * if another process has written.
   * @returns the result; a promise of it if another process has the lock
   * @throws SqliteError of the code SQLITE_BUSY if it still has the lock after `BUSY_TIMEOUT`
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
   * The result of a read; a promise of it if another process keeps readers out.
   * @throws SqliteError as `write`
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

  /** Do what waits, in order, until one meets the lock again. */
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
