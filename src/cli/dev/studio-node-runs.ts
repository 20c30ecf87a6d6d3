/** Runs the tasks after a checkpoint again for the Studio of `dev`, on a copy of the thread. */
import { graphIdOf } from "../../client/client.js";
import { localClient } from "../../client/local.js";
import { RunSoFar } from "../../client/run-events.js";
import type { NodeRunRequest } from "../../http/studio/helpers.js";
import type { StudioNodeRun } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { InvalidRequestError } from "../../support/errors.js";
import { fork } from "../fork/branch.js";

/** Stops after the tasks of the checkpoint, in the graph and in its subgraphs. */
const ONE_SUPERSTEP = ["*"];

/**
 * Runs the tasks with the current code. Tasks of the superstep that had succeeded are not repeated if another one
 * failed. The copy is deleted, so nothing is written to the thread.
 * @throws NotFoundError (`checkpoint_not_found`), InvalidRequestError if nothing runs after the checkpoint
 */
export async function runNode(
  service: Service,
  { thread_id, checkpoint_id }: NodeRunRequest,
): Promise<StudioNodeRun> {
  const client = localClient(service);
  const original = await client.threads.get(thread_id);
  const state = await client.threads.getState(thread_id, { checkpoint: { checkpoint_id } });
  if (state.next.length === 0)
    throw InvalidRequestError.at(
      ["body", "checkpoint_id"],
      "is the end of the thread: nothing runs after it",
    );
  const afresh = !state.tasks.some(({ error }) => error !== null);
  const { thread } = await fork(client, state, { branch: false, afresh });
  try {
    const body = {
      assistant_id: graphIdOf(original) ?? "",
      input: null,
      interrupt_after: ONE_SUPERSTEP,
      if_not_exists: "reject" as const,
      stream_mode: ["values" as const],
    };
    const start = performance.now();
    const run = new RunSoFar();
    for await (const event of client.runs.stream(thread.thread_id, body, new AbortController().signal))
      run.take(event);
    const ms = Math.round(performance.now() - start);
    const { tasks } = await service.runs.tasks(thread.thread_id, run.runId ?? "");
    const { values } = await client.threads.getState(thread.thread_id);
    return {
      status: run.status,
      error: run.error ?? null,
      ms,
      before: state.values,
      after: values,
      calls: tasks.filter(({ kind }) => kind !== "node").length,
    };
  } finally {
    await client.threads.delete(thread.thread_id);
  }
}
