import { describe, expect, it } from "vitest";
import { FramesLostError, type RunFrame } from "../../src/models/run-stream.js";
import { FrameBudget } from "../../src/frames/frame-budget.js";
import { RunLogs } from "../../src/frames/run-logs.js";
import { type LogReader, RunLog } from "../../src/frames/run-log.js";

const MB = 1024 * 1024;

/** Pushes frames of about one megabyte each. */
function fill(log: RunLog, count: number): void {
  for (let index = 0; index < count; index += 1) log.push("custom", "x".repeat(MB));
}

function filled(budget: FrameBudget, count: number): RunLog {
  const log = new RunLog({ budget });
  fill(log, count);
  log.close();
  return log;
}

async function allBatches(reader: LogReader): Promise<(readonly RunFrame[])[]> {
  const batches: (readonly RunFrame[])[] = [];
  for await (const batch of reader) batches.push(batch);
  return batches;
}

async function idsOf(source: RunLog | LogReader, after?: number): Promise<number[]> {
  const batches = await allBatches(source instanceof RunLog ? source.read(after) : source);
  return batches.flat().map(({ id }) => id);
}

describe("RunLog", () => {
  it("returns all frames in order to every reader", async () => {
    const log = new RunLog();
    const early = idsOf(log);
    log.push("values", "1");
    const middle = idsOf(log, 0);
    log.push("values", "2");
    log.push("end", "3");
    log.close();
    log.push("late", "4");
    expect(await early).toEqual([0, 1, 2]);
    expect(await middle).toEqual([1, 2]);
    expect(await idsOf(log)).toEqual([0, 1, 2]);
    expect(await idsOf(log, 2)).toEqual([]);
  });

  it.each([
    ["frames", 12_000, "x"],
    ["bytes", 40, "x".repeat(1024 * 1024)],
  ])("drops the oldest frames beyond the limit of %s", async (_, count, data) => {
    const log = new RunLog();
    for (let index = 0; index < count; index++) log.push("values", data);
    log.close();
    expect(log.size).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(log.reaches(-1)).toBe(false);
    await expect(idsOf(log)).rejects.toThrow(FramesLostError);
    expect(log.reaches(count - 2)).toBe(true);
    expect(await idsOf(log, count - 2)).toEqual([count - 1]);
  });

  it("rejects a slow reader with FramesLostError instead of skipping frames", async () => {
    const log = new RunLog();
    log.push("values", "first");
    const reader = log.read()[Symbol.asyncIterator]();
    await reader.next();
    for (let index = 0; index < 40; index++) log.push("values", "x".repeat(1024 * 1024));
    await expect(reader.next()).rejects.toThrow(FramesLostError);
  });

  it("keeps any number of small frames for an active reader", async () => {
    const log = new RunLog();
    const ids = idsOf(log);
    for (let index = 0; index < 50_000; index++) log.push("values", "x");
    log.close();
    expect(await ids).toHaveLength(50_000);
  });
});

describe("RunLog.read", () => {
  it("returns all frames of one event loop turn to a waiting reader in one batch", async () => {
    const log = new RunLog();
    const reader = log.read()[Symbol.asyncIterator]();
    const next = reader.next();
    for (let index = 0; index < 3; index++) {
      log.push("values", "x");
      // Model tokens arrive many microtasks apart within one turn.
      await Promise.resolve().then(() => Promise.resolve());
    }
    expect((await next).value).toHaveLength(3);
  });

  it("ends immediately for a reader that leaves, without waiting for a frame", async () => {
    const log = new RunLog();
    log.push("metadata", "1");
    const [leaving, staying] = [log.read(), log.read()];
    const [left, stayed] = [idsOf(leaving), idsOf(staying)];
    const unread = log.read();
    expect(log.readers).toBe(3);
    leaving.leave();
    unread.leave();
    expect(log.readers).toBe(1);
    expect(await left).toEqual([0]);
    expect(await idsOf(unread)).toEqual([]);
    log.push("end", "2");
    log.close();
    expect(await stayed).toEqual([0, 1]);
    expect(log.readers).toBe(0);
  });

  it("retains no frames for a reader that has left", async () => {
    const log = new RunLog();
    const reader = log.read();
    reader.leave();
    for (let index = 0; index < 12_000; index++) log.push("values", "x");
    expect(log.reaches(-1)).toBe(false);
  });
});

describe("batches for a slow reader", () => {
  it("are small, and large frames are shared rather than copied", async () => {
    const log = new RunLog();
    for (let index = 0; index < 2000; index++)
      log.push("messages", "x".repeat(index % 100 === 0 ? 100_000 : 600));
    log.close();
    const batches = await allBatches(log.read());
    expect(batches.flat().map(({ id }) => id)).toEqual(Array.from({ length: 2000 }, (_, index) => index));
    for (const batch of batches) {
      const characters = batch.reduce((sum, { data }) => sum + data.length, 0);
      expect(batch.length === 1 || characters <= 64 * 1024).toBe(true);
    }
    const large = batches.flat().filter(({ data }) => data.length === 100_000);
    const [again] = (await allBatches(log.read(large[3]!.id - 1))).flat();
    expect(again).toBe(large[3]);
  });
});

describe("frames that end with the same text", () => {
  const tail = `,{"langgraph_node":"model","thread":"${"x".repeat(2000)}"}]`;
  const textOf = (index: number) => `[{"content":"token ${index} \u00fc"}`;
  /** A log in which every third frame is whole and the others have one of two ends. */
  const filledLog = (count: number) => {
    const log = new RunLog();
    for (let index = 0; index < count; index += 1) {
      const head = textOf(index);
      // A new string each time, as another task would make it.
      if (index % 3 === 2) log.push("messages", `${head}${tail}`);
      else log.push("messages", { head, tail: [...tail, index % 3 === 1 ? " " : ""].join("") });
    }
    return log;
  };

  it("are read as if they had been pushed whole", async () => {
    const log = filledLog(300);
    log.push("messages", { head: '["a\\u0000', tail });
    log.close();
    const frames = (await allBatches(log.read())).flat();
    for (const { id, event, data } of frames.slice(0, 300))
      expect([event, data]).toEqual(["messages", `${textOf(id)}${tail}${id % 3 === 1 ? " " : ""}`]);
    expect(frames.at(-1)?.data).toBe(`["a\uFFFD${tail}`);
    expect(Object.keys(frames[0] ?? {}).sort()).toEqual(["at", "data", "event", "id"]);
    expect(log.kept).toEqual(frames);
  });

  it("are read as the same object by readers at the same place", async () => {
    const log = new RunLog();
    log.push("messages", { head: "[1", tail });
    log.close();
    const [[one], [other]] = [await allBatches(log.read()), await allBatches(log.read())];
    expect(one?.[0]).toBe(other?.[0]);
  });

  it("count the end once, until no frame has it", () => {
    const budget = new FrameBudget(64 * MB);
    const log = new RunLog({ budget });
    for (let index = 0; index < 1000; index += 1) log.push("messages", { head: textOf(index), tail });
    expect(log.size).toBeLessThan(1000 * 200 + 2 * tail.length);
    expect(budget.bytes).toBe(log.size);
    log.release(Infinity);
    expect(log.size).toBe(0);
    expect(budget.bytes).toBe(0);
  });

  it("are kept whole if their own part is long", async () => {
    const log = new RunLog();
    const head = `["${"x".repeat(20_000)}"`;
    log.push("messages", { head, tail });
    log.close();
    const [one, other] = [(await allBatches(log.read())).flat(), (await allBatches(log.read())).flat()];
    expect(one[0]?.data).toBe(head + tail);
    expect(one[0]).toBe(other[0]);
  });
});

describe("logs of ended runs", () => {
  const ofRun = (run_id: string, thread_id = "thread") => ({
    ...{ run_id, thread_id, graph_id: "chat" },
    ...{ created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:01.000Z" },
  });
  const logOf = (characters: number) => {
    const log = new RunLog();
    log.push("values", "x".repeat(characters));
    return log;
  };

  it("are kept for five minutes", () => {
    const logs = new RunLogs();
    logs.keep(ofRun("a"), logOf(1), 0);
    logs.keep(ofRun("b"), logOf(1), 299_000);
    expect([logs.get("a"), logs.get("b")].every(Boolean)).toBe(true);
    logs.expire(301_000);
    expect(logs.get("a")).toBeUndefined();
    expect(logs.get("b")).toBeDefined();
    logs.forget("b");
    expect(logs.get("b")).toBeUndefined();
  });

  it("are dropped with their thread", () => {
    const logs = new RunLogs();
    for (const runId of ["a", "b"]) logs.keep(ofRun(runId), logOf(1));
    logs.keep(ofRun("c", "another"), logOf(1));
    logs.forgetThread("thread");
    expect([logs.get("a"), logs.get("b")]).toEqual([undefined, undefined]);
    expect(logs.get("c")).toBeDefined();
  });

  it("are listed by thread without duplicates, in the order in which the runs ended", () => {
    const logs = new RunLogs();
    const ended = { first: "a", second: "b", third: "a" };
    for (const [run, thread] of [...Object.entries(ended), ["first", "a"] as const])
      logs.keep(ofRun(run, thread), logOf(1));
    const runsOf = (thread: string) => logs.ofThread(thread).map(({ run }) => run.run_id);
    expect([runsOf("a"), runsOf("b"), runsOf("c")]).toEqual([["third", "first"], ["second"], []]);
    logs.forget("third");
    expect([runsOf("a"), runsOf("b")]).toEqual([["first"], ["second"]]);
  });

  it("are dropped least recently read first when the budget is full", async () => {
    const budget = new FrameBudget(8 * MB);
    const logs = new RunLogs();
    for (const runId of ["a", "b", "c"]) logs.keep(ofRun(runId), filled(budget, 2));
    expect(await idsOf(logs.get("a")!)).toEqual([0, 1]);
    filled(budget, 2);
    expect(["a", "b", "c"].map((runId) => logs.get(runId) !== undefined)).toEqual([true, false, true]);
    expect(budget.bytes).toBeLessThanOrEqual(8 * MB);
  });

  it("no longer count toward the budget after they are forgotten and read", async () => {
    const budget = new FrameBudget(8 * MB);
    const logs = new RunLogs();
    const log = filled(budget, 2);
    logs.keep(ofRun("a"), log);
    const reader = log.read();
    logs.forget("a");
    expect(budget.bytes).toBeGreaterThan(2 * MB);
    expect(await idsOf(reader)).toEqual([0, 1]);
    expect(budget.bytes).toBe(0);
  });
});

describe("a full frame budget", () => {
  it("drops frames without readers before unread frames of a slow reader", async () => {
    const losses: number[] = [];
    const budget = new FrameBudget(8 * MB, (readers) => losses.push(readers));
    const slow = new RunLog({ budget });
    const reader = slow.read();
    const unread = new RunLog({ budget });
    fill(slow, 3);
    fill(unread, 4);
    expect(losses).toEqual([]);
    fill(slow, 3);
    expect(unread.kept.length).toBeLessThan(4);
    slow.close();
    expect(await idsOf(reader)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(losses).toEqual([]);
  });

  it("drops the frames of the reader that has been idle longest", async () => {
    const losses: number[] = [];
    const budget = new FrameBudget(8 * MB, (readers) => losses.push(readers));
    const [mute, slow] = [new RunLog({ budget }), new RunLog({ budget })];
    const [lost, kept] = [mute.read()[Symbol.asyncIterator](), slow.read()[Symbol.asyncIterator]()];
    const idOf = async (reader: AsyncIterator<readonly RunFrame[]>) => {
      const { value } = (await reader.next()) as IteratorYieldResult<readonly RunFrame[]>;
      return value.map(({ id }) => id);
    };
    fill(mute, 3);
    fill(slow, 3);
    expect([await idOf(lost), await idOf(kept)]).toEqual([[0], [0]]);
    fill(slow, 2);
    expect(losses).toEqual([1]);
    await expect(lost.next()).rejects.toThrow(FramesLostError);
    for (const id of [1, 2, 3, 4]) expect(await idOf(kept)).toEqual([id]);
  });

  it("keeps a single frame that is larger than the limit", async () => {
    const budget = new FrameBudget(2 * MB);
    filled(budget, 1);
    const log = new RunLog({ budget });
    const reader = log.read();
    log.push("values", "x".repeat(3 * MB));
    log.close();
    expect(await idsOf(reader)).toEqual([0]);
  });

  it.each([
    ["one byte per character", "é", 1],
    ["two bytes per character", "漢", 2],
  ])("counts string bytes as V8 stores them: %s", (_, char, bytes) => {
    const log = new RunLog();
    log.push("values", char.repeat(MB));
    expect(log.size - bytes * MB).toBeLessThan(1024);
  });
});
