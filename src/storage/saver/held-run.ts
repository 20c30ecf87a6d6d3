/** The run that a write belongs to, for savers that check its lease owner before they write. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { RunHolder } from "../contract/runs.js";

/** Lease owners of the runs that this process executes, by run id. */
export type HeldRuns = Map<string, RunHolder>;

/** A run whose row must name this lease owner and attempt for a write to be accepted. */
export interface HeldRun extends RunHolder {
  run_id: string;
}

/** The run that writes under this config; undefined if it is not in `held`, or for a write outside of runs. */
export function heldRun(held: HeldRuns, { configurable }: RunnableConfig): HeldRun | undefined {
  const run_id: unknown = configurable?.run_id;
  const holder = typeof run_id === "string" ? held.get(run_id) : undefined;
  return holder && { run_id: run_id as string, ...holder };
}
