/** The settings mount_prefix and configurable_headers, also from a langgraph.json. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import WebSocket from "ws";
import type { Settings } from "../../src/config/settings.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";

const input = { messages: [{ role: "user", content: "tea" }] };

/** Returns the strings in its `configurable` whose keys are header names, and runs of its own server. */
const echo = new StateGraph(
  Annotation.Root({ seen: Annotation<Record<string, unknown>>, threads: Annotation<number> }),
)
  .addNode("read", async (_state, { configurable = {} }) => {
    const seen = Object.entries(configurable).filter(([key]) =>
      /^(x-|user-agent$|authorization$|plain$)/.test(key),
    );
    return { seen: Object.fromEntries(seen), threads: await new Client().threads.count() };
  })
  .addEdge(START, "read")
  .addEdge("read", END)
  .compile();

const start = (settings: Partial<Settings>) => startTestServer({ graphs: { chat, echo }, settings });

describe("mount_prefix", () => {
  it("the SDK, streams and reconnects work below the prefix", async () => {
    const { url, port } = await start({ mount_prefix: "/team/agents" });
    expect(url).toBe(`http://127.0.0.1:${port}/team/agents`);
    const client = new Client({ apiUrl: url });
    const { thread_id } = await client.threads.create();
    const modes: string[] = [];
    for await (const { event } of client.runs.stream(thread_id, "chat", { input, onDisconnect: "continue" }))
      modes.push(event);
    expect(modes).toEqual(expect.arrayContaining(["metadata", "values", "end"]));
    const [run] = await client.runs.list(thread_id);
    const joined: string[] = [];
    for await (const { event } of client.runs.joinStream(thread_id, run?.run_id ?? "", { lastEventId: "-1" }))
      joined.push(event);
    expect(joined).toEqual(modes);
  });

  it("a client without a URL in a graph reaches its own server", async () => {
    const { url } = await start({ mount_prefix: "/agents" });
    const client = new Client({ apiUrl: url });
    await client.threads.create();
    expect(await client.runs.wait(null, "echo", { input: {} })).toMatchObject({ threads: 2 });
  });

  it("only health checks are served without the prefix", async () => {
    const { port, request } = await start({ mount_prefix: "/agents", api_keys: ["a-key-of-eight"] });
    const root = `http://127.0.0.1:${port}`;
    for (const path of ["/ok", "/ready"]) expect((await fetch(root + path)).status).toBe(200);
    for (const path of ["/threads/search", "/info", "/AGENTS/info", "/agentsx/info", "/agents/../info"]) {
      const response = await fetch(root + path, { headers: { "x-api-key": "a-key-of-eight" } });
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect(await (await fetch(`${root}/info`)).json()).toEqual({
      detail: "route GET /info does not exist: this server serves only paths below /agents",
      code: "route_not_found",
    });
    expect((await request("POST", "/threads/search", {})).status).toBe(401);
  });
});

const HEADERS = {
  "x-org": "acme",
  "X-Feature-Tea": "on",
  "x-secret": "no",
  authorization: "Bearer token-of-the-user",
  plain: "p",
};

describe("configurable_headers", () => {
  const of = (client: Client) => client.runs.wait(null, "echo", { input: {} }) as Promise<{ seen: object }>;

  it.each([
    [{ includes: ["x-org", "x-feature-*"] }, { "x-org": "acme", "x-feature-tea": "on" }],
    [
      { includes: ["x-*", "PLAIN"], excludes: ["x-s*", "x-feature-tea"] },
      { "x-org": "acme", plain: "p" },
    ],
    [{ includes: ["authorization"] }, { authorization: "Bearer token-of-the-user" }],
  ])("a graph sees the headers that %j selects", async (configurable_headers, seen) => {
    const { url } = await start({ configurable_headers });
    expect((await of(new Client({ apiUrl: url, defaultHeaders: HEADERS }))).seen).toEqual(seen);
  });

  it("without includes, x-* and user-agent are copied, but no credentials", async () => {
    const { url } = await start({ configurable_headers: {}, api_keys: ["a-key-of-eight"] });
    const defaultHeaders = { ...HEADERS, "user-agent": "tests", "x-api-key": "a-key-of-eight" };
    const { seen } = await of(new Client({ apiUrl: url, defaultHeaders }));
    expect(seen).toEqual({ "x-org": "acme", "x-feature-tea": "on", "x-secret": "no", "user-agent": "tests" });
  });

  it("without the setting, no header is copied", async () => {
    const { url } = await start({});
    expect((await of(new Client({ apiUrl: url, defaultHeaders: HEADERS }))).seen).toEqual({});
  });

  it("a header replaces the value of the body, in a batch, a stream and a command too", async () => {
    const { url, request } = await start({ configurable_headers: { includes: ["x-org"] } });
    const client = new Client({ apiUrl: url, defaultHeaders: { "x-org": "acme" } });
    const config = { configurable: { "x-org": "forged", plain: "kept" } };
    const seen = { "x-org": "acme", plain: "kept" };
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "echo", { input: {}, config });
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ seen });
    const [first] = await client.runs.createBatch([{ assistantId: "echo", input: {}, config }]);
    expect(first).toMatchObject({ kwargs: { config: { configurable: seen } } });
    const command = { id: 1, method: "run.start", params: { assistant_id: "echo", input: {}, config } };
    const { thread_id: other } = await client.threads.create();
    const reply = await request("POST", `/threads/${other}/commands`, command, { "x-org": "acme" });
    expect(reply.body).toMatchObject({ type: "success" });
    await client.runs.join(other, (reply.body as { result: { run_id: string } }).result.run_id);
    expect((await client.threads.getState(other)).values).toMatchObject({ seen });
  });

  it("commands over a WebSocket get the headers of the request that opened it", async () => {
    const { url } = await start({ configurable_headers: { includes: ["x-org"] } });
    const client = new Client({ apiUrl: url });
    const { thread_id } = await client.threads.create();
    const address = `${url.replace("http", "ws")}/threads/${thread_id}/stream/events`;
    const socket = new WebSocket(address, { headers: { "x-org": "acme" } });
    await new Promise((resolve) => socket.once("open", resolve));
    const reply = new Promise<string>((resolve) =>
      socket.once("message", (data: Buffer) => resolve(data.toString())),
    );
    socket.send(JSON.stringify({ id: 1, method: "run.start", params: { assistant_id: "echo", input: {} } }));
    const { result } = JSON.parse(await reply) as { result: { run_id: string } };
    await client.runs.join(thread_id, result.run_id);
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ seen: { "x-org": "acme" } });
    socket.terminate();
  });

  it("an invalid config is rejected as without the setting", async () => {
    const { request } = await start({ configurable_headers: { includes: ["x-org"] } });
    const body = { assistant_id: "echo", input: {}, config: { configurable: 5 } };
    expect((await request("POST", "/runs/wait", body, { "x-org": "acme" })).status).toBe(422);
  });
});
