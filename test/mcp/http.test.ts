/** MCP over HTTP: sessions, users, API keys, origins and invalid requests. */
import express from "express";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../../src/http/app.js";
import type { Settings } from "../../src/config/settings.js";
import { newId } from "../../src/support/ids.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { holdTimers } from "../helpers/held-timers.js";
import { openTestService, recordingLogger } from "../helpers/service.js";
import { byHeader } from "../helpers/two-users.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { gateOf } from "../fixtures/gates.js";
import { connectHttp } from "./client.js";

const graphs = { chat, gate };
const start = (settings: Partial<Settings> = {}): Promise<TestServer> =>
  startTestServer({ graphs, settings: { mcp: true, ...settings } });

const HEADERS = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const hello = { messages: [{ role: "user", content: "hello" }] };
const message = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params });
const INITIALIZE = message("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

/** Parses the message of an event stream response. */
const messageOf = (text: string): unknown => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "null");

describe("MCP without a session", () => {
  it("requests are answered without a session, as LangGraph's server does", async () => {
    const { request } = await start();
    const list = await request("POST", "/mcp", message("tools/list"), HEADERS);
    expect(list.status).toBe(200);
    expect(list.headers.get("mcp-session-id")).toBeNull();
    expect(messageOf(list.text)).toMatchObject({ result: { tools: [{ name: "chat" }, {}, {}] } });
    const call = message("tools/call", { name: "chat", arguments: hello });
    expect(messageOf((await request("POST", "/mcp", call, HEADERS)).text)).toMatchObject({
      result: { content: [{ text: "You said: hello" }, {}] },
    });
  });

  it("GET, DELETE and PUT without a session return 405", async () => {
    const { request } = await start();
    for (const method of ["GET", "DELETE", "PUT"])
      expect(await request(method, "/mcp", undefined, HEADERS), method).toMatchObject({
        status: 405,
        body: { code: "method_not_allowed" },
      });
    expect((await request("GET", "/mcp/other", undefined, HEADERS)).status).toBe(404);
  });

  it("MCP routes return 404 while the setting is off", async () => {
    const { request } = await startTestServer({ graphs });
    const answer = await request("POST", "/mcp", message("tools/list"), HEADERS);
    expect(answer).toMatchObject({ status: 404, body: { code: "route_not_found" } });
    expect(answer.headers.get("access-control-expose-headers")).not.toContain("Mcp-Session-Id");
  });
});

describe("invalid MCP requests", () => {
  it.each([
    ["invalid JSON", "{", 400, -32700],
    ["an object that is not a message", "{}", 400, -32700],
    ["an empty body", "", 400, -32700],
    ["a NUL character", '{"jsonrpc":"2.0","id":1,"method":"tools/list\\u0000"}', 400, -32700],
    ["JSON nested too deeply", "[".repeat(300) + "]".repeat(300), 400, -32700],
    ["a batch that is too large", JSON.stringify(Array(101).fill(message("ping"))), 400, -32600],
  ])("%s is rejected with its error code", async (_what, body, status, code) => {
    const { request } = await start();
    expect(await request("POST", "/mcp", body, HEADERS)).toMatchObject({ status, body: { error: { code } } });
  });

  it("a body larger than body_limit is rejected with 413", async () => {
    const { request } = await start({ body_limit: 1000 });
    const call = message("tools/call", { name: "chat", arguments: { text: "x".repeat(2000) } });
    expect(await request("POST", "/mcp", call, HEADERS)).toMatchObject({
      status: 413,
      body: { code: "payload_too_large" },
    });
  });

  it("unknown methods, resources and cursors are rejected", async () => {
    const { url } = await start();
    const { client } = await connectHttp(url);
    await expect(client.listPrompts()).rejects.toThrow("Method not found");
    await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow(
      "must be graph-serve://",
    );
    await expect(client.readResource({ uri: "graph-serve://threads/../x" })).rejects.toThrow("UUID");
    await expect(client.readResource({ uri: `graph-serve://threads/${newId()}` })).rejects.toThrow(
      "does not exist",
    );
    await expect(client.listResources({ cursor: "-1" })).rejects.toThrow("nextCursor");
  });
});

describe("MCP sessions", () => {
  it("a session is opened by initialize and ended by DELETE", async () => {
    const { request } = await start();
    const opened = await request("POST", "/mcp", INITIALIZE, HEADERS);
    const session = opened.headers.get("mcp-session-id") ?? "";
    expect(session).toMatch(/^[0-9a-f-]{36}$/);
    expect(opened.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
    const headers = { ...HEADERS, "Mcp-Session-Id": session };
    const list = () => request("POST", "/mcp", message("tools/list"), headers);
    expect((await list()).status).toBe(200);
    expect((await request("DELETE", "/mcp", undefined, headers)).status).toBe(200);
    expect(await list()).toMatchObject({ status: 404, body: { error: { code: -32001 } } });
  });

  it("a session id of another server returns 404", async () => {
    const { request } = await start();
    const headers = { ...HEADERS, "Mcp-Session-Id": newId() };
    expect((await request("POST", "/mcp", message("tools/list"), headers)).status).toBe(404);
    expect((await request("GET", "/mcp", undefined, headers)).status).toBe(404);
  });

  it("open sessions do not delay shutdown", async () => {
    const server = await start();
    await connectHttp(server.url);
    // The deadline at which a shutdown cuts connections never comes.
    holdTimers(1000);
    await server.close(0);
  });

  it("the least recently used session is evicted when there are too many", async () => {
    const { request } = await start();
    const open = async () =>
      (await request("POST", "/mcp", INITIALIZE, HEADERS)).headers.get("mcp-session-id") ?? "";
    const use = async (session: string) =>
      (await request("POST", "/mcp", message("ping"), { ...HEADERS, "Mcp-Session-Id": session })).status;
    const [first, second] = [await open(), await open()];
    expect(await use(first)).toBe(200);
    for (let round = 0; round < 27; round += 1) await Promise.all(Array.from({ length: 37 }, open));
    expect([await use(first), await use(second)]).toEqual([200, 404]);
  });
});

describe("MCP callers", () => {
  it("a server with API keys rejects clients without a valid key", async () => {
    const key = "a-secret-key";
    const { url, request } = await start({ api_keys: [key] });
    for (const headers of [HEADERS, { ...HEADERS, "x-api-key": "another-key" }])
      expect(await request("POST", "/mcp", INITIALIZE, headers)).toMatchObject({ status: 401 });
    const client = await connectHttp(url, { headers: { Authorization: `Bearer ${key}` } });
    expect((await client.call("chat", hello)).texts[0]).toBe("You said: hello");
  });

  it("requests from a foreign web origin are rejected", async () => {
    const { request } = await start();
    const origin = { ...HEADERS, Origin: "https://evil.example" };
    expect(await request("POST", "/mcp", INITIALIZE, origin)).toMatchObject({
      status: 403,
      body: { code: "forbidden_origin" },
    });
  });

  it("a user cannot see or use the threads and sessions of another user", async () => {
    const { url, request } = await startTestServer({
      graphs,
      settings: { mcp: true },
      authenticate: byHeader,
    });
    const [ann, bob] = [
      await connectHttp(url, { headers: { user: "ann" } }),
      await connectHttp(url, { headers: { user: "bob" } }),
    ];
    const { thread_id } = (await ann.call("chat", hello)).data;
    const uri = `graph-serve://threads/${thread_id}`;
    expect((await ann.client.listResources()).resources.map((each) => each.uri)).toEqual([uri]);
    expect((await bob.client.listResources()).resources).toEqual([]);
    await expect(bob.client.readResource({ uri })).rejects.toThrow("does not exist");
    for (const name of ["chat", "resume_thread"])
      expect(await bob.call(name, { ...hello, thread_id, answer: 1 })).toMatchObject({
        isError: true,
        texts: [`thread "${thread_id}" does not exist`],
      });

    const opened = await request("POST", "/mcp", INITIALIZE, { ...HEADERS, user: "ann" });
    const session = { ...HEADERS, "Mcp-Session-Id": opened.headers.get("mcp-session-id") ?? "" };
    const statuses = ["ann", "bob", ""].map(
      async (user) =>
        (await request("POST", "/mcp", message("ping"), { ...session, ...(user && { user }) })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404, 401]);
  });

  it("a user cannot cancel the call of another user", async () => {
    const { url, request } = await startTestServer({
      graphs,
      settings: { mcp: true },
      authenticate: byHeader,
    });
    const ann = await connectHttp(url, { headers: { user: "ann" } });
    const name = newId();
    const call = ann.call("gate", { gate: name });
    await gateOf(name).entered;
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    await request("POST", "/mcp", cancel, { ...HEADERS, user: "bob" });
    gateOf(name).open();
    expect((await call).data.status).toBe("success");
  });
});

it("threads are not listed as resources when thread routes are disabled", async () => {
  const { url } = await start({ disabled_routes: ["threads"] });
  const { client } = await connectHttp(url);
  expect(client.getServerCapabilities()?.resources).toBeUndefined();
  await expect(client.listResources()).rejects.toThrow();
});

it("thread resources are listed in pages", async () => {
  const { url, service } = await start();
  for (let count = 0; count < 51; count += 1) await service.threads.create({});
  const { client } = await connectHttp(url);
  const first = await client.listResources();
  expect(first.resources).toHaveLength(50);
  const rest = await client.listResources({ cursor: first.nextCursor ?? "" });
  expect([rest.resources.length, rest.nextCursor]).toEqual([1, undefined]);
});

it("MCP works under the prefix of an embedding application", async () => {
  const service = await openTestService({ graphs, settings: { mcp: true } });
  const host = express().use("/agents", createApp(service));
  const server = host.listen(0);
  onTestFinished(() => void server.close());
  const client = await connectHttp(`http://localhost:${(server.address() as AddressInfo).port}/agents`);
  expect((await client.call("chat", hello)).texts[0]).toBe("You said: hello");
});

it("internal errors are logged and not exposed to clients", async () => {
  const logger = recordingLogger();
  const service = await openTestService({ graphs, settings: { mcp: true }, logger });
  const server = express().use(createApp(service)).listen(0);
  onTestFinished(() => void server.close());
  const client = await connectHttp(`http://localhost:${(server.address() as AddressInfo).port}`);
  service.threads.create = () => Promise.reject(new Error("postgres://user:word@host is away"));
  expect(await client.call("chat", hello)).toMatchObject({ isError: true, texts: ["internal error"] });
  expect(logger.of("error")).toEqual(["request failed"]);
});
