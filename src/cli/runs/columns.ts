/** Runs as the rows of a table. */
import type { Run } from "../../models/run.js";
import type { Printer } from "../print.js";
import type { Column } from "../view/columns.js";
import { msBetween, shownId, shownTime } from "../view/text.js";

const ENDED = new Set<Run["status"]>(["success", "error", "timeout", "interrupted"]);

/** How long a run took from its acceptance to its end. */
export function runMs({ status, created_at, updated_at }: Run): number | undefined {
  return ENDED.has(status) ? msBetween(created_at, updated_at) : undefined;
}

const LEAST_ERROR = 10;

export function runColumns(print: Printer): Column<Run>[] {
  return [
    { title: "RUN", cell: ({ run_id }) => shownId(print, run_id) },
    { title: "STATUS", cell: ({ status }) => status },
    { title: "STRATEGY", cell: ({ multitask_strategy }) => multitask_strategy, spare: 4 },
    { title: "STARTED", cell: ({ created_at }) => shownTime(print, created_at), spare: 3 },
    { title: "MS", cell: (run) => String(runMs(run) ?? ""), spare: 1 },
    { title: "TOKENS", cell: ({ usage }) => String(usage?.total_tokens ?? ""), spare: 2 },
    { title: "ERROR", cell: ({ error }) => error ?? "", least: LEAST_ERROR },
  ];
}
