/** Thread search. Filters are applied before the page is cut (docs/specification.md#threads). */
import { type JsonObject, type LazyPage, type Page, isRecord } from "../models/common.js";
import {
  MOST_EXTRACTED,
  type Thread,
  THREAD_FIELDS,
  type ThreadCountRequest,
  type ThreadSearchRequest,
} from "../models/thread.js";
import type { ThreadPreview } from "../models/thread-fields.js";
import { parsePath, type PathStep, valueAt } from "../models/value-path.js";
import { readAhead } from "../support/read-ahead.js";
import { containing } from "../storage/rows/rows.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "../storage/contract/threads.js";
import { InvalidRequestError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import { assertFilter } from "../context/request-limits.js";
import { scopeFilter } from "./thread-origin.js";
import { readableContent, threadModel, configOf } from "./thread-state.js";
import { type OutputFilter, DROP_ALL } from "../graphs/output-filter.js";
import { visiblePreview } from "../graphs/thread-preview.js";

/** Rows per query while values are compared. */
const SCAN_BATCH = 200;
const NO_CONTENT = { values: {}, interrupts: {} };

export class ThreadSearch {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /** Reads the states of the threads lazily, while the page is iterated. */
  async page(
    request: ThreadSearchRequest,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<LazyPage<Partial<Thread>>> {
    const query = this.#own(queryOf(request));
    const shape = shapeOf(request);
    const { rows, ...found } = await this.#find(query, request, { limit, offset });
    const threads = this.#models(rows, request);
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
      // Stops one match after the page: it shows that there is a next page, without a search through all other threads.
      const { rows, total } = await this.#scan(query, passes, { offset, limit, max: end + 1 });
      return total > end ? { rows, total: null, next: end } : { rows, total, next: null };
    }
    const { rows, total } = passes
      ? await this.#scan(query, passes, { offset, limit })
      : await this.#context.storage.threads.search({ ...query, limit, offset });
    return { rows, total, next: nextOffset(rows.length, total, offset) };
  }

  /** A test for each thread; undefined if the storage's row filter is sufficient. */
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

  /** Reads rows in batches and tests each one: values are in checkpoints, and only visible ones are compared. */
  async #scan(
    query: Omit<ThreadQuery, "limit" | "offset">,
    passes: (row: ThreadRow) => Promise<boolean>,
    { offset = 0, limit = 0, max = Infinity } = {},
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
        if (total >= max) return { rows: found, total };
      }
      if (rows.length < SCAN_BATCH) return { rows: found, total };
    }
  }

  #models(rows: readonly ThreadRow[], request: ThreadSearchRequest): AsyncGenerator<Thread> {
    const withContent = needsContent(request);
    const previews = request.select?.includes("preview") ? new Previews(this.#context) : undefined;
    return readAhead(rows, async (row) => ({
      ...threadModel(row, withContent ? await readableContent(this.#context, row) : NO_CONTENT),
      ...(previews && { preview: await previews.of(row) }),
    }));
  }
}

/** Whether the response needs data from checkpoints. */
function needsContent({ select, extract }: ThreadSearchRequest): boolean {
  if (!isSelection(select)) return true;
  if (select.includes("values") || select.includes("interrupts")) return true;
  return Object.values(extract ?? {}).some((path) => /^(values|interrupts)\b/.test(path));
}

/** Returns a function that selects the requested fields of a thread. */
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
  throw InvalidRequestError.at(["body", "extract", name], `invalid path ${JSON.stringify(path)}`);
}

/**
 * Extracts values by paths such as `values.messages[-1].content`. A path that does not exist yields null.
 * @throws InvalidRequestError for an invalid path (`invalid_request`)
 */
function extractor(paths: Record<string, string>): (source: JsonObject) => JsonObject {
  const wanted = Object.entries(paths).map(([name, path]) => [name, stepsOf(path, name)] as const);
  return (source) =>
    Object.fromEntries(wanted.map(([name, steps]) => [name, valueAt(source, steps) ?? null]));
}

/** One page, with the offset of the next page if there are more items. */
export function pageResult<T>(items: T[], total: number, offset: number): Page<T> {
  return { items, total, next: nextOffset(items.length, total, offset) };
}

/** Offset of the next page; null if this page of `count` items is the last. */
function nextOffset(count: number, total: number, offset: number): number | null {
  const end = offset + count;
  return count > 0 && end < total ? end : null;
}

/** Copies the selected fields of an item. Without a selection, copies the fields in `all`. */
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

// Full-text search in the visible data of a thread.

/** A longer string without white space is data, such as an image, and is not searched. */
const MAX_WORD_CHARACTERS = 1000;

/** Whether a string or number in a JSON value contains the query; not case-sensitive. */
type HasText = (json: unknown) => boolean;

function hasText(query: string): HasText {
  const wanted = query.toLowerCase();
  return (json) => textsOf(json).some((text) => !isData(text) && text.toLowerCase().includes(wanted));
}

const isData = (text: string): boolean => text.length > MAX_WORD_CHARACTERS && !/\s/.test(text);

/** All searchable strings. Not recursive, because client data may be nested deeply. */
function textsOf(json: unknown): string[] {
  const texts: string[] = [];
  const rest: unknown[] = [json];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "number") texts.push(String(value));
    else if (Array.isArray(value)) for (const item of value as unknown[]) rest.push(item);
    else if (isRecord(value)) for (const item of searchableParts(value)) rest.push(item);
  }
  return texts;
}

/** The searchable parts: content, name and tool calls of a message; everything but type and id of a content block. */
function searchableParts(value: JsonObject): unknown[] {
  if (typeof value.type !== "string") return Object.values(value);
  if ("content" in value) return [value.content, value.name, value.tool_calls];
  const { type: _, id: __, ...rest } = value;
  return Object.values(rest);
}

// Previews of threads as clients may see them, read from their rows alone (docs/specification.md#threads).

/**
 * The previews of one page. What was visible when a preview was stored may be hidden now, so every read applies the
 * current filter of all graphs that have written to the thread. Threads of the same graphs share it.
 */
class Previews {
  readonly #context: OpsContext;
  readonly #filters = new Map<string, Promise<OutputFilter>>();

  constructor(context: OpsContext) {
    this.#context = context;
  }

  async of(row: ThreadRow): Promise<ThreadPreview | null> {
    return row.preview ? visiblePreview(row.preview, await this.#filterOf(row)) : null;
  }

  #filterOf(row: ThreadRow): Promise<OutputFilter> {
    const key = JSON.stringify([row.metadata.graph_id, row.graphs, row.config.configurable]);
    const known = this.#filters.get(key) ?? this.#filter(row);
    this.#filters.set(key, known);
    return known;
  }

  async #filter(row: ThreadRow): Promise<OutputFilter> {
    const { registry, logger } = this.#context;
    const config = configOf(this.#context, row);
    try {
      const bound = await registry.reader(registry.graphIdOf(row.metadata), config);
      return await registry.filterAmong(bound, row.graphs, config);
    } catch (error) {
      logger.error({ err: error, thread_id: row.thread_id }, "the thread's preview cannot be shown");
      return DROP_ALL;
    }
  }
}
