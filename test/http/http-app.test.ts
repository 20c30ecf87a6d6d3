import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openService } from "../../src/service/open.js";
import type { Settings } from "../../src/config/settings.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { serve, type TestServer } from "../helpers/app.js";
import { recordingLogger } from "../helpers/service.js";
import { allEvents } from "../helpers/sse.js";

const cwd = resolve(import.meta.dirname, "../fixtures/http-apps");
const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };
const open = { "x-door": "open" };

async function startWith(http_app: string, settings: Partial<Settings> = {}, folder = cwd) {
  const logger = recordingLogger();
  const service = await openService({
    graphs: { chat },
    settings: { http_app, ...settings },
    cwd: folder,
    logger,
  });
  return { ...(await serve(service)), logger };
}

/** Sends a request with an unnormalized target and returns its status line. */
function rawStatus({ port }: TestServer, target: string): Promise<string> {
  return new Promise((done, reject) => {
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(
        `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      ),
    );
    let text = "";
    socket.on("data", (bytes) => (text += bytes.toString()));
    socket.on("end", () => done(text.split("\r\n", 1)[0] ?? ""));
    socket.on("error", reject);
  });
}

const APPS = [
  "./hono.ts:app",
  "./hono.ts",
  "./express.ts:app",
  "./express.ts:router",
  "./express.ts:middleware",
  "./others.ts:fetching",
];

describe.each(APPS)("the app %s", (app) => {
  it("the app's own routes are matched before the server's routes", async () => {
    const { request } = await startWith(app);
    expect((await request("GET", "/hello?name=you")).body).toEqual({ hello: "you" });
    expect((await request("GET", "/info")).body).toEqual({ shadowed: true });
    const json = { "content-type": "application/json" };
    expect(await request("POST", "/echo", { a: [1, "ü"] }, json)).toMatchObject({
      status: 201,
      body: { got: { a: [1, "ü"] } },
    });
  });

  it("requests that the app rejects do not reach the server's routes", async () => {
    const { request } = await startWith(app);
    expect(await request("POST", "/threads", {})).toMatchObject({ status: 403, text: "closed" });
    expect((await request("POST", "/threads", {}, { "x-door": "throw" })).status).toBe(401);
    expect((await request("POST", "/threads/search", {})).status).toBe(403);
  });

  it("requests that the app passes on reach every server route", async () => {
    const { request, fetch } = await startWith(app);
    const json = { ...open, "content-type": "application/json" };
    const made = await request("POST", "/threads", { metadata: { note: "ünï" } }, json);
    expect(made).toMatchObject({ status: 200, body: { metadata: { note: "ünï" } } });
    const thread = `/threads/${(made.body as { thread_id: string }).thread_id}`;
    expect((await request("POST", `${thread}/runs`, hello, open)).body).toMatchObject({ status: "success" });
    const stream = await fetch("POST", `${thread}/runs/stream`, JSON.stringify(hello), { headers: open });
    expect((await allEvents(stream)).at(-1)?.event).toBe("end");
    const runs = await request("GET", `${thread}/runs?select=status&select=run_id`, undefined, open);
    expect(runs.body).toMatchObject([{ status: "success" }, { status: "success" }]);
    expect((await request("GET", "/ok")).body).toEqual({ ok: true });
    expect((await request("GET", "/openapi.json")).status).toBe(200);
    expect((await request("GET", "/nowhere")).body).toMatchObject({ code: "route_not_found" });
  });

  it.each([
    "/threads/../threads/search",
    "/x/../threads/search",
    "/ok/..%2fthreads/search",
    "/ok/%2e%2e/threads/search",
    "/ok\\..\\threads/search",
    "//threads/search",
    "/threads/search/",
    "http://localhost/threads/search",
    "http://localhost/ok/../threads/search",
    "/THREADS/search",
    "/%74hreads/search",
  ])("the app cannot be bypassed with the target %s", async (target) => {
    const status = await rawStatus(await startWith(app), target);
    expect(status).toMatch(/^HTTP\/1\.1 4\d\d /);
  });
});

describe("a Hono app", () => {
  it("the app can add headers to responses of the server's routes", async () => {
    const { request } = await startWith("./hono.ts:app");
    const { headers, status, body } = await request("POST", "/threads/search", {}, open);
    expect({ status, body }).toEqual({ status: 200, body: [] });
    expect([headers.get("x-before"), headers.get("x-after")]).toEqual(["one", "saw 200"]);
    expect(headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("the app can change the parsed body for the server's routes", async () => {
    const { request } = await startWith("./hono.ts:app");
    const { body } = await request("POST", "/threads", {}, open);
    const path = `/threads/${(body as { thread_id: string }).thread_id}/runs`;
    const headers = { ...open, "x-configurable": "from the header" };
    expect((await request("POST", `${path}/wait`, hello, headers)).status).toBe(200);
    const runs = (await request("GET", path, undefined, open)).body;
    expect(runs).toMatchObject([
      { kwargs: { config: { configurable: { header: "from the header" } }, input: hello.input } },
    ]);
  });

  it.each([
    ["late", 403, "changed my mind"],
    ["not found", 404, "404 Not Found"],
    ["throw", 401, "no key"],
  ])("a rejection by %s is returned to the client", async (door, status, text) => {
    const { request } = await startWith("./hono.ts:app");
    expect(await request("POST", "/threads/search", {}, { "x-door": door })).toMatchObject({ status, text });
  });

  it("the app can read the body before the server's routes do", async () => {
    const { request } = await startWith("./hono.ts:app");
    const answer = await request("POST", "/threads", { metadata: { a: "b".repeat(50_000) } }, open);
    expect(answer.headers.get("x-signed")).toBe("50021");
    expect(answer.body).toMatchObject({ metadata: { a: "b".repeat(50_000) } });
    expect((await request("POST", "/threads", "not json", open)).status).toBe(422);
  });

  it("a body over the limit that the app has read is rejected with 413", async () => {
    const { request } = await startWith("./hono.ts:app", { body_limit: 2000 });
    const large = { metadata: { a: "b".repeat(50_000) } };
    expect((await request("POST", "/threads", large, open)).status).toBe(413);
    expect((await request("POST", "/echo", large)).body).toEqual({ got: large });
  });

  it("the app can stream and sees the client's address and URL", async () => {
    const { request } = await startWith("./hono.ts:app");
    const events = await request("GET", "/events");
    expect(events.text).toBe("data: 1\n\ndata: 2\n\n");
    expect(events.headers.get("content-type")).toBe("text/event-stream");
    expect((await request("GET", "/who?x=1")).body).toEqual({
      address: "127.0.0.1",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/who\?x=1$/) as unknown,
    });
    expect(await request("HEAD", "/hello")).toMatchObject({ status: 200, text: "" });
  });

  it("the app handles its own errors", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { request } = await startWith("./hono.ts:app");
    expect(await request("GET", "/throws")).toMatchObject({ status: 500, text: "Internal Server Error" });
    expect(error).toHaveBeenCalled();
  });

  it("the app can be exported as a promise", async () => {
    const { request } = await startWith("./others.ts:promised");
    expect((await request("GET", "/hello")).body).toEqual({ hello: "later" });
  });
});

describe("an Express app", () => {
  it("an error passed to next is returned to the client", async () => {
    const { request, logger } = await startWith("./express.ts:app");
    expect(await request("POST", "/threads", {}, { "x-door": "throw" })).toMatchObject({
      status: 401,
      body: { detail: "no key" },
    });
    expect(await request("POST", "/threads", {}, { "x-door": "fault" })).toMatchObject({
      status: 500,
      body: { code: "internal_error" },
    });
    expect(logger.of("error")).toEqual(["request failed"]);
  });
});

describe("a custom fetch handler", () => {
  it("a 404 from the handler is returned to the client", async () => {
    const { request } = await startWith("./others.ts:fetching");
    const answer = await request("GET", "/threads", undefined, { "x-door": "not found" });
    expect(answer).toMatchObject({ status: 404, text: "nothing here" });
  });

  it("a handler that returns no Response causes a 500", async () => {
    const { request, logger } = await startWith("./others.ts:wrong");
    expect((await request("GET", "/ok")).status).toBe(500);
    expect(logger.of("error")).toEqual(["request failed"]);
  });
});

describe("API keys with an app", () => {
  it("API keys are checked before the app runs", async () => {
    const { request } = await startWith("./hono.ts:app", { api_keys: ["a-long-key"] });
    expect((await request("GET", "/hello")).status).toBe(401);
    expect((await request("GET", "/hello", undefined, { "x-api-key": "a-long-key" })).status).toBe(200);
  });
});

describe("an invalid app", () => {
  it.each([
    ["./nowhere.ts:app", "http_app: file ./nowhere.ts not found"],
    ["./hono.ts:nothing", 'http_app: ./hono.ts has no export "nothing"'],
    ["./others.ts:number", "http_app: ./others.ts:number is not an app"],
    ["./others.ts:unclear", "http_app: ./others.ts:unclear is not an app"],
    ["./others.ts:App", "http_app: ./others.ts:App is not an app"],
  ])("%s is rejected as a configuration error", async (http_app, message) => {
    await expect(startWith(http_app)).rejects.toMatchObject({ code: "config_invalid", message });
  });
});

describe("an edited app", () => {
  it("the app is hot reloaded, and a broken version keeps the previous one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-app-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const write = (text: string) =>
      writeFile(join(folder, "app.mjs"), `export default { fetch: () => new Response("${text}") };`);
    await write("first");
    const { request, service } = await startWith("./app.mjs", {}, folder);
    expect((await request("GET", "/ok")).text).toBe("first");
    expect(service.watchedFiles()).toContain(join(folder, "app.mjs"));
    await write("second, longer");
    await service.reload();
    expect((await request("GET", "/ok")).text).toBe("second, longer");
    await writeFile(join(folder, "app.mjs"), "export default {");
    await expect(service.reload()).rejects.toMatchObject({ code: "graph_load_failed" });
    expect((await request("GET", "/ok")).text).toBe("second, longer");
  });
});
