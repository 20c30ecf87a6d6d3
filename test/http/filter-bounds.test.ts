/** Filters that are expensive to compare are rejected on every route, with the reason. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { cpuMs } from "../helpers/cpu-time.js";
import { expectDocumented } from "../helpers/documented.js";

const THREAD = "0197f0a0-0000-7000-8000-000000000009";
const LONG = Array.from({ length: 60_000 }, (_, index) => index);
const nested = (depth: number, breadth: number): object =>
  depth === 0
    ? {}
    : Object.fromEntries(
        Array.from({ length: breadth }, (_, index) => [`k${index}`, nested(depth - 1, breadth)]),
      );

const doors: [path: string, field: string][] = [
  ["/threads/search", "metadata"],
  ["/threads/search", "values"],
  ["/threads/count", "metadata"],
  ["/threads/count", "values"],
  ["/assistants/search", "metadata"],
  ["/assistants/count", "metadata"],
  [`/threads/${THREAD}/history`, "metadata"],
  ["/store/items/search", "filter"],
];

const tooLarge: [what: string, filter: object][] = [
  ["a long list", { list: LONG }],
  ["nested lists", { list: Array.from({ length: 40 }, () => LONG.slice(0, 40)) }],
  ["many keys", Object.fromEntries(LONG.slice(0, 101).map((key) => [`k${key}`, 1]))],
  ["nested objects", nested(3, 10)],
  ["a long string", { text: "x".repeat(64 * 1024 + 1) }],
  ["long keys", { ["x".repeat(40_000)]: { ["y".repeat(40_000)]: 1 } }],
];

async function open(): Promise<TestServer> {
  const server = await startTestServer({ graphs: { chat } });
  await server.request("POST", "/threads", { thread_id: THREAD, metadata: { list: LONG } });
  return server;
}

describe("an oversized filter", () => {
  it.each(doors)("%s rejects an oversized %s filter", async (path, field) => {
    const { request } = await open();
    for (const [what, filter] of tooLarge) {
      const answer = await request("POST", path, { [field]: filter });
      expect(answer.status, what).toBe(422);
      expect(answer.body, what).toMatchObject({
        code: "invalid_request",
        detail: [
          {
            loc: ["body", field],
            msg: expect.stringMatching(/may contain at most \d+ (values|characters)/) as string,
            type: "filter_too_large",
          },
        ],
      });
      expectDocumented("POST", path, answer);
    }
    const largest = { list: LONG.slice(0, 99) };
    expect((await request("POST", path, { [field]: largest })).status).toBe(200);
  });

  it("neither an oversized filter nor the largest accepted one blocks the event loop", async () => {
    const { request } = await open();
    for (const list of [LONG.toReversed(), LONG.slice(-99).toReversed()]) {
      const search = request("POST", "/threads/search", { metadata: { list } });
      let isOver = false;
      const searched = search.finally(() => (isOver = true));
      let longest = 0;
      while (!isOver) {
        const start = cpuMs();
        await nextTurn();
        longest = Math.max(longest, cpuMs() - start);
      }
      const { status, body } = await searched;
      expect(status === 422 || (body as unknown[]).length === 1).toBe(true);
      // In CPU time. Without the limit this took 23 s.
      expect(longest).toBeLessThan(2000);
    }
  });
});

describe("other lists of a search", () => {
  const id = "0197f0a0-0000-7000-8000-000000000001";

  it.each<[what: string, body: object, loc: (string | number)[]]>([
    ["ids", { ids: LONG.slice(0, 1001).map(() => id) }, ["body", "ids"]],
    [
      "the length of an extract path",
      { extract: { x: "values" + ".a".repeat(500) } },
      ["body", "extract", "x"],
    ],
    [
      "the number of extract paths",
      { extract: Object.fromEntries(LONG.slice(0, 11).map((n) => [n, "values"])) },
      ["body", "extract"],
    ],
  ])("a search limits %s", async (_what, body, loc) => {
    const { request } = await open();
    const answer = await request("POST", "/threads/search", body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc }] });
  });

  it("duplicate select fields are returned once", async () => {
    const { request } = await open();
    const select = LONG.map((index) => (index % 2 ? "thread_id" : "status"));
    const { body } = await request("POST", "/threads/search", { select });
    expect(body).toEqual([{ thread_id: THREAD, status: "idle" }]);
  });
});

describe("metadata of a thread", () => {
  const keys = (from: number, to: number) =>
    Object.fromEntries(LONG.slice(from, to).map((key) => [`k${key}`, key]));

  it("a thread accepts at most as many metadata keys as are searchable", async () => {
    const { request } = await open();
    const refused = {
      code: "invalid_request",
      detail: [{ loc: ["body", "metadata"], type: "too_many_keys" }],
    };
    expect((await request("POST", "/threads", { metadata: keys(0, 1001) })).body).toMatchObject(refused);
    expect((await request("POST", "/threads", { metadata: keys(0, 1000) })).status).toBe(200);
    const path = `/threads/${THREAD}`;
    expect((await request("PATCH", path, { metadata: keys(0, 999) })).status).toBe(200);
    expect((await request("PATCH", path, { metadata: keys(0, 999) })).status).toBe(200);
    expect((await request("PATCH", path, { metadata: keys(999, 1001) })).body).toMatchObject(refused);
    await request("POST", `${path}/runs`, { assistant_id: "chat", input: { messages: [] } });
    expect((await request("PATCH", path, { metadata: { k1: 2 } })).status).toBe(200);
    const { body } = await request("GET", path);
    expect(Object.keys((body as { metadata: object }).metadata)).toHaveLength(1003);
  });
});
