import { dueYield } from "./event-loop.js";

/** Reads under way at once: enough to hide the way to a database, few enough to hold in memory. */
const READS = 4;

/**
 * What `read` makes of each item, in order: read while the items before are taken, never more than a few ahead, so that
 * a list of any length is in memory only in parts. Lets others in between two reads.
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
    // A failure is reported in its turn.
    result.catch(() => undefined);
    reads.push(result);
    if (reads.length < READS) continue;
    const next = reads.shift();
    if (next) yield await next;
  }
  for (const result of reads) yield await result;
}

/** Items of the first page, when nothing is known of their size yet, and of the largest. */
const FIRST_PAGE = 10;
const LARGEST_PAGE = 500;
/** About how much JSON of items a page may hold. */
const PAGE_CHARACTERS = 1024 * 1024;

/**
 * The items of a list that `read` gives page by page, at most `limit` of those after an item: the larger they are, the
 * smaller the next page, so that a list of any length is in memory only in parts.
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
    const characters = page.reduce((sum, item) => sum + JSON.stringify(item).length, 0);
    const fitting = Math.floor((limit * PAGE_CHARACTERS) / characters);
    limit = Math.min(Math.max(fitting, 1), LARGEST_PAGE);
    await dueYield();
  }
}

/** All that a lazy list gives. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
