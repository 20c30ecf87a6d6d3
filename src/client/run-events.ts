/** Builds a summary of a run from its events. */
import { isRecord, type JsonObject } from "../models/common.js";
import type { TokenUsage } from "../models/run.js";
import type { Interrupt } from "../models/state.js";

/** An event of a run, as the stream has it. */
export interface RunEvent {
  /** Undefined on a server that numbers no events. */
  id?: number | string;
  /** The stream mode, or `metadata`, `end`, `error`; a subgraph's namespace follows a `|`. */
  event: string;
  data: unknown;
}

/** A run as known from the events so far. */
export class RunSoFar {
  runId: string | undefined;
  /** `running` until the last event arrived. */
  status = "running";
  /** The last full state that the stream showed; undefined when it showed none. */
  values: unknown = undefined;
  /** Questions that the graph waits on. */
  interrupts: Interrupt[] = [];
  /** Undefined while the run is in flight, and on servers that do not report it. */
  usage: TokenUsage | undefined;
  /** `Name: message` */
  error: string | undefined;
  /** True once an event reports the stop; events of its other tasks may still follow. */
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
    const asked = interrupts as Interrupt[];
    const before = this.interrupts.filter(({ id }) => !asked.some((one) => one.id === id));
    this.interrupts = [...before, ...asked];
    // A server may send the state with the interrupt, or the interrupt alone.
    if (Object.keys(rest).length > 0) this.values = rest;
  }

  #takeEnd(end: JsonObject): void {
    const { status, usage } = end;
    this.#takeRunId(end);
    this.status = typeof status === "string" ? status : "success";
    // Servers with LangGraph's statuses call that a success.
    if (this.status === "success" && this.#hasStopped) this.status = "interrupted";
    if (isRecord(usage)) this.usage = usage as TokenUsage;
  }

  #takeError({ error, message, status, ...end }: JsonObject): void {
    this.#takeEnd({ ...end, status: status ?? "error" });
    this.error = [error, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  }
}
