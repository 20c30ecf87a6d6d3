/** Thread search: filters first, then the page (docs/specification.md#threads). */
import type { JsonObject, LazyPage, Page } from "../models/common.js";
import {
  MOST_EXTRACTED,
  type Thread,
  THREAD_FIELDS,
  type ThreadCountRequest,
  type ThreadSearchRequest,
} from "../models/thread.js";
import { parsePath, type PathStep, valueAt } from "../models/value-path.js";
import { readAhead } from "../support/read-ahead.js";
import { containing } from "../storage/rows/rows.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "../storage/contract/storage.js";
import { InvalidRequestError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import { assertFilter } from "../context/request-limits.js";
import { scopeFilter } from "./thread-origin.js";
import { readableContent, threadModel } from "./thread-state.js";
import { hasText } from "./thread-text.js";

/** Rows read at once while their values are compared. */
const SCAN_BATCH = 200;
const NO_CONTENT = { values: {}, interrupts: {} };

export class ThreadSearch {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /** The states of its threads are read while the page is taken. */
  async page(
    request: ThreadSearchRequest,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<LazyPage<Partial<Thread>>> {
    const query = this.#own(queryOf(request));
    const shape = shapeOf(request);
    const { rows, ...found } = await this.#find(query, request, { limit, offset });
    const threads = this.#models(rows, needsContent(request));
    return { items: mapped(threads, shape), ...found };
  }

  async count(request: ThreadCountRequest): Promise<number> {
    const passes = this.#testOf(request);
    if (!passes) return this.#context.storage.threads.count(this.#own(filterOf(request)));
    return (await this.#scan(this.#own(queryOf(request)), passes)).total;
  }

  async #find(
    query: Omit<ThreadQuery, "limit" | "offset">,
    request: ThreadSearchRequest,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ rows: ThreadRow[]; total: number | null; next: number | null }> {
    const passes = this.#testOf(request);
    const end = offset + limit;
    if (request.query != null && passes) {
      // One thread more than asked for tells whether there are more: a text is not looked for in all the others.
      const { rows, total } = await this.#scan(query, passes, { offset, limit, most: end + 1 });
      return total > end ? { rows, total: null, next: end } : { rows, total, next: null };
    }
    const { rows, total } = passes
      ? await this.#scan(query, passes, { offset, limit })
      : await this.#context.storage.threads.search({ ...query, limit, offset });
    return { rows, total, next: nextOffset(rows.length, total, offset) };
  }

  /** What has to be asked of each thread; undefined where its row's storage can tell. */
  #testOf({ values, query }: ThreadCountRequest): ((row: ThreadRow) => Promise<boolean>) | undefined {
    if (!values && query == null) return undefined;
    const hasValues = values && containing(values);
    const finds = query == null ? undefined : hasText(query);
    return async (row) => {
      const isFound = finds?.([row.thread_id, Object.keys(row.metadata), row.metadata]) ?? true;
      if (isFound && !hasValues) return true;
      const content = await readableContent(this.#context, row);
      return (hasValues?.(content.values) ?? true) && (isFound || finds?.(content.values) === true);
    };
  }

  #own<Filter extends ThreadFilter>(filter: Filter): Filter {
    return { ...filter, ...scopeFilter(this.#context, filter) };
  }

  /** Values live in checkpoints, so rows are read in batches and compared by what a client may see of them. */
  async #scan(
    query: Omit<ThreadQuery, "limit" | "offset">,
    passes: (row: ThreadRow) => Promise<boolean>,
    { offset = 0, limit = 0, most = Infinity } = {},
  ) {
    const found: ThreadRow[] = [];
    let total = 0;
    for (let start = 0; ; start += SCAN_BATCH) {
      const page = { ...query, limit: SCAN_BATCH, offset: start };
      const { rows } = await this.#context.storage.threads.search(page);
      const tested = readAhead(rows, async (row) => ({ row, passed: await passes(row) }));
      for await (const { row, passed } of tested) {
        if (!passed) continue;
        if (total >= offset && found.length < limit) found.push(row);
        total += 1;
        if (total >= most) return { rows: found, total };
      }
      if (rows.length < SCAN_BATCH) return { rows: found, total };
    }
  }

  #models(rows: readonly ThreadRow[], withContent: boolean): AsyncGenerator<Thread> {
    return readAhead(rows, async (row) =>
      threadModel(row, withContent ? await readableContent(this.#context, row) : NO_CONTENT),
    );
  }
}

/** Whether any checkpoint has to be read for this answer. */
function needsContent({ select, extract }: ThreadSearchRequest): boolean {
  if (!isSelection(select)) return true;
  if (select.includes("values") || select.includes("interrupts")) return true;
  return Object.values(extract ?? {}).some((path) => /^(values|interrupts)\b/.test(path));
}

/** What the request shows of a thread. */
function shapeOf(request: ThreadSearchRequest): (thread: Thread) => Partial<Thread> {
  const extract = request.extract && extractor(request.extract);
  return (thread) => ({
    ...selectFields(thread, request.select, THREAD_FIELDS),
    ...(extract && { extracted: extract({ ...thread }) }),
  });
}

async function* mapped<Item, Result>(items: AsyncIterable<Item>, change: (item: Item) => Result) {
  for await (const item of items) yield change(item);
}

function filterOf({ ids, metadata, values, status }: ThreadCountRequest): ThreadFilter {
  if (metadata) assertFilter(metadata, ["body", "metadata"]);
  if (values) assertFilter(values, ["body", "values"]);
  return {
    ...(ids && { ids: ids.map((id, index) => requireUuid(id, ["body", "ids", index])) }),
    ...(metadata && { metadata }),
    ...(status && { status }),
  };
}

function queryOf(request: ThreadSearchRequest): Omit<ThreadQuery, "limit" | "offset"> {
  if (request.extract && Object.keys(request.extract).length > MOST_EXTRACTED) {
    throw InvalidRequestError.at(["body", "extract"], `at most ${MOST_EXTRACTED} values can be extracted`);
  }
  return {
    ...filterOf(request),
    sortBy: request.sort_by ?? "updated_at",
    sortOrder: request.sort_order ?? "desc",
  };
}

function stepsOf(path: string, name: string): PathStep[] {
  const steps = parsePath(path);
  if (steps) return steps;
  throw InvalidRequestError.at(["body", "extract", name], `cannot read the path ${JSON.stringify(path)}`);
}

/**
 * Picks values by paths such as `values.messages[-1].content`; what a path does not reach is null.
 * @throws InvalidRequestError for a path that cannot be read (`invalid_request`)
 */
function extractor(paths: Record<string, string>): (source: JsonObject) => JsonObject {
  const wanted = Object.entries(paths).map(([name, path]) => [name, stepsOf(path, name)] as const);
  return (source) =>
    Object.fromEntries(wanted.map(([name, steps]) => [name, valueAt(source, steps) ?? null]));
}

/** One page, with the offset of the next one when there are more items. */
export function pageResult<T>(items: T[], total: number, offset: number): Page<T> {
  return { items, total, next: nextOffset(items.length, total, offset) };
}

/** Where the next page begins; null when this one of `count` items was the last. */
function nextOffset(count: number, total: number, offset: number): number | null {
  const end = offset + count;
  return count > 0 && end < total ? end : null;
}

/** A copy that holds only the fields asked for, of `all` that may be shown; an empty selection asks for all. */
export function selectFields<T extends object>(
  item: T,
  select: readonly string[] | null | undefined,
  all: readonly string[],
): Partial<T> {
  const selected: Partial<T> = {};
  for (const field of isSelection(select) ? select : all) {
    if (field in item) selected[field as keyof T] = item[field as keyof T];
  }
  return selected;
}

const isSelection = (select: readonly string[] | null | undefined): select is readonly string[] =>
  select != null && select.length > 0;
