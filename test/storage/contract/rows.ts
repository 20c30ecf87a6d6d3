/** Rows for the storage suites: a thread, a run, and a strictly increasing clock. */
import { newId } from "../../../src/support/ids.js";
import type { RunRow, RunState } from "../../../src/storage/contract/runs.js";
import type { ThreadRow } from "../../../src/storage/contract/threads.js";

let clock = Date.parse("2030-01-01T00:00:00.000Z");

/** A time later than all previous ones. */
export const tick = (): string => new Date((clock += 1000)).toISOString();

export const minutesAfter = (time: string, minutes: number): string =>
  new Date(Date.parse(time) + minutes * 60_000).toISOString();

export function threadRow(fields: Partial<ThreadRow> = {}): ThreadRow {
  const now = tick();
  return {
    thread_id: newId(),
    created_at: now,
    updated_at: now,
    state_updated_at: null,
    metadata: {},
    scope: null,
    graphs: null,
    config: {},
    status: "idle",
    error: null,
    ttl: null,
    ...fields,
  };
}

export function runRow(thread_id: string, fields: Partial<RunRow> = {}): RunRow {
  const now = tick();
  return {
    run_id: newId(),
    thread_id,
    assistant_id: "agent",
    created_at: now,
    updated_at: now,
    status: "pending",
    metadata: {},
    kwargs: { input: { messages: [{ role: "user", content: "hi" }] } },
    multitask_strategy: "enqueue",
    error: null,
    usage: null,
    state: stateOf(fields),
    owner: "process-1",
    fault: null,
    attempt: 1,
    resumption: null,
    ...fields,
  };
}

/** The state of a run with these fields. */
function stateOf({ status = "pending", owner, resumption }: Partial<RunRow>): RunState {
  if (status !== "pending" && status !== "running")
    return status === "error" && resumption ? "dead" : "ended";
  return owner === null ? "queued" : "running";
}
