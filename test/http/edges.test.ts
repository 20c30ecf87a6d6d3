/** Requests that could affect other clients: two Host headers, repeated upgrades, cross-site requests. */
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { newId } from "../../src/support/ids.js";
import { OutboundPolicy } from "../../src/support/outbound.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { byHeader } from "../helpers/two-users.js";

/** Returns all data that the server sends on one connection until it closes. */
async function exchange({ url }: TestServer, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  let received = "";
  for await (const chunk of socket) received += String(chunk);
  return received;
}

const statuses = (text: string) => [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);

describe("suspicious requests", () => {
  it("a request with two Host headers is rejected", async () => {
    const server = await startTestServer({ graphs: { chat } });
    const text = "GET /ok HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\nConnection: close\r\n\r\n";
    const answer = await exchange(server, text);
    expect(statuses(answer)).toEqual(["400"]);
    expect(answer).toContain("more than one Host header");
  });

  it("an unsupported protocol upgrade is answered as plain HTTP and closes the connection", async () => {
    const server = await startTestServer({ graphs: { chat } });
    const warned = vi.fn();
    process.on("warning", warned);
    const one = "GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    expect(statuses(await exchange(server, one.repeat(2000)))).toEqual(["200"]);
    expect((await server.request("GET", "/ok")).status).toBe(200);
    process.off("warning", warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it("a cross-site request cannot cancel a run by disconnecting", async () => {
    const server = await startTestServer({ graphs: { gate } });
    const name = newId();
    const input = { gate: name };
    const { body: thread } = await server.request("POST", "/threads", {});
    const { thread_id } = thread as { thread_id: string };
    const headers = { prefer: "respond-async" };
    const { body: run } = await server.request(
      "POST",
      `/threads/${thread_id}/runs`,
      { assistant_id: "gate", input },
      headers,
    );
    await gateOf(name).entered;
    const path = `/threads/${thread_id}/runs/${(run as { run_id: string }).run_id}/join`;
    const cross = { "sec-fetch-site": "cross-site" };
    for (const each of [
      `${path}?cancel_on_disconnect=1`,
      `${path.replace("join", "stream")}?cancel_on_disconnect=true`,
    ])
      expect(await server.request("GET", each, undefined, cross)).toMatchObject({
        status: 403,
        body: { code: "forbidden_origin" },
      });
    gateOf(name).open();
    expect((await server.request("GET", path, undefined, cross)).status).toBe(200);
  });
});

describe("limits of the auth function", () => {
  it("an auth function that never answers times out with 503 and a log message", async () => {
    const lines: string[] = [];
    const logger = Object.assign(() => undefined, {
      debug: () => undefined,
      info: () => undefined,
      error: () => undefined,
      warn: (_: object, message: string) => void lines.push(message),
    });
    const server = await startTestServer({
      graphs: { chat },
      authenticate: () => new Promise(() => undefined),
      settings: { auth_timeout_seconds: 0.05 },
      logger,
    });
    const answer = await server.request("POST", "/threads", {});
    expect(answer).toMatchObject({ status: 503, body: { code: "auth_timeout" } });
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(lines).toContain("the auth function has not answered: the request is refused");
  });

  it.each([
    [1_000, 200],
    [1_001, 500],
  ])("an identity of %i characters is answered with %i", async (length, status) => {
    const server = await startTestServer({
      graphs: { chat },
      authenticate: () => ({ identity: "a".repeat(length) }),
    });
    expect((await server.request("POST", "/threads", {})).status).toBe(status);
  });
});

it("a webhook is not sent to an IPv4-compatible IPv6 address", () => {
  const outbound = new OutboundPolicy({});
  expect(outbound.faultOf("http://[::127.0.0.1]/")).toBeDefined();
  expect(outbound.allows("::7f00:1")).toBe(false);
  expect(outbound.allows("2606:4700::1111")).toBe(true);
});

it("a user who opens many MCP sessions does not evict those of other users", async () => {
  const server = await startTestServer({ graphs: { chat }, authenticate: byHeader, settings: { mcp: true } });
  const accept = "application/json, text/event-stream";
  const post = (user: string, method: string, session?: string) =>
    server.request(
      "POST",
      "/mcp",
      {
        jsonrpc: "2.0",
        id: 1,
        method,
        params:
          method === "initialize"
            ? { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
            : {},
      },
      { accept, "content-type": "application/json", user, ...(session && { "mcp-session-id": session }) },
    );
  const open = async (user: string) => (await post(user, "initialize")).headers.get("mcp-session-id")!;
  const bob = await open("bob");
  const mallorys: string[] = [];
  for (let n = 0; n < 60; n++) mallorys.push(await open("mallory"));
  expect((await post("bob", "tools/list", bob)).status).toBe(200);
  expect((await post("mallory", "tools/list", mallorys[0])).status).toBe(404);
  expect((await post("mallory", "tools/list", mallorys.at(-1))).status).toBe(200);
});
