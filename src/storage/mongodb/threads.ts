import type { Db, Document, Filter, Sort } from "mongodb";
import { dueYield } from "../../support/event-loop.js";
import { containing, patchThread, splitFilter } from "../rows/rows.js";
import { UNFINISHED } from "../../models/run-status.js";
import type {
  ThreadFilter,
  ThreadPage,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  ThreadTable,
} from "../contract/threads.js";
import { isDuplicate } from "./errors.js";
import { recordingsIn } from "./recordings.js";
import { deleteCheckpoints } from "./saver.js";
import {
  type Collections,
  collectionsOf,
  NEW_MARKS,
  fromThreadDocument,
  type ThreadDocument,
  toThreadDocument,
} from "./rows.js";

/** Fields of a thread's document that a change may set in addition to its row. */
type NewMarks = Partial<Pick<ThreadDocument, "settled" | "opened">>;

/** The new version refuses changes that are based on an earlier one. The ttl makes it a thread that a sweep deletes. */
const EXPIRED = {
  ttl: { strategy: "delete" as const, ttl_minutes: 0 },
  expires_at: 0,
  status: "idle" as const,
};
const MARK = { $set: { ...EXPIRED, deleting: true as const }, $inc: { version: 1 } };
const ONLY_ID = { projection: { _id: 1 } };

/** Thread rows in a MongoDB database. Filter values are used only as data, never as operators. */
export class MongodbThreads implements ThreadTable {
  readonly #db: Db;
  readonly #threads: Collections["threads"];
  readonly #runs: Collections["runs"];

  constructor(db: Db) {
    this.#db = db;
    const { threads, runs } = collectionsOf(db);
    this.#threads = threads;
    this.#runs = runs;
  }

  async insert(row: ThreadRow): Promise<boolean> {
    try {
      await this.#threads.insertOne(toThreadDocument(row, NEW_MARKS));
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    const stored = await this.find(threadId);
    return stored && fromThreadDocument(stored);
  }

  async find(threadId: string): Promise<ThreadDocument | undefined> {
    return (await this.#threads.findOne({ _id: threadId, deleting: { $exists: false } })) ?? undefined;
  }

  /** Each failed attempt means that another change succeeded, so the loop terminates. */
  async update(threadId: string, patch: ThreadPatch, updatedAt?: string): Promise<ThreadRow | undefined> {
    for (;;) {
      const stored = await this.find(threadId);
      if (!stored || (updatedAt ?? stored.updated_at) !== stored.updated_at) return undefined;
      const row = await this.replace(stored, patch);
      if (row) return row;
    }
  }

  /** Overwrite the document with the patched row; undefined if the document has changed since it was read. */
  async replace(
    stored: ThreadDocument,
    patch: ThreadPatch,
    marks: NewMarks = {},
  ): Promise<ThreadRow | undefined> {
    const row = patchThread(fromThreadDocument(stored), patch);
    return (await this.overwrite(stored, toThreadDocument(row, { ...stored, ...marks }))) ? row : undefined;
  }

  /** Overwrite the document. Returns false, and changes nothing, if its version has changed. */
  async overwrite({ _id, version }: ThreadDocument, next: ThreadDocument): Promise<boolean> {
    const { _id: _same, ...fields } = next;
    const written = await this.#threads.replaceOne({ _id, version }, { ...fields, version: version + 1 });
    return written.matchedCount === 1;
  }

  /**
   * First marks the thread: from then on it does not exist for other calls, and a run that is being inserted is refused
   * (./runs.ts). The marked document is deleted last. If the process dies before that, the next sweep finds the document
   * and repeats the deletion.
   */
  async delete(threadId: string, updatedAt?: string): Promise<boolean> {
    const isMarked = await (updatedAt === undefined
      ? this.#threads.updateOne({ _id: threadId }, MARK).then(({ matchedCount }) => matchedCount > 0)
      : this.#markUnused(threadId, updatedAt));
    if (!isMarked) return false;
    await this.#runs.deleteMany({ thread_id: threadId });
    await recordingsIn(this.#db).deleteMany({ thread_id: threadId });
    if (updatedAt !== undefined) await deleteCheckpoints(this.#db, threadId);
    await this.#threads.deleteOne({ _id: threadId, deleting: true });
    return true;
  }

  /** A run counts from its insertion on, even if its thread has not been changed yet. */
  async #markUnused(threadId: string, updatedAt: string): Promise<boolean> {
    const stored = await this.#threads.findOne({ _id: threadId, updated_at: updatedAt });
    if (!stored) return false;
    if (stored.deleting) return true;
    const unfinished = { thread_id: threadId, status: { $in: [...UNFINISHED] } };
    if (stored.status === "busy" || (await this.#runs.findOne(unfinished, ONLY_ID))) return false;
    const { version } = stored;
    return (await this.#threads.updateOne({ _id: threadId, version }, MARK)).matchedCount > 0;
  }

  async expired(now: string, limit: number): Promise<ThreadRow[]> {
    // MongoDB treats a limit of 0 as no limit.
    if (limit <= 0) return [];
    const found = this.#threads
      .find({ expires_at: { $lt: Date.parse(now) }, status: { $ne: "busy" } })
      .sort({ expires_at: 1 })
      .limit(limit);
    return (await found.toArray()).map(fromThreadDocument);
  }

  async search(query: ThreadQuery): Promise<ThreadPage> {
    const match = matchOf(query);
    if (match.rest) return this.#scan(match, query);
    const { offset, limit } = query;
    const total = await this.#count(match.filter);
    if (offset >= total || limit <= 0) return { rows: [], total };
    const found = this.#threads.find(match.filter).sort(sortOf(query)).skip(offset).limit(limit);
    return { rows: (await found.toArray()).map(fromThreadDocument), total };
  }

  async count(filter: ThreadFilter): Promise<number> {
    const match = matchOf(filter);
    if (!match.rest) return this.#count(match.filter);
    let total = 0;
    for await (const _row of this.#matching(match)) total += 1;
    return total;
  }

  async #scan(match: Match, query: ThreadQuery): Promise<ThreadPage> {
    const { offset, limit } = query;
    const rows: ThreadRow[] = [];
    let total = 0;
    for await (const row of this.#matching(match, sortOf(query))) {
      if (total >= offset && rows.length < limit) rows.push(row);
      total += 1;
    }
    return { rows, total };
  }

  async *#matching({ filter, rest }: Match, sort: Sort = {}): AsyncGenerator<ThreadRow> {
    const hasMetadata = containing(rest);
    for await (const stored of this.#threads.find(filter).sort(sort)) {
      await dueYield();
      const row = fromThreadDocument(stored);
      if (hasMetadata(row.metadata)) yield row;
    }
  }

  /** Uses the count command: the driver uses an aggregation, for which not every compatible server uses an index. */
  async #count(filter: Filter<ThreadDocument>): Promise<number> {
    const { n } = await this.#db.command({ count: this.#threads.collectionName, query: filter as Document });
    return n as number;
  }
}

interface Match {
  filter: Filter<ThreadDocument>;
  /** The part of the metadata filter without an index, which is tested document by document. */
  rest: Record<string, unknown> | undefined;
}

function matchOf({ ids, metadata = {}, scope, status }: ThreadFilter): Match {
  const { facts, rest } = splitFilter(metadata);
  const filter: Filter<ThreadDocument> = {
    // Without a condition, a server returns its stored count, which may be wrong after a crash.
    _id: ids ? { $in: [...new Set(ids)] } : { $gt: "" },
    ...(status && { status }),
    // Null also matches documents of release 0.1.0, which do not have the field.
    ...(scope !== undefined && { scope: { $in: [scope, null] } }),
    ...(facts.length > 0 && { facts: { $all: facts } }),
  };
  return { filter, rest };
}

function sortOf({ sortBy, sortOrder }: ThreadQuery): Sort {
  const direction = sortOrder === "asc" ? 1 : -1;
  return sortBy === "thread_id" ? { _id: direction } : { [sortBy]: direction, _id: direction };
}
