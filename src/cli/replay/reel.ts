/** The checkpoints of a thread, oldest first, each to be looked at when it is wanted. Nothing is executed. */
import type { ThreadState } from "../../models/state.js";
import { changesBetween, type Change } from "../diff/changes.js";
import { entryOf, parentOf, RunStarts, type HistoryEntry } from "../history/entries.js";
import { findState } from "../source/find.js";
import type { Source } from "../source/source.js";
import { walkStates } from "../source/walk.js";

/** One checkpoint, with what it changed. */
export interface Frame {
  state: ThreadState;
  entry: HistoryEntry;
  /** From the checkpoint before it; everything, for the first one. */
  changes: Change[];
  /** Values of the checkpoint it came from; undefined for the first one. */
  before: unknown;
  /** True when the checkpoint before it is not the one it came from: another branch begins. */
  isBranch: boolean;
}

export interface ReelRange {
  /** First and last checkpoint: an id, its beginning, a step, or a place from the end. */
  from?: string;
  to?: string;
}

/** A checkpoint by its ids: all that is held of those that are not looked at. */
export type Selector = NonNullable<ThreadState["checkpoint"]>;

export class Reel {
  readonly #source: Source;
  readonly #threadId: string;
  readonly #selectors: readonly Selector[];
  readonly #runs: RunStarts;
  /** The frame before is mostly the one that the next one comes from. */
  #last: ThreadState | undefined;

  constructor(source: Source, threadId: string, selectors: readonly Selector[]) {
    this.#source = source;
    this.#threadId = threadId;
    this.#selectors = selectors;
    this.#runs = new RunStarts(source, threadId);
  }

  get length(): number {
    return this.#selectors.length;
  }

  /** @throws RangeError beyond the end */
  async frame(index: number): Promise<Frame> {
    const checkpoint = this.#selectors[index];
    if (!checkpoint) throw new RangeError(`there is no frame ${index}`);
    const state = await this.#source.state.get(this.#threadId, { checkpoint });
    const parent = await parentOf(this.#source, this.#threadId, state, this.#last);
    const entry = await entryOf(this.#source, this.#threadId, state, parent, this.#runs);
    this.#last = state;
    const previous = this.#selectors[index - 1]?.checkpoint_id;
    return {
      state,
      entry,
      changes: changesBetween(parent?.values ?? {}, state.values ?? {}),
      before: parent?.values,
      isBranch: previous !== undefined && entry.parent !== undefined && entry.parent !== previous,
    };
  }

  /** All of them, in order. */
  async *frames(): AsyncGenerator<Frame> {
    for (let index = 0; index < this.length; index += 1) yield this.frame(index);
  }
}

/** @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`) */
export async function openReel(source: Source, threadId: string, { from, to }: ReelRange): Promise<Reel> {
  const [first, last] = [await idOf(source, threadId, from), await idOf(source, threadId, to)];
  const selectors: Selector[] = [];
  let isInside = last === undefined;
  for await (const { checkpoint } of walkStates(source, threadId)) {
    const id = checkpoint?.checkpoint_id;
    isInside ||= id === last;
    if (isInside && checkpoint) selectors.push(checkpoint);
    if (id === first) break;
  }
  return new Reel(source, threadId, selectors.reverse());
}

/**
 * The frames of a range, oldest first. Finding the oldest checkpoints of a long thread takes walking all of it; where
 * the very first one is known otherwise, it comes before that walk.
 */
export async function* framesOf(source: Source, threadId: string, range: ReelRange): AsyncGenerator<Frame> {
  const isWhole = range.from === undefined && range.to === undefined;
  const first = isWhole ? await firstSelector(source, threadId) : undefined;
  if (first) yield await new Reel(source, threadId, [first]).frame(0);
  const reel = await openReel(source, threadId, range);
  for (let index = first ? 1 : 0; index < reel.length; index += 1) yield await reel.frame(index);
}

/** Step -1 is what the first run was given: when there is one such checkpoint, all others came of it. */
async function firstSelector(source: Source, threadId: string): Promise<Selector | undefined> {
  const [state, another] = await source.state.history(threadId, { metadata: { step: -1 }, limit: 2 });
  return another || state?.parent_checkpoint ? undefined : (state?.checkpoint ?? undefined);
}

async function idOf(source: Source, threadId: string, at: string | undefined): Promise<string | undefined> {
  if (at === undefined) return undefined;
  return (await findState(source, threadId, { at })).checkpoint?.checkpoint_id ?? undefined;
}
