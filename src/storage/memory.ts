import { wrapCheckpointer } from "./checkpointer.js";
import { createMemoryItems } from "./items-in-memory.js";
import { byCreation, copyJson } from "./memory-rows.js";
import { ThreadMemorySaver } from "./memory-saver.js";
import { MemoryThreads } from "./memory-threads.js";
import { OrderedList } from "./ordered-list.js";
import { expiryOf, isFinished, patchRun, patchThread } from "./rows.js";
import type {
  MetadataStore,
  Owner,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  Storage,
  StorageOptions,
  ThreadFilter,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  UnfinishedRun,
} from "./storage.js";
import { createThreadLocks } from "./thread-locks.js";

/** Both stores in this process's memory; gone when it ends. */
export async function openMemory(options: StorageOptions): Promise<Storage> {
  const saver = new ThreadMemorySaver();
  return {
    scheme: "memory",
    durable: false,
    metadata: new MemoryMetadataStore(),
    checkpointer: wrapCheckpointer(saver, { keepOnly: (threadId, keep) => saver.keepOnly(threadId, keep) }),
    locks: createThreadLocks({ maxWaiting: options.max_queued_runs }),
    items: createMemoryItems(),
    close: async () => undefined,
  };
}

/** Rows in maps. Methods do not await: each is one step by nature. */
class MemoryMetadataStore implements MetadataStore {
  readonly #threads = new MemoryThreads();
  readonly #runs = new Map<string, RunRow>();
  readonly #runsByThread = new Map<string, OrderedList<RunRow>>();
  readonly #unfinished = new Set<string>();
  /** Unfinished runs that are to stop. */
  readonly #cancelled = new Set<string>();
  readonly #owners = new Map<string, Owner>();

  async insertThread(row: ThreadRow): Promise<boolean> {
    if (this.#threads.get(row.thread_id)) return false;
    this.#threads.insert(copyJson(row));
    return true;
  }

  async getThread(threadId: string): Promise<ThreadRow | undefined> {
    return copyJson(this.#threads.get(threadId));
  }

  async updateThread(threadId: string, patch: ThreadPatch): Promise<ThreadRow | undefined> {
    return copyJson(this.#patchThread(threadId, patch));
  }

  async searchThreads(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
    const { rows, total } = this.#threads.search(query);
    return { rows: copyJson(rows), total };
  }

  async countThreads(filter: ThreadFilter): Promise<number> {
    return this.#threads.matching(filter).length;
  }

  async deleteThread(threadId: string): Promise<boolean> {
    const row = this.#threads.get(threadId);
    if (!row) return false;
    this.#threads.remove(row);
    for (const { run_id } of this.#runsOf(threadId)) {
      this.#runs.delete(run_id);
      this.#finish(run_id);
    }
    this.#runsByThread.delete(threadId);
    return true;
  }

  async expiredThreads(now: string, limit: number): Promise<ThreadRow[]> {
    const time = Date.parse(now);
    const expiry = (row: ThreadRow) => expiryOf(row) ?? Infinity;
    const expired = this.#threads.mortal().filter((row) => row.status !== "busy" && expiry(row) < time);
    return copyJson(expired.sort((a, b) => expiry(a) - expiry(b)).slice(0, limit));
  }

  async insertRun(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    if (!this.#patchThread(row.thread_id, thread)) return false;
    const run = copyJson(row);
    const runs = this.#runsByThread.get(run.thread_id) ?? new OrderedList(byCreation);
    runs.insert(run);
    this.#runsByThread.set(run.thread_id, runs);
    this.#runs.set(run.run_id, run);
    if (!isFinished(run)) this.#unfinished.add(run.run_id);
    return true;
  }

  async getRun(threadId: string, runId: string): Promise<RunRow | undefined> {
    const run = this.#runs.get(runId);
    return run?.thread_id === threadId ? copyJson(run) : undefined;
  }

  async updateRun(runId: string, patch: RunPatch): Promise<boolean> {
    const run = this.#runs.get(runId);
    return run !== undefined && this.#patchRun(run, patch);
  }

  async settleRuns(outcomes: readonly RunOutcome[]): Promise<void> {
    for (const { runId, run, threadId, thread } of outcomes) {
      const row = this.#runs.get(runId);
      if (row?.thread_id === threadId && this.#patchRun(row, run)) this.#patchThread(threadId, thread);
    }
  }

  async deleteRun(threadId: string, runId: string): Promise<boolean> {
    const run = this.#runs.get(runId);
    if (run?.thread_id !== threadId) return false;
    this.#runs.delete(runId);
    this.#finish(runId);
    this.#runsByThread.get(threadId)?.remove(run);
    return true;
  }

  async listRuns({ threadId, status, limit, offset }: RunQuery): Promise<RunRow[]> {
    const runs = this.#runsOf(threadId);
    const matching = status ? runs.filter((run) => run.status === status) : runs;
    const end = Math.max(0, matching.length - offset);
    return copyJson(matching.slice(Math.max(0, end - limit), end).reverse());
  }

  async beat(owner: Owner): Promise<void> {
    this.#owners.set(owner.id, { ...owner });
  }

  async removeOwner(ownerId: string): Promise<void> {
    this.#owners.delete(ownerId);
  }

  async unfinishedRuns(): Promise<UnfinishedRun[]> {
    return [...this.#unfinished].flatMap((runId) => {
      const run = this.#runs.get(runId);
      if (!run) return [];
      return { run_id: runId, thread_id: run.thread_id, owner: copyJson(this.#owners.get(run.owner)) };
    });
  }

  async requestCancel(runId: string): Promise<void> {
    if (this.#unfinished.has(runId)) this.#cancelled.add(runId);
  }

  async cancelRequests(ownerId: string): Promise<string[]> {
    return [...this.#cancelled].filter((runId) => this.#runs.get(runId)?.owner === ownerId);
  }

  #runsOf(threadId: string): readonly RunRow[] {
    return this.#runsByThread.get(threadId)?.items ?? [];
  }

  #patchThread(threadId: string, patch: ThreadPatch): ThreadRow | undefined {
    const row = this.#threads.get(threadId);
    if (!row) return undefined;
    const next = patchThread(row, copyJson(patch));
    this.#threads.replace(row, next);
    return next;
  }

  /** In place: what a patch changes is not what runs are ordered by. False when the run has ended. */
  #patchRun(run: RunRow, patch: RunPatch): boolean {
    if (isFinished(run)) return false;
    Object.assign(run, patchRun(run, copyJson(patch)));
    if (isFinished(run)) this.#finish(run.run_id);
    return true;
  }

  #finish(runId: string): void {
    this.#unfinished.delete(runId);
    this.#cancelled.delete(runId);
  }
}
