/** The run that executed the superstep after the latest checkpoint of a thread. */
import type { OpsContext } from "../context/context.js";
import type { RunRow } from "../storage/contract/runs.js";

/** Number of newest runs searched for the one that executed the superstep. */
const MAX_RUNS = 10;

/**
 * The run that wrote the checkpoint, or a later run that resumed from it. A run with new input does not resume: it starts
 * by writing its own checkpoint.
 * @param writer the run in the metadata of the checkpoint
 */
export async function runOfStep(
  { storage: { runs } }: OpsContext,
  threadId: string,
  writer: unknown,
): Promise<string | null> {
  const newestFirst = await runs.list({ threadId, limit: MAX_RUNS, offset: 0 });
  const run = newestFirst.find((row) => row.run_id === writer || isResumption(row));
  return run?.run_id ?? (typeof writer === "string" ? writer : null);
}

/** Whether the run has begun, without new input. A run that was cancelled in the queue has not. */
export const isResumption = ({
  status,
  attempt,
  kwargs: { input, command },
}: Pick<RunRow, "status" | "attempt" | "kwargs">): boolean =>
  status !== "pending" && attempt !== 0 && (command != null || input == null);
