/** Frames of ended runs are kept for five minutes and then released, however many runs there were. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunCreateRequest } from "../../src/models/run.js";
import { startTestServer } from "../helpers/app.js";
import { readAll } from "../helpers/service.js";
import { allEvents } from "../helpers/sse.js";
import { graph as custom } from "../fixtures/graphs/custom.js";

const RUNS = 1000;
const AT_ONCE = 25;
const KEPT_MS = 5 * 60_000;
/** Interval of the cleanup, in ms. */
const LOOK_MS = 5_000;

// Only the clock of rows and maintenance is faked: sockets keep the real one.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

const resumable: RunCreateRequest = {
  assistant_id: "custom",
  input: { count: 2 },
  stream_mode: ["values", "custom"],
  on_disconnect: "continue",
};

it("a thousand resumable runs leave no frames behind", async () => {
  const server = await startTestServer({ graphs: { custom } });
  const { body: thread } = await server.request("POST", "/threads", {});
  const path = `/threads/${(thread as { thread_id: string }).thread_id}/runs`;
  const whole = await allEvents(await server.fetch("POST", `${path}/stream`, resumable));
  const { run_id } = whole[0]?.data as { run_id: string };

  const runs: string[] = [];
  const stream = async () => {
    const { run, frames } = await server.service.runs.streamStateless(resumable);
    runs.push(run.run_id);
    expect((await readAll({ frames })).at(-1)?.event).toBe("end");
  };
  for (let begun = 0; begun < RUNS; begun += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, stream));
  const follow = async (location: string) => {
    const response = await server.fetch("GET", location);
    return { status: response.status, events: response.ok ? await allEvents(response) : [] };
  };
  const names = whole.map(({ event }) => event);
  expect(names).toEqual(["metadata", "values", "custom", "custom", "values", "end"]);

  await vi.advanceTimersByTimeAsync(KEPT_MS - 2 * LOOK_MS);
  for (const id of [runs[0], runs.at(-1)]) {
    expect((await follow(`/runs/${id}/stream`)).events.map(({ event }) => event)).toEqual(names);
  }
  expect((await follow(`${path}/${run_id}/stream`)).events).toEqual(whole);

  await vi.advanceTimersByTimeAsync(4 * LOOK_MS);
  for (const id of runs)
    await expect(server.service.runs.joinStatelessStream(id)).rejects.toThrow("does not exist");
  expect((await follow(`/runs/${runs[0]}/stream`)).status).toBe(404);
  // The end of a run on a thread is still available from its row.
  const told = await follow(`${path}/${run_id}/stream`);
  expect(told.events.map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
  expect(told.events[1]?.data).toEqual(whole[4]?.data);
}, 180_000);
