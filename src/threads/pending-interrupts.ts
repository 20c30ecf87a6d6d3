/** What a thread asks, graph by graph, and which of that an answer is for. */
import type { ServedGraph, Snapshot, SnapshotTask } from "../graphs/graph.js";
import { hasWrites } from "../graphs/placeholder-graph.js";
import { readState } from "../graphs/snapshot.js";
import type { JsonObject } from "../models/common.js";
import { CommandError, type InputRespondParams } from "../models/protocol.js";
import type { Run } from "../models/run.js";
import { UnknownInterruptError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import { answerFrom, isInterruptId } from "../frames/run-log.js";
import { ownThread } from "./thread-origin.js";
import { readerOf } from "./thread-state.js";

export interface PendingInterrupt {
  id: string;
  value: unknown;
  /** Of the graph that asks. */
  namespace: readonly string[];
  /** The task that asks, as a segment of a namespace: it may call graphs that the state does not show. */
  task: string;
}

/**
 * What the thread asks at a checkpoint, at the latest when none is named. A thread that is not
 * there asks nothing; nor does one with a run in flight, which may be answering.
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

/**
 * What is wrong with a run that answers what is not asked where it begins; undefined when nothing is. An answer that
 * does not say what it is for needs anything that is asked.
 */
export async function unknownInterrupts(
  context: OpsContext,
  run: Run,
  { graph, configurable }: { graph: ServedGraph; configurable: JsonObject },
): Promise<UnknownInterruptError | undefined> {
  const answered = answerFrom(run);
  if (!answered) return undefined;
  const pending = (await interruptsAt(context, graph, configurable)).map(({ id }) => id);
  const unknown = answered.filter((id) => !pending.includes(id));
  const isKnown = answered.length > 0 ? unknown.length === 0 : pending.length > 0;
  return isKnown ? undefined : new UnknownInterruptError(unknown, pending);
}

async function interruptsAt(
  { storage: { checkpointer } }: OpsContext,
  graph: ServedGraph,
  configurable: JsonObject,
): Promise<PendingInterrupt[]> {
  const pending: PendingInterrupt[] = [];
  /** A task shows what graphs inside of it ask: those are told of first. */
  const collect = async ({ tasks, config }: Snapshot, namespace: readonly string[]): Promise<void> => {
    const asking = tasks.filter(({ interrupts = [] }) => interrupts.length > 0);
    const tuple = asking.length > 0 ? await checkpointer.getTuple(config) : undefined;
    for (const each of asking) {
      // What was answered stays with its checkpoint until the other tasks of the superstep have ended.
      if (tuple && hasWrites(tuple, each)) continue;
      const task = `${each.name}:${each.id}`;
      if (isSnapshot(each.state)) await collect(each.state, [...namespace, task]);
      for (const { id, value } of each.interrupts ?? [])
        if (id !== undefined && pending.every((other) => other.id !== id))
          pending.push({ id, value, namespace, task });
    }
  };
  await collect(await readState(graph, { configurable }, { subgraphs: true }), []);
  return pending;
}

const isSnapshot = (state: SnapshotTask["state"]): state is Snapshot =>
  state !== undefined && "tasks" in state;

interface Answer {
  namespace?: readonly string[];
  interrupt_id: string;
  response: unknown;
}

/**
 * The answers by the ids of what they are for. Under `strict_resume` the run itself says what is not asked when its
 * turn comes; what cannot be the id of anything is refused here all the same.
 * @throws CommandError when one is for something that is not asked (`invalid_argument`, `no_such_interrupt`)
 */
export function resumeOf(params: InputRespondParams, pending: readonly PendingInterrupt[]): JsonObject {
  const answers = answersOf(params);
  const isStrict = params.strict_resume ?? false;
  if (pending.length === 0 && !isStrict)
    throw new CommandError("invalid_argument", "the thread asks nothing at present");
  for (const { interrupt_id, namespace = [] } of answers) {
    const asked = pending.find(({ id }) => id === interrupt_id);
    if (
      asked ? isWithin(namespace, [...asked.namespace, asked.task]) : isStrict && isInterruptId(interrupt_id)
    )
      continue;
    const place = namespace.length > 0 ? ` in ${namespace.join("|")}` : "";
    const all = pending.length > 0 ? pending.map(({ id }) => id).join(", ") : "nothing";
    throw new CommandError(
      "no_such_interrupt",
      `the thread does not ask ${JSON.stringify(interrupt_id)}${place}; it asks ${all}`,
    );
  }
  return Object.fromEntries(answers.map(({ interrupt_id, response }) => [interrupt_id, response]));
}

/** Whether a namespace leads to a task, or to a graph inside of it. */
const isWithin = (namespace: readonly string[], task: readonly string[]): boolean =>
  namespace.every((segment, at) => at >= task.length || task[at] === segment);

function answersOf({ responses, namespace, interrupt_id, response }: InputRespondParams): Answer[] {
  if (responses) return responses;
  if (interrupt_id === undefined)
    throw new CommandError("invalid_argument", "params.interrupt_id, or params.responses, is required");
  return [{ namespace, interrupt_id, response: response ?? null }];
}
