import type { Thread, ThreadSearchRequest } from "../../models/thread.js";
import { THREAD_SORT_FIELDS, THREAD_STATUSES } from "../../models/thread-fields.js";
import { isRecord, MAX_LIMIT, SORT_ORDERS } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import { contentText, lastMessageLine } from "../../view/text.js";
import { keyValues, oneOf } from "../session/options.js";
import type { RowsClient } from "../../client/rows.js";
import { graphIdOf } from "../../client/client.js";
import { runTotals } from "../../client/walk.js";
import { type Column } from "../terminal/table.js";
import type { Printer } from "../terminal/print.js";
import { shownAgo, shownId } from "../terminal/text.js";

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
  /** The `title` in its metadata, else the first message of its first run; empty if there is none. */
  title: string;
  runs: number;
  tokens: number;
}

/** The thread with its title and the totals of its runs. */
export async function listedThread(client: RowsClient, thread: Partial<Thread>): Promise<ListedThread> {
  const id = thread.thread_id ?? "";
  const totals = await runTotals(client, id);
  const { title } = thread.metadata ?? {};
  const named = typeof title === "string" ? title : await firstMessage(client, id, totals.runs);
  return { thread, title: named, runs: totals.runs, tokens: totals.tokens };
}

/** The text of the user's message in the input of the thread's first run. */
async function firstMessage({ runs }: RowsClient, threadId: string, count: number): Promise<string> {
  if (count === 0) return "";
  const page = { limit: 1, offset: count - 1 };
  const input: unknown = runs.inputs
    ? (await runs.inputs(threadId, page))[0]
    : ((await runs.list(threadId, page)) as Partial<Run>[])[0]?.kwargs?.input;
  const messages: unknown = isRecord(input) ? input.messages : undefined;
  const all: unknown[] = Array.isArray(messages) ? messages : [messages];
  const first = all.find(isFromUser);
  if (typeof first === "string") return first;
  return isRecord(first) ? contentText(first.content) : "";
}

function isFromUser(message: unknown): boolean {
  if (typeof message === "string") return true;
  if (!isRecord(message)) return false;
  const role = message.type ?? message.role;
  return typeof role === "string" && /^(human|user)/i.test(role);
}

const LEAST_MESSAGE = 8;

interface ShownColumns {
  /** Also show the last message. */
  messages?: boolean;
  /** Show times in UTC instead of relative to now. */
  utc?: boolean;
}

export function threadColumns(print: Printer, { messages, utc }: ShownColumns = {}): Column<ListedThread>[] {
  const { green, red, yellow, cyan } = print.colors;
  const paints: Record<string, (text: string) => string> = {
    idle: green,
    busy: cyan,
    interrupted: yellow,
    error: red,
  };
  const time = (at: string | undefined) => (utc ? (at ?? "") : shownAgo(print, at));
  const columns: Column<ListedThread>[] = [
    { title: "ID", cell: ({ thread }) => shownId(print, thread.thread_id ?? "") },
    { title: "GRAPH", cell: ({ thread }) => graphIdOf(thread) ?? "", spare: 1 },
    {
      title: "STATUS",
      cell: ({ thread }) => thread.status ?? "",
      paint: (status) => paints[status]?.(status) ?? status,
    },
    { title: "UPDATED", cell: ({ thread }) => time(thread.updated_at), spare: 2 },
    { title: "RUNS", cell: ({ runs }) => String(runs), spare: 3 },
    { title: "TOKENS", cell: ({ tokens }) => String(tokens), spare: 4 },
    { title: "TITLE", cell: ({ title }) => title, least: LEAST_MESSAGE },
  ];
  if (!messages) return columns;
  const last = ({ thread }: ListedThread) => lastMessageLine(thread.values);
  return [...columns, { title: "LAST MESSAGE", cell: last, least: LEAST_MESSAGE }];
}
