/** The threads that the page shows: that of the address, and one beside it. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { RunCreateRequest } from "../../src/models/run.js";
import type { ApiError } from "../api.js";
import { ask } from "../api.js";
import { go, href, place } from "../router.js";
import { drawn, graphId, graphs, loadGraphs, openGraph } from "./graphs.js";
import { ThreadView } from "./thread-view.js";
import { graphOf, type ListedThread } from "./threads.js";

/** The thread whose conversation is shown, on the Run screen and on the thread screen. */
export const threadId = computed(() => {
  const [screen, id] = place.value.path;
  return screen === "run" || screen === "threads" ? id : undefined;
});

/** The thread shown beside it. */
export const besideId = computed(() => {
  const id = place.value.query.beside;
  return place.value.path[0] === "run" && id !== threadId.value ? id : undefined;
});

const views = new Map<string, ThreadView>();

/** The view of a thread, which is kept while the thread is shown. */
export function viewOf(id: string): ThreadView {
  let view = views.get(id);
  if (!view) views.set(id, (view = newView(id)));
  return view;
}

// The graph, its drawing and its schemas are those of the thread of the address.
const newView = (id: string): ThreadView =>
  new ThreadView(id, {
    onRow: async (row) => {
      if (id !== threadId.peek()) return;
      const own = graphOf(row);
      // A thread without runs has no graph yet.
      await (own === "" ? openFirstGraph() : openGraph(own));
    },
    drawn: () => drawn.peek(),
  });

/** A conversation whose thread does not exist yet. */
const fresh = signal(newView(""));

/** The view of the thread of the address. */
export const current = computed(() => (threadId.value === undefined ? fresh.value : viewOf(threadId.value)));

const View = createContext<ThreadView | undefined>(undefined);
export const ViewProvider = View.Provider;
/** The view around a component: that of the thread of the address, unless it is shown beside it. */
export const useView = (): ThreadView => useContext(View) ?? current.value;

type Part<T> = ReadonlySignal<T>;
export const live: Part<ThreadView["live"]["value"]> = computed(() => current.value.live.value);
export const picture: Part<ThreadView["picture"]["value"]> = computed(() => current.value.picture.value);
export const refusal: Part<ApiError | undefined> = computed(() => current.value.refusal.value);
export const isSending: Part<boolean> = computed(() => current.value.isSending.value);

/** The graph that runs the thread; a thread beside may have another one than that of the address. */
export function graphOfView({ row }: ThreadView): string {
  const own = row.value.value && graphOf(row.value.value);
  return own === undefined || own === "" ? graphId.value : own;
}

/** Thread created for a rejected run; the next run reuses it. */
let spare: string | undefined;

let created: string | undefined;
/** While the page moves to a thread that a run has created: this thread. */
export const createdThread = (): string | undefined => created;

function goToCreated(id: string): void {
  created = id;
  go(href(["run", id], { beside: place.peek().query.beside }));
  created = undefined;
}

/** Stop following threads that are not shown any more. */
export function leaveOthers(): void {
  const shown = new Set([threadId.peek(), besideId.peek()]);
  for (const [id, view] of views) {
    if (shown.has(id)) continue;
    views.delete(id);
    view.leave();
  }
}

/** Show the thread and its run in flight; without a thread, a new conversation. */
export async function openConversation(id: string | undefined): Promise<void> {
  leaveOthers();
  if (id !== undefined) return viewOf(id).open();
  fresh.value = newView("");
  return openFirstGraph();
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
  leaveOthers();
  const view = viewOf(thread.thread_id);
  const isOutdated = view.takeRow(thread);
  const own = graphOf(thread);
  void (own === "" ? openFirstGraph() : openGraph(own)).then(
    () => void (threadId.peek() === view.id && view.catchUp(isOutdated)),
  );
}

/** Run the graph on the thread; creates a thread if there is none. @returns false if the run was rejected */
export async function run(
  request: Omit<RunCreateRequest, "assistant_id">,
  view: ThreadView = current.peek(),
): Promise<boolean> {
  view.isSending.value = true;
  view.refusal.value = undefined;
  try {
    const id = view.id === "" ? (spare ??= await newThread()) : view.id;
    await viewOf(id).begin({ assistant_id: graphOfView(view), ...request });
    spare = undefined;
    const isShown = place.peek().path[0] === "run" && current.peek() === view;
    if (view.id === "" && isShown) goToCreated(id);
    return true;
  } catch (error) {
    view.refusal.value = error as ApiError;
    return false;
  } finally {
    view.isSending.value = false;
  }
}

async function newThread(): Promise<string> {
  const metadata = { graph_id: graphId.value };
  return (await ask<{ thread_id: string }>("POST", "/threads", { body: { metadata } })).body.thread_id;
}
