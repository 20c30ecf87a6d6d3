import {
  readRun,
  storeRun,
  storeRunPatch,
  type Collections,
  type StoredRun,
  type StoredRunPatch,
} from "./mongodb-rows.js";
import { UNFINISHED } from "./rows.js";
import type { Owner, RunPatch, RunQuery, RunRow, UnfinishedRun } from "./storage.js";

const isUnfinished = { status: { $in: [...UNFINISHED] } };

/** Run rows and owners, one by one. */
export class MongodbRuns {
  readonly #runs: Collections["runs"];
  readonly #owners: Collections["owners"];

  constructor({ runs, owners }: Collections) {
    this.#runs = runs;
    this.#owners = owners;
  }

  async insert(row: RunRow): Promise<void> {
    await this.#runs.insertOne(storeRun(row));
  }

  async get(threadId: string, runId: string): Promise<RunRow | undefined> {
    const stored = await this.#runs.findOne({ _id: runId, thread_id: threadId });
    return stored ? readRun(stored) : undefined;
  }

  update(runId: string, patch: RunPatch): Promise<boolean> {
    return this.patchUnfinished(runId, storeRunPatch(patch));
  }

  /** False, and nothing changed, when the run has ended, so that the same patch may come again. */
  async patchUnfinished(runId: string, patch: StoredRunPatch): Promise<boolean> {
    return (await this.#runs.updateOne({ _id: runId, ...isUnfinished }, { $set: patch })).matchedCount > 0;
  }

  async delete(threadId: string, runId: string): Promise<boolean> {
    return (await this.#runs.deleteOne({ _id: runId, thread_id: threadId })).deletedCount > 0;
  }

  async deleteOf(threadId: string): Promise<void> {
    await this.#runs.deleteMany({ thread_id: threadId });
  }

  async list({ threadId, status, limit, offset }: RunQuery): Promise<RunRow[]> {
    // For MongoDB a limit of 0 is none.
    if (limit <= 0) return [];
    const found = this.#runs
      .find({ thread_id: threadId, ...(status && { status }) })
      .sort({ created_at: -1, _id: -1 })
      .skip(offset)
      .limit(limit);
    return (await found.toArray()).map(readRun);
  }

  async unfinished(): Promise<UnfinishedRun[]> {
    const runs = await this.#runs
      .find(isUnfinished)
      .project<Pick<StoredRun, "_id" | "thread_id" | "owner">>({ thread_id: 1, owner: 1 })
      .sort({ _id: 1 })
      .toArray();
    if (runs.length === 0) return [];
    const ids = [...new Set(runs.map(({ owner }) => owner))];
    const owners = new Map<string, Owner>();
    for await (const { _id: id, ...owner } of this.#owners.find({ _id: { $in: ids } })) {
      owners.set(id, { id, ...owner });
    }
    return runs.map(({ _id, thread_id, owner }) => ({ run_id: _id, thread_id, owner: owners.get(owner) }));
  }

  async requestCancel(runId: string): Promise<void> {
    await this.#runs.updateOne({ _id: runId, ...isUnfinished }, { $set: { cancel_requested: true } });
  }

  async cancelRequests(owner: string): Promise<string[]> {
    const asked = this.#runs.find({ owner, cancel_requested: true, ...isUnfinished });
    return (await asked.project<Pick<StoredRun, "_id">>({ _id: 1 }).toArray()).map(({ _id }) => _id);
  }

  async beat({ id, ...owner }: Owner): Promise<void> {
    await this.#owners.replaceOne({ _id: id }, owner, { upsert: true });
  }

  async removeOwner(ownerId: string): Promise<void> {
    await this.#owners.deleteOne({ _id: ownerId });
  }
}
