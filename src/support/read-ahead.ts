import { dueYield } from "./event-loop.js";

/** Number of concurrent reads: enough to hide the latency of a database, few enough to fit in memory. */
const READS = 4;

/**
 * Yields the result of `read` for each item, in order. Reads only a few items ahead, so a long list
 * is never entirely in memory. Yields to the event loop between reads.
 */
export async function* readAhead<Item, Result>(
  items: Iterable<Item>,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const reads: Promise<Result>[] = [];
  for (const item of items) {
    const turn = dueYield();
    if (turn) await turn;
    const result = read(item);
    // A failure is reported when the item is reached.
    result.catch(() => undefined);
    reads.push(result);
    if (reads.length < READS) continue;
    const next = reads.shift();
    if (next) yield await next;
  }
  for (const result of reads) yield await result;
}

/** Sizes in items: the first page, while item sizes are unknown, and the largest page. */
const FIRST_PAGE = 10;
const LARGEST_PAGE = 500;
/** Approximate maximum length of the items in a page, in characters or bytes. */
const PAGE_CHARACTERS = 1024 * 1024;

/** Approximate length of a value as JSON, or of its bytes. Serializing it only to measure it would cost more. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 4;
  const entries = Object.entries(value);
  return entries.reduce((sum, [name, each]) => sum + name.length + sizeOf(each), 4 * entries.length + 2);
}

/**
 * Yields the items of a list that `read` returns in pages of at most `limit` items. The larger the
 * items, the smaller the next page, so a long list is never entirely in memory.
 */
export async function* inPages<Item>(
  read: (after: Item | undefined, limit: number) => Promise<Item[]>,
): AsyncGenerator<Item, void, undefined> {
  let after: Item | undefined;
  for (let limit = FIRST_PAGE; ;) {
    const page = await read(after, limit);
    yield* page;
    if (page.length < limit) return;
    after = page.at(-1);
    const characters = page.reduce((sum, item) => sum + sizeOf(item), 0);
    const fitting = Math.floor((limit * PAGE_CHARACTERS) / characters);
    limit = Math.min(Math.max(fitting, 1), LARGEST_PAGE);
    await dueYield();
  }
}

/** Yields the items of a list that is read by offset, each once: an item added in the meantime shifts the pages. */
export async function* inPagesByOffset<Item>(
  read: (page: { limit: number; offset: number }) => Promise<Item[]>,
  idOf: (item: Item) => string,
  start = 0,
): AsyncGenerator<Item, void, undefined> {
  const yielded = new Set<string>();
  let offset = start;
  const items = inPages<Item>(async (_, limit) => {
    const page = await read({ limit, offset });
    offset += page.length;
    return page;
  });
  for await (const item of items) {
    const id = idOf(item);
    if (!yielded.has(id)) yield item;
    yielded.add(id);
  }
}

/** Yields the pages of a list that is read by offset. Only one page is in memory. */
export async function* pagesOf<Item>(
  read: (page: { limit: number; offset: number }) => Promise<Item[]>,
  limit = 100,
): AsyncGenerator<Item[], void, undefined> {
  for (let offset = 0; ; offset += limit) {
    const page = await read({ limit, offset });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
  }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
