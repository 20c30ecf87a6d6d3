import { MAX_LIMIT, SORT_ORDERS } from "../../models/common.js";
import {
  type Thread,
  THREAD_SORT_FIELDS,
  THREAD_STATUSES,
  type ThreadSearchRequest,
} from "../../models/thread.js";
import { lastMessageLine } from "../../view/text.js";
import { keyValues, oneOf } from "../session/options.js";
import type { RowsClient } from "../../client/rows.js";
import { runTotals } from "../../client/walk.js";
import { type Column } from "../terminal/table.js";
import type { Printer } from "../terminal/print.js";
import { shownId, shownTime } from "../terminal/text.js";

interface PageRequest {
  limit: number;
  offset: number;
  /** ISO 8601; threads that were last updated earlier are omitted. */
  since?: string;
}

export interface ListedThreadPage {
  items: Partial<Thread>[];
  /** Offset of the next search page, also if `since` filtered some results out; null at the end. */
  next: number | null;
}

/** One page of matching threads; the limit can exceed the server's maximum. */
export async function listThreadPage(
  client: RowsClient,
  request: ThreadSearchRequest,
  { limit, offset, since }: PageRequest,
): Promise<ListedThreadPage> {
  const items: Partial<Thread>[] = [];
  const isNewestFirst = (request.sort_by ?? "updated_at") === "updated_at" && request.sort_order !== "asc";
  for (let next = offset; ;) {
    // Request one extra item to detect whether there are more.
    const wanted = Math.min(limit + 1, MAX_LIMIT);
    const threads = await client.threads.search({ ...request, limit: wanted, offset: next });
    for (const thread of threads) {
      if (items.length === limit) return { items, next };
      const isOld = since !== undefined && (thread.updated_at ?? "") < since;
      if (isOld && isNewestFirst) return { items, next: null };
      if (!isOld) items.push(thread);
      next += 1;
    }
    if (threads.length < wanted) return { items, next: null };
  }
}

// Converts the flags of `threads list` and `threads prune` to a search request.

export interface FilterFlags {
  status?: string;
  metadata?: string[];
  values?: string[];
}

/** @throws InvalidRequestError (`invalid_request`) */
export function filterOf({ status, metadata, values }: FilterFlags): ThreadSearchRequest {
  return {
    ...(status !== undefined && { status: oneOf("--status", status, THREAD_STATUSES) }),
    ...(metadata && { metadata: keyValues("--metadata", metadata) }),
    ...(values && { values: keyValues("--values", values) }),
  };
}

/**
 * `updated_at`, `created_at:asc`, ...
 * @throws InvalidRequestError (`invalid_request`)
 */
export function sortOf(text: string | undefined): ThreadSearchRequest {
  if (text === undefined) return {};
  const [field = "", order] = text.split(":", 2);
  return {
    sort_by: oneOf("--sort", field, THREAD_SORT_FIELDS),
    ...(order !== undefined && { sort_order: oneOf("--sort", order, SORT_ORDERS) }),
  };
}

// Threads as table rows.

export interface ListedThread {
  thread: Partial<Thread>;
  runs: number;
  tokens: number;
}

/** The thread with the totals of its runs. */
export async function listedThread(client: RowsClient, thread: Partial<Thread>): Promise<ListedThread> {
  return { thread, ...(await runTotals(client, thread.thread_id ?? "")) };
}

const LEAST_MESSAGE = 8;

export function threadColumns(print: Printer, { messages = false } = {}): Column<ListedThread>[] {
  const columns: Column<ListedThread>[] = [
    { title: "ID", cell: ({ thread }) => shownId(print, thread.thread_id ?? "") },
    { title: "STATUS", cell: ({ thread }) => thread.status ?? "" },
    { title: "UPDATED", cell: ({ thread }) => shownTime(print, thread.updated_at), spare: 1 },
    { title: "RUNS", cell: ({ runs }) => String(runs), spare: 2 },
    { title: "TOKENS", cell: ({ tokens }) => String(tokens), spare: 3 },
  ];
  if (!messages) return columns;
  const last = ({ thread }: ListedThread) => lastMessageLine(thread.values);
  return [...columns, { title: "LAST MESSAGE", cell: last, least: LEAST_MESSAGE }];
}
