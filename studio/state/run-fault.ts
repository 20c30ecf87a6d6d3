/** The exception of a thread's last run with its source position; only in the Studio opened from the terminal. */
import type { StudioFault } from "../../src/models/studio.js";
import { ask } from "../api.js";
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
