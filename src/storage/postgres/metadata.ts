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
import type { PostgresPool } from "./pool.js";
import { PostgresRuns } from "./runs.js";
import { PostgresSearch, PostgresThreads } from "./threads.js";

/** Thread rows and run rows of a PostgreSQL schema: one statement a method, wherever that is possible. */
export class PostgresMetadataStore implements MetadataStore {
  readonly #threads: PostgresThreads;
  readonly #search: PostgresSearch;
  readonly #runs: PostgresRuns;

  constructor(pool: PostgresPool, schema: string) {
    this.#threads = new PostgresThreads(pool, schema);
    this.#search = new PostgresSearch(pool, schema);
    this.#runs = new PostgresRuns(pool, schema);
  }

  insertThread(row: ThreadRow): Promise<boolean> {
    return this.#threads.insert(row);
  }

  getThread(threadId: string): Promise<ThreadRow | undefined> {
    return this.#threads.get(threadId);
  }

  updateThread(threadId: string, patch: ThreadPatch): Promise<ThreadRow | undefined> {
    return this.#threads.update(threadId, patch);
  }

  searchThreads(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
    return this.#search.search(query);
  }

  countThreads(filter: ThreadFilter): Promise<number> {
    return this.#search.count(filter);
  }

  deleteThread(threadId: string): Promise<boolean> {
    return this.#threads.delete(threadId);
  }

  expiredThreads(now: string, limit: number): Promise<ThreadRow[]> {
    return this.#threads.expired(Date.parse(now), limit);
  }

  insertRun(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    return this.#runs.insert(row, thread);
  }

  getRun(threadId: string, runId: string): Promise<RunRow | undefined> {
    return this.#runs.get(threadId, runId);
  }

  updateRun(runId: string, patch: RunPatch): Promise<boolean> {
    return this.#runs.update(runId, patch);
  }

  settleRuns(outcomes: readonly RunOutcome[]): Promise<void> {
    return this.#runs.settle(outcomes);
  }

  deleteRun(threadId: string, runId: string): Promise<boolean> {
    return this.#runs.delete(threadId, runId);
  }

  listRuns(query: RunQuery): Promise<RunRow[]> {
    return this.#runs.list(query);
  }

  beat(owner: Owner): Promise<void> {
    return this.#runs.beat(owner);
  }

  removeOwner(ownerId: string): Promise<void> {
    return this.#runs.removeOwner(ownerId);
  }

  unfinishedRuns(): Promise<UnfinishedRun[]> {
    return this.#runs.unfinished();
  }

  requestCancel(runId: string): Promise<void> {
    return this.#runs.requestCancel(runId);
  }

  cancelRequests(ownerId: string): Promise<string[]> {
    return this.#runs.cancelRequests(ownerId);
  }
}
