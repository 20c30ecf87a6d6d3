/** Reports changed threads and runs to the lists of the page, through one stream a page. */
import { signal } from "@preact/signals";
import type { Changes } from "../../src/models/changes.js";
import { ApiError, open, reconnects } from "../api.js";
import { readStream } from "./stream.js";
import { seen, whenHidden } from "./visible.js";

/** Called after changes; undefined if any thread may have changed, for example after a lost connection. */
type Listener = (changes: Changes | undefined) => void;
const listeners = new Set<Listener>();
const usageListeners = new Set<() => void>();

/** Poll interval for servers without the stream, such as an older release. */
const POLL_MS = 5000;

/** False while the connection is lost. */
export const isLive = signal(false);
/** True if the connection was lost and the server did not accept another one. */
export const isUnreachable = signal(false);

export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Called if the usage of models may have changed, also by stateless runs, which no list shows. */
export function onUsage(listener: () => void): () => void {
  usageListeners.add(listener);
  return () => usageListeners.delete(listener);
}

/** Number of threads after the previous event. */
let total: number | undefined;

const report: Listener = (changes) => {
  const hasFewer = changes !== undefined && total !== undefined && changes.total < total;
  if (changes === undefined) reconnects.value += 1;
  const isUsageOnly = changes?.usage && changes.runs.length + changes.threads.length === 0;
  if (!isUsageOnly || changes.total !== total || !changes.is_complete)
    // Deleted threads are not listed.
    for (const listener of listeners) listener(hasFewer ? undefined : changes);
  total = changes?.total ?? total;
  for (const listener of usageListeners) listener();
};

/** Whether a thread may have changed. */
export const concerns = (changes: Changes | undefined, threadId: string): boolean =>
  changes === undefined ||
  !changes.is_complete ||
  changes.threads.some((each) => each.thread_id === threadId);

/** Follows the changes until `left` aborts. A hidden tab holds no connection, and catches up when it is visible. */
export async function followChanges(left: AbortSignal): Promise<void> {
  // The stream may survive an outage in which requests failed.
  addEventListener("online", () => report(undefined), { signal: left });
  while (!left.aborted) {
    try {
      await seen(left);
      await followWhileSeen(left);
    } catch (error) {
      if (left.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      isUnreachable.value = false;
      await pollOnce(left);
    }
  }
}

async function followWhileSeen(left: AbortSignal): Promise<void> {
  const hidden = whenHidden();
  let isFirst = true;
  let failures = 0;
  try {
    await readStream({
      connect: (_, signal) => {
        isFirst = true;
        return open("GET", "/changes", { headers: { Accept: "text/event-stream" }, signal });
      },
      take: ({ event, data }) => {
        if (event !== "changes") return;
        if (isFirst) total = (data as Changes).total;
        report(isFirst ? undefined : (data as Changes));
        isFirst = false;
      },
      onLine: (isConnected) => {
        failures = isConnected ? 0 : failures + 1;
        // The first one is the end of a connection, such as by a restart, that is usually accepted again.
        isUnreachable.value = !isConnected && (failures > 1 || isUnreachable.peek());
        isLive.value = isConnected;
      },
      signal: AbortSignal.any([left, hidden.signal]),
    });
  } catch (error) {
    if (!hidden.signal.aborted) throw error;
  } finally {
    isLive.value = false;
    hidden.forget();
  }
}

const pollOnce = (left: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      left.removeEventListener("abort", go);
      if (!left.aborted && document.visibilityState === "visible") report(undefined);
      resolve();
    };
    const timer = setTimeout(go, POLL_MS);
    left.addEventListener("abort", go);
  });

/** Runs `work` at most once per interval: at once, and once more if it was requested meanwhile. */
export function throttled(work: () => Promise<unknown>, ms: number): () => void {
  let isBusy = false;
  let isAsked = false;
  const start = async (): Promise<void> => {
    if (isBusy) return void (isAsked = true);
    isBusy = true;
    isAsked = false;
    // The list reports errors of its own requests.
    await Promise.all([work().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, ms))]);
    isBusy = false;
    if (isAsked) void start();
  };
  return () => void start();
}
