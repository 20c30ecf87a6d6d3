/** Readers of an ended stream get the remaining frames, then a status that stops reconnecting. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer, TestServer } from "../helpers/app.js";
import { allEvents } from "../helpers/sse.js";
import { collect, eventsOf, openClient, says } from "./open.js";
import { mount, textOf } from "./mount.js";

// The SDK also logs every error to the console.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

/** Reads like an EventSource: reconnects with the last id after each end until the status is not 200. */
async function eventSource(server: TestServer, path: string, lastEventId = "") {
  const seen: string[] = [];
  for (let requests = 1; requests <= 10; requests += 1) {
    const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
    const response = await server.fetch("GET", path, undefined, { headers });
    if (response.status !== 200) return { seen, requests, status: response.status };
    for (const { id, event } of await allEvents(response)) {
      seen.push(event ?? "");
      lastEventId = id ?? lastEventId;
    }
  }
  throw new Error("the reader reconnects forever");
}

const idOf = (answer: Answer) => (answer.body as { run_id: string }).run_id;

async function open() {
  const opened = await openClient();
  const { server, client } = opened;
  const { thread_id } = await client.threads.create();
  const post = (path: string, body: object, headers?: Record<string, string>) =>
    server.request("POST", path, { stream_mode: "updates", ...body }, headers);
  const async_ = { prefer: "respond-async" };
  return {
    ...opened,
    thread_id,
    /** A run whose frames are stored. */
    followed: async (assistant_id: string, input: object) => {
      const run_id = idOf(await post(`/threads/${thread_id}/runs`, { assistant_id, input }, async_));
      await client.runs.join(thread_id, run_id);
      return run_id;
    },
    /** A run without stored frames. */
    plain: async (assistant_id: string, input: object) =>
      idOf(await post(`/threads/${thread_id}/runs`, { assistant_id, input })),
    stateless: async () => idOf(await post("/runs", { assistant_id: "chat", input: says("hi") })),
  };
}

describe("an EventSource on an ended run", () => {
  it.each([
    ["chat", says("hi"), ["metadata", "updates", "end"]],
    ["fail", { x: 0 }, ["metadata", "updates", "error"]],
  ])("receives the frames of %s once and stops reconnecting", async (graph, input, frames) => {
    const { server, thread_id, followed } = await open();
    const path = `/threads/${thread_id}/runs/${await followed(graph, input)}/stream`;
    expect(await eventSource(server, path)).toEqual({ seen: frames, requests: 2, status: 204 });
  });

  it("receives the summary of a run without stored frames once and stops reconnecting", async () => {
    const { server, thread_id, plain } = await open();
    const ended = `/threads/${thread_id}/runs/${await plain("chat", says("hi"))}/stream`;
    expect(await eventSource(server, ended)).toEqual({
      seen: ["metadata", "values", "end"],
      requests: 2,
      status: 204,
    });
    const failed = `/threads/${thread_id}/runs/${await plain("fail", { x: 0 })}/stream`;
    expect((await eventSource(server, failed)).seen).toEqual(["metadata", "error"]);
  });

  it("receives a stateless run once and stops reconnecting", async () => {
    const { server, stateless } = await open();
    const path = `/runs/${await stateless()}/stream`;
    expect(await eventSource(server, path)).toEqual({
      seen: ["metadata", "updates", "end"],
      requests: 2,
      status: 204,
    });
  });

  it("stops reconnecting when it selects few stream modes", async () => {
    const { server, thread_id, followed } = await open();
    const path = `/threads/${thread_id}/runs/${await followed("chat", says("hi"))}/stream`;
    expect(await eventSource(server, `${path}?stream_mode=custom`)).toMatchObject({
      seen: ["metadata", "end"],
      requests: 2,
    });
  });
});

describe("a stream without remaining frames", () => {
  it("has the type text/event-stream for every client", async () => {
    const { server, thread_id, followed } = await open();
    const path = `/threads/${thread_id}/runs/${await followed("chat", says("hi"))}/stream`;
    const last = (await allEvents(await server.fetch("GET", path))).at(-1)?.id ?? "";
    const ask = (accept: string) => server.request("GET", path, undefined, { accept, "last-event-id": last });
    for (const [accept, status] of [
      ["*/*", 200],
      ["text/event-stream", 204],
      ["text/event-stream, */*;q=0.1", 204],
    ] as const) {
      const answer = await ask(accept);
      expect(answer).toMatchObject({ status, text: "" });
      expect(answer.headers.get("content-type")).toBe("text/event-stream");
    }
  });

  it("is an empty stream for the SDK", async () => {
    const { client, server, thread_id, followed, stateless } = await open();
    const run = await followed("chat", says("hi"));
    const chunks = await collect(client.runs.joinStream(thread_id, run, { lastEventId: "-1" }));
    expect(eventsOf(chunks)).toEqual(["metadata", "updates", "end"]);
    const lastEventId = chunks.at(-1)?.id;
    expect(await collect(client.runs.joinStream(thread_id, run, { lastEventId }))).toEqual([]);
    const alone = await stateless();
    const [, , end] = await allEvents(await server.fetch("GET", `/runs/${alone}/stream`));
    expect(await collect(client.runs.joinStream(null, alone, { lastEventId: end?.id }))).toEqual([]);
  });

  it("does not change a React component", async () => {
    const { client, server, thread_id, followed } = await open();
    const run = await followed("chat", says("hi"));
    const chunks = await collect(client.runs.joinStream(thread_id, run, { lastEventId: "-1" }));
    const errors: unknown[] = [];
    const view = await mount({
      apiUrl: server.url,
      assistantId: "chat",
      threadId: thread_id,
      fetchStateHistory: true,
      onError: (error: unknown) => errors.push(error),
    });
    await view.until(({ messages }) => messages.length === 2);
    await view.stream.joinStream(run, chunks.at(-1)?.id);
    await view.until(({ isLoading }) => !isLoading);
    expect(view.stream.messages.map(textOf)).toEqual(["hi", "You said: hi"]);
    expect({ errors, error: view.stream.error }).toEqual({ errors: [], error: undefined });
  });
});
