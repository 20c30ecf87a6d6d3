/** Runs nodes again from their stored input with the saved code, on request or after each save. */
import { signal } from "@preact/signals";
import type { LoadFault, StudioNodeRun } from "../../src/models/studio.js";
import { ApiError, ask } from "../api.js";
import { hello } from "./hello.js";
import { helperHeaders } from "./helper.js";
import { shown } from "./shown.js";

/** The nodes of one superstep. */
export interface Superstep {
  threadId: string;
  /** The checkpoint before it. */
  checkpointId: string;
  /** The checkpoint after it; undefined if it failed. */
  stepId?: string | undefined;
}

export const keyOf = ({ checkpointId, stepId = "" }: Superstep): string => `${checkpointId} ${stepId}`;

export interface Attempt {
  /** Key of the superstep. */
  of: string;
  isRunning: boolean;
  /** While it is running, the result of the attempt before. */
  result?: StudioNodeRun | undefined;
  refusal?: ApiError;
}

/** The last time that nodes ran again. */
export const attempt = signal<Attempt | undefined>(undefined);
/** Key of the superstep that runs again after each save; undefined if none does. */
export const watched = signal<string | undefined>(undefined);

let running = new AbortController();

/** Runs the superstep with the code as it is now. An attempt in flight is stopped: the last one counts. */
export async function runNodeAgain(superstep: Superstep): Promise<void> {
  const { threadId, checkpointId, stepId } = superstep;
  const of = keyOf(superstep);
  const before = attempt.peek();
  stopAttempt();
  const { signal: left } = (running = new AbortController());
  const result = before?.of === of ? before.result : undefined;
  attempt.value = { of, isRunning: true, result };
  const body = {
    thread_id: threadId,
    checkpoint_id: checkpointId,
    ...(stepId !== undefined && { step_id: stepId }),
    shows: shown.peek() ?? "clients",
  };
  try {
    const answer = await ask<StudioNodeRun>("POST", "/studio/api/node-runs", {
      body,
      headers: helperHeaders(),
      signal: left,
    });
    if (!left.aborted) attempt.value = { of, isRunning: false, result: answer.body };
  } catch (error) {
    if (left.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    attempt.value = { of, isRunning: false, refusal: error };
  }
}

/** Stops the attempt in flight. */
export function stopAttempt(): void {
  running.abort();
  if (attempt.peek()?.isRunning) attempt.value = undefined;
}

/** Ends what a superstep shows: another one, or other values of the state, are shown instead. */
export function leave(key: string): void {
  if (watched.peek() === key) watched.value = undefined;
  if (attempt.peek()?.of !== key) return;
  stopAttempt();
  attempt.value = undefined;
}

/** Why the saved files of a graph, or the settings, do not load. */
export const savedFault = (graph: string): LoadFault | undefined =>
  hello.value?.faults.find(({ graph_id }) => graph_id === graph || graph_id === "");
