/** The part of a thread that a run is repeated for. */
import type { ThreadState } from "../../models/state.js";
import type { Source } from "../source/source.js";
import { walkStates } from "../source/walk.js";

/** The checkpoint that the last run began with; the latest, when no run is to be seen. */
export async function startOfLastRun(source: Source, threadId: string): Promise<ThreadState> {
  for await (const state of walkStates(source, threadId)) {
    if (state.metadata.source === "input") return state;
  }
  return source.state.get(threadId);
}

/** What came of a checkpoint, by ids, oldest first: the line of its newest descendant. */
export async function idsAfter(source: Source, threadId: string, checkpointId: string): Promise<string[]> {
  const newer: Link[] = [];
  for await (const { checkpoint, parent_checkpoint } of walkStates(source, threadId)) {
    const id = checkpoint?.checkpoint_id;
    if (id === checkpointId) break;
    if (id) newer.push({ id, parent: parent_checkpoint?.checkpoint_id ?? null });
  }
  return lineFrom(checkpointId, newer.reverse());
}

interface Link {
  id: string;
  parent: string | null;
}

/** The way from a checkpoint to the newest of those that came of it, by ids. */
function lineFrom(start: string, newer: readonly Link[]): string[] {
  const descendants = new Map<string, string>();
  let tip = start;
  for (const { id, parent } of newer) {
    if (parent === null || (parent !== start && !descendants.has(parent))) continue;
    tip = id;
    descendants.set(id, parent);
  }
  const line: string[] = [];
  for (let at: string | undefined = tip; at !== undefined && at !== start; at = descendants.get(at))
    line.push(at);
  return line.reverse();
}
