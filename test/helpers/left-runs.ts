/** Creates runs as they remain after their processes crashed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createTrails } from "../fixtures/graphs/trail.js";
import { now } from "../../src/storage/rows/rows.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import type { Service } from "../../src/service/service.js";
import { newId } from "../../src/support/ids.js";

/** a -> b -> c; each appends its name to `log`. */
export { createTrails };

/** The graphs, with a log file that is deleted at the end of the test. */
export async function trails() {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-trails-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return createTrails(join(folder, "log"));
}

export interface LeftRun {
  thread_id: string;
  run_id: string;
}

interface LeaveOptions {
  /** Number of crashes, including the last one. */
  attempt: number;
  thread_id?: string;
  assistant_id?: string;
  /** Whether node a has run and its checkpoint is stored. If false, the run has no checkpoint. */
  hasWritten?: boolean;
  /** More fields of the request. */
  kwargs?: RunRow["kwargs"];
  resumption?: RunRow["resumption"];
}

export const INPUT = { log: ["in"], gates: {} };

/** Leaves a run of the graph `trail` in flight, as after a crash before node b. */
export async function leaveRun(
  service: Service,
  { threads, runs, owners }: Storage,
  { attempt, thread_id, assistant_id = "trail", hasWritten = true, kwargs, resumption }: LeaveOptions,
): Promise<LeftRun> {
  const thread = thread_id ?? (await service.threads.create({})).thread_id;
  const request = { assistant_id, input: INPUT };
  const begun = hasWritten
    ? await service.runs.create(thread, { ...request, interrupt_before: ["b"] })
    : undefined;
  const at = now();
  const run_id = begun?.run_id ?? newId();
  const row = begun && (await runs.get(thread, run_id));
  await runs.delete(thread, run_id);
  await owners.remove("gone");
  const left: RunRow = {
    assistant_id,
    created_at: at,
    metadata: { graph_id: "trail" },
    multitask_strategy: "enqueue",
    ...row,
    ...{
      run_id,
      thread_id: thread,
      updated_at: at,
      status: "running",
      state: "running",
      owner: "gone",
      attempt,
    },
    ...{ error: null, usage: null },
    kwargs: { input: INPUT, ...kwargs },
    resumption: resumption ?? { unattended: true, isWhole: true, caller: null, spent_ms: 0 },
  };
  await runs.insert(left, { updated_at: at, status: "busy" });
  if (!(await threads.get(thread))) throw new Error("the thread does not exist");
  return { thread_id: thread, run_id };
}
