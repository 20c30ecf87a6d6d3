import type { Db } from "mongodb";
import { type ExplainError, guarded } from "../driver-errors.js";
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
import { collectionsOf } from "./rows.js";
import { MongodbRunChanges, MongodbRuns } from "./runs.js";
import { MongodbThreads, MongodbThreadSearch } from "./threads.js";

/** Thread rows and run rows of a MongoDB database; ./mongodb-run-changes.ts says how two documents change as one. */
export class MongodbMetadataStore implements MetadataStore {
  readonly #explain: ExplainError;
  readonly #threads: MongodbThreads;
  readonly #search: MongodbThreadSearch;
  readonly #runs: MongodbRuns;
  readonly #changes: MongodbRunChanges;

  constructor(db: Db, explain: ExplainError) {
    const collections = collectionsOf(db);
    this.#explain = explain;
    this.#threads = new MongodbThreads(collections);
    this.#search = new MongodbThreadSearch(db);
    this.#runs = new MongodbRuns(collections);
    this.#changes = new MongodbRunChanges(this.#threads, this.#runs);
  }

  insertThread(row: ThreadRow): Promise<boolean> {
    return this.#call(() => this.#threads.insert(row));
  }

  getThread(threadId: string): Promise<ThreadRow | undefined> {
    return this.#call(() => this.#threads.get(threadId));
  }

  updateThread(threadId: string, patch: ThreadPatch): Promise<ThreadRow | undefined> {
    return this.#call(() => this.#threads.update(threadId, patch));
  }

  searchThreads(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
    return this.#call(() => this.#search.search(query));
  }

  countThreads(filter: ThreadFilter): Promise<number> {
    return this.#call(() => this.#search.count(filter));
  }

  deleteThread(threadId: string): Promise<boolean> {
    return this.#call(() => this.#changes.deleteThread(threadId));
  }

  expiredThreads(now: string, limit: number): Promise<ThreadRow[]> {
    return this.#call(() => this.#threads.expired(Date.parse(now), limit));
  }

  insertRun(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    return this.#call(() => this.#changes.insert(row, thread));
  }

  getRun(threadId: string, runId: string): Promise<RunRow | undefined> {
    return this.#call(() => this.#runs.get(threadId, runId));
  }

  updateRun(runId: string, patch: RunPatch): Promise<boolean> {
    return this.#call(() => this.#runs.update(runId, patch));
  }

  /** One after the other: cut off in between, those left are still unfinished, and are settled the next time. */
  settleRuns(outcomes: readonly RunOutcome[]): Promise<void> {
    return this.#call(async () => {
      for (const outcome of outcomes) await this.#changes.settle(outcome);
    });
  }

  deleteRun(threadId: string, runId: string): Promise<boolean> {
    return this.#call(() => this.#runs.delete(threadId, runId));
  }

  listRuns(query: RunQuery): Promise<RunRow[]> {
    return this.#call(() => this.#runs.list(query));
  }

  /** Also the moment to mend what an outage left. */
  beat(owner: Owner): Promise<void> {
    return this.#call(async () => {
      await this.#runs.beat(owner);
      await this.#changes.undoFailed();
    });
  }

  removeOwner(ownerId: string): Promise<void> {
    return this.#call(() => this.#runs.removeOwner(ownerId));
  }

  unfinishedRuns(): Promise<UnfinishedRun[]> {
    return this.#call(() => this.#runs.unfinished());
  }

  requestCancel(runId: string): Promise<void> {
    return this.#call(() => this.#runs.requestCancel(runId));
  }

  cancelRequests(ownerId: string): Promise<string[]> {
    return this.#call(() => this.#runs.cancelRequests(ownerId));
  }

  #call<T>(work: () => Promise<T>): Promise<T> {
    return guarded(this.#explain, work);
  }
}
