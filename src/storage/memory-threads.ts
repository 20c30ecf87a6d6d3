import { contains } from "./contains.js";
import { factsOf, splitFilter } from "./facts.js";
import { byUpdate, compareTexts } from "./memory-rows.js";
import { OrderedList } from "./ordered-list.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "./storage.js";

/**
 * Thread rows in order of their last update: one list of all, one a fact, so that a page of either and its total cost
 * the same however many threads there are. Rows are never changed in place: `replace` them.
 */
export class MemoryThreads {
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

  search(query: ThreadQuery): { rows: ThreadRow[]; total: number } {
    const { offset, limit, sortOrder } = query;
    const matching = sorted(this.matching(query), query.sortBy);
    const total = matching.length;
    if (sortOrder === "asc") return { rows: matching.slice(offset, offset + limit), total };
    const end = Math.max(0, total - offset);
    return { rows: matching.slice(Math.max(0, end - limit), end).reverse(), total };
  }

  /** Matching rows, the longest unchanged first. */
  matching({ ids, metadata = {}, status }: ThreadFilter): readonly ThreadRow[] {
    const { facts, rest } = splitFilter(metadata);
    if (status) facts.push(statusFact(status));
    const [shortest, ...others] = facts
      .map((fact) => this.#byFact.get(fact)?.items ?? [])
      .sort((a, b) => a.length - b.length);
    const base = ids ? this.#withIds(ids) : (shortest ?? this.#all.items);
    if (!ids && !rest && others.length === 0) return base;
    return base.filter((row) => (!status || row.status === status) && contains(row.metadata, metadata));
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
