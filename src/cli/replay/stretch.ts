/** The part of a thread that a run is repeated for. */
import type { ThreadState } from "../../models/state.js";
import type { Source } from "../source/source.js";
import { walkStates } from "../source/walk.js";
import { Reel, type Frame, type Selector } from "./reel.js";

/** The checkpoint that the last run began with; the latest, when no run is to be seen. */
export async function startOfLastRun(source: Source, threadId: string): Promise<ThreadState> {
  for await (const state of walkStates(source, threadId)) {
    if (state.metadata.source === "input") return state;
  }
  return source.state.get(threadId);
}

/** What came of a checkpoint, oldest first: the line of its newest descendant. */
export async function framesAfter(source: Source, threadId: string, checkpointId: string): Promise<Frame[]> {
  const newer: { selector: Selector; parent: string | null }[] = [];
  for await (const { checkpoint, parent_checkpoint } of walkStates(source, threadId)) {
    if (checkpoint?.checkpoint_id === checkpointId) break;
    if (checkpoint) newer.push({ selector: checkpoint, parent: parent_checkpoint?.checkpoint_id ?? null });
  }
  return framesOf(source, threadId, lineFrom(checkpointId, newer.reverse()));
}

/** The way from a checkpoint to the newest of those that came of it. */
function lineFrom(
  start: string,
  newer: readonly { selector: Selector; parent: string | null }[],
): Selector[] {
  const descendants = new Map<string | null, string | null>([[start, null]]);
  let tip: string | null = null;
  for (const { selector, parent } of newer) {
    if (!descendants.has(parent)) continue;
    tip = selector.checkpoint_id;
    descendants.set(tip, parent);
  }
  const line = new Set<string | null>();
  for (let at = tip; at !== null && at !== start; at = descendants.get(at) ?? null) line.add(at);
  return newer.filter(({ selector }) => line.has(selector.checkpoint_id)).map(({ selector }) => selector);
}

async function framesOf(source: Source, threadId: string, selectors: Selector[]): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of new Reel(source, threadId, selectors).frames()) frames.push(frame);
  return frames;
}
