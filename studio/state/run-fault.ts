/** The exception of a thread's last run with its source position; only in the Studio opened from the terminal. */
import { signal } from "@preact/signals";
import type { StudioFault, StudioNodeRun } from "../../src/models/studio.js";
import { ApiError, ask } from "../api.js";
import { helperHeaders } from "./helper.js";

/** @param runId the last run of the thread if omitted */
export async function faultOfRun(threadId: string, runId?: string): Promise<StudioFault | undefined> {
  const thread = `/threads/${encodeURIComponent(threadId)}/runs`;
  const last = async () =>
    (await ask<{ run_id: string }[]>("GET", `${thread}?limit=1&select=run_id`)).body[0]?.run_id;
  const id = runId ?? (await last());
  if (id === undefined) return undefined;
  const path = `/studio/api${thread}/${encodeURIComponent(id)}/fault`;
  return (await ask<StudioFault | null>("GET", path, { headers: helperHeaders() })).body ?? undefined;
}

/** Id of the graph's drawing for the node of an error, such as `child:leaf`. */
export function faultNode({ node, namespace = "" }: StudioFault): string | undefined {
  if (node === undefined) return undefined;
  const around = namespace.split("|").map((part) => part.split(":", 1)[0] ?? "");
  return [...around.filter(Boolean), node].join(":");
}

export interface Attempt {
  /** The checkpoint from which the node ran. */
  checkpointId: string;
  isRunning: boolean;
  result?: StudioNodeRun;
  refusal?: ApiError;
}

/** The last time that a node ran again, on the open thread. */
export const attempt = signal<Attempt | undefined>(undefined);

/** Run the tasks after a checkpoint again, with the code as it is now. */
export async function runNodeAgain(threadId: string, checkpointId: string): Promise<void> {
  if (attempt.value?.isRunning) return;
  const mine: Attempt = { checkpointId, isRunning: true };
  attempt.value = mine;
  const body = { thread_id: threadId, checkpoint_id: checkpointId };
  try {
    const { body: result } = await ask<StudioNodeRun>("POST", "/studio/api/node-runs", {
      body,
      headers: helperHeaders(),
    });
    if (attempt.value === mine) attempt.value = { checkpointId, isRunning: false, result };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (attempt.value === mine) attempt.value = { checkpointId, isRunning: false, refusal: error };
  }
}
