import { GraphServeError } from "../../errors.js";
import type { Service } from "../../service.js";

/**
 * Runs of other processes are not ours to stop, and their lock is not always ours to see.
 * @throws GraphServeError (`thread_busy`)
 */
export async function refuseBusy(service: Service, threadId: string): Promise<void> {
  const { thread_id, status } = await service.threads.get(threadId);
  if (status !== "busy") return;
  const isCutOff = (await service.cutOffRuns()).some((run) => run.thread_id === thread_id);
  const why = isCutOff
    ? "its run was cut off when its server died"
    : "a run of another process is in flight on it";
  throw new GraphServeError("thread_busy", `thread "${thread_id}" is busy: ${why}`, {
    hint: isCutOff
      ? "graph-serve recover --apply settles it; so does the next start of the server"
      : "wait for the run to end, or cancel it at its server",
  });
}
