/** The bytes of event streams, and what the SDK parses from them. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { HEARTBEAT_MS } from "../../src/http/core/event-stream.js";
import { gateOf } from "../fixtures/gates.js";
import { collect, eventsOf, openClient, says } from "./open.js";

afterEach(() => {
  vi.useRealTimers();
});

interface Frame {
  id?: string;
  event?: string;
  data?: string;
}

/** The frames in the text: blocks of `field: value` lines, each followed by one blank line. */
function framesOf(text: string): Frame[] {
  expect(text.endsWith("\n\n")).toBe(true);
  const blocks = text.slice(0, -2).split("\n\n");
  return blocks.map((block) =>
    Object.fromEntries(
      block
        .split("\n")
        .filter((line) => !line.startsWith(":"))
        .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
    ),
  );
}

const ALL_MODES = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
];

describe("frames of a stream", () => {
  it.each([
    ["chat", says("tea time"), "end"],
    ["subgraph", says("hi"), "end"],
    ["steps", {}, "end"],
    ["functional", { n: 2 }, "end"],
    ["fail", { x: 0 }, "error"],
  ])("of %s have consecutive ids and single-line fields", async (assistant_id, input, last) => {
    const { server, client } = await openClient();
    const { thread_id } = await client.threads.create();
    const path = `/threads/${thread_id}/runs/stream`;
    const body = { assistant_id, input, stream_mode: ALL_MODES, stream_subgraphs: true };
    const { text, headers } = await server.request("POST", path, body);
    const frames = framesOf(text);
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => String(index)));
    for (const frame of frames) {
      expect(Object.keys(frame)).toEqual(["id", "event", "data"]);
      expect(() => JSON.parse(frame.data ?? "") as unknown).not.toThrow();
    }
    const events = frames.map(({ event }) => event);
    expect(events[0]).toBe("metadata");
    expect(events.filter((event) => event === "end" || event === "error")).toEqual([last]);
    expect(events.at(-1)).toBe(last);
    const { run_id } = JSON.parse(frames[0]?.data ?? "") as { run_id: string };
    expect(headers.get("content-location")).toBe(`/threads/${thread_id}/runs/${run_id}`);
    expect(headers.get("location")).toBeNull();
  });
});

describe("a silent stream", () => {
  /** Only the server's heartbeat uses the fake clock: sockets and the client keep the real one. */
  const fakeHeartbeat = () => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });

  it("sends heartbeats as single comment lines", async () => {
    fakeHeartbeat();
    const { server, client } = await openClient();
    const { thread_id } = await client.threads.create();
    const body = { assistant_id: "gate", input: { gate: "raw beats" }, stream_mode: "updates" };
    const answer = server.request("POST", `/threads/${thread_id}/runs/stream`, body);
    await gateOf("raw beats").entered;
    await vi.advanceTimersByTimeAsync(3 * HEARTBEAT_MS);
    gateOf("raw beats").open();
    const { text } = await answer;
    expect(text.match(/^: heartbeat$/gm)).toHaveLength(3);
    expect(text).not.toContain(": heartbeat\n\n");
    expect(framesOf(text).map(({ event }) => event)).toEqual([
      "metadata",
      "updates",
      "updates",
      "updates",
      "end",
    ]);
  });

  it("sends no empty events to SDK clients", async () => {
    fakeHeartbeat();
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const request = { input: { gate: "sdk beats" }, streamMode: ["values"] as "values"[] };
    const chunks = collect(client.runs.stream(thread_id, "gate", request));
    await gateOf("sdk beats").entered;
    await vi.advanceTimersByTimeAsync(3 * HEARTBEAT_MS);
    gateOf("sdk beats").open();
    expect(eventsOf(await chunks)).toEqual(["metadata", "values", "values", "values", "values", "end"]);
  });
});
