/** Finds thread rows by filters. Values of a filter only ever stand where MongoDB reads data, never operators. */
import type { Db, Document, Filter, Sort } from "mongodb";
import { contains } from "./contains.js";
import { splitFilter } from "./facts.js";
import { collectionsOf, readThread, type Collections, type StoredThread } from "./mongodb-rows.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "./storage.js";

interface Match {
  filter: Filter<StoredThread>;
  /** What documents cannot be looked up by, and is tested one by one. */
  rest: Record<string, unknown> | undefined;
}

export class MongodbThreadSearch {
  readonly #db: Db;
  readonly #threads: Collections["threads"];

  constructor(db: Db) {
    this.#db = db;
    this.#threads = collectionsOf(db).threads;
  }

  async search(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
    const match = matchOf(query);
    if (match.rest) return this.#scan(match, query);
    const { offset, limit } = query;
    const total = await this.#count(match.filter);
    if (offset >= total || limit <= 0) return { rows: [], total };
    const found = this.#threads.find(match.filter).sort(sortOf(query)).skip(offset).limit(limit);
    return { rows: (await found.toArray()).map(readThread), total };
  }

  async count(filter: ThreadFilter): Promise<number> {
    const match = matchOf(filter);
    if (!match.rest) return this.#count(match.filter);
    let total = 0;
    for await (const _row of this.#matching(match)) total += 1;
    return total;
  }

  async #scan(match: Match, query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
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
    for await (const stored of this.#threads.find(filter).sort(sort)) {
      const row = readThread(stored);
      if (contains(row.metadata, rest)) yield row;
    }
  }

  /** The plain command: the driver's own way is an aggregation, which not every compatible server counts by index. */
  async #count(filter: Filter<StoredThread>): Promise<number> {
    const { n } = await this.#db.command({ count: this.#threads.collectionName, query: filter as Document });
    return n as number;
  }
}

function matchOf({ ids, metadata = {}, status }: ThreadFilter): Match {
  const { facts, rest } = splitFilter(metadata);
  const filter: Filter<StoredThread> = {
    // Without any condition a server tells what it has noted, which may be wrong after it was killed.
    _id: ids ? { $in: [...new Set(ids)] } : { $gt: "" },
    ...(status && { status }),
    ...(facts.length > 0 && { facts: { $all: facts } }),
  };
  return { filter, rest };
}

function sortOf({ sortBy, sortOrder }: ThreadQuery): Sort {
  const direction = sortOrder === "asc" ? 1 : -1;
  return sortBy === "thread_id" ? { _id: direction } : { [sortBy]: direction, _id: direction };
}
