import { GraphServeError } from "../errors.js";
import { Batch, type Entries } from "./postgres-batch.js";
import type { PostgresPool } from "./postgres-pool.js";
import { storeBatch } from "./postgres-saver-sql.js";

interface Request {
  threadId: string;
  entries: Entries;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Statements under way at once: a further one would rather carry fewer entries than store them sooner. */
const LANES = 3;

/**
 * Stores checkpoints and writes. What comes while statements are under way goes together into the next: under load one
 * round trip and one commit serve many runs. A call resolves when what it asked for is committed, never before; those
 * of one thread are committed in their order.
 */
export class PostgresWriter {
  readonly #pool: PostgresPool;
  readonly #sql: string;
  #waiting: Request[] = [];
  #underWay = 0;
  readonly #busyThreads = new Set<string>();

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#sql = storeBatch(schema);
  }

  store(threadId: string, entries: Entries): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ threadId, entries, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay >= LANES || this.#waiting.length === 0) return;
    const [batch, taken] = this.#take();
    if (taken.length > 0) void this.#send(batch, taken);
  }

  /** What fits into one statement; a thread's requests wait for those of it that are under way. */
  #take(): [Batch, Request[]] {
    const batch = new Batch();
    const taken: Request[] = [];
    const left: Request[] = [];
    const passedOver = new Set(this.#busyThreads);
    for (const request of this.#waiting) {
      if (!passedOver.has(request.threadId) && batch.add(request.entries)) taken.push(request);
      else {
        passedOver.add(request.threadId);
        left.push(request);
      }
    }
    this.#waiting = left;
    return [batch, taken];
  }

  async #send(batch: Batch, taken: readonly Request[]): Promise<void> {
    const threads = new Set(taken.map(({ threadId }) => threadId));
    for (const threadId of threads) this.#busyThreads.add(threadId);
    this.#underWay += 1;
    try {
      await this.#store(batch, taken);
    } finally {
      this.#underWay -= 1;
      for (const threadId of threads) this.#busyThreads.delete(threadId);
      this.#next();
    }
  }

  async #store(batch: Batch, taken: readonly Request[]): Promise<void> {
    try {
      await this.#pool.query(this.#sql, batch.parameters);
      for (const { resolve } of taken) resolve();
    } catch (error) {
      if (taken.length > 1 && isOfTheServer(error)) await this.#storeOneByOne(taken);
      else for (const { reject } of taken) reject(error);
    }
  }

  /** One request that the server refuses must not fail those that happened to be with it. */
  async #storeOneByOne(taken: readonly Request[]): Promise<void> {
    for (const request of taken) {
      const batch = new Batch();
      batch.add(request.entries);
      await this.#store(batch, [request]);
    }
  }
}

/** Whether the server answered: then it stored nothing of the statement. */
function isOfTheServer(error: unknown): boolean {
  const cause = error instanceof GraphServeError ? error.cause : error;
  return typeof cause === "object" && cause !== null && "severity" in cause;
}
