/** What the page of a replay holds: the thread, and a step a checkpoint, each as the changes that lead to it. */
import type { Thread } from "../../models/thread.js";
import type { Change } from "../diff/changes.js";
import { changeLines, type ChangeLine } from "../diff/lines.js";
import { errorLine } from "../inspect/task-error.js";
import { sortChanges } from "./chat.js";
import type { Frame } from "./reel.js";

export interface PageStep {
  id: string;
  parent: string | null;
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

export interface PageHead {
  thread: Pick<Thread, "thread_id" | "status" | "error" | "created_at" | "updated_at">;
  place: string;
}

export function pageHead(thread: Thread, place: string): PageHead {
  const { thread_id, status, error, created_at, updated_at } = thread;
  return { thread: { thread_id, status, error, created_at, updated_at }, place };
}

/** A step a frame. Of those before it the ids are held. */
export async function* pageSteps(frames: AsyncIterable<Frame>): AsyncGenerator<PageStep> {
  const known = new Set<string>();
  for await (const frame of frames) {
    yield stepOf(frame, known);
    known.add(frame.entry.id);
  }
}

function stepOf({ state, entry, changes, before }: Frame, known: ReadonlySet<string>): PageStep {
  const { id, parent, step, source, runId, created_at, ms, nodes, next, errors } = entry;
  const isFirst = parent === undefined || !known.has(parent);
  return {
    id,
    parent: parent ?? null,
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
