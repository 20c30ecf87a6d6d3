/** Long computations run in slices and yield in between. */
import { afterEach, expect, it, vi } from "vitest";
import { inSlices } from "../../studio/components/slices.js";
import { changesBetween, changesInSteps } from "../../src/view/changes.js";

const rows = (round: number) =>
  Array.from({ length: 6000 }, (_, id) => ({ id, round: (id + round) % 7, text: `row ${id}` }));

afterEach(() => vi.restoreAllMocks());

/** A clock that advances 1 ms with each read. */
function slowClock(): void {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
}

it("a long comparison in slices yields to other tasks and returns the same changes", async () => {
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

it("an aborted computation stops early", async () => {
  slowClock();
  let steps = 0;
  function* work(): Generator<void, string> {
    for (; steps < 10_000; steps += 1) yield;
    return "done";
  }
  expect(await inSlices(work(), () => steps > 20)).toBeUndefined();
  expect(steps).toBeLessThan(100);
});

it("a short computation completes without yielding", async () => {
  const paused = vi.spyOn(globalThis, "setTimeout");
  expect(await inSlices(changesInSteps({ n: 1 }, { n: 2 }), () => false)).toHaveLength(1);
  expect(paused).not.toHaveBeenCalled();
});
