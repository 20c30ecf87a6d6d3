/** The checkpoints of a thread, oldest first, read on demand. No node is executed. */
import type { ThreadState } from "../../models/state.js";
import { type Change, changesBetween } from "../../view/changes.js";
import { entryOf, type HistoryEntry, parentOf, RunLabels } from "../history/entries.js";
import { type InnerStep, innerSteps, withSubgraphs } from "../history/subgraphs.js";
import { findState } from "../session/find.js";
import type { SubgraphRef } from "../session/namespace.js";
import type { Client } from "../../client/client.js";
import { CheckpointPath, walkOldestFirst, walkStates } from "../../client/walk.js";

/** One checkpoint and its changes. */
export interface HistoryStep {
  state: ThreadState;
  entry: HistoryEntry;
  /** Changes from the parent checkpoint; all values for the first one. */
  changes: Change[];
  /** Values of the parent checkpoint; undefined for the first one. */
  before: unknown;
  /** True if the previous checkpoint is not its parent, so that another branch starts. */
  isBranch: boolean;
}

interface StepRange {
  /** First and last checkpoint: an id, the beginning of one, a step, or a position from the end. */
  from?: string;
  to?: string;
}

export class HistorySteps {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #path: CheckpointPath;
  readonly #maker: StepMaker;

  constructor(client: Client, threadId: string, path: CheckpointPath) {
    this.#client = client;
    this.#threadId = threadId;
    this.#path = path;
    this.#maker = new StepMaker(client, threadId);
  }

  get length(): number {
    return this.#path.length;
  }

  /** @throws RangeError beyond the end */
  async step(index: number): Promise<HistoryStep> {
    return this.#maker.of(await this.#path.state(index), this.#path.idAt(index - 1));
  }

  /** All steps, in order. */
  steps(): AsyncGenerator<ShownStep> {
    return stepsFrom(this.#client, this.#threadId, this.#path.states());
  }

  /** The steps of the subgraphs of a step; those of its next nodes only for the last step. */
  inner({ entry: { id, ran, pending } }: HistoryStep): AsyncGenerator<InnerStep<HistoryStep>> {
    const isLast = this.#path.idAt(this.length - 1) === id;
    return innerStepsOf(this.#client, this.#threadId, isLast ? [...ran, ...pending] : ran);
  }
}

/** Creates steps from states; caches the last state, which is usually the parent of the next one. */
class StepMaker {
  readonly #client: Client;
  readonly #threadId: string;
  readonly #runs: RunLabels;
  #last: ThreadState | undefined;

  constructor(client: Client, threadId: string) {
    this.#client = client;
    this.#threadId = threadId;
    this.#runs = new RunLabels(client, threadId);
  }

  /** @param previous checkpoint id of the previous step */
  async of(state: ThreadState, previous: string | null | undefined): Promise<HistoryStep> {
    const parent = await parentOf(this.#client, this.#threadId, state, this.#last);
    const entry = await entryOf(this.#client, this.#threadId, state, parent, this.#runs);
    this.#last = state;
    return {
      state,
      entry,
      changes: changesBetween(parent?.values ?? {}, state.values ?? {}),
      before: parent?.values,
      isBranch: previous != null && entry.parent !== undefined && entry.parent !== previous,
    };
  }
}

/** A step and the subgraphs that are shown below it. */
export type ShownStep = HistoryStep & { subgraphs: SubgraphRef[] };

/** The steps of subgraphs, in order. */
export const innerStepsOf = (client: Client, threadId: string, subgraphs: readonly SubgraphRef[]) =>
  innerSteps(subgraphs, (namespace) =>
    stepsFrom(client, threadId, walkOldestFirst(client, threadId, namespace)),
  );

const stepsFrom = (client: Client, threadId: string, states: AsyncIterable<ThreadState>) =>
  withSubgraphs(plainSteps(client, threadId, states), "oldest first");

async function* plainSteps(
  client: Client,
  threadId: string,
  oldestFirst: AsyncIterable<ThreadState>,
): AsyncGenerator<HistoryStep> {
  const maker = new StepMaker(client, threadId);
  let previous: string | null | undefined;
  for await (const state of oldestFirst) {
    yield await maker.of(state, previous);
    previous = state.checkpoint?.checkpoint_id;
  }
}

/** @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`) */
export async function openHistory(
  client: Client,
  threadId: string,
  { from, to }: StepRange,
): Promise<HistorySteps> {
  const [first, last] = [await idOf(client, threadId, from), await idOf(client, threadId, to)];
  const states = within(walkStates(client, threadId), first, last);
  return new HistorySteps(client, threadId, await CheckpointPath.of(client, threadId, states));
}

/** The states from `last` down to `first`; a missing limit is the end of the list. */
async function* within(
  newestFirst: AsyncIterable<ThreadState>,
  first: string | undefined,
  last: string | undefined,
): AsyncGenerator<ThreadState> {
  let isInside = last === undefined;
  for await (const state of newestFirst) {
    const id = state.checkpoint?.checkpoint_id;
    isInside ||= id === last;
    if (isInside) yield state;
    if (id === first) return;
  }
}

/**
 * The steps of a range, oldest first.
 * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
 */
export async function* stepRange(
  client: Client,
  threadId: string,
  range: StepRange,
): AsyncGenerator<ShownStep> {
  const isWhole = range.from === undefined && range.to === undefined;
  if (isWhole) yield* stepsFrom(client, threadId, walkOldestFirst(client, threadId));
  else yield* (await openHistory(client, threadId, range)).steps();
}

async function idOf(client: Client, threadId: string, at: string | undefined): Promise<string | undefined> {
  if (at === undefined) return undefined;
  return (await findState(client, threadId, { at })).checkpoint?.checkpoint_id ?? undefined;
}

// The part of a thread that is executed again.

/** Ids of the checkpoints after a checkpoint, up to its newest descendant or `end`, oldest first. */
export async function idsAfter(
  client: Client,
  threadId: string,
  checkpointId: string,
  end?: string,
): Promise<string[]> {
  const newer: Link[] = [];
  for await (const { checkpoint, parent_checkpoint } of walkStates(client, threadId)) {
    const id = checkpoint?.checkpoint_id;
    if (id === checkpointId) break;
    if (id) newer.push({ id, parent: parent_checkpoint?.checkpoint_id ?? null });
  }
  return lineFrom(checkpointId, newer.reverse(), end);
}

interface Link {
  id: string;
  parent: string | null;
}

/** Ids on the path from `start` to its descendant `end`, by default the newest one, without `start`. */
function lineFrom(start: string, newer: readonly Link[], end?: string): string[] {
  const descendants = new Map<string, string>();
  let tip = start;
  for (const { id, parent } of newer) {
    if (parent === null || (parent !== start && !descendants.has(parent))) continue;
    tip = id;
    descendants.set(id, parent);
  }
  const line: string[] = [];
  for (let at: string | undefined = end ?? tip; at !== undefined && at !== start; at = descendants.get(at))
    line.push(at);
  return line.reverse();
}
