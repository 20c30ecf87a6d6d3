/** How far a thread has come: the nodes of its last run that have run, and those that run next. */
import type { ThreadState } from "../../models/state.js";
import { walkStates } from "../source/walk.js";
import type { Source } from "../source/source.js";
import type { NodeMark } from "./diagram.js";

export interface Progress {
  done: string[];
  next: string[];
}

/** @throws NotFoundError (`thread_not_found`) */
export async function threadProgress(source: Source, threadId: string): Promise<Progress> {
  const done = new Set<string>();
  let latest: ThreadState | undefined;
  for await (const state of walkStates(source, threadId)) {
    if (latest && state.metadata.run_id !== latest.metadata.run_id) break;
    if (latest) state.next.forEach((name) => done.add(name));
    else for (const task of state.tasks) if (task.result != null) done.add(task.name);
    latest ??= state;
  }
  const next = latest?.next ?? [];
  if (latest && next.length === 0) done.add("__end__");
  return { done: [...done].filter((name) => !next.includes(name)), next };
}

/** The mark of each node; nodes of a subgraph, `child:model`, share the mark of the node that it is. */
export function marksOf({ done, next }: Progress, ids: readonly string[]): Map<string, NodeMark> {
  const marks = new Map<string, NodeMark>();
  for (const id of ids) {
    const [outer = id] = id.split(":");
    if (next.includes(id) || next.includes(outer)) marks.set(id, "next");
    else if (done.includes(id) || done.includes(outer)) marks.set(id, "done");
  }
  return marks;
}
