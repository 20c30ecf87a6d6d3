/** Pending interrupts of a thread, and their match with answers. */
import { type CheckpointTuple, INTERRUPT, RESUME } from "@langchain/langgraph-checkpoint";
import type { ServedGraph, Snapshot, SnapshotTask } from "../graphs/graph.js";
import { hasWrites } from "../graphs/open-tasks.js";
import { readState } from "../graphs/snapshot.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { CommandError, type InputRespondParams } from "../models/protocol.js";
import type { OpsContext } from "../context/context.js";
import { isInterruptId } from "../models/interrupt-answer.js";
import { ownThread } from "./thread-origin.js";
import { readerOf } from "./thread-state.js";

export interface PendingInterrupt {
  id: string;
  value: unknown;
  /** Namespace of the interrupted graph. */
  namespace: readonly string[];
  /** The interrupted task as a namespace segment. It may call graphs that the state does not show. */
  task: string;
}

interface FoundInterrupt extends PendingInterrupt {
  /** Checkpoint of the interrupted graph. */
  tuple: CheckpointTuple | undefined;
}

/**
 * Pending interrupts at a checkpoint, the latest by default. Empty if the thread does not exist or has an active run,
 * which may be processing the answers.
 */
export async function pendingInterrupts(
  context: OpsContext,
  threadId: string,
  checkpoint_id?: string,
): Promise<PendingInterrupt[]> {
  const row = await ownThread(context, threadId);
  if (!row || row.status === "busy" || row.state_updated_at === null) return [];
  const { graph } = await readerOf(context, row);
  const selected = checkpoint_id === undefined ? {} : { checkpoint_id };
  return interruptsAt(context, graph, { thread_id: threadId, checkpoint_ns: "", ...selected });
}

async function interruptsAt(
  { storage: { checkpointer } }: OpsContext,
  graph: ServedGraph,
  configurable: JsonObject,
): Promise<FoundInterrupt[]> {
  const pending: FoundInterrupt[] = [];
  /** A task repeats the interrupts of its subgraphs: those are collected first, and duplicates are skipped. */
  const collect = async ({ tasks, config }: Snapshot, namespace: readonly string[]): Promise<void> => {
    const interrupted = tasks.filter(({ interrupts = [] }) => interrupts.length > 0);
    const tuple = interrupted.length > 0 ? await checkpointer.getTuple(config) : undefined;
    for (const each of interrupted) {
      // An answered interrupt stays in the checkpoint until the other tasks of the superstep have ended.
      if (tuple && hasWrites(tuple, each)) continue;
      const task = `${each.name}:${each.id}`;
      if (isSnapshot(each.state)) await collect(each.state, [...namespace, task]);
      for (const { id, value } of each.interrupts ?? [])
        if (id !== undefined && pending.every((other) => other.id !== id))
          pending.push({ id, value, namespace, task, tuple });
    }
  };
  await collect(await readState(graph, { configurable }, { subgraphs: true }), []);
  return pending;
}

/**
 * How far the task of each pending interrupt is, by interrupt id: the checkpoints of its graph and of the graph that it may
 * call, with the number of its answers.
 */
export async function interruptPositions(
  context: OpsContext,
  graph: ServedGraph,
  configurable: JsonObject,
): Promise<Record<string, string>> {
  const found = await interruptsAt(context, graph, configurable);
  const positions = found.map(async ({ id, namespace, task, tuple }) => {
    const checkpoint_ns = [...namespace, task].join("|");
    const called = { thread_id: configurable.thread_id, checkpoint_ns };
    const tuples = [tuple, await context.storage.checkpointer.getTuple({ configurable: called })];
    return [id, tuples.map((one) => one && positionIn(one, id)).join(" ")] as const;
  });
  return Object.fromEntries(await Promise.all(positions));
}

function positionIn({ checkpoint, pendingWrites = [] }: CheckpointTuple, id: string): string {
  const asks = (value: unknown) => [value].flat().some((each) => isRecord(each) && each.id === id);
  const tasks = pendingWrites.filter(([, channel, value]) => channel === INTERRUPT && asks(value));
  const answers = pendingWrites.flatMap(([task, channel, value]) =>
    channel === RESUME && tasks.some(([asking]) => asking === task) ? [value].flat() : [],
  );
  return `${checkpoint.id}:${answers.length}`;
}

const isSnapshot = (state: SnapshotTask["state"]): state is Snapshot =>
  state !== undefined && "tasks" in state;

interface Answer {
  namespace?: readonly string[];
  interrupt_id: string;
  response: unknown;
}

/**
 * Answers by interrupt id. With `strict_resume` the run checks when it starts that the interrupts are pending; only
 * malformed ids are rejected here.
 * @throws CommandError if nothing is pending (`invalid_argument`), or for an unknown interrupt (`no_such_interrupt`)
 */
export function resumeOf(params: InputRespondParams, pending: readonly PendingInterrupt[]): JsonObject {
  const answers = answersOf(params);
  const isStrict = params.strict_resume ?? false;
  if (pending.length === 0 && !isStrict)
    throw new CommandError("invalid_argument", "the thread has no pending interrupts");
  for (const { interrupt_id, namespace = [] } of answers) {
    const match = pending.find(({ id }) => id === interrupt_id);
    if (
      match ? isWithin(namespace, [...match.namespace, match.task]) : isStrict && isInterruptId(interrupt_id)
    )
      continue;
    const place = namespace.length > 0 ? ` in ${namespace.join("|")}` : "";
    const all = pending.length > 0 ? pending.map(({ id }) => id).join(", ") : "none";
    throw new CommandError(
      "no_such_interrupt",
      `the thread has no pending interrupt ${JSON.stringify(interrupt_id)}${place}; pending: ${all}`,
    );
  }
  return Object.fromEntries(answers.map(({ interrupt_id, response }) => [interrupt_id, response]));
}

/** Whether a namespace is an ancestor of a task, the task itself, or a subgraph of it. */
const isWithin = (namespace: readonly string[], task: readonly string[]): boolean =>
  namespace.every((segment, at) => at >= task.length || task[at] === segment);

function answersOf({ responses, namespace, interrupt_id, response }: InputRespondParams): Answer[] {
  if (responses) return responses;
  if (interrupt_id === undefined)
    throw new CommandError("invalid_argument", "params.interrupt_id or params.responses is required");
  return [{ namespace, interrupt_id, response: response ?? null }];
}
