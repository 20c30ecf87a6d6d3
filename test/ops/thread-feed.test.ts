/** Thread events that are rebuilt from the frames of runs, as after a restart or an idle period. */
import { expect, it, vi } from "vitest";
import { RunLog } from "../../src/frames/run-log.js";
import { ThreadFeed } from "../../src/frames/thread-feed.js";

it("rebuilt thread events keep their original timestamps and ids", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const begun = Date.parse("2026-01-01T10:00:00.000Z");
  const log = new RunLog({ isWide: true });
  const frames: [string, object][] = [
    ["metadata", {}],
    ["values", { count: 1 }],
    ["custom", { step: 1 }],
    ["end", { status: "success" }],
  ];
  for (const [index, [event, data]] of frames.entries()) {
    vi.setSystemTime(begun + 1000 * index);
    log.push(event, JSON.stringify(data));
  }
  log.close();
  const [created_at, endedAt] = [begun, begun + 3000].map((ms) => new Date(ms).toISOString());
  const run = { run_id: "r", graph_id: "chat", created_at: created_at!, endedAt: () => endedAt };
  const tell = async (at: number) => {
    vi.setSystemTime(at);
    const feed = new ThreadFeed(() => undefined);
    await feed.follow(run, log.read());
    feed.close();
    const events: object[] = [];
    const channels = ["lifecycle", "values", "custom"];
    for await (const batch of feed.read({ channels }))
      events.push(...batch.map(({ data }) => JSON.parse(data) as object));
    return events;
  };
  const first = await tell(begun + 3000);
  expect(first.map((event) => (event as { params: { timestamp: number } }).params.timestamp - begun)).toEqual(
    [0, 1000, 2000, 3000],
  );
  expect(await tell(begun + 60_000)).toEqual(first);
  vi.useRealTimers();
});
