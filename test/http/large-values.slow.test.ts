/**
 * Lists longer than the maximum number of call arguments, in every field a client can send, and responses of
 * many megabytes that must not be buffered as a whole.
 */
import { once } from "node:events";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { serve, startTestServer } from "../helpers/app.js";
import { fakeService, someThread, THREAD_ID } from "../helpers/fake-service.js";
import { bytesInUse } from "../helpers/heap.js";
import { mute } from "../helpers/mute.js";
import { recordingLogger } from "../helpers/service.js";

const MB = 1024 * 1024;

const LONG = Array.from({ length: 150_000 }, (_, index) => index);
const THREAD = "0197f0a0-0000-7000-8000-000000000009";
/** A run has a thread of its own: the next one would load its list again. */
const RUNS = "/threads/{new}/runs";

const State = Annotation.Root({ ...MessagesAnnotation.spec, items: Annotation<unknown[]> });

/** Keeps `items` and ignores all other input. */
const graph = new StateGraph(State)
  .addNode("keep", () => ({}))
  .addEdge(START, "keep")
  .addEdge("keep", END)
  .compile({ name: "keep" });

const run = { assistant_id: "keep", input: { items: [1] }, if_not_exists: "create" };
const message = { role: "user", content: "hi", additional_kwargs: { list: LONG } };

const doors: [what: string, method: string, path: string, body: object][] = [
  ["metadata of a new thread", "POST", "/threads", { metadata: { list: LONG } }],
  ["metadata of a thread", "PATCH", `/threads/${THREAD}`, { metadata: { list: LONG } }],
  [
    "supersteps",
    "POST",
    "/threads",
    { supersteps: [{ updates: [{ values: { items: LONG }, as_node: "keep" }] }] },
  ],
  ["input", "POST", RUNS, { ...run, input: { items: LONG } }],
  ["a message", "POST", RUNS, { ...run, input: { messages: [message] } }],
  ["metadata of a run", "POST", RUNS, { ...run, metadata: { list: LONG } }],
  ["context", "POST", RUNS, { ...run, context: { list: LONG } }],
  ["configurable values", "POST", RUNS, { ...run, config: { configurable: { list: LONG } } }],
  ["a command", "POST", RUNS, { ...run, command: { update: { items: LONG } } }],
  ["a target", "POST", RUNS, { ...run, command: { goto: { node: "keep", input: { items: LONG } } } }],
  ["a state", "POST", `/threads/${THREAD}/state`, { values: { items: LONG } }],
  ["an item", "PUT", "/store/items", { namespace: ["a"], key: "k", value: { list: LONG } }],
];

it.each(["memory", "sqlite"])(
  "lists of 150,000 elements are stored on %s",
  { timeout: 120_000 },
  async (scheme) => {
    const { request } = await startTestServer({
      graphs: { keep: graph },
      settings: {
        checkpointer_scheme: scheme,
        ...(scheme === "sqlite" && { checkpointer_uri: ":memory:" }),
      },
    });
    await request("POST", "/threads", { thread_id: THREAD });
    for (const [what, method, path, body] of doors) {
      const answer = await request(method, path.replace("{new}", newId()), body);
      expect([200, 204], `${what}: ${answer.text.slice(0, 300)}`).toContain(answer.status);
      if (path.endsWith("/runs")) expect(answer.body, what).toMatchObject({ status: "success", error: null });
    }
    const thread = await request("GET", `/threads/${THREAD}`);
    const { metadata, values } = thread.body as { metadata: { list: number[] }; values: { items: number[] } };
    const item = await request("GET", "/store/items?namespace=a&key=k");
    const { value } = item.body as { value: { list: number[] } };
    for (const list of [metadata.list, values.items, value.list]) expect(String(list)).toBe(String(LONG));
  },
);

describe("unread responses", () => {
  const large = { ...someThread, values: { text: "x".repeat(20 * MB) } };
  const warned = (logger: ReturnType<typeof recordingLogger>, text: string) =>
    logger.of("warn").filter((message) => message.includes(text)).length;

  it(
    "the slowest clients are disconnected when unread data exceeds max_unread_bytes",
    { timeout: 60_000 },
    async () => {
      const logger = recordingLogger();
      const service = fakeService({
        logger,
        settings: { max_unread_bytes: 110 * MB },
        threads: { get: async () => ({ ...large }) },
      });
      const { url, request } = await serve(service);
      const before = await bytesInUse();
      for (let index = 0; index < 30; index += 1) {
        const socket = await mute(url, `/threads/${THREAD_ID}`);
        await once(socket, "readable");
        expect(warned(logger, "client disconnected")).toBe(Math.max(0, index - 4));
      }
      expect((await bytesInUse()) - before).toBeLessThan(140 * MB);
      // A client that reads gets the full response.
      const answer = await request("GET", `/threads/${THREAD_ID}`);
      expect((answer.body as typeof large).values.text).toHaveLength(20 * MB);
      expect(warned(logger, "slowest client disconnected")).toBe(26);
    },
  );
});

describe("a list of large items", () => {
  const COUNT = 60;
  const LARGE = "x".repeat(MB / 2);

  /** A server with `COUNT` states, runs, threads and items of half a MB each. */
  async function open() {
    const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
      .addNode("node", () => ({}))
      .addEdge(START, "node")
      .compile();
    const server = await startTestServer({ graphs: { graph } });
    const { threads, runs, store } = server.service;
    const { thread_id } = await threads.create({});
    for (let index = 0; index < COUNT; index += 1) {
      await runs.create(thread_id, { assistant_id: "graph", input: { text: index + LARGE } });
      await store.put({ namespace: ["large"], key: String(100 + index), value: { index, LARGE } });
      const other = await threads.create({});
      await runs.create(other.thread_id, { assistant_id: "graph", input: { text: index + LARGE } });
    }
    return { server, thread_id };
  }

  it("a list is streamed with back-pressure and complete when read", { timeout: 120_000 }, async () => {
    const { server, thread_id } = await open();
    const lists: [method: string, path: string, body?: string][] = [
      ["GET", `/threads/${thread_id}/runs?limit=${COUNT}`],
      ["GET", `/threads/${thread_id}/history?limit=${COUNT}`],
      ["POST", "/threads/search", JSON.stringify({ limit: COUNT })],
      ["POST", "/store/items/search", JSON.stringify({ limit: COUNT })],
    ];
    for (const [method, path, body] of lists) {
      const before = await bytesInUse();
      const socket = await mute(server.url, path, method, body);
      await once(socket, "readable");
      // The whole list is 30 MB, and twice as much when serialized.
      expect((await bytesInUse()) - before, path).toBeLessThan(17 * MB);
      socket.destroy();
      const { body: whole } = await server.request(method, path, body);
      const items = Array.isArray(whole) ? whole : (whole as { items: unknown[] }).items;
      expect(items, path).toHaveLength(COUNT);
    }
  });
});
