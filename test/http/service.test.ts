/** End to end, from the socket to a graph. Every answer is validated against the OpenAPI document. */
import { describe, expect, it } from "vitest";
import { startTestServer, type Answer, type TestServer } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { allEvents, readEvents } from "../helpers/sse.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";

const graphs = { chat, fail, gate, hitl, subgraph };
const UNKNOWN_ID = "0197f0a0-0000-7000-8000-00000000dead";
const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hello" }] } };

/** Starts a server and returns a request function that validates the answers against the OpenAPI document. */
async function open(): Promise<{
  server: TestServer;
  ask: (request: string, body?: unknown) => Promise<Answer>;
}> {
  const server = await startTestServer({ graphs });
  const ask = async (request: string, body?: unknown) => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await server.request(method, path, body);
    expectDocumented(method, path, answer);
    return answer;
  };
  return { server, ask };
}

const field = (answer: Answer, name: string): unknown => (answer.body as Record<string, unknown>)[name];

async function newThread(ask: (request: string, body?: unknown) => Promise<Answer>): Promise<string> {
  return `/threads/${String(field(await ask("POST /threads", {}), "thread_id"))}`;
}

describe("a conversation", () => {
  it("every endpoint works on one thread", async () => {
    const { ask } = await open();
    const thread = await newThread(ask);
    const run = await ask(`POST ${thread}/runs`, hello);
    expect(run.body).toMatchObject({ status: "success", error: null, assistant_id: "chat" });
    expect(Number(run.headers.get("x-tokens-used"))).toBeGreaterThan(0);

    const state = await ask(`GET ${thread}/state`);
    const checkpoint = field(state, "checkpoint") as { checkpoint_id: string };
    expect((await ask(`GET ${thread}/state/${checkpoint.checkpoint_id}`)).body).toEqual(state.body);
    expect((await ask(`POST ${thread}/state/checkpoint`, checkpoint)).body).toEqual(state.body);
    expect((await ask(`POST ${thread}/state/checkpoint`, { checkpoint })).body).toEqual(state.body);
    const history = (await ask(`GET ${thread}/history?limit=2`)).body as unknown[];
    expect(history).toHaveLength(2);
    const earlier = (await ask(`GET ${thread}/history?before=${checkpoint.checkpoint_id}&limit=1`)).body;
    expect(earlier).toEqual([history[1]]);
    expect((await ask(`POST ${thread}/history`, { before: checkpoint, limit: 1 })).body).toEqual([
      history[1],
    ]);

    const location = String(run.headers.get("location"));
    expect((await ask(`GET ${location}`)).body).toEqual(run.body);
    expect((await ask(`GET ${thread}/runs?status=success`)).body).toEqual([run.body]);
    expect((await ask(`GET ${thread}/runs?status=error`)).body).toEqual([]);

    const patched = await ask(`PATCH ${thread}`, { metadata: { topic: "greeting" } });
    expect(patched.body).toMatchObject({ metadata: { topic: "greeting", graph_id: "chat" } });
    expect((await ask("POST /threads/count", { metadata: { topic: "greeting" } })).body).toBe(1);
    const found = await ask("POST /threads/search", { metadata: { topic: "greeting" } });
    expect(found.body).toHaveLength(1);
    expect(found.headers.get("x-pagination-total")).toBe("1");

    const copy = await ask(`POST ${thread}/copy`);
    expect(copy.body).toMatchObject({ metadata: { forked_from: thread.split("/")[2] } });
    const write = await ask(`POST ${thread}/state`, {
      values: { messages: [{ role: "user", content: "more" }] },
    });
    expect(field(write, "checkpoint")).toEqual(field(write, "configurable"));
    expect((await ask(`DELETE ${thread}`)).status).toBe(204);
    expect((await ask(`GET ${thread}`)).status).toBe(404);
    expect((await ask(`DELETE ${thread}`)).status).toBe(404);
  });

  it("an interrupted run resumes with the answer", async () => {
    const { ask } = await open();
    const thread = await newThread(ask);
    const asked = await ask(`POST ${thread}/runs`, { assistant_id: "hitl", input: { topic: "cats" } });
    expect(asked.body).toMatchObject({ status: "interrupted" });
    expect((await ask(`GET ${thread}`)).body).toMatchObject({ status: "interrupted" });
    expect(field(await ask(`GET ${thread}/state`), "interrupts")).toMatchObject([
      { value: { topic: "cats" } },
    ]);
    await ask(`POST ${thread}/runs`, { assistant_id: "hitl", command: { resume: "yes" } });
    const done = await ask(`GET ${thread}`);
    expect(done.body).toMatchObject({ status: "idle", values: { answer: "yes" } });
    expect(done.text).not.toContain("secret");
  });

  it("subgraph states are returned", async () => {
    const { ask } = await open();
    const thread = await newThread(ask);
    const input = { messages: [{ role: "user", content: "hi" }] };
    await ask(`POST ${thread}/runs`, { assistant_id: "subgraph", input, interrupt_before: ["child"] });
    expect(field(await ask(`GET ${thread}/state?subgraphs=true`), "next")).toEqual(["child"]);
    expect((await ask("GET /assistants/subgraph/graph?xray=1")).status).toBe(200);
    expect(Object.keys((await ask("GET /assistants/subgraph/subgraphs")).body as object)).toEqual(["child"]);
  });

  it("the error of a failed run is returned", async () => {
    const { ask } = await open();
    const thread = await newThread(ask);
    const run = await ask(`POST ${thread}/runs`, { assistant_id: "fail", input: { x: 0 } });
    expect(run.body).toMatchObject({ status: "error", error: expect.stringContaining("kaboom") as unknown });
    expect((await ask(`GET ${thread}`)).body).toMatchObject({ status: "error" });
    expect(field(await ask(`GET ${thread}/state`), "tasks")).toMatchObject([{ name: "bad" }]);
  });

  it("assistants are described", async () => {
    const { ask } = await open();
    const found = (await ask("POST /assistants/search", {})).body as { assistant_id: string }[];
    expect(found).toHaveLength(1);
    expect((await ask(`GET /assistants/${found[0]?.assistant_id}`)).body).toEqual(found[0]);
    expect((await ask("POST /assistants/count", {})).body).toBe(1);
    for (const part of ["schemas", "graph", "subgraphs"])
      expect((await ask(`GET /assistants/chat/${part}`)).status).toBe(200);
  });
});

describe("a streamed run", () => {
  it("the stream starts with metadata and ends with end", async () => {
    const { server, ask } = await open();
    const thread = await newThread(ask);
    const response = await server.fetch("POST", `${thread}/runs/stream`, {
      ...hello,
      stream_mode: ["values", "updates"],
    });
    const runPath = response.headers.get("content-location");
    const events = await allEvents(response);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => String(index)));
    expect(events[0]).toMatchObject({ event: "metadata" });
    expect(events.at(-1)).toMatchObject({
      event: "end",
      data: { status: "success", usage: expect.anything() as unknown },
    });
    expect((await ask(`GET ${runPath}`)).body).toMatchObject({ status: "success" });
  });

  it("the stream ends with error when the graph throws", async () => {
    const { server, ask } = await open();
    const thread = await newThread(ask);
    const response = await server.fetch("POST", `${thread}/runs/stream`, {
      assistant_id: "fail",
      input: { x: 0 },
    });
    expect((await allEvents(response)).at(-1)).toMatchObject({
      event: "error",
      data: { error: "RangeError", message: "kaboom" },
    });
  });

  it("a client disconnect interrupts the run", async () => {
    const { server, ask } = await open();
    const thread = await newThread(ask);
    const name = "http reader leaves";
    const response = await server.fetch("POST", `${thread}/runs/stream`, {
      assistant_id: "gate",
      input: { gate: name },
    });
    const events = readEvents(response);
    await events.next();
    await gateOf(name).entered;
    await events.return();
    await gateOf(name).aborted;
    const next = await ask(`POST ${thread}/runs`, hello);
    expect(next.body).toMatchObject({ status: "success" });
    const runs = (await ask(`GET ${thread}/runs`)).body as { status: string }[];
    expect(runs.map(({ status }) => status)).toEqual(["success", "interrupted"]);
  });
});

describe("rejected requests", () => {
  it.each([
    ["GET /threads/nope", 422, "invalid_request"],
    [`GET /threads/${UNKNOWN_ID}`, 404, "thread_not_found"],
    [`PATCH /threads/${UNKNOWN_ID}`, 404, "thread_not_found"],
    [`DELETE /threads/${UNKNOWN_ID}`, 404, "thread_not_found"],
    [`POST /threads/${UNKNOWN_ID}/copy`, 404, "thread_not_found"],
    [`GET /threads/${UNKNOWN_ID}/state`, 404, "thread_not_found"],
    [`GET /threads/${UNKNOWN_ID}/state/c`, 404, "thread_not_found"],
    [`POST /threads/${UNKNOWN_ID}/state`, 404, "thread_not_found"],
    [`POST /threads/${UNKNOWN_ID}/state/checkpoint`, 404, "thread_not_found"],
    [`GET /threads/${UNKNOWN_ID}/history`, 404, "thread_not_found"],
    [`POST /threads/${UNKNOWN_ID}/history`, 404, "thread_not_found"],
    [`GET /threads/${UNKNOWN_ID}/runs`, 404, "thread_not_found"],
    [`GET /threads/${UNKNOWN_ID}/runs/${UNKNOWN_ID}`, 404, undefined],
    ["GET /assistants/nope", 404, "assistant_not_found"],
    [`GET /assistants/${UNKNOWN_ID}/schemas`, 404, "assistant_not_found"],
    ["GET /assistants/nope/graph", 404, "assistant_not_found"],
    ["GET /assistants/nope/subgraphs", 404, "assistant_not_found"],
  ])("%s returns %i", async (request, status, code) => {
    const { ask } = await open();
    const answer = await ask(request);
    expect(answer.status).toBe(status);
    if (code) expect(answer.body).toMatchObject({ code });
  });

  it.each([
    [{ ...hello, assistant_id: "nope" }, 404, "assistant_not_found"],
    [{ ...hello, webhook: "https://example.com" }, 400, "unsupported_option"],
    [{ ...hello, after_seconds: 5 }, 400, "unsupported_option"],
  ])("a run with %j returns %i", async (body, status, code) => {
    const { ask } = await open();
    const thread = await newThread(ask);
    for (const path of ["runs", "runs/stream"]) {
      expect(await ask(`POST ${thread}/${path}`, body)).toMatchObject({ status, body: { code } });
    }
  });

  it("a busy thread returns 409 for reject, rollback and interrupt", async () => {
    const { server, ask } = await open();
    const thread = await newThread(ask);
    const name = "http busy";
    const first = server.fetch("POST", `${thread}/runs`, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    for (const multitask_strategy of ["reject", "rollback", "interrupt"]) {
      const answer = await ask(`POST ${thread}/runs`, { ...hello, multitask_strategy });
      expect(answer).toMatchObject({ status: 409, body: { code: "thread_busy" } });
    }
    expect((await ask(`POST ${thread}/state`, { values: {} })).status).toBe(409);
    gateOf(name).open();
    expect((await first).status).toBe(200);
  });

  it("an existing thread returns 409 under raise", async () => {
    const { ask } = await open();
    const thread = { thread_id: UNKNOWN_ID };
    await ask("POST /threads", thread);
    expect((await ask("POST /threads", thread)).status).toBe(409);
    expect((await ask("POST /threads", { ...thread, if_exists: "do_nothing" })).status).toBe(200);
  });
});
