import { isDuplicate } from "./mongodb-errors.js";
import { NEW_MARKS, readThread, storeThread, type Collections, type StoredThread } from "./mongodb-rows.js";
import { patchThread } from "./rows.js";
import type { ThreadPatch, ThreadRow } from "./storage.js";

/** What a change of a thread's document may note beside its row. */
export type NewMarks = Partial<Pick<StoredThread, "settled" | "opened">>;

/** Thread rows, one by one. */
export class MongodbThreads {
  readonly #threads: Collections["threads"];

  constructor({ threads }: Collections) {
    this.#threads = threads;
  }

  async insert(row: ThreadRow): Promise<boolean> {
    try {
      await this.#threads.insertOne(storeThread(row, NEW_MARKS));
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    const stored = await this.find(threadId);
    return stored && readThread(stored);
  }

  async find(threadId: string): Promise<StoredThread | undefined> {
    return (await this.#threads.findOne({ _id: threadId })) ?? undefined;
  }

  /** Each failed attempt means that another change went through, so this ends. */
  async update(threadId: string, patch: ThreadPatch, marks?: NewMarks): Promise<ThreadRow | undefined> {
    for (;;) {
      const stored = await this.find(threadId);
      if (!stored) return undefined;
      const row = await this.replace(stored, patch, marks);
      if (row) return row;
    }
  }

  /** Write the patched row over the document it was made from; undefined when that has changed since. */
  async replace(
    stored: StoredThread,
    patch: ThreadPatch,
    marks: NewMarks = {},
  ): Promise<ThreadRow | undefined> {
    const row = patchThread(readThread(stored), patch);
    return (await this.overwrite(stored, storeThread(row, { ...stored, ...marks }))) ? row : undefined;
  }

  /** False, and nothing changed, when the document is no longer `stored`. */
  async overwrite({ _id, version }: StoredThread, next: StoredThread): Promise<boolean> {
    const { _id: _same, ...fields } = next;
    const written = await this.#threads.replaceOne({ _id, version }, { ...fields, version: version + 1 });
    return written.matchedCount === 1;
  }

  async delete(threadId: string): Promise<boolean> {
    return (await this.#threads.deleteOne({ _id: threadId })).deletedCount > 0;
  }

  async expired(time: number, limit: number): Promise<ThreadRow[]> {
    // For MongoDB a limit of 0 is none.
    if (limit <= 0) return [];
    const found = this.#threads
      .find({ expires_at: { $lt: time }, status: { $ne: "busy" } })
      .sort({ expires_at: 1 })
      .limit(limit);
    return (await found.toArray()).map(readThread);
  }
}
