import type { JsonObject } from "../../models/common.js";
import { filterInTurns } from "../../support/event-loop.js";
import { wrapCheckpointer } from "../checkpointer.js";
import { createMemoryItems } from "../item-store.js";
import {
  containing,
  expiryOf,
  factsOf,
  inScope,
  isFinished,
  patchRun,
  patchThread,
  splitFilter,
} from "../rows.js";
import {
  type MetadataStore,
  type Owner,
  type RunOutcome,
  type RunPatch,
  type RunQuery,
  type RunRow,
  type Storage,
  type StorageOptions,
  type ThreadFilter,
  type ThreadPatch,
  type ThreadQuery,
  type ThreadRow,
  type UnfinishedRun,
  tablesOf,
} from "../storage.js";
import { createThreadLocks } from "../thread-locks.js";
import { ThreadMemorySaver } from "./saver.js";

/** Both stores in this process's memory; gone when it ends. */
export async function openMemory(options: StorageOptions): Promise<Storage> {
  const saver = new ThreadMemorySaver();
  return {
    scheme: "memory",
    durable: false,
    ...tablesOf(new MemoryMetadataStore()),
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
    const { rows, total } = await this.#threads.search(query);
    return { rows: copyJson(rows), total };
  }

  async countThreads(filter: ThreadFilter): Promise<number> {
    return this.#threads.count(filter);
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

/** A deep copy of JSON-like data: own keys only, whatever their names, and those set to undefined left out. */
function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => copyJson(element)) as T;
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: copyJson(entry as unknown), ...PLAIN });
    else copy[key] = copyJson(entry as unknown);
  }
  return copy as T;
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

const byUpdate = (a: ThreadRow, b: ThreadRow): number =>
  compareTexts(a.updated_at, b.updated_at) || compareTexts(a.thread_id, b.thread_id);

const byCreation = (a: RunRow, b: RunRow): number =>
  compareTexts(a.created_at, b.created_at) || compareTexts(a.run_id, b.run_id);

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Thread rows in order of their last update: one list of all, one a fact, so that a page of either and its total cost
 * the same however many threads there are. Rows are never changed in place: `replace` them.
 */
class MemoryThreads {
  readonly #rows = new Map<string, ThreadRow>();
  readonly #all = new OrderedList(byUpdate);
  readonly #byFact = new Map<string, OrderedList<ThreadRow>>();

  get(threadId: string): ThreadRow | undefined {
    return this.#rows.get(threadId);
  }

  insert(row: ThreadRow): void {
    this.#rows.set(row.thread_id, row);
    this.#all.insert(row);
    for (const fact of indexedBy(row)) {
      const list = this.#byFact.get(fact) ?? new OrderedList(byUpdate);
      list.insert(row);
      this.#byFact.set(fact, list);
    }
  }

  remove(row: ThreadRow): void {
    this.#rows.delete(row.thread_id);
    this.#all.remove(row);
    for (const fact of indexedBy(row)) {
      const list = this.#byFact.get(fact);
      list?.remove(row);
      if (list?.items.length === 0) this.#byFact.delete(fact);
    }
  }

  replace(row: ThreadRow, next: ThreadRow): void {
    this.remove(row);
    this.insert(next);
  }

  async search(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
    const { offset, limit, sortOrder } = query;
    const matching = sorted(await this.#matching(query), query.sortBy);
    const total = matching.length;
    if (sortOrder === "asc") return { rows: matching.slice(offset, offset + limit), total };
    const end = Math.max(0, total - offset);
    return { rows: matching.slice(Math.max(0, end - limit), end).reverse(), total };
  }

  async count(filter: ThreadFilter): Promise<number> {
    return (await this.#matching(filter)).length;
  }

  /** Matching rows as they are now, the longest unchanged first. */
  #matching({
    ids,
    metadata = {},
    scope,
    status,
  }: ThreadFilter): readonly ThreadRow[] | Promise<ThreadRow[]> {
    const { facts, rest } = splitFilter(metadata);
    if (status) facts.push(statusFact(status));
    const [shortest, ...others] = facts
      .map((fact) => this.#byFact.get(fact)?.items ?? [])
      .sort((a, b) => a.length - b.length);
    const base = ids ? this.#withIds(ids) : (shortest ?? this.#all.items);
    if (!ids && !rest && others.length === 0 && scope === undefined) return base;
    const hasMetadata = containing(metadata);
    return filterInTurns(
      base,
      (row) => (!status || row.status === status) && inScope(row, scope) && hasMetadata(row.metadata),
    );
  }

  /** Rows with a time to live. */
  mortal(): readonly ThreadRow[] {
    return this.#byFact.get(MORTAL)?.items ?? [];
  }

  #withIds(ids: readonly string[]): ThreadRow[] {
    return [...new Set(ids)].flatMap((id) => this.#rows.get(id) ?? []).sort(byUpdate);
  }
}

const MORTAL = "ttl";
const statusFact = (status: string) => `status ${status}`;

/** Metadata facts are JSON arrays, which these two names are not. */
function indexedBy({ metadata, status, ttl }: ThreadRow): string[] {
  const facts = factsOf(metadata);
  facts.push(statusFact(status));
  if (ttl) facts.push(MORTAL);
  return facts;
}

function sorted(rows: readonly ThreadRow[], field: ThreadQuery["sortBy"]): readonly ThreadRow[] {
  if (field === "updated_at") return rows;
  return [...rows].sort(
    (a, b) => compareTexts(a[field] ?? "", b[field] ?? "") || compareTexts(a.thread_id, b.thread_id),
  );
}

/** Items in order, found by halving. `compare` must tell any two items apart and must not change while they are in. */
class OrderedList<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  insert(item: T): void {
    const index = this.#indexOf(item);
    if (index === this.#items.length) this.#items.push(item);
    else this.#items.splice(index, 0, item);
  }

  remove(item: T): void {
    const index = this.#indexOf(item);
    if (this.#items[index] === item) this.#items.splice(index, 1);
  }

  /** Where the item stands or would stand; a new item is mostly the last, which is tried first. */
  #indexOf(item: T): number {
    let low = 0;
    let high = this.#items.length;
    if (high > 0 && this.#compare(this.#items[high - 1]!, item) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle]!, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
