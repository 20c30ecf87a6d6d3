import { dueTurn } from "./event-loop.js";

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
    const turn = dueTurn();
    if (turn) await turn;
    const result = read(item);
    // Its failure is told when its turn has come.
    result.catch(() => undefined);
    reads.push(result);
    if (reads.length < READS) continue;
    const next = reads.shift();
    if (next) yield await next;
  }
  for (const result of reads) yield await result;
}

/** All that a lazy list gives. */
export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
