/** The summary of a run whose frames are not available: `metadata` for each attempt, then its end. */
import { toJson } from "../graphs/serialize.js";
import type { JsonObject } from "../models/common.js";
import { withoutNul } from "../models/json.js";
import { firstIdOf, type RunFrame, attemptFrame } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../models/run-status.js";

/**
 * Id of the first frame of a summary: above the ids of the attempt's log, and below those of the next attempt. A client
 * that reconnects with such an id gets the rest of the summary.
 */
const summaryId = ({ attempt }: Pick<Run, "attempt">): number => firstIdOf(Math.max(attempt, 1) + 1) - 3;
/** The last frames of a summary are `metadata`, `error` or `metadata`, `values`, `end`. */
export const isEndOfSummary = (after: number, run: Run): boolean =>
  isFinished(run) && after === summaryId(run) + (run.error === null ? 2 : 1);

/** Whether `after` is the id of a frame of the run's summary, as far as its attempts are known. */
export const isOfSummary = (after: number, run: Pick<Run, "attempt">): boolean => after >= summaryId(run);

/** The frame with which a summary announces an attempt. */
export const startOfSummary = (run: Parameters<typeof attemptFrame>[0] & Pick<Run, "attempt">): RunFrame => ({
  id: summaryId(run),
  event: "metadata",
  data: attemptFrame(run),
});

/** @param values the final visible values; unused if the run has failed */
export function endOfSummary(run: Run, values: JsonObject): RunFrame[] {
  const { run_id, thread_id, status, usage, error } = run;
  const id = summaryId(run);
  if (error !== null) {
    const data = { error: "Error", message: error, detail: error, run_id, status, usage };
    return [{ id: id + 1, event: "error", data: withoutNul(JSON.stringify(data)) }];
  }
  return [
    { id: id + 1, event: "values", data: withoutNul(toJson(values, "values")) },
    { id: id + 2, event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) },
  ];
}
