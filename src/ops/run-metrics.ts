import type { Metrics } from "../metrics.js";
import type { Run } from "../models/run.js";
import type { RunTask } from "./run-task.js";

/** Measure a run that has its thread, to its end. */
export function measureRun(metrics: Metrics, task: RunTask, queuedSeconds: number): void {
  const start = performance.now();
  metrics.runStarted(queuedSeconds);
  const end = (run: Run) => countRun(metrics, run, (performance.now() - start) / 1000);
  task.done.then(end, () => end({ ...task.run, status: "error" }));
}

/** Count a run that has ended; without `seconds`, one that never had its thread. */
export function countRun(metrics: Metrics, run: Run, seconds?: number): void {
  const { input_tokens = 0, output_tokens = 0 } = run.usage ?? {};
  metrics.runEnded({
    graph: String(run.metadata.graph_id),
    status: run.status,
    seconds,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
  });
}
