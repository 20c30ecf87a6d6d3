/** Takes out of a thread what its reader must not see, wherever its values are repeated. */
import { isRecord, type JsonObject } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import type { ThreadState, ThreadTask } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import type { PathStep } from "../../models/value-path.js";

export const REDACTED = "[redacted]";
export type Paths = readonly (readonly PathStep[])[];

/** The values with every place that a path leads to replaced; `*` stands for every key and every item. */
export function redacted(values: unknown, paths: Paths): unknown {
  return paths.reduce((value, path) => replaceAt(value, path), values);
}

function replaceAt(value: unknown, [step, ...rest]: readonly PathStep[]): unknown {
  if (step === undefined) return REDACTED;
  if (Array.isArray(value)) {
    const index = typeof step === "number" && step < 0 ? value.length + step : step;
    const items: unknown[] = value;
    return items.map((item, place) => (index === "*" || index === place ? replaceAt(item, rest) : item));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      step === "*" || step === key ? replaceAt(inner, rest) : inner,
    ]),
  );
}

export function redactThread(thread: Thread, paths: Paths): Thread {
  return { ...thread, values: redacted(thread.values, paths) as JsonObject };
}

export function redactState(state: ThreadState, paths: Paths): ThreadState {
  const { writes } = state.metadata;
  return {
    ...state,
    values: redacted(state.values, paths),
    tasks: state.tasks.map((task) => redactTask(task, paths)),
    metadata: { ...state.metadata, ...(isRecord(writes) && { writes: byNode(writes, paths) }) },
  };
}

function redactTask(task: ThreadTask, paths: Paths): ThreadTask {
  return {
    ...task,
    result: redacted(task.result, paths),
    state: task.state && redactState(task.state, paths),
  };
}

/** What a run was given is a part of the values as well. */
export function redactRun(run: Run, paths: Paths): Run {
  const { input, command } = run.kwargs;
  return {
    ...run,
    kwargs: {
      ...run.kwargs,
      ...(input !== undefined && { input: redacted(input, paths) }),
      ...(isRecord(command) && { command: { ...command, update: redacted(command.update, paths) } }),
    },
  };
}

function byNode(writes: JsonObject, paths: Paths): JsonObject {
  return Object.fromEntries(Object.entries(writes).map(([node, values]) => [node, redacted(values, paths)]));
}
