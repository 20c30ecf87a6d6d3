/** Builds a summary of a run from its events. */
import { isRecord, type JsonObject } from "../models/common.js";
import type { TokenUsage } from "../models/run.js";
import type { Interrupt } from "../models/state.js";

export interface RunEvent {
  /** Undefined if the server does not number events. */
  id?: number | string;
  /** The stream mode, or `metadata`, `end`, `error`; for a subgraph, followed by `|` and its namespace. */
  event: string;
  data: unknown;
}

/** Summary of a run from the events received so far. */
export class RunSoFar {
  runId: string | undefined;
  /** `running` until the last event arrives. */
  status = "running";
  /** The last full state in the stream; undefined if there was none. */
  values: unknown = undefined;
  /** Interrupts that the graph waits on. */
  interrupts: Interrupt[] = [];
  /** Undefined while the run is active, and if the server does not report it. */
  usage: TokenUsage | undefined;
  /** `Name: message` */
  error: string | undefined;
  /** True once an event reports an interrupt; events of other tasks may still follow. */
  #hasStopped = false;

  take({ event, data }: RunEvent): void {
    if (event === "values" || event === "updates")
      this.#hasStopped ||= isRecord(data) && "__interrupt__" in data;
    if (event === "values") this.#takeValues(data);
    else if (!isRecord(data)) return;
    else if (event === "metadata") this.#takeRunId(data);
    else if (event === "end") this.#takeEnd(data);
    else if (event === "error") this.#takeError(data);
  }

  #takeRunId({ run_id }: JsonObject): void {
    if (typeof run_id === "string") this.runId = run_id;
  }

  #takeValues(values: unknown): void {
    if (!isRecord(values) || !("__interrupt__" in values)) {
      this.values = values;
      return;
    }
    const { __interrupt__: interrupts, ...rest } = values;
    // Interrupts of one superstep arrive one after the other.
    const added = interrupts as Interrupt[];
    const before = this.interrupts.filter(({ id }) => !added.some((one) => one.id === id));
    this.interrupts = [...before, ...added];
    // A server may send the state with the interrupt, or the interrupt alone.
    if (Object.keys(rest).length > 0) this.values = rest;
  }

  #takeEnd(end: JsonObject): void {
    const { status, usage } = end;
    this.#takeRunId(end);
    this.status = typeof status === "string" ? status : "success";
    // Servers with LangGraph's statuses report an interrupted run as a success.
    if (this.status === "success" && this.#hasStopped) this.status = "interrupted";
    if (isRecord(usage)) this.usage = usage as TokenUsage;
  }

  #takeError({ error, message, status, ...end }: JsonObject): void {
    this.#takeEnd({ ...end, status: status ?? "error" });
    this.error = [error, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  }
}
