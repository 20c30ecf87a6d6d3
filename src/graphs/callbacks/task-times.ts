/** Start and end times of the tasks of a run. */
import { isRecord } from "../../models/common.js";
import type { RunTask, RunTasks } from "../../models/run.js";
import { errorName } from "../../support/errors/thrown.js";
import { taskNamespace } from "../output-filter.js";

/** Maximum number of tasks recorded per run: the first ones, and the last, which include a late failure. */
const MAX_FIRST_TASKS = 200;
const MAX_LAST_TASKS = 800;

/** A task while the run is active; times in milliseconds since 1970. */
export interface Timed extends Omit<RunTask, "started_at" | "ended_at"> {
  from: number;
  to: number | undefined;
}

export class RunTimes {
  readonly #first: Timed[] = [];
  readonly #last: Timed[] = [];
  #omitted = 0;

  begin(kind: RunTask["kind"], name: string, metadata: unknown, call?: string): Timed {
    const step = isRecord(metadata) ? metadata.langgraph_step : undefined;
    const task: Timed = {
      kind,
      name,
      ...(call !== undefined && { tool_call_id: call }),
      namespace: taskNamespace(metadata),
      step: typeof step === "number" ? step : null,
      state: "running",
      usage: null,
      from: Date.now(),
      to: undefined,
    };
    if (this.#first.length < MAX_FIRST_TASKS) this.#first.push(task);
    else if (this.#last.push(task) > MAX_LAST_TASKS) {
      this.#last.shift();
      this.#omitted += 1;
    }
    return task;
  }

  end(task: Timed | undefined, state: RunTask["state"], details?: Partial<RunTask>): void {
    if (!task || task.to !== undefined) return;
    task.to = Date.now();
    task.state = state;
    if (details) Object.assign(task, details);
  }

  fail(task: Timed | undefined, error: unknown): void {
    if (isBubble(error)) this.end(task, "waits");
    else this.end(task, "failed", { error: errorName(error) });
  }

  list(): RunTasks {
    const tasks: RunTask[] = [];
    for (const { from, to, state, usage, ...task } of [...this.#first, ...this.#last]) {
      const started_at = new Date(from).toISOString();
      const ended_at = to === undefined ? null : new Date(to).toISOString();
      tasks.push({ ...task, started_at, ended_at, state, usage });
    }
    return { tasks, omitted: this.#omitted };
  }
}

/** Whether the error is an interrupt or a command to the parent graph. Compared by name, for any copy of LangGraph. */
const isBubble = (error: unknown): boolean =>
  ["GraphInterrupt", "NodeInterrupt", "ParentCommand"].includes(errorName(error));
