import type { Run } from "../../models/run.js";
import type { Printer } from "../print.js";
import { printFields } from "../view/fields.js";
import { shownMs } from "../view/text.js";
import { runMs } from "./columns.js";

/** A run's own fields, a line each. */
export function printRun(print: Printer, run: Run): void {
  const { kwargs, usage } = run;
  printFields(print, [
    ["run", run.run_id],
    ["thread", run.thread_id],
    ["assistant", run.assistant_id],
    ["status", run.status],
    ["error", run.error ?? undefined],
    ["started", run.created_at],
    ["took", shownMs(runMs(run))],
    [
      "tokens",
      usage ? `${usage.total_tokens} (${usage.input_tokens} in, ${usage.output_tokens} out)` : undefined,
    ],
    ["strategy", run.multitask_strategy],
    ["input", kwargs.input == null ? undefined : JSON.stringify(kwargs.input)],
    ["command", kwargs.command == null ? undefined : JSON.stringify(kwargs.command)],
    ["metadata", JSON.stringify(run.metadata)],
  ]);
}
