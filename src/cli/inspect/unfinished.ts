import type { ThreadState } from "../../models/state.js";
import type { Field } from "../terminal/columns.js";

/** Which tasks of an unfinished superstep have ended, and the run that it is of; nothing without one. */
export function unfinishedFields({ unfinished_step: step, tasks }: ThreadState): Field[] {
  if (!step) return [];
  const names = tasks.filter(({ id }) => step.tasks.includes(id)).map(({ name }) => name);
  return [
    ["unfinished", `${names.join(", ")} ended, its superstep did not: what it wrote is in no checkpoint`],
    ["of run", step.run_id ?? "unknown"],
  ];
}
