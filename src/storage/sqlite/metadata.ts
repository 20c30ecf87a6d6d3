import type { Database } from "better-sqlite3";
import { guarded } from "../driver-errors.js";
import { explainSqlite } from "./errors.js";
import { SqliteRuns } from "./runs.js";
import { SqliteSearch } from "./search.js";
import { SqliteThreads } from "./threads.js";
import type {
  MetadataStore,
  Owner,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  ThreadFilter,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  UnfinishedRun,
} from "../storage.js";

/** Thread rows and run rows of a SQLite file: one transaction a method. */
export class SqliteMetadataStore implements MetadataStore {
  readonly #threads: SqliteThreads;
  readonly #search: SqliteSearch;
  readonly #runs: SqliteRuns;
  readonly #transaction: ReturnType<Database["transaction"]>;

  constructor(db: Database) {
    this.#threads = new SqliteThreads(db);
    this.#search = new SqliteSearch(db);
    this.#runs = new SqliteRuns(db);
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  insertThread(row: ThreadRow): Promise<boolean> {
    return this.#write(() => this.#threads.insert(row));
  }

  getThread(threadId: string): Promise<ThreadRow | undefined> {
    return guarded(explainSqlite, () => this.#threads.get(threadId));
  }

  updateThread(threadId: string, patch: ThreadPatch): Promise<ThreadRow | undefined> {
    return this.#write(() => this.#threads.update(threadId, patch));
  }

  searchThreads(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
    return guarded(explainSqlite, () => this.#search.search(query));
  }

  countThreads(filter: ThreadFilter): Promise<number> {
    return guarded(explainSqlite, () => this.#search.count(filter));
  }

  deleteThread(threadId: string): Promise<boolean> {
    return this.#write(() => this.#threads.delete(threadId));
  }

  expiredThreads(now: string, limit: number): Promise<ThreadRow[]> {
    return guarded(explainSqlite, () => this.#threads.expired(Date.parse(now), limit));
  }

  insertRun(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    return this.#write(() => {
      if (!this.#threads.update(row.thread_id, thread)) return false;
      this.#runs.insert(row);
      return true;
    });
  }

  getRun(threadId: string, runId: string): Promise<RunRow | undefined> {
    return guarded(explainSqlite, () => {
      const run = this.#runs.get(runId);
      return run?.thread_id === threadId ? run : undefined;
    });
  }

  updateRun(runId: string, patch: RunPatch): Promise<boolean> {
    return this.#write(() => this.#runs.update(runId, patch));
  }

  settleRuns(outcomes: readonly RunOutcome[]): Promise<void> {
    return this.#write(() => {
      for (const { runId, run, threadId, thread } of outcomes) {
        if (this.#runs.update(runId, run, threadId)) this.#threads.update(threadId, thread);
      }
    });
  }

  deleteRun(threadId: string, runId: string): Promise<boolean> {
    return this.#write(() => this.#runs.delete(threadId, runId));
  }

  listRuns(query: RunQuery): Promise<RunRow[]> {
    return guarded(explainSqlite, () => this.#runs.list(query));
  }

  beat(owner: Owner): Promise<void> {
    return this.#write(() => this.#runs.beat(owner));
  }

  removeOwner(ownerId: string): Promise<void> {
    return this.#write(() => this.#runs.removeOwner(ownerId));
  }

  unfinishedRuns(): Promise<UnfinishedRun[]> {
    return guarded(explainSqlite, () => this.#runs.unfinished());
  }

  requestCancel(runId: string): Promise<void> {
    return this.#write(() => this.#runs.requestCancel(runId));
  }

  cancelRequests(ownerId: string): Promise<string[]> {
    return guarded(explainSqlite, () => this.#runs.cancelRequests(ownerId));
  }

  /** Takes the write lock at the start: a lock taken after a read fails at once when another process has written. */
  #write<T>(work: () => T): Promise<T> {
    return guarded(explainSqlite, () => this.#transaction.immediate(work) as T);
  }
}
