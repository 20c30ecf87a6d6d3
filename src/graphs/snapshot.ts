/** Reads states from LangGraph, and converts them to the API's models. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { byKey, isRecord, type JsonObject } from "../models/common.js";
import type { CheckpointConfig, Interrupt, ThreadState, ThreadTask } from "../models/state.js";
import type { GraphConfig, ServedGraph, Snapshot, SnapshotTask } from "./graph.js";
import { hasWrites } from "./open-tasks.js";
import type { OutputFilter } from "./output-filter.js";
import { toWire } from "./serialize.js";
import { withoutStateValues } from "./thrown.js";

type ReadOptions = { subgraphs?: boolean };

/**
 * The state at a checkpoint, the latest if none is named. The latest state includes the writes of tasks that ended in the
 * next superstep. If these writes cannot be applied, because a run failed on them, the state is that of the checkpoint.
 */
export async function readState(
  graph: ServedGraph,
  config: GraphConfig,
  options: ReadOptions = {},
): Promise<Snapshot> {
  let snapshot: Snapshot;
  try {
    snapshot = await graph.getState(config, options);
  } catch (error) {
    const stored = await storedState(graph, config, options).catch(() => undefined);
    if (!stored) throw error;
    snapshot = stored;
  }
  if (config.configurable?.checkpoint_id === undefined)
    for (const task of snapshot.tasks) if (isOpen(task)) return withOpenTasks(graph, snapshot);
  return snapshot;
}

/**
 * Writes values as `graph.updateState` does. If a run failed because its writes cannot be applied, LangGraph rejects any
 * update after them; then the values are written to the checkpoint without these writes.
 */
export async function writeState(
  graph: ServedGraph,
  config: GraphConfig,
  values: unknown,
  asNode?: string,
): Promise<GraphConfig> {
  try {
    return await graph.updateState(config, values, asNode);
  } catch (error) {
    const latest = (await canRead(graph, config)) ? undefined : await latestOf(graph, config);
    if (!latest) throw error;
    return graph.updateState(latest, values, asNode);
  }
}

const canRead = (graph: ServedGraph, config: GraphConfig): Promise<boolean> =>
  graph.getState(config).then(
    () => true,
    () => false,
  );

/** The state of a checkpoint without the writes after it. Those of a subgraph are only left out with its state. */
async function storedState(
  graph: ServedGraph,
  config: GraphConfig,
  { subgraphs = false }: ReadOptions,
): Promise<Snapshot> {
  const named = (await latestOf(graph, config)) ?? config;
  if (!subgraphs) return graph.getState(named);
  return graph.getState(named, { subgraphs }).catch(() => graph.getState(named));
}

const isOpen = ({ error, interrupts = [] }: SnapshotTask): boolean => error != null || interrupts.length > 0;

/**
 * Corrects what LangGraph derives from the stored writes of a superstep that has not ended. The answer to a question is
 * such a write, so a node that asks a second question, or fails after an answer, would be missing in `next`. A task that
 * has ended keeps its answered interrupts until the superstep ends.
 */
async function withOpenTasks(graph: ServedGraph, snapshot: Snapshot): Promise<Snapshot> {
  const { checkpointer } = graph;
  if (typeof checkpointer !== "object") return snapshot;
  const tuple = await checkpointer.getTuple(snapshot.config as RunnableConfig);
  const rest = [...snapshot.next];
  const missing: string[] = [];
  const tasks: SnapshotTask[] = [];
  for (const task of snapshot.tasks) {
    const { name, state } = task;
    const hasEnded = tuple !== undefined && hasWrites(tuple, task);
    const place = hasEnded ? -1 : rest.indexOf(name);
    if (place >= 0) rest.splice(place, 1);
    else if (!hasEnded && isOpen(task)) missing.push(name);
    const nested = isSnapshot(state) ? { state: await withOpenTasks(graph, state) } : {};
    tasks.push({ ...task, ...nested, ...(hasEnded && { interrupts: [] }) });
  }
  return { ...snapshot, next: [...snapshot.next, ...missing], tasks };
}

/** The config of the latest checkpoint; undefined if `config` names one, or if there is none. */
async function latestOf(graph: ServedGraph, config: GraphConfig): Promise<GraphConfig | undefined> {
  if (config.configurable?.checkpoint_id !== undefined) return undefined;
  for await (const { config: found } of graph.getStateHistory(config, { limit: 1 })) {
    const { checkpoint_id } = found.configurable ?? {};
    return { ...config, configurable: { ...config.configurable, checkpoint_id } };
  }
  return undefined;
}

// Conversion of snapshots to the API's models.

const textOr = <T>(value: unknown, fallback: T): string | T => (typeof value === "string" ? value : fallback);

/** The checkpoint that a LangGraph config names; null if it names none. */
export function checkpointRefOf(config: GraphConfig | undefined): CheckpointConfig | null {
  const { thread_id, checkpoint_ns, checkpoint_id, checkpoint_map } = config?.configurable ?? {};
  if (checkpoint_id == null && !checkpoint_ns) return null;
  return {
    thread_id: textOr(thread_id, ""),
    checkpoint_ns: textOr(checkpoint_ns, ""),
    checkpoint_id: textOr(checkpoint_id, null),
    checkpoint_map: isRecord(checkpoint_map) ? checkpoint_map : null,
  };
}

function interruptsOf(task: SnapshotTask): Interrupt[] {
  return (task.interrupts ?? []).map(({ id, value }) => ({ id: id ?? "", value: toWire(value) }));
}

/** The error of a task as a JSON string, which clients parse. */
function errorText(thrown: unknown): string | null {
  if (thrown == null) return null;
  const error = withoutStateValues(thrown);
  if (typeof error === "string") return error;
  const { message, name } = isRecord(error)
    ? error
    : { message: JSON.stringify(toWire(error)), name: "Error" };
  return JSON.stringify({ message, name });
}

export const isSnapshot = (state: Snapshot | GraphConfig | undefined): state is Snapshot =>
  state !== undefined && "next" in state && "tasks" in state;

function taskOf(task: SnapshotTask, filter: OutputFilter): ThreadTask {
  const nested = isSnapshot(task.state) ? task.state : undefined;
  return {
    id: task.id,
    name: task.name,
    path: (toWire(task.path) as unknown[] | undefined) ?? [],
    error: errorText(task.error),
    interrupts: interruptsOf(task),
    checkpoint: checkpointRefOf(nested ? nested.config : (task.state as GraphConfig | undefined)),
    state: nested ? threadStateOf(nested, filter.within(task.name)) : null,
    result: task.result === undefined ? null : toWire(filter.values(task.result)),
  };
}

function metadataOf(metadata: JsonObject | undefined, filter: OutputFilter): JsonObject {
  const { checkpoint_ns, writes, ...rest } = metadata ?? {};
  return byKey(
    toWire({
      ...rest,
      ...(checkpoint_ns ? { checkpoint_ns } : {}),
      ...(writes != null && { writes: filter.updates(writes) }),
    }) as JsonObject,
  );
}

/**
 * Convert a snapshot for clients. `filter` must be the filter of its namespace. The snapshot does not say which run its
 * unfinished superstep belongs to.
 */
export function threadStateOf(snapshot: Snapshot, filter: OutputFilter): ThreadState {
  const tasks = snapshot.tasks.map((task) => taskOf(task, filter));
  const exists = snapshot.createdAt !== undefined;
  return {
    values: toWire(filter.values(snapshot.values)),
    next: [...snapshot.next],
    tasks,
    checkpoint: exists ? checkpointRefOf(snapshot.config) : null,
    metadata: metadataOf(snapshot.metadata, filter),
    created_at: snapshot.createdAt ?? null,
    parent_checkpoint: exists ? checkpointRefOf(snapshot.parentConfig) : null,
    interrupts: tasks.flatMap((task) => task.interrupts),
  };
}

/** Open interrupts by task id. */
export function openInterrupts(snapshot: Snapshot): Record<string, Interrupt[]> {
  const open = snapshot.tasks.map((task) => [task.id, interruptsOf(task)] as const);
  return Object.fromEntries(open.filter(([, interrupts]) => interrupts.length > 0));
}
