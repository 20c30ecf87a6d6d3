import { once } from "node:events";
import { createServer, request as httpRequest, Agent, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import express from "express";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createApp } from "../../src/http/app.js";
import { startServer } from "../../src/http/server.js";
import type { ThreadCreateRequest } from "../../src/models/thread.js";
import { client, serve } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { fakeService, someStream, someThread, THREAD_ID } from "../helpers/fake-service.js";
import { readEvents } from "../helpers/sse.js";

describe("listening", () => {
  it("the server reports its port and URL", async () => {
    const server = await serve(fakeService());
    expect(server.port).toBeGreaterThan(0);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await server.request("GET", "/ok")).body).toEqual({ ok: true });
  });

  it("the URL of a wildcard address is localhost", async () => {
    const server = await serve(fakeService(), { host: "0.0.0.0" });
    expect(server.url).toBe(`http://localhost:${server.port}`);
  });

  it("a port in use is rejected", async () => {
    const { port } = await serve(fakeService());
    await expect(startServer(fakeService(), { host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "config_invalid",
      message: `127.0.0.1:${port} is in use by another process`,
      hint: "choose another port",
    });
  });

  it("an address of another machine is rejected", async () => {
    await expect(startServer(fakeService(), { host: "192.0.2.1", port: 0 })).rejects.toMatchObject({
      code: "config_invalid",
      message: "192.0.2.1 is not an address of this machine",
    });
  });
});

describe("shutdown", () => {
  it("shutdown closes the service once", async () => {
    const close = vi.fn(async () => undefined);
    const server = await serve(fakeService({ close }));
    await Promise.all([server.close(3), server.close()]);
    expect(close).toHaveBeenCalledExactlyOnceWith(3);
  });

  it("shutdown closes idle keep-alive connections immediately", async () => {
    const server = await serve(fakeService());
    const agent = new Agent({ keepAlive: true });
    const req = httpRequest(`${server.url}/ok`, { agent }).end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    const freed = once(agent, "free");
    res.resume();
    await freed;
    await server.close();
    agent.destroy();
  });

  it("streams send their last frames before shutdown ends", async () => {
    const closed = deferred();
    const frames = (async function* () {
      yield [{ id: 0, event: "metadata", data: "{}" }];
      await closed.promise;
      yield [{ id: 1, event: "end", data: "{}" }];
    })();
    const close = async () => closed.resolve();
    const server = await serve(fakeService({ close, runs: { stream: async () => someStream(frames) } }));
    const events = readEvents(
      await server.fetch("POST", `/threads/${THREAD_ID}/runs/stream`, { assistant_id: "agent" }),
    );
    await events.next();
    const done = server.close();
    expect((await events.next()).value).toMatchObject({ event: "end" });
    expect((await events.next()).done).toBe(true);
    await done;
  });

  it("shutdown drops connections with unfinished requests", async () => {
    const server = await serve(fakeService());
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write("POST /threads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{");
    const ended = once(socket, "close");
    await server.close();
    await ended;
  });

  it("shutdown does not wait for connections without a request", { timeout: 20_000 }, async () => {
    const server = await serve(fakeService());
    const socket = connect(server.port, "127.0.0.1");
    const ended = once(socket, "close");
    await once(socket, "connect");
    // A later request was answered, so this connection has been accepted.
    await server.request("GET", "/ok");
    onTestFinished(() => void vi.useRealTimers());
    // With fake timers no deadline can expire.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    await server.close();
    await ended;
  });

  it("new connections are refused after shutdown", async () => {
    const server = await serve(fakeService());
    await server.close();
    await expect(server.request("GET", "/ok")).rejects.toThrow("fetch failed");
  });
});

/** A host application with the service under /graphs. */
async function embed(prepare: (host: express.Express) => void = () => undefined) {
  const seen: ThreadCreateRequest[] = [];
  const create = async (request: ThreadCreateRequest) => {
    seen.push(request);
    return someThread;
  };
  const host = express();
  prepare(host);
  host.use("/graphs", createApp(fakeService({ threads: { create }, settings: { body_limit: 2048 } })));
  host.get("/hello", (_req, res) => void res.send("hello"));
  const server = createServer((req, res) => void host(req, res)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { seen, ...client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

describe("a server embedded in another application", () => {
  it("routes are served under the prefix", async () => {
    const { request } = await embed();
    expect((await request("GET", `/graphs/threads/${THREAD_ID}`)).body).toEqual(someThread);
  });

  it("other routes of the host application are unaffected", async () => {
    const { request } = await embed();
    expect(await request("GET", "/hello")).toMatchObject({ status: 200, text: "hello" });
    expect((await request("GET", "/graphs/hello")).body).toMatchObject({ code: "route_not_found" });
  });

  it("the Location header has no prefix", async () => {
    const { request } = await embed();
    const { headers } = await request("POST", `/graphs/threads/${THREAD_ID}/runs`, { assistant_id: "agent" });
    expect(headers.get("location")).toMatch(/^\/threads\//);
  });

  it.each([
    ["express.json", express.json()],
    ["express.text", express.text({ type: () => true })],
    ["express.raw", express.raw({ type: () => true })],
  ])("bodies parsed by %s are accepted", async (_name, parser) => {
    const { request, seen } = await embed((host) => host.use(parser));
    const json = { "content-type": "application/json" };
    expect((await request("POST", "/graphs/threads", { metadata: { a: 1 } }, json)).status).toBe(200);
    expect(seen).toEqual([{ metadata: { a: 1 } }]);
    const refused = await request("POST", "/graphs/threads", { metadata: { a: "\0" } }, json);
    expect(refused.status).toBe(422);
  });

  it("the documentation is served under the prefix", async () => {
    const { request, fetch } = await embed();
    const redirect = await fetch("GET", "/graphs/docs", undefined, { redirect: "manual" });
    expect(redirect.status).toBe(301);
    const location = new URL(redirect.headers.get("location") ?? "", redirect.url);
    expect(location.pathname).toBe("/graphs/docs/");
    expect((await request("GET", "/graphs/docs/page.js")).text).toContain("../openapi.json");
    expect((await request("GET", "/graphs/openapi.json")).status).toBe(200);
  });
});
