import type { ThreadState, ThreadTask } from "../../models/state.js";
import type { Printer } from "../print.js";
import { printFields } from "../view/fields.js";
import { clipped } from "../view/text.js";
import { valueTree } from "../view/value-tree.js";
import { errorLine } from "./task-error.js";

export interface CheckpointFlags {
  /** Also what the tasks after it wrote. */
  writes?: boolean;
  /** Fold nothing. */
  full?: boolean;
}

/** A checkpoint: where it stands, what comes next, its values. */
export function printCheckpoint(print: Printer, state: ThreadState, { writes, full }: CheckpointFlags): void {
  const { checkpoint, parent_checkpoint, metadata, created_at, next, tasks } = state;
  const { colors, width } = print;
  const { source, step, run_id, thread_id, parents: _parents, ...others } = metadata;
  printFields(print, [
    ["thread", checkpoint?.thread_id ?? text(thread_id)],
    ["checkpoint", checkpoint?.checkpoint_id ?? "none"],
    ["namespace", checkpoint?.checkpoint_ns],
    ["parent", parent_checkpoint?.checkpoint_id ?? undefined],
    ["source", text(source)],
    ["step", text(step)],
    ["run", text(run_id)],
    ["created", created_at ?? undefined],
    ["next", next.join(", ")],
    ["metadata", JSON.stringify(others)],
  ]);
  if (tasks.length > 0) print.data(colors.dim("tasks"));
  for (const task of tasks) {
    print.data(`  ${clipped(taskLine(task), width - 2)}`);
    if (writes && task.result !== null) {
      for (const line of valueTree(task.result, { colors, width, full }, 2)) print.data(line);
    }
  }
  print.data(colors.dim("values"));
  for (const line of valueTree(state.values, { colors, width, full })) print.data(line);
}

function taskLine({ name, id, error, interrupts }: ThreadTask): string {
  const waits = interrupts.map(({ value }) => `waits for ${JSON.stringify(value)}`);
  return [name, id, ...(error === null ? [] : [`failed: ${errorLine(error)}`]), ...waits].join("  ");
}

const text = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  return value == null ? undefined : JSON.stringify(value);
};
