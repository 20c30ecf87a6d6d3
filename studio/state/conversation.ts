/** The thread of the Run screen: its state between runs, and the runs started on it. */
import { computed, signal } from "@preact/signals";
import type { RunCreateRequest } from "../../src/models/run.js";
import type { ThreadState } from "../../src/models/state.js";
import type { ApiError } from "../api.js";
import { ask } from "../api.js";
import { go, href, place } from "../router.js";
import { drawn, graphId, graphs, loadGraphs, openGraph } from "./graphs.js";
import { begin, follow, isShown, leave, live, onProgress, settle, show } from "./live-run.js";
import { load, loading } from "./loading.js";
import { graphOf, type ListedThread, readRow } from "./threads.js";

/** The thread whose conversation is shown, on the Run screen and on the thread screen. */
export const threadId = computed(() => {
  const [screen, id] = place.value.path;
  return screen === "run" || screen === "threads" ? id : undefined;
});
export const row = loading<ListedThread>();
export const state = loading<ThreadState>();
/** Why the last run request was rejected. */
export const refusal = signal<ApiError | undefined>(undefined);
export const isSending = signal(false);

let generation = 0;
/** Thread created for a rejected run; the next run reuses it. */
let spare: string | undefined;
let rolledBack: string | undefined;

/** Show the thread and its run in flight; without a thread, a new conversation. */
export async function openConversation(id: string | undefined): Promise<void> {
  const mine = ++generation;
  const isStale = () => mine !== generation;
  // The thread of a run started here is already shown.
  if (id !== undefined && isShown(id)) return readAll(id, isStale);
  leave();
  row.value.value = undefined;
  state.value.value = undefined;
  row.error.value = undefined;
  refusal.value = undefined;
  if (id === undefined) return openFirstGraph();
  await readAll(id, isStale);
  if (isStale() || !row.value.value) return;
  show(id, scene());
  await followBusy(id);
}

/** Opens the graph of the address, or the first one. */
async function openFirstGraph(): Promise<void> {
  const { graph } = place.value.query;
  if (graph !== undefined) return openGraph(graph);
  await loadGraphs();
  if (place.value.query.graph === undefined) await openGraph(graphs.value.value?.[0] ?? "");
}

/** Prepare to run the thread whose steps are shown, and follow its run in flight. */
export function attach(thread: ListedThread): void {
  const id = thread.thread_id;
  if (!isShown(id)) {
    generation += 1;
    leave();
    state.value.value = undefined;
    refusal.value = undefined;
  }
  row.value.value = thread;
  const own = graphOf(thread);
  void (own === "" ? openFirstGraph() : openGraph(own)).then(() => followBusy(id));
}

/** Reload the state of the attached thread, for example its pending questions. */
export async function readState(): Promise<void> {
  const id = threadId.value;
  const mine = generation;
  if (id !== undefined) await readAll(id, () => mine !== generation);
}

async function readAll(id: string, isStale: () => boolean): Promise<void> {
  const path = `/threads/${encodeURIComponent(id)}/state`;
  await Promise.all([
    load(row, () => readRow(id), isStale),
    load(state, async () => (await ask<ThreadState>("GET", path)).body, isStale),
  ]);
  if (isStale() || !row.value.value) return;
  // A thread without runs has no graph yet.
  const own = graphOf(row.value.value);
  await (own === "" ? openFirstGraph() : openGraph(own));
}

const scene = () => ({ values: state.value.value?.values, drawn: drawn.value });

async function followBusy(id: string): Promise<void> {
  if (threadId.value === id && row.value.value?.status === "busy")
    await follow(id, scene()).catch(() => undefined);
}

onProgress((id, isOver) => void (isOver && id === threadId.value && readEnd(id)));

/** True while the final state of a run is being loaded. */
let isEnding = false;

/** Load the final state after a run. */
async function readEnd(id: string): Promise<void> {
  const mine = generation;
  const isStale = () => mine !== generation || live.value !== undefined;
  isEnding = true;
  await readAll(id, isStale).finally(() => (isEnding = false));
  if (isStale()) return;
  settle(state.value.value?.values, rolledBack === id);
  rolledBack = undefined;
  // Another run may have been queued.
  await followBusy(id);
}

/** Remember that the run's changes are being rolled back. */
export const noteRollback = (id: string): void => void (rolledBack = id);

/** Check whether the thread was run elsewhere. */
export async function lookAgain(): Promise<void> {
  const id = threadId.value;
  const before = row.value.value;
  if (id === undefined || live.value || isSending.value || isEnding || !before) return;
  const mine = generation;
  const isStale = () => mine !== generation || live.value !== undefined;
  const now = await readRow(id).catch(() => undefined);
  // The end of a run that this page followed may have been read meanwhile.
  if (!now || isStale() || isEnding || now.updated_at === row.value.value?.updated_at) return;
  await readAll(id, isStale);
  if (isStale()) return;
  show(id, scene());
  await followBusy(id);
}

/** Run the graph on the thread; creates a thread if there is none. @returns false if the run was rejected */
export async function run(request: Omit<RunCreateRequest, "assistant_id">): Promise<boolean> {
  isSending.value = true;
  refusal.value = undefined;
  try {
    const id = threadId.value ?? (spare ??= await newThread());
    await begin(id, { assistant_id: graphId.value, ...request }, scene());
    spare = undefined;
    if (threadId.value !== id) go(href(["run", id]), { replace: false });
    return true;
  } catch (error) {
    refusal.value = error as ApiError;
    return false;
  } finally {
    isSending.value = false;
  }
}

async function newThread(): Promise<string> {
  const metadata = { graph_id: graphId.value };
  return (await ask<{ thread_id: string }>("POST", "/threads", { body: { metadata } })).body.thread_id;
}
