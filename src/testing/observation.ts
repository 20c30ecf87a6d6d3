/** Observes a run through its events. */
import { type RunEvent, RunSoFar } from "../client/run-events.js";
import { isRecord } from "../models/common.js";

/** Nodes of one superstep. */
type Superstep = string[];

/** A run with all its events and the supersteps they report. */
export class Observation extends RunSoFar {
  readonly events: RunEvent[] = [];
  readonly supersteps: Superstep[] = [];
  durationMs = 0;
  #betweenSteps = true;

  /** Nodes of the root graph in the order they started. */
  get nodes(): string[] {
    return this.supersteps.flat();
  }

  /** False if nodes had updates and the server reported no task starts. */
  get reportsNodes(): boolean {
    const { tasks, updates } = this.counts;
    return tasks !== undefined || updates === undefined;
  }

  /** Number of events by name; events of subgraphs are counted under the base name. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { event } of this.events) counts[baseName(event)] = (counts[baseName(event)] ?? 0) + 1;
    return counts;
  }

  override take(event: RunEvent): void {
    this.events.push(event);
    if (event.event === "tasks") this.#takeTask(event.data);
    else super.take(event);
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
}

/** The name of an event without its subgraph namespace. */
export const baseName = (event: string): string => event.split("|", 1)[0] ?? event;
