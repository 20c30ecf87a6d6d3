/** What the page of a replay holds: a step a checkpoint, each as the changes that lead to it. */
import type { Thread } from "../../models/thread.js";
import type { Change } from "../diff/changes.js";
import { changeLines, type ChangeLine } from "../diff/lines.js";
import { errorLine } from "../inspect/task-error.js";
import { sortChanges } from "./chat.js";
import type { Frame, Reel } from "./reel.js";

export interface PageStep {
  id: string;
  parent: string | null;
  /** Column of its branch in the timeline; 0 leads to the newest checkpoint. */
  lane: number;
  step: number | null;
  source: string;
  run_id: string | null;
  created_at: string | null;
  ms: number | null;
  nodes: string[];
  next: string[];
  changes: Change[];
  /** The changes to read, without new messages, which the chat shows. */
  lines: ChangeLine[];
  interrupts: { id: string; value: unknown }[];
  errors: string[];
  /** Values before the changes, where the page has no step to take them from. */
  base?: unknown;
}

export interface PageData {
  thread: Pick<Thread, "thread_id" | "status" | "error" | "created_at" | "updated_at">;
  place: string;
  steps: PageStep[];
}

/** All frames at once: a page is one file. */
export async function pageData(thread: Thread, place: string, reel: Reel): Promise<PageData> {
  const steps: PageStep[] = [];
  const known = new Set<string>();
  for await (const frame of reel.frames()) {
    steps.push(stepOf(frame, known));
    known.add(frame.entry.id);
  }
  setLanes(steps);
  const { thread_id, status, error, created_at, updated_at } = thread;
  return { thread: { thread_id, status, error, created_at, updated_at }, place, steps };
}

function stepOf({ state, entry, changes, before }: Frame, known: ReadonlySet<string>): PageStep {
  const { id, parent, step, source, runId, created_at, ms, nodes, next, errors } = entry;
  const isFirst = parent === undefined || !known.has(parent);
  return {
    id,
    parent: parent ?? null,
    lane: 0,
    step: step ?? null,
    source,
    run_id: runId ?? null,
    created_at,
    ms: ms ?? null,
    nodes,
    next,
    changes,
    lines: changeLines(sortChanges(changes).others),
    interrupts: state.interrupts,
    errors: errors.map(errorLine),
    ...(isFirst && before !== undefined && { base: before }),
  };
}

/** From the newest on, each checkpoint that nothing has led to yet begins a lane, and gives it to its parent. */
function setLanes(steps: PageStep[]): void {
  const lanes = new Map<string, number>();
  let free = 0;
  for (const step of [...steps].reverse()) {
    step.lane = lanes.get(step.id) ?? free++;
    if (step.parent !== null && !lanes.has(step.parent)) lanes.set(step.parent, step.lane);
  }
}
