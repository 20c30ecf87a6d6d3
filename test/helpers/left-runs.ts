/** Runs that look as if their processes had died over them. */
import { now } from "../../src/storage/rows.js";
import type { RunRow, Storage } from "../../src/storage/storage.js";
import type { Service } from "../../src/service.js";
import { newId } from "../../src/support/ids.js";

/** a -> b -> c; each adds its name to `log`. */
export { createTrails } from "../fixtures/graphs/trail.js";

export interface LeftRun {
  thread_id: string;
  run_id: string;
}

interface LeaveOptions {
  /** How many processes have died over it, the last one among them. */
  attempt: number;
  thread_id?: string;
  /** Whether node a has been executed, and its checkpoint is there; else nothing of it is. */
  hasWritten?: boolean;
  /** More of the request. */
  kwargs?: RunRow["kwargs"];
  resumption?: RunRow["resumption"];
}

export const INPUT = { log: ["in"], gates: {} };

/** A run of the graph `trail` that processes left in flight, the last of them before node b. */
export async function leaveRun(
  service: Service,
  { threads, runs, owners }: Storage,
  { attempt, thread_id, hasWritten = true, kwargs, resumption }: LeaveOptions,
): Promise<LeftRun> {
  const thread = thread_id ?? (await service.threads.create({})).thread_id;
  const request = { assistant_id: "trail", input: INPUT };
  const begun = hasWritten
    ? await service.runs.create(thread, { ...request, interrupt_before: ["b"] })
    : undefined;
  const at = now();
  const run_id = begun?.run_id ?? newId();
  const row = begun && (await runs.get(thread, run_id));
  await runs.delete(thread, run_id);
  await owners.remove("gone");
  const left: RunRow = {
    assistant_id: "trail",
    created_at: at,
    metadata: { graph_id: "trail" },
    multitask_strategy: "enqueue",
    ...row,
    ...{ run_id, thread_id: thread, updated_at: at, status: "running", owner: "gone", attempt },
    ...{ error: null, usage: null },
    kwargs: { input: INPUT, ...kwargs },
    resumption: resumption ?? { unattended: true, isWhole: true, caller: null, spent_ms: 0 },
  };
  await runs.insert(left, { updated_at: at, status: "busy" });
  if (!(await threads.get(thread))) throw new Error("the thread is not there");
  return { thread_id: thread, run_id };
}
