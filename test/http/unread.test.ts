/** Responses that clients do not read: the buffered data is limited in size and in time. */
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ResponseWriter, WriteBudget } from "../../src/http/core/response-writer.js";
import { silentLogger } from "../../src/support/log.js";
import type { ThreadState } from "../../src/models/state.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { serve, startTestServer } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { fakeService, someState, someThread, THREAD_ID } from "../helpers/fake-service.js";
import { bytesInUse } from "../helpers/heap.js";
import { mute } from "../helpers/mute.js";
import { recordingLogger } from "../helpers/service.js";

const MB = 1024 * 1024;

afterEach(() => {
  vi.useRealTimers();
});

const large = { ...someThread, values: { text: "x".repeat(20 * MB) } };
const warned = (logger: ReturnType<typeof recordingLogger>, text: string) =>
  logger.of("warn").filter((message) => message.includes(text)).length;

describe("a client that reads nothing", () => {
  it.each<[what: string, path: string]>([
    ["a large response", `/threads/${THREAD_ID}`],
    ["a list", `/threads/${THREAD_ID}/history`],
  ])("the client is disconnected after unread_timeout_seconds: %s", async (_what, path) => {
    const logger = recordingLogger();
    const walk = async function* () {
      for (;;) yield someState;
    };
    const service = fakeService({
      logger,
      settings: { unread_timeout_seconds: 0.3 },
      threads: { get: async () => large },
      state: { walkSelected: walk },
    });
    const { url } = await serve(service);
    const socket = await mute(url, path);
    await expect.poll(() => warned(logger, "it read nothing for 0.3 s")).toBe(1);
    await once(socket.resume(), "close");
    expect(socket.bytesRead).toBeLessThan(20 * MB);
    expect(logger.lines.find(({ level }) => level === "warn")?.fields).toMatchObject({
      request_id: expect.stringMatching(/./) as string,
    });
  });
});

describe("a streamed list", () => {
  const state = (id: number, size: number): ThreadState => ({
    ...someState,
    values: { id, text: "ä".repeat(size) },
  });
  const path = `/threads/${THREAD_ID}/history`;

  it.each([
    ["no items", 0, 0, true],
    ["a few items", 3, 100, true],
    ["many items", 200, 10_000, false],
    ["more items than are buffered", 300, 100_000, false],
  ])(
    "a list of %s is valid JSON with all items",
    { timeout: 60_000 },
    async (_what, count, size, isWhole) => {
      const walk = async function* () {
        for (let id = 0; id < count; id += 1) yield state(id, size);
      };
      const { fetch } = await serve(fakeService({ state: { walkSelected: walk } }));
      const response = await fetch("GET", path);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(response.headers.has("content-length")).toBe(isWhole);
      const text = await response.text();
      expect(text.length).toBe(
        JSON.stringify(Array.from({ length: count }, (_, id) => state(id, 0))).length + count * size,
      );
      expect((JSON.parse(text) as ThreadState[]).map(({ values }) => (values as { id: number }).id)).toEqual(
        Array.from({ length: count }, (_, id) => id),
      );
    },
  );

  it("items are read with back-pressure", async () => {
    let read = 0;
    const left = deferred();
    const walk = async function* () {
      try {
        for (;;) yield state(read++, MB);
      } finally {
        left.resolve();
      }
    };
    const { url } = await serve(fakeService({ state: { walkSelected: walk } }));
    const before = await bytesInUse();
    const socket = await mute(url, path);
    // The OS buffers a few megabytes per connection.
    await expect.poll(() => read).toBeGreaterThan(0);
    expect(read).toBeLessThan(30);
    expect((await bytesInUse()) - before).toBeLessThan(40 * MB);
    socket.destroy();
    await left.promise;
  });

  it("a failing list returns 500, or breaks the connection once sending has begun", async () => {
    const failing = (after: number) =>
      async function* () {
        for (let id = 0; id < after; id += 1) yield state(id, 100_000);
        throw new Error("secret");
      };
    for (const after of [0, 2]) {
      const { request } = await serve(fakeService({ state: { walkSelected: failing(after) } }));
      const { status, text } = await request("GET", path);
      expect(status).toBe(500);
      expect(text).not.toContain("secret");
    }
    const { fetch } = await serve(fakeService({ state: { walkSelected: failing(200) } }));
    const response = await fetch("GET", path);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });
});

describe("a rejected list request", () => {
  it("the request returns its own error", async () => {
    const { request } = await startTestServer({ graphs: { graph: steps } });
    expect((await request("GET", `/threads/${THREAD_ID}/runs`)).status).toBe(404);
    const refused = await request("POST", "/store/items/search", { namespace_prefix: ["a.b"] });
    expect(refused).toMatchObject({ status: 422, body: { code: "invalid_request" } });
    expect((await request("POST", "/store/items/search", {})).text).toBe('{"items":[]}');
  });
});

/** A sink that accepts one chunk per call of `take`. */
class SlowReader extends Writable {
  #next: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    this.#next = done;
  }

  take(): void {
    this.#next?.();
  }
}

describe("the write budget", () => {
  const limits = { max_unread_bytes: 10 * MB, unread_timeout_seconds: 30 };

  it("data may stay unread as long as the client keeps reading", async () => {
    vi.useFakeTimers();
    const unread = new WriteBudget(limits, silentLogger);
    const out = new SlowReader();
    const written = new ResponseWriter(unread, out).write(Buffer.alloc(3 * MB));
    for (let slice = 0; slice < 12; slice += 1) {
      await vi.advanceTimersByTimeAsync(29_000);
      expect(unread.bytes).toBe(3 * MB);
      out.take();
    }
    expect(await written).toBe(true);
    expect(unread.bytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("bytes shared by several readers count once and are freed with the last reader", async () => {
    const unread = new WriteBudget(limits, silentLogger);
    const bytes = Buffer.alloc(4 * MB);
    const outs = [new SlowReader(), new SlowReader(), new SlowReader()];
    const written = outs.map((out) => new ResponseWriter(unread, out).write(bytes));
    expect(unread.bytes).toBe(4 * MB);
    outs[0]?.destroy();
    outs[1]?.destroy();
    const first = written.slice(0, 2).map((one) => Promise.resolve(one));
    expect(await Promise.all(first)).toEqual([false, false]);
    expect(unread.bytes).toBe(4 * MB);
    outs[2]?.destroy();
    expect(await written[2]).toBe(false);
    expect(unread.bytes).toBe(0);
  });

  it("the client idle for longest is evicted, and a single response may exceed the limit", async () => {
    const logger = recordingLogger();
    const unread = new WriteBudget(limits, logger);
    const [first, second, third] = [new SlowReader(), new SlowReader(), new SlowReader()];
    const write = (out: Writable, size: number, name: string) =>
      new ResponseWriter(unread, out, { name }).write(Buffer.alloc(size));
    void write(first, 4 * MB, "first");
    void write(second, 4 * MB, "second");
    first.take();
    await new Promise(setImmediate);
    void write(third, 4 * MB, "third");
    expect([first.destroyed, second.destroyed, third.destroyed]).toEqual([false, true, false]);
    void write(second, MB, "gone");
    const giant = new SlowReader();
    void write(giant, 100 * MB, "giant");
    expect([first.destroyed, third.destroyed, giant.destroyed]).toEqual([true, true, false]);
    expect(logger.lines.map(({ fields }) => (fields as { name: string }).name)).toEqual([
      "second",
      "first",
      "third",
    ]);
    giant.destroy();
  });

  it("the last bytes of a response time out as well", async () => {
    vi.useFakeTimers();
    const logger = recordingLogger();
    const unread = new WriteBudget(limits, logger);
    const out = new SlowReader();
    new ResponseWriter(unread, out).end("a small answer");
    expect(unread.bytes).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(out.destroyed).toBe(true);
    expect(unread.bytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    const read = new PassThrough().resume();
    new ResponseWriter(unread, read).end("a small answer");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(logger.lines).toHaveLength(1);
  });
});
