/** The timeline of a run and its token cost, without a browser. */
import { describe, expect, it } from "vitest";
import { costOf, parsePrices, tokensIn } from "../../studio/components/prices.js";
import { graphAround, rootTasks, timeline } from "../../studio/components/timeline.js";
import type { RunTask } from "../../src/models/run.js";

const at = (ms: number): string => new Date(Date.UTC(2030, 0, 1) + ms).toISOString();

const task = (name: string, from: number, to: number | null, more: Partial<RunTask> = {}): RunTask => ({
  kind: "node",
  name,
  namespace: `${name}:1`,
  step: 1,
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  state: to === null ? "running" : "done",
  usage: null,
  ...more,
});
const usage = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
});
const ends = (tasks: RunTask[], now = 0) =>
  timeline(tasks, Date.UTC(2030, 0, 1) + now).rows.map(({ left, width }) =>
    [left, left + width].map((share) => Math.round(share * 1000) / 1000),
  );

describe("the timeline", () => {
  it("places concurrent and consecutive tasks on one scale", () => {
    expect(ends([task("a", 0, 50), task("b", 25, 100)])).toEqual([
      [0, 0.5],
      [0.25, 1],
    ]);
    expect(ends([task("a", 0, 50), task("b", 50, null)], 200)).toEqual([
      [0, 0.25],
      [0.25, 1],
    ]);
    expect(timeline([], 0)).toEqual({ rows: [], pauses: [], ms: 0 });
  });

  it("shortens pauses in which nothing ran", () => {
    const tasks = [task("a", 0, 500), task("b", 60_500, 61_000), task("around", 60_600, 60_700)];
    const { pauses, ms } = timeline(tasks, 0);
    expect(ms).toBe(61_000);
    expect(pauses.map((pause) => pause.ms)).toEqual([60_000]);
    const [a, b] = ends(tasks);
    expect(a).toEqual([0, 0.481]);
    expect(b).toEqual([0.519, 1]);
    expect(timeline([task("a", 0, 10), task("b", 400, 500)], 0).pauses).toEqual([]);
  });

  it("returns the depth of each task, and the tasks of one root superstep", () => {
    const inner = task("leaf", 0, 1, { namespace: "child:1|leaf:2", step: 7 });
    const model = task("m", 0, 1, { kind: "model", namespace: "child:1|leaf:2", step: 7 });
    const tasks = [task("child", 0, 5), inner, model, task("other", 5, 6, { step: 2 })];
    expect(timeline(tasks, 0).rows.map(({ depth }) => depth)).toEqual([0, 1, 2, 0]);
    expect(tasks.map(graphAround)).toEqual(["", "child:1", "child:1", ""]);
    expect(rootTasks(tasks, 1).map(({ name }) => name)).toEqual(["child", "leaf", "m"]);
  });
});

describe("prices", () => {
  it("are parsed one per line, and an invalid line is reported by number", () => {
    expect(parsePrices(" gpt-4o*  2.50 10 \n\nlocal 0 0")).toEqual({
      prices: [
        { model: "gpt-4o*", input: 2.5, output: 10 },
        { model: "local", input: 0, output: 0 },
      ],
    });
    expect(parsePrices("a 1 2\nb 1")).toEqual({ line: 2 });
    expect(parsePrices("a 1 -2")).toEqual({ line: 1 });
  });

  it("apply the first matching line to a model, and models without a price are reported", () => {
    const calls = [
      task("gpt-4o-mini", 0, 1, { usage: usage(1_000_000, 0) }),
      task("gpt-4o", 0, 1, { usage: usage(0, 500_000) }),
      task("other", 0, 1, { usage: usage(5, 5) }),
    ];
    const list = parsePrices("*-mini 1 1\ngpt-4* 100 4\ngpt-*o 7 7");
    expect(costOf(calls, "prices" in list ? list.prices : [])).toEqual({ cost: 3, unpriced: ["other"] });
    expect(tokensIn(calls)).toEqual(usage(1_000_005, 500_005));
  });
});
