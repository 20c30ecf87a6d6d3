/** Follows the run in flight of the open thread, started here or elsewhere, across reloads and tabs. */
import { batch, signal } from "@preact/signals";
import { isRecord } from "../../src/models/json.js";
import type { Run, RunCreateRequest, RunTasks } from "../../src/models/run.js";
import { ApiError, ask, open } from "../api.js";
import { type Action, args } from "./copy-as.js";
import type { Frame } from "./frame.js";
import { type Picture, RunView } from "./run-view.js";
import { readStream } from "./stream.js";
import { seen, whenHidden } from "./visible.js";

/** Stream modes for a live view, without overlapping content. */
const STREAM = {
  stream_mode: ["messages-tuple", "tools", "custom", "checkpoints", "updates"],
  stream_subgraphs: true,
  on_disconnect: "continue",
} as const satisfies Partial<RunCreateRequest>;

export interface LiveRun {
  threadId: string;
  runId: string;
  isStopping: boolean;
}

/** The run in flight; undefined if there is none. */
export const live = signal<LiveRun | undefined>(undefined);
/** View of the run in flight, or of the last one. */
export const picture = signal<Picture | undefined>(undefined);
/** False while reconnecting. */
export const isConnected = signal(true);

/** Called at each new checkpoint of a run, and when the run has ended. */
type Listener = (threadId: string, isOver: boolean) => void;
const listeners = new Set<Listener>();

export function onProgress(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let generation = 0;
let view: RunView | undefined;
/** The thread of `picture`. */
let shownThread: string | undefined;
let leaving: AbortController | undefined;

/** Stop following the run; it continues. */
export function leave(): void {
  generation += 1;
  leaving?.abort();
  leaving = undefined;
  view = undefined;
  shownThread = undefined;
  batch(() => {
    live.value = undefined;
    picture.value = undefined;
    isConnected.value = true;
  });
}

const pathOf = (threadId: string): string => `/threads/${encodeURIComponent(threadId)}/runs`;

export interface Scene {
  /** Values of the thread before the run. */
  values: unknown;
  /** Node ids of the drawing. */
  drawn: ReadonlySet<string>;
}

/** True if the thread is shown, with or without a run. */
export const isShown = (threadId: string): boolean => threadId === shownThread;

/** Show a thread without a run in flight. */
export function show(threadId: string, scene: Scene): void {
  picture.value = viewOf(threadId, scene).picture();
  void readPastTimes(threadId);
}

function viewOf(threadId: string, { values, drawn }: Scene): RunView {
  if (!isShown(threadId)) asked.clear();
  view = new RunView(values, drawn, isShown(threadId) ? view : undefined);
  shownThread = threadId;
  return view;
}

/** Set the final state after a run; `forget` also removes model output that is not in the state. */
export function settle(values: unknown, forget: boolean): void {
  if (!view || live.value) return;
  view.settle(values, forget);
  picture.value = view.picture();
}

/**
 * Start a run and follow it.
 * @throws ApiError if the server rejects the run
 */
export async function begin(threadId: string, request: RunCreateRequest, scene: Scene): Promise<void> {
  const mine = ++generation;
  const connection = new AbortController();
  const response = await open("POST", `${pathOf(threadId)}/stream`, {
    body: { ...request, ...STREAM },
    signal: connection.signal,
  });
  const runId = response.headers.get("Content-Location")?.split("/").at(-1) ?? "";
  if (mine !== generation) return connection.abort();
  void read(threadId, runId, scene, { response, abort: () => connection.abort() });
}

/** The response of the request that started the run. */
interface First {
  response: Response;
  abort: () => void;
}

/** Follow the thread's run in flight, if there is one. */
export async function follow(threadId: string, scene: Scene): Promise<void> {
  if (live.value?.threadId === threadId) return;
  const mine = ++generation;
  const runId = await inFlight(threadId);
  if (mine !== generation || runId === undefined) return;
  void read(threadId, runId, scene);
}

/** The running run, or the first pending one. */
async function inFlight(threadId: string): Promise<string | undefined> {
  const { body } = await ask<Pick<Run, "run_id" | "status">[]>(
    "GET",
    `${pathOf(threadId)}?limit=20&select=run_id&select=status`,
  );
  const running = body.find(({ status }) => status === "running");
  return (running ?? body.findLast(({ status }) => status === "pending"))?.run_id;
}

async function read(threadId: string, runId: string, scene: Scene, first?: First): Promise<void> {
  const mine = generation;
  const fresh = viewOf(threadId, scene);
  /** True if a tool call has ended whose duration has not been requested yet. */
  let hasEnded = false;
  const painter = new Painter(fresh, (checkpoint) => {
    if (!checkpoint) return;
    tell(threadId, false);
    if (hasEnded) void readTimes(threadId, runId);
    hasEnded = false;
  });
  leaving = new AbortController();
  batch(() => {
    live.value = { threadId, runId, isStopping: false };
    picture.value = fresh.picture();
  });
  try {
    await readWhileSeen(
      `${pathOf(threadId)}/${runId}/stream`,
      (frame) => {
        hasEnded ||= isEndOfCall(frame);
        painter.take(frame);
      },
      leaving.signal,
      first,
    );
  } catch (error) {
    if (mine !== generation) return;
    // Its frames are no longer available: the thread state contains the outcome.
    if (!(error instanceof ApiError)) throw error;
  }
  if (mine !== generation) return;
  painter.paint();
  live.value = undefined;
  tell(threadId, true);
  await readTimes(threadId, runId);
}

const isEndOfCall = ({ event, data }: Frame): boolean =>
  event.startsWith("tools") &&
  isRecord(data) &&
  (data.event === "on_tool_end" || data.event === "on_tool_error");

/** Load durations of tool calls, which frames do not contain. */
async function readTimes(threadId: string, runId: string): Promise<void> {
  const told = await tasksOf(threadId, runId);
  if (told) takeTimes(threadId, [told]);
}

/** Number of latest runs that are read to find durations of earlier tool calls. */
const PAST_RUNS = 20;
/** Tool calls of this thread whose durations were requested, even if there were none. */
const asked = new Set<string>();

async function readPastTimes(threadId: string): Promise<void> {
  const missing = view?.untimedCalls() ?? new Set<string>();
  for (const call of asked) missing.delete(call);
  if (missing.size === 0) return;
  for (const call of missing) asked.add(call);
  const path = `${pathOf(threadId)}?limit=${PAST_RUNS}&select=run_id`;
  const runs = await ask<Pick<Run, "run_id">[]>("GET", path).catch(() => undefined);
  const told: RunTasks[] = [];
  for (const { run_id } of runs?.body ?? []) {
    if (missing.size === 0 || !isShown(threadId)) break;
    const run = await tasksOf(threadId, run_id);
    if (!run) continue;
    told.unshift(run);
    for (const { tool_call_id: call = "" } of run.tasks) missing.delete(call);
  }
  takeTimes(threadId, told);
}

/** Undefined on failure: a rolled-back run has no tasks. */
async function tasksOf(threadId: string, runId: string): Promise<RunTasks | undefined> {
  const path = `${pathOf(threadId)}/${encodeURIComponent(runId)}/tasks`;
  const told = await ask<RunTasks>("GET", path).catch(() => undefined);
  return told?.body;
}

/** Runs must be oldest first: for a repeated call the last duration counts. */
function takeTimes(threadId: string, runs: readonly RunTasks[]): void {
  // Another thread may be shown by now.
  if (!view || !isShown(threadId) || runs.length === 0) return;
  for (const run of runs) view.takeTimes(run);
  picture.value = view.picture();
}

const tell = (threadId: string, isOver: boolean): void => {
  for (const listener of listeners) listener(threadId, isOver);
};

/** A hidden tab closes its connection, and catches up when it becomes visible. */
async function readWhileSeen(
  path: string,
  take: (frame: Frame) => void,
  left: AbortSignal,
  first?: First,
): Promise<void> {
  let after = -1;
  let ready = first?.response;
  const connect = (last: number, signal: AbortSignal) => {
    const response = ready;
    ready = undefined;
    const headers = { "Last-Event-ID": String(last), Accept: "text/event-stream" };
    return response ? Promise.resolve(response) : open("GET", path, { headers, signal });
  };
  for (;;) {
    await seen(left);
    const hidden = whenHidden();
    const signal = AbortSignal.any([left, hidden.signal]);
    // The request that started the run has a separate signal.
    signal.addEventListener("abort", () => first?.abort(), { once: true });
    try {
      await readStream({
        connect,
        take: (frame) => {
          if (frame.id >= 0) after = frame.id;
          take(frame);
        },
        onLine: (isThere) => (isConnected.value = isThere),
        signal,
        after,
      });
      return;
    } catch (error) {
      if (!hidden.signal.aborted || left.aborted) throw error;
    } finally {
      hidden.forget();
    }
  }
}

/** Frames arrive faster than the screen refreshes: updates the view once per animation frame. */
class Painter {
  readonly #view: RunView;
  readonly #onPaint: (hasNewCheckpoint: boolean) => void;
  #isAsked = false;
  #checkpoints = 0;

  constructor(view: RunView, onPaint: (hasNewCheckpoint: boolean) => void) {
    this.#view = view;
    this.#onPaint = onPaint;
  }

  take(frame: Frame): void {
    this.#view.take(frame);
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => this.#isAsked && this.paint());
  }

  paint(): void {
    this.#isAsked = false;
    const next = this.#view.picture();
    picture.value = next;
    this.#onPaint(next.checkpoints > this.#checkpoints);
    this.#checkpoints = next.checkpoints;
  }
}

/** Stop the run; `rollback` also discards its changes. */
export async function stop(action: CancelAction): Promise<void> {
  const run = live.value;
  if (!run) return;
  live.value = { ...run, isStopping: true };
  try {
    await cancelRun(run, action);
  } catch (error) {
    if (live.value?.runId === run.runId) live.value = { ...run, isStopping: false };
    throw error;
  }
}

type RunName = Pick<LiveRun, "threadId" | "runId">;
type CancelAction = "interrupt" | "rollback";

const cancelPath = ({ threadId, runId }: RunName, action: CancelAction): string =>
  `${pathOf(threadId)}/${runId}/cancel?action=${action}`;

export const cancelRun = async (run: RunName, action: CancelAction): Promise<void> =>
  void (await ask("POST", cancelPath(run, action)));

export const cancelAction = (run: RunName, action: CancelAction = "interrupt"): Action => ({
  method: "POST",
  path: cancelPath(run, action),
  sdk: `await client.runs.cancel(${args(run.threadId, run.runId, ...(action === "interrupt" ? [] : [false, action]))});`,
});
