import type { JsonObject } from "../../models/common.js";
import type { TokenUsage } from "../../models/run.js";
import type { Interrupt } from "../../models/state.js";
import type { RunEvent } from "./target.js";

/** What is known of a run from its events. */
export interface RunOutcome {
  thread_id: string;
  run_id: string | null;
  status: string;
  /** The last full state. */
  values: unknown;
  /** Questions that the graph waits on. */
  interrupts: Interrupt[];
  usage: TokenUsage | null;
  error: { code: string; message: string } | null;
}

export function newOutcome(threadId: string): RunOutcome {
  return {
    thread_id: threadId,
    run_id: null,
    status: "running",
    values: null,
    interrupts: [],
    usage: null,
    error: null,
  };
}

/** Take one event into the outcome. */
export function applyEvent(outcome: RunOutcome, { event, data }: RunEvent): void {
  if (event === "metadata") Object.assign(outcome, pick(data, ["run_id"]));
  else if (event === "values") applyValues(outcome, JSON.parse(data) as unknown);
  else if (event === "end") Object.assign(outcome, pick(data, ["run_id", "status", "usage"]));
  else if (event === "error") applyError(outcome, data);
}

function applyValues(outcome: RunOutcome, values: unknown): void {
  const { __interrupt__: interrupts, ...rest } = (values ?? {}) as { __interrupt__?: Interrupt[] };
  if (interrupts === undefined) {
    outcome.values = values;
    return;
  }
  outcome.interrupts = interrupts;
  // A server may send the state with the interrupt, or the interrupt alone.
  if (Object.keys(rest).length > 0) outcome.values = rest;
}

function applyError(outcome: RunOutcome, data: string): void {
  const { error, message } = JSON.parse(data) as { error?: string; message?: string };
  Object.assign(outcome, { status: "error" }, pick(data, ["run_id", "status", "usage"]));
  outcome.error = { code: "run_failed", message: [error, message].filter(Boolean).join(": ") };
}

function pick(data: string, names: readonly string[]): JsonObject {
  const fields = (JSON.parse(data) ?? {}) as JsonObject;
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}
