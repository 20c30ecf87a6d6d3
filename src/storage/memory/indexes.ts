/** The rows of threads and runs in memory, and the ordered lists that searches read. */
import { filterInTurns } from "../../support/event-loop.js";
import {
  compareTexts,
  containing,
  inScope,
  labelsOf,
  matchesRun,
  patchThread,
  runOrder,
  splitFilter,
} from "../rows/rows.js";
import { isFinished } from "../../models/run-status.js";
import type { RunPatch, RunRow, RunSearch } from "../contract/runs.js";
import type { ThreadFilter, ThreadPage, ThreadPatch, ThreadQuery, ThreadRow } from "../contract/threads.js";
import { copyJson } from "./copy-json.js";
import { countBefore } from "./saver.js";

type SortField = ThreadQuery["sortBy"];
type Compare<T> = (a: T, b: T) => number;

type Texts<Field extends string> = Readonly<Partial<Record<Field, string | null>>>;

/** Orders rows by a field, then by their id. */
const by =
  <Field extends string>(field: Field, id: Field): Compare<Texts<Field>> =>
  (a, b) =>
    compareTexts(a[field] ?? "", b[field] ?? "") || compareTexts(a[id] ?? "", b[id] ?? "");

const byUpdate: Compare<ThreadRow> = by("updated_at", "thread_id");
const byCreation: Compare<RunRow> = by("created_at", "run_id");

/** The rows with one label, status or other property that is searched for, ordered by last update. */
interface Fact {
  name: string;
  rows: OrderedList<ThreadRow>;
}

interface Listed {
  row: ThreadRow;
  /** The facts from its metadata. Kept because deriving them costs more than the rest of a patch. */
  labels: readonly Fact[];
}

/** A fact with fewer than this fraction of all rows is sorted by itself for an order that only all rows have. */
const SMALL_FRACTION = 1 / 16;
/** A page that ends within this fraction of the rows is selected without sorting the others. */
const EARLY_FRACTION = 1 / 64;

/**
 * Thread rows ordered by last update: one list of all rows and one per fact, so that the cost of a page and its total does
 * not depend on the number of threads. Rows are never changed in place: a patch replaces them.
 */
export class ThreadIndex {
  readonly byId = new Map<string, Listed>();
  readonly #all: OrderedList<ThreadRow> = { compare: byUpdate, items: [] };
  /** All rows in other orders. Each list is made when a search first needs it: runs should not pay for unused ones. */
  readonly #orders = new Map<SortField, OrderedList<ThreadRow>>([["updated_at", this.#all]]);
  readonly #facts = new Map<string, Fact>();

  insert(row: ThreadRow): void {
    const listed = { row, labels: this.#named(labelsOf(row.metadata)) };
    this.byId.set(row.thread_id, listed);
    for (const list of this.#orders.values()) insert(list, row);
    for (const { rows } of this.#factsOf(listed)) insert(rows, row);
  }

  remove(row: ThreadRow): void {
    const listed = this.byId.get(row.thread_id);
    if (!listed) return;
    this.byId.delete(row.thread_id);
    for (const list of this.#orders.values()) remove(list, row);
    for (const { name, rows } of this.#factsOf(listed)) if (remove(rows, row)) this.#facts.delete(name);
  }

  /** The patched row; undefined if there is no such thread. */
  patch(threadId: string, patch: ThreadPatch): ThreadRow | undefined {
    const listed = this.byId.get(threadId);
    if (!listed) return undefined;
    const before = listed.row;
    const row = patchThread(before, copyJson(patch));
    const facts = this.#factsOf(listed);
    listed.row = row;
    if (row.metadata !== before.metadata) listed.labels = this.#named(labelsOf(row.metadata));
    for (const list of this.#orders.values()) replace(list, before, row);
    // A set, because metadata may have thousands of labels.
    const next = new Set(this.#factsOf(listed));
    for (const fact of facts) {
      if (next.delete(fact)) replace(fact.rows, before, row);
      else if (remove(fact.rows, before)) this.#facts.delete(fact.name);
    }
    for (const { rows } of next) insert(rows, row);
    return row;
  }

  async search(query: ThreadQuery): Promise<ThreadPage> {
    const { ids, sortBy } = query;
    const matching = this.#matching(query);
    if (matching instanceof Promise) return pageByUpdate(await matching, query);
    const total = matching.length;
    const isSmall = total < this.#all.items.length * SMALL_FRACTION;
    if (ids || isSmall || sortBy === "updated_at") return pageByUpdate(matching, query);
    const all = this.#order(sortBy).items;
    if (total === all.length) return { rows: pageOf(all, query), total };
    return { rows: pageOf(all, query, passing(query)), total };
  }

  async count(filter: ThreadFilter): Promise<number> {
    return (await this.#matching(filter)).length;
  }

  /** Matching rows, least recently updated first. A promise unless they are all rows, or all rows with one fact. */
  #matching(filter: ThreadFilter): readonly ThreadRow[] | Promise<ThreadRow[]> {
    const { ids, metadata = {}, scope, status } = filter;
    const { facts, rest } = splitFilter(metadata);
    if (status) facts.push(status);
    const [shortest, ...others] = facts
      .map((fact) => this.#facts.get(fact)?.rows.items ?? [])
      .sort((a, b) => a.length - b.length);
    const base = ids ? this.#withIds(ids) : (shortest ?? this.#all.items);
    if (!ids && !rest && others.length === 0 && scope === undefined) return base;
    return filterInTurns(base, passing(filter));
  }

  /** Rows with a time to live. */
  expiring(): readonly ThreadRow[] {
    return this.#facts.get(EXPIRING)?.rows.items ?? [];
  }

  #withIds(ids: readonly string[]): ThreadRow[] {
    return [...new Set(ids)].flatMap((id) => this.byId.get(id)?.row ?? []).sort(byUpdate);
  }

  #order(field: SortField): OrderedList<ThreadRow> {
    let list = this.#orders.get(field);
    if (!list) {
      const rows = Array.from(this.byId.values(), ({ row }) => row);
      const compare = by(field, "thread_id");
      this.#orders.set(field, (list = { compare, items: rows.sort(compare) }));
    }
    return list;
  }

  #named(names: readonly string[]): Fact[] {
    const facts: Fact[] = [];
    for (const name of names) {
      const fact = this.#facts.get(name) ?? { name, rows: { compare: byUpdate, items: [] } };
      this.#facts.set(name, fact);
      facts.push(fact);
    }
    return facts;
  }

  #factsOf({ row, labels }: Listed): Fact[] {
    return [...labels, ...this.#named(row.ttl ? [row.status, EXPIRING] : [row.status])];
  }
}

/** A fact besides the statuses of threads and the labels of metadata. Labels are JSON arrays, so names do not collide. */
const EXPIRING = "ttl";

/** Whether a row passes a filter, apart from its ids. */
function passing({ metadata = {}, scope, status }: ThreadFilter): (row: ThreadRow) => boolean {
  const hasMetadata = containing(metadata);
  return (row) => (!status || row.status === status) && inScope(row, scope) && hasMetadata(row.metadata);
}

/** One page of ordered rows; of those that pass, if `passes` is given. */
function pageOf<Row>(
  rows: readonly Row[],
  { offset, limit, sortOrder }: Pick<ThreadQuery, "offset" | "limit" | "sortOrder">,
  passes?: (row: Row) => boolean,
): Row[] {
  const isAscending = sortOrder === "asc";
  if (passes) {
    const found: Row[] = [];
    for (let index = 0; index < rows.length && found.length < offset + limit; index += 1) {
      const row = rows[isAscending ? index : rows.length - 1 - index] as Row;
      if (passes(row)) found.push(row);
    }
    return found.slice(offset);
  }
  if (isAscending) return rows.slice(offset, offset + limit);
  const end = Math.max(0, rows.length - offset);
  return rows.slice(Math.max(0, end - limit), end).reverse();
}

/** One page, in the order of the query, of rows that are ordered by their last update. */
function pageByUpdate(rows: readonly ThreadRow[], query: ThreadQuery): ThreadPage {
  const { sortBy, sortOrder, offset, limit } = query;
  const total = rows.length;
  if (sortBy === "updated_at") return { rows: pageOf(rows, query), total };
  const compare = by(sortBy, "thread_id");
  if (sortOrder === "asc") return { rows: firstOf(rows, offset + limit, compare).slice(offset), total };
  // The order is often that of the updates, and the selection is fastest if the first rows come first.
  const first = firstOf(rows.toReversed(), offset + limit, (a, b) => compare(b, a));
  return { rows: first.slice(offset), total };
}

/** The first `count` rows in an order. */
function firstOf<Row>(rows: readonly Row[], count: number, compare: Compare<Row>): Row[] {
  if (count > rows.length * EARLY_FRACTION) return rows.toSorted(compare).slice(0, count);
  const first: Row[] = [];
  for (const row of rows) {
    if (first.length === count && (count === 0 || compare(row, first[count - 1] as Row) > 0)) continue;
    first.splice(countBefore(first, row, compare), 0, row);
    if (first.length > count) first.pop();
  }
  return first;
}

/** Run rows in creation order, overall and by thread, and the set of unfinished runs. */
export class RunIndex {
  /** Without their tasks, which only `tasksOf` returns. */
  readonly byId = new Map<string, RunRow>();
  readonly #tasks = new Map<string, NonNullable<RunRow["tasks"]>>();
  readonly #all: OrderedList<RunRow> = { compare: byCreation, items: [] };
  readonly #byThread = new Map<string, OrderedList<RunRow>>();
  /** Unfinished runs, and whether their cancellation is requested. */
  readonly #unfinished = new Map<RunRow, boolean>();

  /** The run, if it belongs to this thread. */
  on(threadId: string, runId: string): RunRow | undefined {
    const run = this.byId.get(runId);
    return run?.thread_id === threadId ? run : undefined;
  }

  tasksOf(threadId: string, runId: string): NonNullable<RunRow["tasks"]> | null {
    return this.on(threadId, runId) ? (this.#tasks.get(runId) ?? null) : null;
  }

  of(threadId: string): readonly RunRow[] {
    return this.#byThread.get(threadId)?.items ?? [];
  }

  search({ threadIds, limit, offset, ...filter }: RunSearch): RunRow[] {
    if ((filter.sortBy ?? "created_at") !== "created_at") {
      const all = threadIds ? [...new Set(threadIds)].flatMap((id) => this.of(id)) : this.#all.items;
      const found = all.filter((run) => matchesRun(run, filter));
      return firstOf(found, offset + limit, runOrder(filter)).slice(offset);
    }
    const runs = threadIds
      ? [...new Set(threadIds)].flatMap((id) => this.of(id)).sort(byCreation)
      : this.#all.items;
    const page = { limit, offset, sortOrder: filter.sortOrder ?? "desc" };
    return pageOf(runs, page, (run) => matchesRun(run, filter));
  }

  /** Stores the row itself: the caller must not change it afterwards. */
  insert({ tasks, ...run }: RunRow): void {
    insert(this.#all, run);
    const runs = this.#byThread.get(run.thread_id) ?? { compare: byCreation, items: [] };
    insert(runs, run);
    this.#byThread.set(run.thread_id, runs);
    this.byId.set(run.run_id, run);
    if (tasks) this.#tasks.set(run.run_id, tasks);
    if (!isFinished(run)) this.#unfinished.set(run, false);
  }

  /** Patches in place: a patch does not change the fields that runs are ordered by. False if the run has ended. */
  patch(run: RunRow, patch: RunPatch): boolean {
    if (isFinished(run)) return false;
    const { tasks, ...fields } = copyJson(patch);
    Object.assign(run, fields);
    if (tasks) this.#tasks.set(run.run_id, tasks);
    else if (tasks === null) this.#tasks.delete(run.run_id);
    if (isFinished(run)) this.#unfinished.delete(run);
    return true;
  }

  remove(run: RunRow): void {
    remove(this.#all, run);
    const runs = this.#byThread.get(run.thread_id);
    if (runs && remove(runs, run)) this.#byThread.delete(run.thread_id);
    this.byId.delete(run.run_id);
    this.#tasks.delete(run.run_id);
    this.#unfinished.delete(run);
  }

  cancel(runId: string): void {
    const run = this.byId.get(runId);
    if (run && this.#unfinished.has(run)) this.#unfinished.set(run, true);
  }

  unfinished(): RunRow[] {
    return [...this.#unfinished.keys()];
  }

  cancelled(): RunRow[] {
    return this.unfinished().filter((run) => this.#unfinished.get(run));
  }
}

/** Sorted items. `compare` must be a strict total order over them, stable while they are listed. */
interface OrderedList<T> {
  readonly compare: Compare<T>;
  readonly items: T[];
}

function insert<T>({ items, compare }: OrderedList<T>, item: T): void {
  items.splice(countBefore(items, item, compare), 0, item);
}

/** Returns whether the list is empty now. */
function remove<T>({ items, compare }: OrderedList<T>, item: T): boolean {
  const index = countBefore(items, item, compare);
  if (items[index] === item) items.splice(index, 1);
  return items.length === 0;
}

/** Replaces an item, in its place if that is also the place of the new one. */
function replace<T>(list: OrderedList<T>, old: T, item: T): void {
  const { items, compare } = list;
  const index = countBefore(items, old, compare);
  const isBehind = index === 0 || compare(items[index - 1] as T, item) < 0;
  const isBefore = index + 1 >= items.length || compare(item, items[index + 1] as T) < 0;
  if (items[index] === old && isBehind && isBefore) {
    items[index] = item;
    return;
  }
  remove(list, old);
  insert(list, item);
}
