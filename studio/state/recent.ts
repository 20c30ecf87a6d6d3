/** What the navigation shows of all threads: the most recent ones, and how many wait for an answer. */
import { signal } from "@preact/signals";
import { ask, isReadOnly } from "../api.js";
import { type ListedThread, SELECT } from "./threads.js";
import { onChange, throttled } from "./changes.js";

/** Maximum number of threads in the navigation. */
const MOST = 30;
const REFRESH_MS = 1000;

export const recent = signal<readonly ListedThread[]>([]);
/** Number of threads that wait for an answer. */
export const waitingCount = signal(0);

async function read(): Promise<void> {
  const body = { limit: MOST, select: SELECT };
  const [threads, waiting] = await Promise.all([
    ask<ListedThread[]>("POST", "/threads/search", { body }),
    isReadOnly ? undefined : ask<number>("POST", "/threads/count", { body: { status: "interrupted" } }),
  ]);
  // Copies on which a node runs again are deleted soon.
  recent.value = threads.body.filter(({ metadata }) => metadata?.rerun_of === undefined);
  waitingCount.value = waiting?.body ?? 0;
}

/** Keeps the values up to date. Returns a function that stops it. */
export function followRecent(): () => void {
  const reload = throttled(read, REFRESH_MS);
  reload();
  return onChange(reload);
}
