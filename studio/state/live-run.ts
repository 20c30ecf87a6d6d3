/** The stream of a run: reading it while the tab is visible, painting its frames, cancelling the run. */
import type { RunCreateRequest } from "../../src/models/run.js";
import { isRecord } from "../../src/models/json.js";
import type { Run, RunTasks } from "../../src/models/run.js";
import { ask, open } from "../api.js";
import { type Action, args } from "./copy-as.js";
import type { Frame } from "./frame.js";
import type { Picture, RunView } from "./run-view.js";
import { readStream } from "./stream.js";
import { seen, whenHidden } from "./visible.js";

/** Stream modes for a live view, without overlapping content. */
export const STREAM = {
  stream_mode: ["messages-tuple", "tools", "custom", "checkpoints", "updates"],
  stream_subgraphs: true,
  on_disconnect: "continue",
} as const satisfies Partial<RunCreateRequest>;

export interface LiveRun {
  threadId: string;
  runId: string;
  isStopping: boolean;
}

/** Called at each new checkpoint of a run, and when the run has ended. */
type Listener = (threadId: string, isOver: boolean) => void;
const listeners = new Set<Listener>();

export function onProgress(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const reportProgress: Listener = (threadId, isOver) => {
  for (const listener of listeners) listener(threadId, isOver);
};

export const pathOf = (threadId: string): string => `/threads/${encodeURIComponent(threadId)}/runs`;

/** The running run, or the first pending one. */
export async function inFlight(threadId: string): Promise<string | undefined> {
  const { body } = await ask<Pick<Run, "run_id" | "status">[]>(
    "GET",
    `${pathOf(threadId)}?limit=20&select=run_id&select=status`,
  );
  const running = body.find(({ status }) => status === "running");
  return (running ?? body.findLast(({ status }) => status === "pending"))?.run_id;
}

export const isEndOfCall = ({ event, data }: Frame): boolean =>
  event.startsWith("tools") &&
  isRecord(data) &&
  (data.event === "on_tool_end" || data.event === "on_tool_error");

/** Number of latest runs that are read to find durations of earlier tool calls. */
const PAST_RUNS = 20;

/** Tasks of the latest runs, oldest first, until the durations of all `missing` tool calls are known. */
export async function pastTasks(threadId: string, missing: Set<string>): Promise<RunTasks[]> {
  const path = `${pathOf(threadId)}?limit=${PAST_RUNS}&select=run_id`;
  const runs = await ask<Pick<Run, "run_id">[]>("GET", path).catch(() => undefined);
  const found: RunTasks[] = [];
  for (const { run_id } of runs?.body ?? []) {
    if (missing.size === 0) break;
    const run = await tasksOf(threadId, run_id);
    if (!run) continue;
    found.unshift(run);
    for (const { tool_call_id: call = "" } of run.tasks) missing.delete(call);
  }
  return found;
}

/** Undefined on failure: a rolled-back run has no tasks. */
export async function tasksOf(threadId: string, runId: string): Promise<RunTasks | undefined> {
  const path = `${pathOf(threadId)}/${encodeURIComponent(runId)}/tasks`;
  const answer = await ask<RunTasks>("GET", path).catch(() => undefined);
  return answer?.body;
}

/** The response of the request that started the run. */
export interface First {
  response: Response;
  abort: () => void;
}

interface Reading {
  take: (frame: Frame) => void;
  /** Called with false while the connection is lost. */
  onLine: (isConnected: boolean) => void;
  left: AbortSignal;
  first?: First | undefined;
}

/** A hidden tab closes its connection, and catches up when it becomes visible. */
export async function readWhileSeen(path: string, { take, onLine, left, first }: Reading): Promise<void> {
  let after = -1;
  let ready = first?.response;
  const connect = (last: number, signal: AbortSignal) => {
    const response = ready;
    ready = undefined;
    // The request that started the run has a separate signal.
    if (response) signal.addEventListener("abort", () => first?.abort(), { once: true });
    const headers = { "Last-Event-ID": String(last), Accept: "text/event-stream" };
    return response ? Promise.resolve(response) : open("GET", path, { headers, signal });
  };
  for (;;) {
    await seen(left);
    const hidden = whenHidden();
    const signal = AbortSignal.any([left, hidden.signal]);
    try {
      await readStream({
        connect,
        take: (frame) => {
          if (frame.id >= 0) after = frame.id;
          take(frame);
        },
        onLine,
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
export class Painter {
  readonly #view: RunView;
  readonly #onPaint: (picture: Picture, hasNewCheckpoint: boolean) => void;
  #isAsked = false;
  #checkpoints = 0;

  constructor(view: RunView, onPaint: (picture: Picture, hasNewCheckpoint: boolean) => void) {
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
    this.#onPaint(next, next.checkpoints > this.#checkpoints);
    this.#checkpoints = next.checkpoints;
  }
}

type RunName = Pick<LiveRun, "threadId" | "runId">;
export type CancelAction = "interrupt" | "rollback";

const cancelPath = ({ threadId, runId }: RunName, action: CancelAction): string =>
  `${pathOf(threadId)}/${runId}/cancel?action=${action}`;

export const cancelRun = async (run: RunName, action: CancelAction): Promise<void> =>
  void (await ask("POST", cancelPath(run, action)));

export const cancelAction = (run: RunName, action: CancelAction = "interrupt"): Action => ({
  method: "POST",
  path: cancelPath(run, action),
  sdk: `await client.runs.cancel(${args(run.threadId, run.runId, ...(action === "interrupt" ? [] : [false, action]))});`,
});
