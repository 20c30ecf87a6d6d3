/** The list of threads: a page at a time, newest first, with the counts of each status. */
import { batch, computed, signal } from "@preact/signals";
import type { Thread, ThreadStatus } from "../../src/models/thread.js";
import { messageLine } from "../../src/view/text.js";
import { ask } from "../api.js";
import { place } from "../router.js";
import { loading, load } from "./loading.js";

const PAGE = 50;
export const STATUSES = ["idle", "busy", "interrupted", "error"] as const satisfies readonly ThreadStatus[];

export interface ListedThread extends Pick<
  Thread,
  "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at" | "metadata" | "error"
> {
  extracted: { type: unknown; content: unknown; tool_calls: unknown };
}

const SELECT = ["thread_id", "status", "created_at", "updated_at", "state_updated_at", "metadata", "error"];
const LAST = "values.messages[-1]";
/** The whole message may be large: these say enough. */
const EXTRACT = { type: `${LAST}.type`, content: `${LAST}.content`, tool_calls: `${LAST}.tool_calls` };

export const threads = signal<readonly ListedThread[]>([]);
export const total = signal(0);
export const counts = signal<Partial<Record<ThreadStatus | "all", number>>>({});
/** Offset of the page to come; null at the end. */
const next = signal<number | null>(0);
export const page = loading<void>();
export const hasMore = computed(() => next.value !== null);

/** `user=ada`, `user={"id":1}`: a filter of the metadata; undefined for what is none. */
export function parseMeta(text: string): Record<string, unknown> | undefined {
  const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined || value === "") return undefined;
  try {
    return { [key]: JSON.parse(value) as unknown };
  } catch {
    return { [key]: value };
  }
}

function filterOf(query: Readonly<Record<string, string>>): Record<string, unknown> {
  const metadata = parseMeta(query.meta ?? "");
  return metadata ? { metadata } : {};
}

let generation = 0;

/** Load the list anew by the filters of the address. */
export async function reload(): Promise<void> {
  const mine = ++generation;
  next.value = 0;
  page.busy.value = false;
  await Promise.all([loadMore(mine, true), countAll(mine)]);
}

export async function loadMore(mine = generation, anew = false): Promise<void> {
  const offset = next.value;
  if (offset === null || page.busy.value) return;
  const { status } = place.value.query;
  const body = {
    ...filterOf(place.value.query),
    ...(status && { status }),
    limit: PAGE,
    offset,
    select: SELECT,
    extract: EXTRACT,
  };
  const isStale = () => mine !== generation;
  await load(
    page,
    async () => {
      const answer = await ask<ListedThread[]>("POST", "/threads/search", { body });
      if (isStale()) return;
      const after = answer.headers.get("X-Pagination-Next");
      batch(() => {
        threads.value = anew ? answer.body : [...threads.value, ...answer.body];
        total.value = Number(answer.headers.get("X-Pagination-Total") ?? answer.body.length);
        next.value = after === null ? null : Number(after);
      });
    },
    isStale,
  );
}

async function countAll(mine: number): Promise<void> {
  const filter = filterOf(place.value.query);
  const count = async (status?: ThreadStatus) =>
    (await ask<number>("POST", "/threads/count", { body: { ...filter, ...(status && { status }) } })).body;
  try {
    const [all, ...each] = await Promise.all([count(), ...STATUSES.map((status) => count(status))]);
    if (mine !== generation) return;
    counts.value = { all, ...Object.fromEntries(STATUSES.map((status, index) => [status, each[index]])) };
  } catch {
    // The list tells of the fault.
  }
}

/** The last message in one line; empty where there is none. */
export function previewOf({ extracted: { type, content, tool_calls } }: ListedThread): string {
  if (typeof type !== "string") return "";
  return messageLine({ type, content, tool_calls });
}

export const graphOf = ({ metadata }: Pick<ListedThread, "metadata">): string =>
  typeof metadata.graph_id === "string" ? metadata.graph_id : "";

/** Those of the loaded threads that hold the text, in any of what is shown of them. */
export const shown = computed(() => {
  const text = (place.value.query.q ?? "").trim().toLowerCase();
  if (text === "") return threads.value;
  return threads.value.filter((thread) =>
    [
      thread.thread_id,
      graphOf(thread),
      previewOf(thread),
      thread.error,
      JSON.stringify(thread.metadata),
    ].some((part) => part?.toLowerCase().includes(text)),
  );
});
