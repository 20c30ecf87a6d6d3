/**
 * Some changes affect a run and its thread, which are two documents. MongoDB changes one document at a time (transactions
 * need a replica set, and not every compatible server has them), so the order of the writes makes each change atomic:
 *
 * - Insert: the run is written first, then its thread. If the process dies in between, an unfinished run remains that no
 *   client knows of, and recovery ends it like any interrupted run. The reverse order would leave a thread busy forever
 *   without a run that explains why.
 * - Take over: the run is written first, then its thread. The new version of the thread refuses the end of the run that
 *   the previous holder may be about to write.
 * - End: the thread is written first, with the end of the run in its document, then the run. The thread decides: it is
 *   written by compare-and-set, so of two ends of a run one fails and finds the other. Between the two writes, the run
 *   still counts as unfinished. The next `settle` of the run, by recovery or the same process, finds the end in the thread
 *   and completes it. The next end on the thread also completes it, before it overwrites it.
 */
import type { Db, Filter, Document } from "mongodb";
import type { RunTasks, TokenUsage } from "../../models/run.js";
import { isHeldBy, isStart, runOrder } from "../rows/rows.js";
import { isFinished, UNFINISHED } from "../../models/run-status.js";
import type { Owner, OwnerTable } from "../contract/owners.js";
import type {
  RunHolder,
  RunKey,
  RunLease,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  RunSearch,
  RunTable,
  UnfinishedQuery,
  UnfinishedRun,
  DeadRunTable,
} from "../contract/runs.js";
import type { ThreadPatch } from "../contract/threads.js";
import type { UsageTable } from "../contract/usage.js";
import { isDuplicate } from "./errors.js";
import { recordingsIn } from "./recordings.js";
import {
  type Collections,
  collectionsOf,
  fromRunDocument,
  type Settlement,
  type RunDocument,
  type StoredRunPatch,
  type ThreadDocument,
  toRunDocument,
  storeRunPatch,
  IS_DEAD,
} from "./rows.js";
import type { MongodbThreads } from "./threads.js";

const WITHOUT_TASKS = { projection: { tasks: 0 } };
const isUnfinished = { status: { $in: [...UNFINISHED] } };

/** Run rows in a MongoDB database. */
export class MongodbRuns implements RunTable {
  readonly #runs: Collections["runs"];
  readonly #owners: Collections["owners"];
  readonly #threads: MongodbThreads;
  readonly #usage: UsageTable;
  /** Insertions that failed halfway and must be undone. */
  readonly #failed: Insertion[] = [];

  readonly #recordings: ReturnType<typeof recordingsIn>;

  constructor(db: Db, threads: MongodbThreads, usage: UsageTable) {
    const { runs, owners } = collectionsOf(db);
    this.#recordings = recordingsIn(db);
    this.#runs = runs;
    this.#owners = owners;
    this.#threads = threads;
    this.#usage = usage;
  }

  async insert(row: RunRow, patch: ThreadPatch): Promise<boolean> {
    const insertion: Insertion = { runId: row.run_id, threadId: row.thread_id, before: undefined };
    try {
      await this.#runs.insertOne(toRunDocument(row));
      if (await this.#open(insertion, patch)) return true;
      await this.delete(row.thread_id, row.run_id);
      return false;
    } catch (error) {
      // The caller gets an error, so the run must not exist.
      if (!isDuplicate(error)) this.#failed.push(insertion);
      await this.undoFailed().catch(() => undefined);
      throw error;
    }
  }

  async get(threadId: string, runId: string): Promise<RunRow | undefined> {
    const stored = await this.#runs.findOne({ _id: runId, thread_id: threadId }, WITHOUT_TASKS);
    return stored ? fromRunDocument(stored) : undefined;
  }

  update(runId: string, patch: RunPatch, holder?: RunHolder): Promise<boolean> {
    return this.#patch(runId, storeRunPatch(patch), holder);
  }

  async take(
    { run_id, thread_id }: RunKey,
    from: RunHolder,
    patch: RunPatch & RunLease,
    thread: ThreadPatch,
  ): Promise<boolean> {
    const stored = await this.#threads.find(thread_id);
    if (!stored) return false;
    // The end of a run is stored in its thread first.
    if (stored.settled?.run_id === run_id) await this.#complete(stored.settled);
    const notCancelled = isStart(from, patch) && { cancel_requested: { $ne: true as const } };
    const held = { _id: run_id, thread_id, ...isUnfinished, ...from, ...notCancelled };
    const taken = await this.#runs.updateOne(held, { $set: storeRunPatch(patch) });
    if (taken.matchedCount === 0) return false;
    return this.mark(run_id, thread_id, thread);
  }

  /** Sequential: after a crash, the remaining runs are still unfinished and are settled by recovery. */
  async settle(outcomes: readonly RunOutcome[]): Promise<void> {
    for (const outcome of outcomes) {
      // Rows are replaced by their keys, so that a repeated settlement does not count twice.
      if (outcome.usage) await this.#usage.store(outcome.usage);
      await this.#settle(outcome);
    }
  }

  async delete(threadId: string, runId: string): Promise<boolean> {
    const { deletedCount } = await this.#runs.deleteOne({ _id: runId, thread_id: threadId });
    if (deletedCount > 0) await this.#recordings.deleteMany({ run_id: runId });
    return deletedCount > 0;
  }

  list({ threadId, status, ...page }: RunQuery): Promise<RunRow[]> {
    return this.#page({ thread_id: threadId, ...(status && { status }) }, page);
  }

  search({ threadIds, assistantIds, status, createdAfter, createdBefore, ...page }: RunSearch) {
    const created = {
      ...(createdAfter !== undefined && { $gte: createdAfter }),
      ...(createdBefore !== undefined && { $lt: createdBefore }),
    };
    const wanted: Filter<RunDocument> = {
      ...(threadIds && { thread_id: { $in: [...threadIds] } }),
      ...(assistantIds && { assistant_id: { $in: [...assistantIds] } }),
      ...(status && { status }),
      ...(Object.keys(created).length > 0 && { created_at: created }),
    };
    return this.#page(wanted, page);
  }

  /** One page: by default, newest first. */
  async #page(wanted: Filter<RunDocument>, page: Omit<RunSearch, "threadIds">): Promise<RunRow[]> {
    const { limit, offset, sortBy = "created_at", sortOrder } = page;
    // MongoDB treats a limit of 0 as no limit.
    if (limit <= 0) return [];
    if (sortBy === "duration" || sortBy === "tokens") return this.#computedPage(wanted, page);
    const direction = sortOrder === "asc" ? 1 : -1;
    const found = this.#runs
      .find(wanted, WITHOUT_TASKS)
      .sort({ [sortBy]: direction, created_at: direction, _id: direction })
      .skip(offset)
      .limit(limit);
    return (await found.toArray()).map(fromRunDocument);
  }

  /** Documents store usage as text, which MongoDB cannot sort by: reads the sorted fields of all matching runs. */
  async #computedPage(wanted: Filter<RunDocument>, page: RunSearch): Promise<RunRow[]> {
    const { limit, offset } = page;
    const projection = { status: 1, created_at: 1, updated_at: 1, usage: 1 };
    const all = await this.#runs.find(wanted, { projection }).toArray();
    const rows = all.map((run) => ({
      ...run,
      run_id: run._id,
      usage: JSON.parse(run.usage ?? "null") as TokenUsage,
    }));
    const ids = rows
      .sort(runOrder(page))
      .slice(offset, offset + limit)
      .map(({ run_id }) => run_id);
    const found = (await this.#runs.find({ _id: { $in: ids } }, WITHOUT_TASKS).toArray()).map(
      fromRunDocument,
    );
    return found.sort(runOrder(page));
  }

  async unfinished({ threadId, ownerId }: UnfinishedQuery = {}): Promise<UnfinishedRun[]> {
    const runs = await this.#runs
      .find({
        ...isUnfinished,
        state: { $ne: "delayed" },
        ...(threadId !== undefined && { thread_id: threadId }),
        ...(ownerId !== undefined && { owner: ownerId }),
      })
      .project<Pick<RunDocument, "_id" | "thread_id" | "owner">>({ thread_id: 1, owner: 1 })
      .sort({ created_at: 1, _id: 1 })
      .toArray();
    if (runs.length === 0) return [];
    const ids = [...new Set(runs.flatMap(({ owner }) => owner ?? []))];
    const owners = new Map<string, Owner>();
    for await (const { _id: id, ...owner } of this.#owners.find({ _id: { $in: ids } })) {
      owners.set(id, { id, ...owner });
    }
    return runs.map(({ _id, thread_id, owner }) => ({
      run_id: _id,
      thread_id,
      owner: owners.get(owner ?? ""),
    }));
  }

  async requestCancel(runId: string): Promise<void> {
    await this.#runs.updateOne({ _id: runId, ...isUnfinished }, { $set: { cancel_requested: true } });
  }

  async cancelRequests(owner: string | null): Promise<string[]> {
    const requested = this.#runs.find({ owner, cancel_requested: true, ...isUnfinished });
    return (await requested.project<Pick<RunDocument, "_id">>({ _id: 1 }).toArray()).map(({ _id }) => _id);
  }

  async tasks(threadId: string, runId: string): Promise<RunTasks | null> {
    const [run] = await this.#runs
      .find({ _id: runId, thread_id: threadId })
      .project<Pick<RunDocument, "tasks">>({ tasks: 1 })
      .toArray();
    return run?.tasks == null ? null : (JSON.parse(run.tasks) as RunTasks);
  }

  /** Patch the thread and make this its latest run. An end that the previous holder stored in the meantime is discarded. */
  async mark(runId: string, threadId: string, patch: ThreadPatch): Promise<boolean> {
    for (;;) {
      const stored = await this.#threads.find(threadId);
      if (!stored) return false;
      const settled = stored.settled?.run_id === runId ? null : stored.settled;
      if (await this.#threads.replace(stored, patch, { opened: runId, settled })) return true;
    }
  }

  /** Undo failed insertions. Those that cannot be undone now are kept for the next call. */
  async undoFailed(): Promise<void> {
    for (const insertion of [...this.#failed]) {
      await this.#undo(insertion);
      const index = this.#failed.indexOf(insertion);
      if (index >= 0) this.#failed.splice(index, 1);
    }
  }

  async #open(insertion: Insertion, patch: ThreadPatch): Promise<boolean> {
    for (;;) {
      const stored = await this.#threads.find(insertion.threadId);
      if (!stored) return false;
      insertion.before = stored;
      if (await this.#threads.replace(stored, patch, { opened: insertion.runId })) return true;
    }
  }

  /** Restores the thread if it was changed although the call failed, unless it has changed again since. */
  async #undo({ runId, threadId, before }: Insertion): Promise<void> {
    const stored = before && (await this.#threads.find(threadId));
    if (before && stored?.opened === runId && stored.version === before.version + 1) {
      await this.#threads.overwrite(stored, before);
    }
    await this.delete(threadId, runId);
  }

  /** Store the end of a run. Does nothing if the run has already ended or its thread does not exist. */
  async #settle({ runId, holder, run: patch, threadId, thread }: RunOutcome): Promise<void> {
    const settlement: Settlement = { run_id: runId, patch: storeRunPatch(patch), ...(holder && { holder }) };
    for (;;) {
      const stored = await this.#threads.find(threadId);
      // A run without a thread: its process died during the insertion, after the thread was deleted.
      if (!stored) return void (await this.#runs.deleteMany({ thread_id: threadId }));
      const [found] = await Promise.all([
        this.get(threadId, runId),
        stored.settled && this.#complete(stored.settled),
      ]);
      // Read the run again: an end by a previous holder is not applied, so the run may still be unfinished.
      const run = stored.settled?.run_id === runId ? await this.get(threadId, runId) : found;
      if (!run || isFinished(run) || (holder && !isHeldBy(run, holder))) return;
      if (await this.#isSuperseded(runId, stored)) return this.#complete(settlement);
      if (await this.#threads.replace(stored, thread, { settled: settlement })) {
        return this.#complete(settlement);
      }
    }
  }

  /** Whether a later run has started, so that the outcome must not change the thread. */
  async #isSuperseded(runId: string, { _id, opened }: ThreadDocument): Promise<boolean> {
    if (opened === null || opened === runId) return false;
    const latest = await this.get(_id, opened);
    if (latest === undefined || isFinished(latest)) return false;
    const { status, state } = latest;
    return !(status === "pending" && (state === "delayed" || state === "queued"));
  }

  /** Idempotent: a run that has ended is not changed. */
  async #complete({ run_id, patch, holder }: Settlement): Promise<void> {
    await this.#patch(run_id, patch, holder);
  }

  /** Idempotent: returns false, and changes nothing, if the run has ended or belongs to another holder. */
  async #patch(runId: string, patch: StoredRunPatch, holder?: RunHolder): Promise<boolean> {
    const wanted = { _id: runId, ...isUnfinished, ...holder };
    return (await this.#runs.updateOne(wanted, { $set: patch })).matchedCount > 0;
  }
}

interface Insertion {
  runId: string;
  threadId: string;
  /** The thread before the change was attempted. */
  before: ThreadDocument | undefined;
}

export function createMongodbOwners(db: Db, runs: MongodbRuns): OwnerTable {
  const { owners } = collectionsOf(db);
  return {
    /** A heartbeat also undoes insertions that failed during an outage. */
    async beat({ id, ...owner }) {
      await owners.replaceOne({ _id: id }, owner, { upsert: true });
      await runs.undoFailed();
    },
    async remove(ownerId) {
      await owners.deleteOne({ _id: ownerId });
    },
  };
}

// Dead runs.

/** `revive` is called under the thread's lock, so no other run begins between its check and the update. */
export function createMongodbDeadRuns(db: Db, table: MongodbRuns): DeadRunTable {
  const { runs } = collectionsOf(db);
  return {
    async list({ limit, offset }) {
      // MongoDB treats a limit of 0 as no limit.
      if (limit <= 0) return [];
      const found = runs.find(IS_DEAD, { projection: { tasks: 0 } }).sort({ created_at: -1, _id: -1 });
      return (await found.skip(offset).limit(limit).toArray()).map(fromRunDocument);
    },
    async count() {
      const { n } = await db.command({ count: runs.collectionName, query: IS_DEAD as Document });
      return Number(n);
    },
    async revive({ run_id, thread_id }, patch, thread) {
      const others = { thread_id, status: { $in: [...UNFINISHED] }, state: { $ne: "delayed" as const } };
      if (await runs.findOne(others, { projection: { _id: 1 } })) return false;
      const revived = await runs.updateOne(
        { _id: run_id, thread_id, ...IS_DEAD },
        { $set: storeRunPatch(patch) },
      );
      // The new version of the thread refuses an end of the run that is still on its way.
      return revived.matchedCount > 0 && table.mark(run_id, thread_id, thread);
    },
    forget: async (before) => {
      const forgotten = await runs.updateMany(
        { ...IS_DEAD, updated_at: { $lt: before } },
        { $set: { state: "ended", resumption: null } },
      );
      return forgotten.modifiedCount;
    },
  };
}
