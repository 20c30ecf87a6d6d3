/** Work in slices: what comes of it, and that there is time for something else in between. */
import { afterEach, expect, it, vi } from "vitest";
import { inSlices } from "../../studio/parts/slices.js";
import { changesBetween, changesInSteps } from "../../src/view/changes.js";

const rows = (round: number) =>
  Array.from({ length: 6000 }, (_, id) => ({ id, round: (id + round) % 7, text: `row ${id}` }));

afterEach(() => vi.restoreAllMocks());

/** A clock by which each look at it is a millisecond later. */
function slowClock(): void {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
}

it("changes that take long leave time for others, and are the same", async () => {
  slowClock();
  let others = 0;
  const timer = setInterval(() => (others += 1));
  const before = { rows: rows(0), note: "x" };
  const after = { rows: rows(1), note: "y" };
  const found = await inSlices(changesInSteps(before, after), () => false);
  clearInterval(timer);
  expect(found).toEqual(changesBetween(before, after));
  expect(found).toHaveLength(6001);
  expect(others).toBeGreaterThan(10);
});

it("work that nobody waits for any more is left", async () => {
  slowClock();
  let steps = 0;
  function* work(): Generator<void, string> {
    for (; steps < 10_000; steps += 1) yield;
    return "done";
  }
  expect(await inSlices(work(), () => steps > 20)).toBeUndefined();
  expect(steps).toBeLessThan(100);
});

it("what is short is there before anything else happens", async () => {
  const paused = vi.spyOn(globalThis, "setTimeout");
  expect(await inSlices(changesInSteps({ n: 1 }, { n: 2 }), () => false)).toHaveLength(1);
  expect(paused).not.toHaveBeenCalled();
});
