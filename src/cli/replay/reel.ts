/** The checkpoints of a thread, oldest first, each to be looked at when it is wanted. Nothing is executed. */
import type { ThreadState } from "../../models/state.js";
import { type Change, changesBetween } from "../../view/changes.js";
import { entryOf, type HistoryEntry, parentOf, RunStarts } from "../history/entries.js";
import { findState } from "../source/find.js";
import type { Source } from "../source/source.js";
import { Trail, walkOldestFirst, walkStates } from "../source/walk.js";

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

interface ReelRange {
  /** First and last checkpoint: an id, its beginning, a step, or a place from the end. */
  from?: string;
  to?: string;
}

export class Reel {
  readonly #source: Source;
  readonly #threadId: string;
  readonly #trail: Trail;
  readonly #frames: Framing;

  constructor(source: Source, threadId: string, trail: Trail) {
    this.#source = source;
    this.#threadId = threadId;
    this.#trail = trail;
    this.#frames = new Framing(source, threadId);
  }

  get length(): number {
    return this.#trail.length;
  }

  /** @throws RangeError beyond the end */
  async frame(index: number): Promise<Frame> {
    return this.#frames.of(await this.#trail.state(index), this.#trail.idAt(index - 1));
  }

  /** All of them, in order. */
  frames(): AsyncGenerator<Frame> {
    return framed(this.#source, this.#threadId, this.#trail.states());
  }
}

/** Makes frames of states; it remembers the last one, which mostly is the one that the next one comes from. */
class Framing {
  readonly #source: Source;
  readonly #threadId: string;
  readonly #runs: RunStarts;
  #last: ThreadState | undefined;

  constructor(source: Source, threadId: string) {
    this.#source = source;
    this.#threadId = threadId;
    this.#runs = new RunStarts(source, threadId);
  }

  /** `previous` is the id of the frame before. */
  async of(state: ThreadState, previous: string | null | undefined): Promise<Frame> {
    const parent = await parentOf(this.#source, this.#threadId, state, this.#last);
    const entry = await entryOf(this.#source, this.#threadId, state, parent, this.#runs);
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

async function* framed(
  source: Source,
  threadId: string,
  oldestFirst: AsyncIterable<ThreadState>,
): AsyncGenerator<Frame> {
  const frames = new Framing(source, threadId);
  let previous: string | null | undefined;
  for await (const state of oldestFirst) {
    yield await frames.of(state, previous);
    previous = state.checkpoint?.checkpoint_id;
  }
}

/** @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`) */
export async function openReel(source: Source, threadId: string, { from, to }: ReelRange): Promise<Reel> {
  const [first, last] = [await idOf(source, threadId, from), await idOf(source, threadId, to)];
  const states = within(walkStates(source, threadId), first, last);
  return new Reel(source, threadId, await Trail.of(source, threadId, states));
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
 * The frames of a range, oldest first.
 * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
 */
export async function* framesOf(source: Source, threadId: string, range: ReelRange): AsyncGenerator<Frame> {
  const isWhole = range.from === undefined && range.to === undefined;
  if (isWhole) yield* framed(source, threadId, walkOldestFirst(source, threadId));
  else yield* (await openReel(source, threadId, range)).frames();
}

async function idOf(source: Source, threadId: string, at: string | undefined): Promise<string | undefined> {
  if (at === undefined) return undefined;
  return (await findState(source, threadId, { at })).checkpoint?.checkpoint_id ?? undefined;
}

// The part of a thread that a run is repeated for.

/** The checkpoint that the last run began with; the latest, when no run is to be seen. */
export async function startOfLastRun(source: Source, threadId: string): Promise<ThreadState> {
  for await (const state of walkStates(source, threadId)) {
    if (state.metadata.source === "input") return state;
  }
  return source.state.get(threadId);
}

/** What came of a checkpoint, by ids, oldest first: the line of its newest descendant. */
export async function idsAfter(source: Source, threadId: string, checkpointId: string): Promise<string[]> {
  const newer: Link[] = [];
  for await (const { checkpoint, parent_checkpoint } of walkStates(source, threadId)) {
    const id = checkpoint?.checkpoint_id;
    if (id === checkpointId) break;
    if (id) newer.push({ id, parent: parent_checkpoint?.checkpoint_id ?? null });
  }
  return lineFrom(checkpointId, newer.reverse());
}

interface Link {
  id: string;
  parent: string | null;
}

/** The way from a checkpoint to the newest of those that came of it, by ids. */
function lineFrom(start: string, newer: readonly Link[]): string[] {
  const descendants = new Map<string, string>();
  let tip = start;
  for (const { id, parent } of newer) {
    if (parent === null || (parent !== start && !descendants.has(parent))) continue;
    tip = id;
    descendants.set(id, parent);
  }
  const line: string[] = [];
  for (let at: string | undefined = tip; at !== undefined && at !== start; at = descendants.get(at))
    line.push(at);
  return line.reverse();
}
