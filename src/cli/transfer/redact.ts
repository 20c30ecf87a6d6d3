/** Redacts values of a thread in all places where they are stored. */
import { SENDS } from "../../models/channels.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import type { ThreadState, ThreadTask } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import { mapSends, type StoredCheckpoint } from "../../models/thread-file.js";
import type { PathStep } from "../../models/value-path.js";

/** LangGraph's internal channels; some of them contain the state or a part of it. */
const OWN = /^(__|branch:|join:)/;
const STATES = new Set(["__start__", "__end__", "__previous__", "__return__"]);

const REDACTED = "[redacted]";
export type Paths = readonly (readonly PathStep[])[];

/** Replaces every match of the paths; `*` matches every key and item. */
export function redacted(values: unknown, paths: Paths): unknown {
  return paths.reduce((value, path) => replaceAt(value, path), values);
}

function replaceAt(value: unknown, path: readonly PathStep[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return REDACTED;
  if (Array.isArray(value)) {
    const index = typeof step === "number" && step < 0 ? value.length + step : step;
    const items: unknown[] = value;
    return items.map((item, place) => (index === "*" || index === place ? replaceAt(item, rest) : item));
  }
  if (!isRecord(value)) return value;
  // Serialized messages have their fields in `kwargs`.
  if (value.lc === 1 && isRecord(value.kwargs)) return { ...value, kwargs: replaceAt(value.kwargs, path) };
  // A node can return a single item for a list in the state.
  const isItem = typeof step === "number" || (step === "*" && rest.length > 0);
  const item = isItem ? replaceAt(value, rest) : value;
  if (!isRecord(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, inner]) => [
      key,
      step === "*" || step === key ? replaceAt(inner, rest) : inner,
    ]),
  );
}

export function redactThread(thread: Thread, paths: Paths): Thread {
  return { ...thread, values: redacted(thread.values, paths) as JsonObject };
}

export function redactState(state: ThreadState, paths: Paths): ThreadState {
  return {
    ...state,
    values: redacted(state.values, paths),
    tasks: state.tasks.map((task) => redactTask(task, paths)),
    metadata: redactMetadata(state.metadata, paths),
  };
}

function redactTask(task: ThreadTask, paths: Paths): ThreadTask {
  return {
    ...task,
    result: redacted(task.result, paths),
    state: task.state && redactState(task.state, paths),
  };
}

/** Redacts the input and command of a run, which contain values too. */
export function redactRun(run: Run, paths: Paths): Run {
  const { input, command } = run.kwargs;
  return {
    ...run,
    kwargs: {
      ...run.kwargs,
      ...(input !== undefined && { input: redacted(input, paths) }),
      ...(isRecord(command) && { command: redactCommand(command, paths) }),
    },
  };
}

function redactCommand({ update, goto, ...command }: JsonObject, paths: Paths): JsonObject {
  const targets = [goto]
    .flat()
    .map((to) => (isRecord(to) ? { ...to, input: redacted(to.input, paths) } : to));
  return {
    ...command,
    ...(update !== undefined && {
      update: Array.isArray(update) ? update.map((pair) => redactPair(pair, paths)) : redacted(update, paths),
    }),
    ...(goto !== undefined && { goto: Array.isArray(goto) ? targets : targets[0] }),
  };
}

const redactPair = (pair: unknown, paths: Paths): unknown =>
  Array.isArray(pair) ? [pair[0], redactKey(String(pair[0]), pair[1], paths)] : pair;

const redactKey = (key: string, value: unknown, paths: Paths): unknown =>
  (redacted({ [key]: value }, paths) as JsonObject)[key];

/** Values occur in channels, in writes to them, in the input, and in the arguments of Send. */
export function redactStored(stored: StoredCheckpoint, paths: Paths): StoredCheckpoint {
  const { channel_values, metadata, writes } = stored;
  const shown = (channel: string, value: unknown): unknown => {
    if (STATES.has(channel)) return redacted(value, paths);
    if (channel === SENDS) return mapSends(value, (args) => redacted(args, paths));
    return OWN.test(channel) ? value : redactKey(channel, value, paths);
  };
  return {
    ...stored,
    metadata: redactMetadata(metadata, paths),
    channel_values: Object.fromEntries(
      Object.entries(channel_values).map(([channel, value]) => [channel, shown(channel, value)]),
    ),
    writes: writes.map(([task, channel, value]) => [task, channel, shown(channel, value)]),
  };
}

function redactMetadata(metadata: JsonObject, paths: Paths): JsonObject {
  const { writes } = metadata;
  return isRecord(writes) ? { ...metadata, writes: byNode(writes, paths) } : metadata;
}

function byNode(writes: JsonObject, paths: Paths): JsonObject {
  return Object.fromEntries(Object.entries(writes).map(([node, values]) => [node, redacted(values, paths)]));
}
