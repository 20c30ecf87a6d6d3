/** Thread feeds share one memory budget, so idle feeds must be evicted. */
import { expect, it } from "vitest";
import type { EngineContext } from "../../src/runs/live-runs.js";
import { FrameBudget } from "../../src/frames/frame-budget.js";
import { RunLogs } from "../../src/frames/run-logs.js";
import { RunLog } from "../../src/frames/run-log.js";
import { ThreadFeeds } from "../../src/delivery/thread-feeds.js";
import { silentLogger } from "../../src/support/log.js";

const AT = "2026-01-01T10:00:00.000Z";

it("the least recently read feed is evicted when memory is needed, and can be rebuilt completely", async () => {
  const logs = new RunLogs();
  const live = { logs, ofThread: () => [], budget: new FrameBudget(32 * 1024 * 1024) };
  const feeds = new ThreadFeeds({
    live,
    storage: { durable: false },
    logger: silentLogger,
  } as unknown as EngineContext);
  const threads = ["a", "b", "c"];
  for (const thread_id of threads) {
    const log = new RunLog({ isWide: true });
    log.push("custom", JSON.stringify("x".repeat(14_000_000)));
    log.push("end", JSON.stringify({ status: "success" }));
    log.close();
    const ended = { run_id: `run-${thread_id}`, thread_id, created_at: AT, updated_at: AT, graph_id: "g" };
    logs.keep(ended, log);
  }
  const readAndLeave = async (threadId: string): Promise<string> => {
    const reader = feeds.read(threadId, { channels: ["custom"] });
    for await (const [event] of reader) return event?.id ?? "";
    return "";
  };
  const [id] = [await readAndLeave("a"), await readAndLeave("b")];
  expect(threads.map((each) => feeds.follows(each))).toEqual([true, true, false]);
  await readAndLeave("c");
  expect(threads.map((each) => feeds.follows(each))).toEqual([false, true, true]);
  expect(await readAndLeave("a")).toBe(id);
  feeds.stop();
});
