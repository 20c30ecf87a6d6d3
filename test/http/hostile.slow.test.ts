/** Sends the input of attackers and broken clients to every endpoint of a real service. */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { validatePayload } from "../../src/http/core/validation.js";
import { ROUTES } from "../../src/http/route-table.js";
import { startTestServer, type Answer, type TestServer } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { webhooks } from "../helpers/webhook-receiver.js";

const LIMIT = 64 * 1024;
const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hello" }] } };
const THREAD = "0197f0a0-0000-7000-8000-000000000009";

async function open(): Promise<TestServer> {
  const server = await startTestServer({
    graphs: { chat },
    settings: { body_limit: LIMIT, assistants: "managed", crons: true, webhooks },
  });
  await server.request("POST", "/threads", { thread_id: THREAD });
  return server;
}

/** Checks that the server still responds and the thread still runs. */
async function expectAlive({ request }: TestServer): Promise<void> {
  expect((await request("GET", "/api/health")).status).toBe(200);
  await request("POST", "/threads", { thread_id: THREAD, if_exists: "do_nothing" });
  const run = await request("POST", `/threads/${THREAD}/runs`, hello);
  expect(run.body).toMatchObject({ status: "success", error: null });
  expect((await request("GET", `/threads/${THREAD}/history`)).status).toBe(200);
}

const tells = /\bat \S+ \(|node:internal|node_modules|\/src\/|\.ts:\d|\.js:\d/;

/** Checks that the answer is a success, or an error without internal details. */
function expectSafe(what: string, answer: Answer): void {
  expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).toBeLessThan(500);
  expect(answer.text, what).not.toMatch(tells);
}

const fill = (path: string, id = THREAD) => path.replace("{assistant_id}", "chat").replace(/\{\w+\}/g, id);
const withBody = ROUTES.filter((route) => route.body).map((route) => ({
  method: route.method.toUpperCase(),
  path: route.path,
  route,
}));
const byBody = [...new Set(withBody.map(({ route }) => route.body))].map((body) => {
  const routes = withBody.filter(({ route }) => route.body === body);
  const names = routes.map(({ method, path }) => `${method} ${path}`).join(", ");
  return {
    names,
    body: body as NonNullable<typeof body>,
    routes,
    fields: Object.keys((body?.properties ?? {}) as object),
  };
});
const withId = ROUTES.filter(({ path }) => path.includes("{")).map(({ method, path }) => ({
  method: method.toUpperCase(),
  path,
}));

const refusedBodies: [what: string, body: string, status: number][] = [
  ["broken JSON", '{"a":', 422],
  ["single quotes", "{'a':1}", 422],
  ["two values", "{}{}", 422],
  ["a list", "[]", 422],
  ["a text", '"text"', 422],
  ["a number", "1e999", 422],
  ["null", "null", 422],
  ["a NUL", '{"metadata":{"a":"\\u0000"}}', 422],
  ["depth", `{"metadata":${'{"a":'.repeat(300)}1${"}".repeat(300)}}`, 422],
  ["a form", "a=1&b=2", 422],
  ["HTML", "<html></html>", 422],
  ["too much", " ".repeat(LIMIT + 1), 413],
];

describe("hostile bodies", () => {
  it.each(withBody)("malformed bodies are rejected by $method $path", async ({ method, path }) => {
    const server = await open();
    for (const [what, body, status] of refusedBodies) {
      const answer = await server.request(method, fill(path), body);
      expect(answer.status, what).toBe(status);
      expectDocumented(method, fill(path), answer);
      expectSafe(what, answer);
    }
    await expectAlive(server);
  });

  const wrong = [0, -1, 1.5, "", "x", true, [], [[]], [null], {}, { a: {} }, { $ne: 1 }, 1e300];

  // Routes that share a body schema reject an invalid body alike, so it is sent to one of them. A valid body
  // is sent to all.
  it.each(byBody)("wrong field values do not cause a 500 in $names", async ({ body, routes, fields }) => {
    const server = await open();
    for (const name of fields) {
      for (const value of wrong) {
        const sent = { assistant_id: "chat", values: {}, [name]: value };
        const isOne = await validatePayload(body, sent, "body").then(
          () => true,
          () => false,
        );
        for (const { method, path } of isOne ? routes : routes.slice(0, 1)) {
          const answer = await server.request(method, fill(path), sent);
          expectSafe(`${method} ${path} ${name}: ${JSON.stringify(value)}`, answer);
          if (answer.status >= 400) expectDocumented(method, fill(path), answer);
        }
      }
    }
    await expectAlive(server);
  });
});

const poisons: [what: string, value: unknown][] = [
  ["a constructor", { lc: 1, type: "constructor", id: ["child_process", "exec"], kwargs: {} }],
  ["a secret", { lc: 1, type: "secret", id: ["PATH"] }],
  ["a prototype", JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')],
  ["operators", { $where: "1", "a.b": { $gt: "" }, "": 1, "$[0]": 1, "a'\"--": 1 }],
  ["private keys", { configurable: { __pregel_checkpointer: {}, thread_id: "other", checkpoint_ns: "x|y" } }],
  ["lone surrogates", { a: "\ud800", "\udfff": 1 }],
];

describe("poisoned values", () => {
  it.each(poisons)("%s in any field breaks no thread", async (_what, poison) => {
    const server = await open();
    const thread = `/threads/${THREAD}`;
    const attacks: [string, string, unknown][] = [
      ["POST", "/threads", { metadata: poison }],
      [
        "POST",
        "/threads",
        { supersteps: [{ updates: [{ values: { messages: [poison] }, as_node: "model" }] }] },
      ],
      ["POST", "/threads/search", { metadata: poison }],
      ["POST", "/threads/search", { values: poison }],
      ["POST", "/threads/search", { extract: { x: "values.__proto__.polluted" } }],
      ["POST", "/assistants/search", { metadata: poison }],
      ["PATCH", thread, { metadata: poison }],
      ["POST", `${thread}/history`, { metadata: poison }],
      ["POST", `${thread}/state`, { values: { messages: [poison] } }],
      ["POST", `${thread}/state`, { values: { messages: poison } }],
      ["POST", `${thread}/state/checkpoint`, { checkpoint_map: poison }],
      ["POST", `${thread}/runs`, { ...hello, input: poison }],
      ["POST", `${thread}/runs`, { ...hello, input: { messages: [poison] } }],
      ["POST", `${thread}/runs`, { ...hello, input: { messages: poison } }],
      ["POST", `${thread}/runs`, { ...hello, config: poison }],
      ["POST", `${thread}/runs`, { ...hello, context: poison, metadata: poison }],
      ["POST", `${thread}/runs`, { ...hello, command: { update: { messages: [poison] } } }],
      ["POST", `${thread}/runs`, { ...hello, command: { resume: poison } }],
    ];
    for (const [method, path, body] of attacks) {
      const answer = await server.request(method, path, body);
      expectSafe(`${method} ${path} ${JSON.stringify(body)}`, answer);
      expect((await server.request("GET", `${thread}/state`)).status).toBe(200);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    await expectAlive(server);
  });
});

describe("hostile paths", () => {
  const ids = [
    "nope",
    "%00",
    "..%2f..%2fetc",
    "%F0%9F%92%A9",
    "%zz",
    "'%20OR%201=1--",
    "__proto__",
    "x".repeat(4000),
    "{}",
    "0",
  ];

  it.each(withId)("malformed ids are rejected by $method $path", async ({ method, path }) => {
    const server = await open();
    for (const id of ids) {
      const filled = path.replace(/\{\w+\}/g, id);
      const answer = await server.request(
        method,
        filled,
        method === "GET" || method === "DELETE" ? undefined : {},
      );
      expectSafe(filled, answer);
      expect([404, 422]).toContain(answer.status);
    }
    await expectAlive(server);
  });

  it.each(["TRACE", "PROPFIND", "PUT"])("method %s is rejected with 405", async (method) => {
    const server = await open();
    const status = await new Promise((resolve, reject) => {
      httpRequest(`${server.url}/threads`, { method }, (res) => resolve(res.resume().statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(405);
    await expectAlive(server);
  });
});

describe("malformed HTTP", () => {
  it.each([
    ["a request that is not HTTP", "hello\r\n\r\n"],
    [
      "two Content-Length headers",
      "POST /threads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    ],
    [
      "Content-Length with chunked encoding",
      "POST /threads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
    ],
    [
      "an invalid chunk",
      "POST /threads HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
    ["oversized headers", `GET /ok HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(100_000)}\r\n\r\n`],
  ])("the server survives %s", async (_what, text) => {
    const server = await open();
    const socket = connect(server.port, "127.0.0.1").resume();
    socket.on("error", () => undefined);
    const closed = once(socket, "close");
    socket.write(text);
    await closed;
    await expectAlive(server);
  });
});
