/** Copies the contents of a storage to another one. */
import type { ItemRow, ItemTable, StoredItem } from "../contract/items.js";
import type { Storage } from "../contract/storage.js";
import type { TimerKind, TimerRow, TimerTable } from "../contract/timers.js";
import { pagesOf } from "../../support/read-ahead.js";
import { digestOf } from "./checkpoints.js";
import { readItems } from "./thread-parts.js";
import { copyThread, type LeftReason, type ThreadCopy } from "./thread.js";

export interface StorageCopyOptions {
  from: Storage;
  to: Storage;
  /** Delete conflicting threads of the target, and replace conflicting items. */
  overwrite: boolean;
  /** Stops the copy between two checkpoints; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called after each checkpoint and each thread. */
  onProgress?: (progress: CopyProgress) => void;
}

export interface CopyProgress {
  /** Number of threads in the source. */
  threads: number;
  /** Threads processed. */
  done: number;
  /** Checkpoints processed. */
  checkpoints: number;
  /** The thread that was just processed. */
  ended?: { thread_id: string; copy: ThreadCopy };
}

/** Result of a copy. What was not copied is in `left`, `left_items` and `left_assistants`. */
export interface StorageCopyReport {
  threads: { total: number; copied: number; current: number };
  /** Runs and checkpoints of the threads that both storages now hold. */
  runs: { total: number; copied: number };
  checkpoints: { total: number; copied: number };
  items: RowCopy;
  /** Crons, delayed runs, webhooks and idempotency keys. */
  timers: RowCopy;
  /** Assistants that clients created, each with its versions. */
  assistants: RowCopy;
  /** Rows of usage that both storages now hold. */
  usage: number;
  left: { thread_id: string; reason: LeftReason }[];
  left_items: (Pick<ItemRow, "namespace" | "key"> & { reason: LeftRow })[];
  left_assistants: { assistant_id: string; reason: "exists" }[];
}

interface RowCopy {
  /** Rows that both storages now hold. */
  total: number;
  copied: number;
}

/** Why a row was not copied. */
type LeftRow = "exists" | "differs";

const TIMERS: readonly TimerKind[] = ["cron", "run", "webhook", "key"];

/**
 * Copy all threads, with their runs and the checkpoints of all namespaces, the long-term memory, the timers, the
 * assistants, the usage and the recordings. What was copied is read back and compared, except for usage and recordings.
 * Earlier copies are skipped or updated; a thread of the target that is not an earlier copy is skipped unless `overwrite`
 * is set. Memory use: one page of checkpoints, and the checkpoint ids of one thread.
 */
export async function copyStorage(options: StorageCopyOptions): Promise<StorageCopyReport> {
  const { from, to, overwrite, signal, onProgress = () => undefined } = options;
  const report = emptyReport();
  const progress = { threads: await from.threads.count({}), done: 0, checkpoints: 0 };
  const onCheckpoint = () => {
    signal?.throwIfAborted();
    progress.checkpoints += 1;
    onProgress({ ...progress });
  };
  const idOrder = { sortBy: "thread_id", sortOrder: "asc" } as const;
  const threads = pagesOf(async (page) => (await from.threads.search({ ...idOrder, ...page })).rows);
  for await (const rows of threads)
    for (const { thread_id } of rows) {
      signal?.throwIfAborted();
      const copy = await copyThread({ from, to, overwrite, onCheckpoint }, thread_id);
      progress.done += 1;
      if (!copy) continue;
      note(report, thread_id, copy);
      onProgress({ ...progress, ended: { thread_id, copy } });
    }
  await copyTables(options, report);
  return report;
}

/** Copies what does not belong to one thread, and usage and recordings, which the threads must precede. */
async function copyTables(options: StorageCopyOptions, report: StorageCopyReport): Promise<void> {
  const { from, to, overwrite, signal } = options;
  const { items, timers, usage, recordings } = from;
  const at = new Date().toISOString();
  if (items && to.items) {
    const copy = copierOf(to.items, at, overwrite);
    report.items = await copyRows(readItems(items, at), { copy, signal }, ({ namespace, key }, reason) =>
      report.left_items.push({ namespace, key, reason }),
    );
  }
  if (timers && to.timers) {
    const table = to.timers;
    const copying = { copy: (row: TimerRow) => copyTimer(table, row, overwrite), signal };
    let kept = 0;
    const { total, copied } = await copyRows(readTimers(timers, TIMERS), copying, () => (kept += 1));
    report.timers = { total: total + kept, copied };
    report.assistants = await copyRows(readTimers(timers, ["assistant"]), copying, ({ id: assistant_id }) =>
      report.left_assistants.push({ assistant_id, reason: "exists" }),
    );
  }
  if (usage && to.usage)
    for await (const rows of pagesOf((page) => usage.page(page))) {
      signal?.throwIfAborted();
      await to.usage.store(rows);
      report.usage += rows.length;
    }
  if (recordings && to.recordings)
    for await (const rows of pagesOf((page) => recordings.page(page))) {
      signal?.throwIfAborted();
      await to.recordings.add(rows);
    }
}

const emptyReport = (): StorageCopyReport => ({
  threads: { total: 0, copied: 0, current: 0 },
  runs: { total: 0, copied: 0 },
  checkpoints: { total: 0, copied: 0 },
  items: { total: 0, copied: 0 },
  timers: { total: 0, copied: 0 },
  assistants: { total: 0, copied: 0 },
  usage: 0,
  left: [],
  left_items: [],
  left_assistants: [],
});

function note(report: StorageCopyReport, thread_id: string, copy: ThreadCopy): void {
  report.threads.total += 1;
  if (copy.outcome === "left") {
    report.left.push({ thread_id, reason: copy.reason });
    return;
  }
  report.threads[copy.outcome] += 1;
  for (const kind of ["runs", "checkpoints"] as const) {
    report[kind].copied += copy[kind];
    report[kind].total += copy.total[kind];
  }
}

interface Copying<Row> {
  copy: (row: Row) => Promise<"copied" | "current" | LeftRow>;
  signal: AbortSignal | undefined;
}

async function copyRows<Row>(
  rows: AsyncIterable<Row>,
  { copy, signal }: Copying<Row>,
  onLeft: (row: Row, reason: LeftRow) => void,
): Promise<RowCopy> {
  const done = { total: 0, copied: 0 };
  for await (const row of rows) {
    signal?.throwIfAborted();
    const outcome = await copy(row);
    if (outcome === "exists" || outcome === "differs") onLeft(row, outcome);
    else done.total += 1;
    if (outcome === "copied") done.copied += 1;
  }
  return done;
}

const copierOf =
  (to: ItemTable, at: string, overwrite: boolean): Copying<StoredItem>["copy"] =>
  async (item) => {
    const { expires_at, vectors: _, ...row } = item;
    const { namespace, key } = row;
    const held = await to.get(namespace, key, at);
    const isCurrent = held !== undefined && digestOf(held) === digestOf(row);
    // Reading an item extends only its expiry, so an equal item that expires is stored again.
    if (isCurrent && expires_at === null) return "current";
    if (held && !overwrite && !isEarlier(held, item)) return "exists";
    await to.restore(item);
    if (isCurrent) return "current";
    return digestOf(await to.get(namespace, key, at)) === digestOf(row) ? "copied" : "differs";
  };

/** Whether the item may come from an earlier copy. */
const isEarlier = (held: ItemRow, { created_at, updated_at }: ItemRow): boolean =>
  held.created_at === created_at && held.updated_at <= updated_at;

async function* readTimers(from: TimerTable, kinds: readonly TimerKind[]): AsyncGenerator<TimerRow> {
  for (const kind of kinds)
    for await (const rows of pagesOf((page) => from.list({ kind, ...page }))) yield* rows;
}

/** Without `overwrite`, a row that the target already has is kept, unless it is an earlier copy. */
async function copyTimer(
  to: TimerTable,
  row: TimerRow,
  overwrite: boolean,
): Promise<"copied" | "current" | "exists"> {
  if (await to.insert(row)) return "copied";
  const held = await to.get(row.kind, row.id);
  if (held && digestOf(held.data) === digestOf(row.data)) return "current";
  if (!held || !(overwrite || isEarlierTimer(held, row))) return "exists";
  return (await to.replace({ ...row, version: held.version })) ? "copied" : "exists";
}

/** Whether the target's assistant is an earlier copy: it has no version of its own. Other timers also change by themselves. */
function isEarlierTimer(held: TimerRow, row: TimerRow): boolean {
  if (row.kind !== "assistant" || String(held.data.updated_at) > String(row.data.updated_at)) return false;
  const versions = (row.data.versions as { version: number }[]).map((each) => digestOf(each));
  const [oldest] = row.data.versions as { version: number }[];
  return (held.data.versions as { version: number }[]).every(
    (each) => versions.includes(digestOf(each)) || each.version < (oldest?.version ?? 0),
  );
}
