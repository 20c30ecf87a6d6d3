import { PassThrough, Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createParser } from "eventsource-parser";
import { bytesOf } from "../../src/http/core/frame-bytes.js";
import { HEARTBEAT_MS, pumpFrames } from "../../src/http/core/event-stream.js";
import { WriteBudget } from "../../src/http/core/response-writer.js";
import { silentLogger } from "../../src/support/log.js";
import { type RunFrame, FramesLostError } from "../../src/models/run-stream.js";
import { serve } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { fakeService, RUN_ID, someStream, THREAD_ID } from "../helpers/fake-service.js";
import { allEvents, readEvents } from "../helpers/sse.js";

const path = `/threads/${THREAD_ID}/runs/stream`;
const body = { assistant_id: "agent" };
const frame = (id: number, event: string, data: unknown = {}): RunFrame => ({
  id,
  event,
  data: JSON.stringify(data),
});

const encoded = (frames: readonly RunFrame[]): string => bytesOf(frames).toString();

const STALL_MS = 30_000;
const unreadOf = (logger = silentLogger) =>
  new WriteBudget({ max_unread_bytes: 2 ** 20, unread_timeout_seconds: STALL_MS / 1000 }, logger);

afterEach(() => {
  vi.useRealTimers();
});

/** Parses a string with a standard event stream parser. */
function parsed(text: string): { id?: string; event?: string; data: string }[] {
  const events: { id?: string; event?: string; data: string }[] = [];
  createParser({ onEvent: ({ id, event, data }) => events.push({ id, event, data }) }).feed(text);
  return events;
}

describe("encoded frames", () => {
  it("a frame has id, event and data lines", () => {
    expect(encoded([frame(0, "values", { a: 1 })])).toBe('id: 0\nevent: values\ndata: {"a":1}\n\n');
  });

  it("frames of a batch follow each other", () => {
    const batch = [frame(0, "metadata"), frame(1, "values|child:1"), frame(2, "end")];
    expect(parsed(encoded(batch)).map(({ id, event }) => [id, event])).toEqual([
      ["0", "metadata"],
      ["1", "values|child:1"],
      ["2", "end"],
    ]);
  });

  it.each(["\n", "\r", "\r\n", "\n\n", "\u2028", "\u2029", "\u0085", "\0"])(
    "%j in an event name cannot inject a frame",
    (end) => {
      const text = encoded([frame(0, `custom${end}data: {}${end}${end}event: end`)]);
      expect(parsed(text)).toHaveLength(1);
      expect(text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)).toHaveLength(5);
    },
  );

  it.each(["\n", "\r", "\u2028", "\u2029", "\u0085"])("%j in data cannot inject a frame", (end) => {
    const data = `{"a":${end}"x"}`.replace(/"x"/, /\s/.test(end) && end < "\u007f" ? '"x"' : `"x${end}y"`);
    const valid = end < "\u007f" ? data : data.replace(end, "");
    const text = encoded([{ id: 0, event: "custom", data: valid }]);
    expect(text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)).toHaveLength(5);
    expect(JSON.parse(parsed(text)[0]?.data ?? "")).toEqual(JSON.parse(valid));
  });
});

describe("encoded bytes", () => {
  it("bytes are encoded once for readers at the same frame", () => {
    const small = frame(0, "messages", { a: 1 });
    const large = frame(1, "values", { a: "x".repeat(100_000) });
    const bytes = bytesOf([small]);
    expect(bytes.toString()).toBe('id: 0\nevent: messages\ndata: {"a":1}\n\n');
    expect(bytesOf([small])).toBe(bytes);
    const held = bytesOf([large]);
    expect(bytesOf([frame(2, "end")])).not.toBe(bytes);
    expect(bytesOf([large])).toBe(held);
    expect(held.toString()).toBe(encoded([{ ...large }]));
    expect(encoded([small, large])).toBe(encoded([small]) + encoded([large]));
  });
});

describe("an event stream", () => {
  it("the stream has its headers and frames", async () => {
    const frames = [
      [frame(0, "metadata", { run_id: RUN_ID })],
      [frame(1, "values", { a: 1 }), frame(2, "end")],
    ];
    const { fetch } = await serve(fakeService({ runs: { stream: async () => someStream(frames) } }));
    const response = await fetch("POST", path, body);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "content-location": `/threads/${THREAD_ID}/runs/${RUN_ID}`,
    });
    expect(response.headers.has("location")).toBe(false);
    expect(await allEvents(response)).toEqual([
      { id: "0", event: "metadata", data: { run_id: RUN_ID } },
      { id: "1", event: "values", data: { a: 1 } },
      { id: "2", event: "end", data: {} },
    ]);
  });

  it("headers are sent before the first frame", async () => {
    const gate = deferred();
    const frames = (async function* () {
      await gate.promise;
      yield [frame(0, "end")];
    })();
    const { fetch } = await serve(fakeService({ runs: { stream: async () => someStream(frames) } }));
    const response = await fetch("POST", path, body);
    expect(response.status).toBe(200);
    gate.resolve();
    expect(await allEvents(response)).toHaveLength(1);
  });

  it("a stream read to its end reports no disconnect", async () => {
    const stream = someStream([[frame(0, "end")]]);
    const server = await serve(fakeService({ runs: { stream: async () => stream } }));
    await allEvents(await server.fetch("POST", path, body));
    await server.close();
    expect(stream.disconnects).toBe(0);
  });

  it("a stream reports when its client disconnects", async () => {
    const left = deferred();
    const frames = (async function* () {
      yield [frame(0, "metadata")];
      await left.promise;
    })();
    const stream = { ...someStream(frames), disconnect: vi.fn(() => left.resolve()) };
    const { fetch } = await serve(fakeService({ runs: { stream: async () => stream } }));
    const events = readEvents(await fetch("POST", path, body));
    await events.next();
    await events.return();
    await left.promise;
    expect(stream.disconnect).toHaveBeenCalledOnce();
  });

  it("a stream with lost frames closes the connection", async () => {
    const frames = (async function* () {
      yield [frame(0, "metadata"), frame(1, "values")];
      throw new FramesLostError();
    })();
    const { fetch } = await serve(fakeService({ runs: { stream: async () => someStream(frames) } }));
    await expect(fetch("POST", path, body).then(allEvents)).rejects.toThrow();
  });

  it("a failing stream ends with an error frame", async () => {
    const error = vi.fn();
    const frames = (async function* () {
      yield [frame(0, "metadata")];
      throw new Error("secret /home/path");
    })();
    const logger = { ...silentLogger, error };
    const { fetch } = await serve(fakeService({ logger, runs: { stream: async () => someStream(frames) } }));
    const events = await allEvents(await fetch("POST", path, body));
    expect(events.at(-1)).toMatchObject({
      event: "error",
      data: { error: "internal_error", message: "internal error" },
    });
    expect(JSON.stringify(events)).not.toContain("secret");
    expect(error).toHaveBeenCalledOnce();
  });
});

describe("heartbeats", () => {
  it("a heartbeat is sent every five seconds between frames", async () => {
    vi.useFakeTimers();
    const out = new PassThrough({ encoding: "utf8" });
    const gate = deferred();
    const frames = (async function* () {
      yield [frame(0, "metadata")];
      await gate.promise;
      yield [frame(1, "end")];
    })();
    const done = pumpFrames(out, someStream(frames), unreadOf(), silentLogger);
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
    gate.resolve();
    await done;
    const text = String(out.read());
    expect(text).toBe(
      "id: 0\nevent: metadata\ndata: {}\n\n: heartbeat\n: heartbeat\nid: 1\nevent: end\ndata: {}\n\n",
    );
    expect(parsed(text)).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("disconnected readers", () => {
  it("a disconnected reader gets no heartbeat", async () => {
    vi.useFakeTimers();
    const out = new PassThrough();
    const failed = vi.fn();
    out.on("error", failed);
    const gate = deferred();
    const frames = (async function* () {
      yield [frame(0, "metadata")];
      await gate.promise;
      throw new Error("late");
    })();
    const done = pumpFrames(out, someStream(frames), unreadOf(), silentLogger);
    await vi.advanceTimersByTimeAsync(1);
    out.destroy();
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS);
    gate.resolve();
    await done;
    expect(failed).not.toHaveBeenCalled();
  });
});

/** A sink that accepts one chunk per call of `take`. */
class SlowReader extends Writable {
  taken = 0;
  #next: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    this.taken++;
    this.#next = done;
  }

  take(): void {
    this.#next?.();
  }
}

function* endless(counter: { made: number }): Generator<readonly RunFrame[]> {
  for (;;) yield [frame(counter.made++, "values")];
}

describe("slow readers", () => {
  it("a slow reader applies back-pressure", async () => {
    vi.useFakeTimers();
    const out = new SlowReader();
    const counter = { made: 0 };
    const done = pumpFrames(out, someStream(endless(counter)), unreadOf(), silentLogger);
    await vi.advanceTimersByTimeAsync(STALL_MS / 2);
    expect(counter.made).toBe(1);
    out.take();
    await vi.advanceTimersByTimeAsync(STALL_MS / 2);
    expect(counter.made).toBe(2);
    out.destroy();
    await done;
  });

  it("a stalled reader is disconnected", async () => {
    vi.useFakeTimers();
    const out = new SlowReader();
    const warn = vi.fn();
    const stream = someStream(endless({ made: 0 }));
    const done = pumpFrames(out, stream, unreadOf({ ...silentLogger, warn }), silentLogger);
    await vi.advanceTimersByTimeAsync(STALL_MS - 1);
    expect(out.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await done;
    expect(out.destroyed).toBe(true);
    expect(stream.disconnects).toBe(1);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ run_id: RUN_ID }),
      expect.any(String),
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a reader that has already disconnected gets nothing", async () => {
    const out = new PassThrough();
    out.destroy();
    const stream = someStream([[frame(0, "end")]]);
    await pumpFrames(out, stream, unreadOf(), silentLogger);
    expect(stream.disconnects).toBe(1);
  });
});
