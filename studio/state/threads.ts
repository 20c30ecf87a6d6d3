/** List of threads: paginated, newest first, with counts per status. */
import { batch, computed, signal } from "@preact/signals";
import type { Run } from "../../src/models/run.js";
import type { ThreadStatus } from "../../src/models/thread-fields.js";
import type { Thread } from "../../src/models/thread.js";
import { reportedTokens } from "../../src/models/token-counts.js";
import { messageLine } from "../../src/view/text.js";
import { type Answer, ApiError, ask } from "../api.js";
import { place } from "../router.js";
import { strings } from "../strings.js";
import { args } from "./copy-as.js";
import { idle, load, loading } from "./loading.js";
import { isLeaving, removeLater } from "./undo.js";

const PAGE = 50;
/** Maximum query length accepted by the server. */
export const LONGEST_QUERY = 200;
export const STATUSES = ["idle", "busy", "interrupted", "error"] as const satisfies readonly ThreadStatus[];

export type ListedThread = Pick<
  Thread,
  "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at" | "metadata" | "error" | "preview"
>;

export const SELECT = [
  "thread_id",
  "status",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "error",
  "preview",
];

export const threads = signal<readonly ListedThread[]>([]);
/** Number of matching threads; null if the server did not search all of them. */
export const total = signal<number | null>(0);
export const counts = signal<Partial<Record<ThreadStatus | "all", number>>>({});
/** Offset of the next page; null at the end. */
const next = signal<number | null>(0);
export const page = loading<void>();
export const hasMore = computed(() => next.value !== null);

/** Parses a metadata filter: `user=ada`, `user={"id":1}`; undefined if invalid. */
export function parseMeta(text: string): Record<string, unknown> | undefined {
  const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined || value === "") return undefined;
  try {
    return { [key]: JSON.parse(value) as unknown };
  } catch {
    return { [key]: value };
  }
}

function filterOf({ meta = "", q = "" }: Readonly<Record<string, string>>): Record<string, unknown> {
  const metadata = parseMeta(meta);
  return {
    ...(metadata && { metadata }),
    ...(q.trim() !== "" && { query: q.trim().slice(0, LONGEST_QUERY) }),
  };
}

/** Reported tokens by thread, for threads whose runs were all read. */
export const tokens = signal<ReadonlyMap<string, number>>(new Map());
/** Maximum pages of runs read to sum up tokens. */
const MOST_RUN_PAGES = 5;

async function sumTokens(listed: readonly ListedThread[]): Promise<void> {
  const sums = new Map(listed.map(({ thread_id }) => [thread_id, 0]));
  const search = { thread_ids: [...sums.keys()], select: ["thread_id", "usage"], limit: 1000 };
  let offset: number | null = 0;
  for (let pages = 0; offset !== null && pages < MOST_RUN_PAGES; pages += 1) {
    const answer: Answer<Pick<Run, "thread_id" | "usage">[]> = await ask("POST", "/runs/search", {
      body: { ...search, offset },
    });
    for (const { thread_id, usage } of answer.body)
      sums.set(thread_id, (sums.get(thread_id) ?? 0) + reportedTokens(usage).total_tokens);
    const after = answer.headers.get("X-Pagination-Next");
    offset = after === null ? null : Number(after);
  }
  if (offset === null) tokens.value = new Map([...tokens.value, ...sums]);
}

let generation = 0;

/** Reload the list with the filters of the address. */
export async function reload(): Promise<void> {
  const mine = ++generation;
  next.value = 0;
  page.busy.value = false;
  await Promise.all([loadMore(mine, true), countAll(mine)]);
}

/** Maximum rows per request. */
const MOST_ROWS = 1000;

/**
 * Reloads the loaded rows after a change, without a sign of loading. With a text query, which reads whole threads, only
 * rows that are already listed.
 */
export async function refreshRows(): Promise<void> {
  // A request in flight may have been answered before the change.
  await idle(page);
  const mine = generation;
  const { query } = place.value;
  const loaded = threads.value.map(({ thread_id }) => thread_id);
  const hasText = "query" in filterOf(query);
  if (loaded.length > MOST_ROWS || (hasText && loaded.length === 0)) return;
  const limit = Math.max(PAGE, loaded.length);
  const wanted = hasText ? { ids: loaded, select: SELECT } : searchOf(query);
  const answer = await ask<ListedThread[]>("POST", "/threads/search", { body: { ...wanted, limit } });
  if (mine !== generation) return;
  const before = new Map(threads.value.map((thread) => [thread.thread_id, thread.updated_at]));
  const changed = answer.body.filter(({ thread_id, updated_at }) => before.get(thread_id) !== updated_at);
  if (changed.length > 0) sumTokens(changed).catch(() => undefined);
  batch(() => {
    threads.value = answer.body;
    if (!hasText) takePage(answer.headers);
  });
  await countAll(mine);
}

/** Order of the list: a field, after `-` in descending order. */
export const DEFAULT_SORT = "-updated_at";

function searchOf(query: Readonly<Record<string, string>>): object {
  const { status, sort = DEFAULT_SORT } = query;
  const sort_order = sort.startsWith("-") ? "desc" : "asc";
  const order = { sort_by: sort.replace(/^-/, ""), sort_order };
  return { ...filterOf(query), ...(status && { status }), ...order, select: SELECT };
}

function takePage(headers: Headers): void {
  const all = headers.get("X-Pagination-Total");
  const after = headers.get("X-Pagination-Next");
  total.value = all === null ? null : Number(all);
  next.value = after === null ? null : Number(after);
}

export async function loadMore(mine = generation, isReload = false): Promise<void> {
  const offset = next.value;
  if (offset === null || page.busy.value) return;
  const body = { ...searchOf(place.value.query), limit: PAGE, offset };
  const isStale = () => mine !== generation;
  await load(
    page,
    async () => {
      const answer = await ask<ListedThread[]>("POST", "/threads/search", { body });
      if (isStale()) return;
      // Rows do not wait for the token counts, and work without them.
      if (answer.body.length > 0) sumTokens(answer.body).catch(() => undefined);
      batch(() => {
        threads.value = isReload ? answer.body : withNew(threads.value, answer.body);
        takePage(answer.headers);
      });
    },
    isStale,
  );
}

/** New threads shift the pages: skips rows that are already loaded. */
function withNew(known: readonly ListedThread[], more: readonly ListedThread[]): ListedThread[] {
  const ids = new Set(known.map(({ thread_id }) => thread_id));
  return [...known, ...more.filter(({ thread_id }) => !ids.has(thread_id))];
}

async function countAll(mine: number): Promise<void> {
  const filter = filterOf(place.value.query);
  // Counting with a text query would read all threads, once per status.
  if ("query" in filter) return void (counts.value = {});
  const count = async (status?: ThreadStatus) =>
    (await ask<number>("POST", "/threads/count", { body: { ...filter, ...(status && { status }) } })).body;
  try {
    const [all, ...each] = await Promise.all([count(), ...STATUSES.map((status) => count(status))]);
    if (mine !== generation) return;
    counts.value = { all, ...Object.fromEntries(STATUSES.map((status, index) => [status, each[index]])) };
  } catch {
    // The list reports the error.
  }
}

/** First message of the thread or, without messages, the first text of its state; empty if there is none. */
export const titleOf = ({ preview }: Pick<ListedThread, "preview">): string => preview?.title ?? "";

/** The last message in one line; empty if there is none. */
export function previewOf({ preview }: Pick<ListedThread, "preview">): string {
  if (!preview?.last) return "";
  const { type, text, tools } = preview.last;
  return messageLine({ type, content: text, tool_calls: tools.map((name) => ({ name })) });
}

export const graphOf = ({ metadata }: Pick<ListedThread, "metadata">): string =>
  typeof metadata.graph_id === "string" ? metadata.graph_id : "";

/** The thread that this one was copied from, such as by a tried answer or "Run again". */
export const originalOf = ({ metadata }: Pick<ListedThread, "metadata">): string | undefined =>
  typeof metadata.forked_from === "string" ? metadata.forked_from : undefined;

/** Threads without pending deletions. */
export const shown = computed(() => threads.value.filter(({ thread_id }) => !isLeaving(thread_id)));

export function removeThread({ thread_id }: ListedThread, text: string): void {
  const send = async () => {
    await ask("DELETE", `/threads/${thread_id}`);
    threads.value = threads.value.filter((thread) => thread.thread_id !== thread_id);
    if (total.value !== null) total.value -= 1;
    await countAll(generation);
  };
  const action = {
    method: "DELETE",
    path: `/threads/${thread_id}`,
    sdk: `await client.threads.delete(${args(thread_id)});`,
    cli: ["threads", "delete", thread_id],
  };
  removeLater({ id: thread_id, text, send, action });
}

/** Loads one thread by search, which can omit the values. */
export async function readRow(id: string): Promise<ListedThread> {
  const { body } = await ask<ListedThread[]>("POST", "/threads/search", {
    body: { ids: [id], select: SELECT },
  }).catch((error: ApiError) => {
    throw error.status === 422 ? new ApiError(404, "thread_id_incomplete", strings.fault.notAnId(id)) : error;
  });
  if (!body[0]) throw new ApiError(404, "thread_not_found", `thread "${id}" not found`);
  return body[0];
}
