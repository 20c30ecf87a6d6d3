/** The span of a run, and its attributes. */
import type { Run, RunTasks } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import { reportedTokens } from "../models/token-counts.js";
import * as names from "./names.js";
import { type TaskSpan, taskSpans } from "./task-spans.js";

type Attributes = TaskSpan["attributes"];

const OPERATION = "invoke_workflow";

/** Attributes that are known when an attempt starts. */
export function beginAttributes({ metadata, thread_id, run_id }: Run, attempt: number): Attributes {
  return {
    ...{ [names.OPERATION]: OPERATION, [names.AGENT]: String(metadata.graph_id) },
    ...{ [names.CONVERSATION]: thread_id, [names.RUN]: run_id, [names.ATTEMPT]: attempt },
    ...(typeof metadata.graph_version === "string" && { [names.GRAPH_VERSION]: metadata.graph_version }),
  };
}

/** Attributes that are known when a run has ended. */
export function endAttributes(
  { status, usage }: Pick<Run, "status" | "usage">,
  tasks: RunTasks | undefined,
): Attributes {
  const { input_tokens, output_tokens } = reportedTokens(usage);
  const isReported = usage && usage.source !== "messages";
  return {
    [names.STATUS]: status,
    ...(isReported && { [names.INPUT_TOKENS]: input_tokens, [names.OUTPUT_TOKENS]: output_tokens }),
    ...(tasks && tasks.omitted > 0 && { [names.DROPPED]: tasks.omitted }),
  };
}

export const hasFailed = ({ status }: Pick<Run, "status">): boolean =>
  status === "error" || status === "timeout";

/**
 * The tree of spans of a stored run.
 * @param now end of a run that has not ended, in milliseconds since 1970
 */
export function storedSpan(run: Run, tasks: RunTasks): TaskSpan {
  const { status, created_at, updated_at, attempt, metadata } = run;
  // The run may have waited for its thread.
  const from = Date.parse(tasks.tasks[0]?.started_at ?? created_at);
  const to = Math.max(from, isFinished(run) ? Date.parse(updated_at) : Date.now());
  return {
    key: "",
    name: `${OPERATION} ${String(metadata.graph_id)}`,
    isClient: false,
    attributes: {
      ...beginAttributes(run, attempt),
      ...endAttributes(run, tasks),
      ...(hasFailed(run) && { [names.ERROR_TYPE]: status }),
    },
    from,
    to,
    hasFailed: hasFailed(run),
    children: taskSpans(tasks, to, run.thread_id),
  };
}
