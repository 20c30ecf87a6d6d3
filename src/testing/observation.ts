/** What is seen of a run: its events, and what they tell. */
import { isRecord, type JsonObject } from "../models/common.js";
import type { TokenUsage } from "../models/run.js";
import type { Interrupt } from "../models/state.js";
import type { TargetEvent } from "./graphs.js";

interface SeenEvent {
  /** As in the stream; a subgraph's namespace follows a `|`. */
  event: string;
  data: unknown;
}

/** Nodes that ran in one superstep. */
type Superstep = string[];

export class Observation {
  readonly events: SeenEvent[] = [];
  /** `running` until the last event has told. */
  status = "running";
  /** The last full state that the stream showed; undefined when it showed none. */
  values: unknown = undefined;
  interrupts: Interrupt[] = [];
  /** Undefined while the run goes on, and on a server that does not tell. */
  usage: TokenUsage | undefined;
  /** `Name: message` */
  error: string | undefined;
  durationMs = 0;
  readonly supersteps: Superstep[] = [];
  #betweenSteps = true;

  /** Nodes of the root graph in the order they started. */
  get nodes(): string[] {
    return this.supersteps.flat();
  }

  /** False when nodes had updates and the server told of none that began. */
  get tellsNodes(): boolean {
    const { tasks, updates } = this.counts;
    return tasks !== undefined || updates === undefined;
  }

  /** How many events have each name, by name; names of a subgraph's events count with the graph's own. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { event } of this.events) counts[baseName(event)] = (counts[baseName(event)] ?? 0) + 1;
    return counts;
  }

  take({ event, data }: TargetEvent): void {
    const payload = JSON.parse(data) as unknown;
    this.events.push({ event, data: payload });
    if (event === "tasks") this.#takeTask(payload);
    else if (event === "values") this.#takeValues(payload);
    else if (event === "end" && isRecord(payload)) this.#takeEnd(payload);
    else if (event === "error" && isRecord(payload)) this.#takeError(payload);
  }

  #takeTask(task: unknown): void {
    if (!isRecord(task)) return;
    if ("result" in task || task.error != null) {
      this.#betweenSteps = true;
      return;
    }
    // All tasks of a superstep are announced before the first of them ends.
    if (this.#betweenSteps) this.supersteps.push([]);
    this.#betweenSteps = false;
    this.supersteps.at(-1)?.push(String(task.name));
  }

  #takeValues(values: unknown): void {
    if (!isRecord(values) || !("__interrupt__" in values)) {
      this.values = values;
      return;
    }
    const { __interrupt__: interrupts, ...rest } = values;
    this.interrupts = interrupts as Interrupt[];
    // A server may send the state with the interrupt, or the interrupt alone.
    if (Object.keys(rest).length > 0) this.values = rest;
  }

  #takeEnd({ status, usage }: JsonObject): void {
    this.status = typeof status === "string" ? status : "success";
    if (isRecord(usage)) this.usage = usage as TokenUsage;
  }

  #takeError({ error, message, status, usage }: JsonObject): void {
    this.#takeEnd({ status: status ?? "error", usage });
    this.error = [error, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  }
}

/** The name of an event without the subgraph that it comes from. */
export const baseName = (event: string): string => event.split("|", 1)[0] ?? event;
