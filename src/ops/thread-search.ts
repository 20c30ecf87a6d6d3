/** Thread search: filters first, then the page (spec, Threads). */
import { InvalidRequestError } from "../errors.js";
import { requireUuid } from "../ids.js";
import type { Page } from "../models/common.js";
import {
  THREAD_FIELDS,
  type Thread,
  type ThreadCountRequest,
  type ThreadSearchRequest,
} from "../models/thread.js";
import { contains } from "../storage/contains.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { extract } from "./extract.js";
import { scopeFilter } from "./scope.js";
import { pageOf, selectFields } from "./paging.js";
import { readableContent, threadModel } from "./thread-state.js";

/** Rows read at once while values are compared. */
const SCAN_BATCH = 200;
const NO_CONTENT = { values: {}, interrupts: {} };

export class ThreadSearch {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  async page(
    request: ThreadSearchRequest,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page<Partial<Thread>>> {
    const query = this.#own(queryOf(request));
    const { items, total } = request.values
      ? await this.#scan(query, request.values, offset, limit)
      : await this.#direct(query, needsContent(request), offset, limit);
    return pageOf(
      items.map((thread) => shape(thread, request)),
      total,
      offset,
    );
  }

  async count(request: ThreadCountRequest): Promise<number> {
    if (!request.values) return this.#context.storage.metadata.countThreads(this.#own(filterOf(request)));
    return (await this.#scan(this.#own(queryOf(request)), request.values, 0, 0)).total;
  }

  #own<Filter extends ThreadFilter>(filter: Filter): Filter {
    return { ...filter, ...scopeFilter(this.#context, filter) };
  }

  async #direct(
    query: Omit<ThreadQuery, "limit" | "offset">,
    withContent: boolean,
    offset: number,
    limit: number,
  ) {
    const { rows, total } = await this.#context.storage.metadata.searchThreads({ ...query, limit, offset });
    return { items: await this.#models(rows, withContent), total };
  }

  /** Values live in checkpoints, so rows are read in batches and compared by what a client may see of them. */
  async #scan(query: Omit<ThreadQuery, "limit" | "offset">, values: object, offset: number, limit: number) {
    const items: Thread[] = [];
    let total = 0;
    for (let start = 0; ; start += SCAN_BATCH) {
      const { rows } = await this.#context.storage.metadata.searchThreads({
        ...query,
        limit: SCAN_BATCH,
        offset: start,
      });
      for (const thread of await this.#models(rows, true)) {
        if (!contains(thread.values, values)) continue;
        if (total >= offset && items.length < limit) items.push(thread);
        total += 1;
      }
      if (rows.length < SCAN_BATCH) return { items, total };
    }
  }

  #models(rows: readonly ThreadRow[], withContent: boolean): Promise<Thread[]> {
    return Promise.all(
      rows.map(async (row) =>
        threadModel(row, withContent ? await readableContent(this.#context, row) : NO_CONTENT),
      ),
    );
  }
}

/** Whether any checkpoint has to be read for this answer. */
function needsContent({ select, extract }: ThreadSearchRequest): boolean {
  if (!select) return true;
  if (select.includes("values") || select.includes("interrupts")) return true;
  return Object.values(extract ?? {}).some((path) => /^(values|interrupts)\b/.test(path));
}

function shape(thread: Thread, request: ThreadSearchRequest): Partial<Thread> {
  const shown: Partial<Thread> = selectFields(thread, request.select ?? THREAD_FIELDS);
  if (request.extract) shown.extracted = extract({ ...thread }, request.extract);
  return shown;
}

function filterOf({ ids, metadata, status }: ThreadCountRequest): ThreadFilter {
  return {
    ...(ids && { ids: ids.map((id, index) => requireUuid(id, ["body", "ids", index])) }),
    ...(metadata && { metadata }),
    ...(status && { status }),
  };
}

function queryOf(request: ThreadSearchRequest): Omit<ThreadQuery, "limit" | "offset"> {
  if (request.extract && Object.keys(request.extract).length > 10) {
    throw InvalidRequestError.at(["body", "extract"], "at most 10 values can be extracted");
  }
  return {
    ...filterOf(request),
    sortBy: request.sort_by ?? "updated_at",
    sortOrder: request.sort_order ?? "desc",
  };
}
