/** The checkpoints of a thread, oldest first, each to be looked at when it is wanted. Nothing is executed. */
import type { ThreadState } from "../../models/state.js";
import { type Change, changesBetween } from "../../view/changes.js";
import { entryOf, type HistoryEntry, parentOf, RunLabels } from "../history/entries.js";
import { findState } from "../session/find.js";
import type { Client } from "../../client/client.js";
import { CheckpointPath, walkOldestFirst, walkStates } from "../../client/walk.js";

/** One checkpoint, with what it changed. */
export interface HistoryStep {
  state: ThreadState;
  entry: HistoryEntry;
  /** From the checkpoint before it; everything, for the first one. */
  changes: Change[];
  /** Values of the checkpoint it came from; undefined for the first one. */
  before: unknown;
  /** True when the checkpoint before it is not the one it came from: another branch begins. */
  isBranch: boolean;
}

interface StepRange {
  /** First and last checkpoint: an id, its beginning, a step, or a place from the end. */
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

  /** All of them, in order. */
  steps(): AsyncGenerator<HistoryStep> {
    return stepsFrom(this.#client, this.#threadId, this.#path.states());
  }
}

/** Makes steps of states; it remembers the last one, which mostly is the one that the next one comes from. */
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

  /** `previous` is the id of the step before. */
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

async function* stepsFrom(
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

/** The states from the last down to the first one, each the end of the list when it is left out. */
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
): AsyncGenerator<HistoryStep> {
  const isWhole = range.from === undefined && range.to === undefined;
  if (isWhole) yield* stepsFrom(client, threadId, walkOldestFirst(client, threadId));
  else yield* (await openHistory(client, threadId, range)).steps();
}

async function idOf(client: Client, threadId: string, at: string | undefined): Promise<string | undefined> {
  if (at === undefined) return undefined;
  return (await findState(client, threadId, { at })).checkpoint?.checkpoint_id ?? undefined;
}

// The part of a thread that a run is repeated for.

/** What came of a checkpoint, by ids, oldest first: the line of its newest descendant, or of `end`. */
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

/** The way from a checkpoint to one that came of it, by ids; to the newest when none is named. */
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
