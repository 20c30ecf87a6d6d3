/** Frames buffered in memory for readers share one limit, regardless of how slowly they are read. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { mute } from "../helpers/mute.js";
import { recordingLogger } from "../helpers/service.js";
import { allEvents } from "../helpers/sse.js";

const MB = 1024 * 1024;
const LIMIT = 32 * MB;
/** More data than the OS buffers for a connection that is not read. */
const FRAMES = 12;

const State = Annotation.Root({ done: Annotation<boolean> });

/** A graph that writes large custom events. */
const flood = new StateGraph(State)
  .addNode("flood", (_state, { writer }) => {
    for (let index = 0; index < FRAMES; index += 1) writer?.({ index, text: "x".repeat(MB) });
    return { done: true };
  })
  .addEdge(START, "flood")
  .addEdge("flood", END)
  .compile();

const asked = { assistant_id: "flood", input: {}, stream_mode: ["custom", "values"] };

async function open() {
  const logger = recordingLogger();
  const settings = { max_kept_frame_bytes: LIMIT, metrics: true };
  const server = await startTestServer({ graphs: { flood }, logger, settings });
  const newThread = async () => (await server.service.threads.create({})).thread_id;
  /** Starts a streamed run whose client never reads. */
  const runUnread = async () => {
    const thread_id = await newThread();
    const body = JSON.stringify({ ...asked, on_disconnect: "continue" });
    await mute(server.url, `/threads/${thread_id}/runs/stream`, "POST", body);
    return thread_id;
  };
  return { server, logger, newThread, runUnread };
}

/** Waits for the run of a thread to end and returns it. */
async function ended({ service }: TestServer, threadId: string): Promise<Run> {
  const list = () => service.runs.list(threadId, {});
  await expect.poll(async () => (await list())[0]?.status).toMatch(/^(?!pending|running)/);
  return (await list())[0] as Run;
}

it("unread streams buffer at most the configured bytes, and their runs succeed", async () => {
  const { server, logger, newThread, runUnread } = await open();
  let most = 0;
  const unread = [];
  for (let index = 0; index < 12; index += 1) {
    unread.push(await runUnread());
    most = Math.max(most, server.service.keptFrameBytes);
  }
  const runs = [];
  for (const threadId of unread) {
    runs.push(await ended(server, threadId));
    most = Math.max(most, server.service.keptFrameBytes);
  }
  expect(runs.map(({ status }) => status)).toEqual(unread.map(() => "success"));
  expect(most).toBeGreaterThan(LIMIT / 2);
  expect(most).toBeLessThanOrEqual(LIMIT);
  const { text } = await server.request("GET", "/metrics");
  const figure = /^graph_serve_kept_frame_bytes (\d+)$/m.exec(text)?.[1];
  expect(Number(figure)).toBe(server.service.keptFrameBytes);
  expect(logger.of("warn")).toContain(
    "frames were dropped before slow clients had read them: those clients get a gap",
  );

  // A client that reads still gets every frame.
  const stream = await server.fetch("POST", `/threads/${await newThread()}/runs/stream`, asked);
  const events = await allEvents(stream);
  expect(events.filter(({ event }) => event === "custom")).toHaveLength(FRAMES);
  expect(events.at(-1)?.event).toBe("end");

  // A late reader gets a summary if the frames were dropped, never a stream with gaps.
  const [first] = runs as [Run];
  const path = `/threads/${first.thread_id}/runs/${first.run_id}/stream`;
  const late = await allEvents(await server.fetch("GET", path));
  expect(late.map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
});

it("a slow client whose frames were dropped is disconnected and gets a summary on reconnect", async () => {
  const { server, newThread, runUnread } = await open();
  const threadId = await newThread();
  const stream = await server.fetch("POST", `/threads/${threadId}/runs/stream`, {
    ...asked,
    on_disconnect: "continue",
  });
  const run = await ended(server, threadId);
  for (let index = 0; index < 6; index += 1) await ended(server, await runUnread());
  const read = await stream.text().catch((error: unknown) => error);
  expect(read).toBeInstanceOf(Error);
  const again = await server.fetch("GET", `/threads/${threadId}/runs/${run.run_id}/stream`, undefined, {
    headers: { "Last-Event-ID": "1" },
  });
  expect((await allEvents(again)).map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
});
