/**
 * Every entry point (HTTP, streams, WebSocket, MCP and A2A) rejects the same invalid input and leaves the
 * thread idle.
 */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Settings } from "../../src/config/settings.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer, type TestServer } from "../helpers/app.js";

/** Placeholder for the invalid value. */
const PLACE = '"PLACE"';
const input = { messages: [{ role: "user", content: "hi" }], extra: "PLACE" };

type Door = (server: TestServer, thread: string, fill: (body: object) => Buffer) => Promise<string>;

const overHttp =
  (method: string, path: (thread: string) => string, body: object, headers = {}): Door =>
  async (server, thread, fill) =>
    (await server.request(method, path(thread), fill(body), headers)).text;

const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }], metadata: { a: "PLACE" } };

const DOORS: Record<string, Door> = {
  "POST a run": overHttp("POST", (thread) => `/threads/${thread}/runs`, { assistant_id: "chat", input }),
  "POST a stream": overHttp("POST", (thread) => `/threads/${thread}/runs/stream`, {
    assistant_id: "chat",
    input,
  }),
  "POST a batch of runs": overHttp("POST", () => "/runs/batch", {
    requests: [{ assistant_id: "chat", input }],
  }),
  "POST a state": overHttp("POST", (thread) => `/threads/${thread}/state`, { values: input }),
  "PATCH a thread": overHttp("PATCH", (thread) => `/threads/${thread}`, { metadata: { a: "PLACE" } }),
  "PUT an item": overHttp("PUT", () => "/store/items", {
    namespace: ["a"],
    key: "k",
    value: { a: "PLACE" },
  }),
  "POST a cron": overHttp("POST", () => "/runs/crons", {
    assistant_id: "chat",
    schedule: "0 0 1 1 *",
    input,
  }),
  MCP: overHttp("POST", () => "/mcp", rpc("tools/call", { name: "chat", arguments: input }), {
    accept: "application/json, text/event-stream",
  }),
  A2A: overHttp("POST", () => "/a2a/chat", rpc("SendMessage", { message }), { "a2a-version": "1.0" }),
  async WebSocket(server, thread, fill) {
    const url = `${server.url.replace("http", "ws")}/threads/${thread}/stream/events`;
    const socket = new WebSocket(url);
    await once(socket, "open");
    const answered = once(socket, "message").then(([answer]) => String(answer));
    // The WebSocket protocol rejects invalid UTF-8 text and large messages with a close code.
    const closed = once(socket, "close").then(
      ([code]) => CLOSE_REASONS[code as number] ?? `closed with ${String(code)}`,
    );
    socket.send(fill({ id: 1, method: "run.start", params: { assistant_id: "chat", input } }), {
      binary: false,
    });
    const answer = await Promise.race([answered, closed]);
    socket.terminate();
    return answer;
  },
};

const CLOSE_REASONS: Record<number, string> = { 1007: "is not valid UTF-8", 1009: "payload_too_large" };

interface Refusal {
  value: string;
  says: string;
  settings?: Partial<Settings>;
}

const REFUSALS: Record<string, Refusal> = {
  "JSON nested too deeply": {
    value: "[".repeat(5000) + "]".repeat(5000),
    says: "nested deeper than 200 levels",
  },
  "too many values": { value: `[${"0,".repeat(600_000)}0]`, says: "contains more than 500,000 values" },
  "a NUL character": { value: '"a\\u0000b"', says: "a NUL character (U+0000) is not allowed" },
  "invalid JSON": { value: "{,}", says: "is not valid JSON" },
  "invalid UTF-8": { value: '"\xff\xfe"', says: "is not valid UTF-8" },
  "a body that is too large": {
    value: `"${"a".repeat(5000)}"`,
    says: "payload_too_large",
    settings: { body_limit: 4096 },
  },
};

describe.each(Object.keys(DOORS))("%s", (name) => {
  it.each(Object.keys(REFUSALS))("%s is rejected and the thread stays idle", async (kind) => {
    const { value, says, settings } = REFUSALS[kind] as Refusal;
    const server = await startTestServer({
      graphs: { chat },
      settings: { mcp: true, a2a: true, crons: true, ...settings },
    });
    const thread = newId();
    await server.request("POST", "/threads", { thread_id: thread });
    const fill = (body: object) => Buffer.from(JSON.stringify(body).replace(PLACE, value), "latin1");
    expect(await (DOORS[name] as Door)(server, thread, fill)).toContain(says);
    const edit = await server.request("POST", `/threads/${thread}/state`, { values: { messages: [] } });
    expect(edit.status).toBe(200);
    const run = await server.request("POST", `/threads/${thread}/runs/wait`, {
      assistant_id: "chat",
      input: { messages: [{ role: "user", content: "hi" }] },
    });
    expect(run.status).toBe(200);
  });
});
