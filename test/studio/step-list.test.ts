/** The sparse list of a thread's steps: row positions, and merging of loaded pages. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  justAfter,
  NO_STEPS,
  numberAt,
  type Step,
  type StepList,
  StepRows,
  withNamed,
  withNewest,
  withPage,
} from "../../studio/state/step-list.js";

/** Checkpoint ids sort by creation, newest greatest. */
const idOf = (made: number): string => `1f0c0de0-0000-6000-8000-${made.toString(16).padStart(12, "0")}`;

const stepOf = (made: number, number = made - 1): Step => ({
  id: idOf(made),
  parent: made === 0 ? undefined : idOf(made - 1),
  number,
  source: "loop",
  runId: undefined,
  createdAt: null,
  next: [],
  changed: null,
  messages: {},
  asks: 0,
});

/** Newest first. */
const threadOf = (count: number, number?: (made: number) => number): Step[] =>
  Array.from({ length: count }, (_, made) => stepOf(made, number?.(made))).reverse();

/** The response of the server: steps before a checkpoint, optionally of one step number. */
function read(
  thread: readonly Step[],
  { before, limit, step }: { before?: string; limit: number; step?: number },
): Step[] {
  return thread
    .filter(
      ({ id, number }) => (before === undefined || id < before) && (step === undefined || number === step),
    )
    .slice(0, limit);
}

const FIRST = 50;
const PAGE = 100;

function opened(thread: readonly Step[]): StepList {
  const fresh = read(thread, { limit: FIRST });
  return withNewest(NO_STEPS, fresh, { isWhole: fresh.length < FIRST });
}

/** Loads the visible rows as the page does. */
function seen(thread: readonly Step[], list: StepList, from: number, to: number): StepList {
  for (let next = list; ;) {
    const gap = new StepRows(next).gapIn(from, to, PAGE);
    if (!gap) return next;
    const step = gap.offset < PAGE ? undefined : numberAt(gap);
    const [found] = step === undefined ? [] : read(thread, { before: gap.above.id, limit: 1, step });
    const start = found && (!gap.below || found.id > gap.below.id) ? found.id : undefined;
    const page = read(thread, { before: start === undefined ? gap.above.id : justAfter(start), limit: PAGE });
    const skipped = start === undefined ? 0 : gap.offset;
    next = withPage(next, gap.above, page, { skipped, isEnd: page.length < PAGE });
  }
}

const shown = (list: StepList, from: number, to: number): (string | undefined)[] => {
  const rows = new StepRows(list);
  return Array.from({ length: to - from }, (_, index) => {
    const place = rows.placeAt(from + index);
    return place === undefined ? undefined : list.steps[place]?.id;
  });
};

describe("a list of steps", () => {
  const thread = threadOf(10_000);

  it("has a row for every step, and loads only the pages in view", () => {
    const list = opened(thread);
    expect(new StepRows(list).count).toBe(10_000);
    const far = seen(thread, list, 7000, 7030);
    expect(shown(far, 7000, 7030)).toEqual(thread.slice(7000, 7030).map(({ id }) => id));
    expect(far.steps).toHaveLength(FIRST + PAGE);
    expect(new StepRows(far).count).toBe(10_000);
    const end = seen(thread, far, 9990, 10_000);
    expect(shown(end, 9990, 10_000)).toEqual(thread.slice(-10).map(({ id }) => id));
  });

  it("loads whole pages when scrolled upwards", () => {
    let list = seen(thread, opened(thread), 7000, 7030);
    let pages = 0;
    for (let row = 7000; row >= 6500; row -= 10) {
      const before = list.steps.length;
      list = seen(thread, list, row, row + 30);
      pages += list.steps.length > before ? 1 : 0;
    }
    expect(pages).toBeLessThanOrEqual(6);
    expect(shown(list, 6500, 7030)).toEqual(thread.slice(6500, 7030).map(({ id }) => id));
  });

  it("shows a step from the URL at its position", () => {
    const named = thread[4321] as Step;
    const list = withNamed(opened(thread), read(thread, { before: justAfter(named.id), limit: PAGE }), false);
    const rows = new StepRows(list);
    const place = list.steps.findIndex(({ id }) => id === named.id);
    expect(rows.rowOf(place)).toBe(4321);
    expect(rows.placeAt(4321)).toBe(place);
    expect(rows.placeAt(4320)).toBeUndefined();
  });

  it("keeps loaded steps when more than a page of newer steps arrives", () => {
    const old = opened(thread);
    const longer = threadOf(10_200);
    const list = withNewest(old, read(longer, { limit: FIRST }), { isWhole: false });
    expect(new StepRows(list).count).toBe(10_200);
    expect(list.steps).toHaveLength(2 * FIRST);
    expect(shown(seen(longer, list, 0, 300), 0, 300)).toEqual(longer.slice(0, 300).map(({ id }) => id));
  });

  it("removes steps that were rolled back", () => {
    const list = withNewest(opened(thread), read(thread.slice(3), { limit: FIRST }), { isWhole: false });
    expect(shown(list, 0, 5)).toEqual(thread.slice(3, 8).map(({ id }) => id));
  });

  it("contains every step once and in order for any branches and scroll positions", () => {
    const looks = fc.array(fc.nat(1500), { minLength: 1, maxLength: 12 });
    // A fork continues with a step number that already exists.
    const forks = fc.array(fc.tuple(fc.nat(1200), fc.nat(600)), { maxLength: 4 });
    fc.assert(
      fc.property(looks, forks, (places, begun) => {
        let number = -2;
        const at = new Map(begun);
        const branched = threadOf(1300, (made) => (number = at.get(made) ?? number + 1));
        let list = opened(branched);
        for (const place of places) {
          list = seen(branched, list, place, place + 30);
          expect(list.steps.map(({ id }) => id)).toEqual(
            [...list.steps.map(({ id }) => id)].sort().reverse(),
          );
        }
        for (let row = 0; row < new StepRows(list).count; row += 30)
          list = seen(branched, list, row, row + 30);
        list = seen(branched, list, 0, 1400);
        expect(list.steps.map(({ id }) => id)).toEqual(branched.map(({ id }) => id));
        expect(list.gaps.size).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
