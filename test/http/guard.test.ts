import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService, THREAD_ID } from "../helpers/fake-service.js";

/** The status of GET /ok with a Host header of one's own, which fetch does not allow. */
function statusFor(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: "127.0.0.1", port, path: "/ok", headers: { host } }, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    req.on("error", reject).end();
  });
}

describe("host guard", () => {
  it.each([
    "localhost",
    "localhost:2024",
    "LOCALHOST",
    "localhost.",
    "a.localhost:1",
    "127.0.0.1:9",
    "10.1.2.3",
    "[::1]:80",
    "[::1]",
  ])("answers to %s", async (host) => {
    const { port } = await serve(fakeService());
    expect(await statusFor(port, host)).toBe(200);
  });

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example:80",
    "notlocalhost",
    "a@localhost",
  ])("refuses %j", async (host) => {
    const { port } = await serve(fakeService());
    expect(await statusFor(port, host)).toBe(403);
  });

  it("answers to the names of the settings", async () => {
    const { port } = await serve(
      fakeService({ settings: { host: "Graphs.internal", allowed_hosts: ["api.example"] } }),
    );
    expect(await statusFor(port, "graphs.internal:80")).toBe(200);
    expect(await statusFor(port, "api.example")).toBe(200);
    expect(await statusFor(port, "www.api.example")).toBe(403);
  });

  it("answers to every name when * is allowed", async () => {
    const { port } = await serve(fakeService({ settings: { allowed_hosts: ["*"] } }));
    expect(await statusFor(port, "evil.example")).toBe(200);
  });

  it("is off on a public address without names", async () => {
    const open = await serve(fakeService(), { host: "0.0.0.0" });
    expect(await statusFor(open.port, "graphs.example")).toBe(200);
    const named = await serve(fakeService({ settings: { allowed_hosts: ["api.example"] } }), {
      host: "0.0.0.0",
    });
    expect(await statusFor(named.port, "graphs.example")).toBe(403);
  });

  it("refuses after it has allowed", async () => {
    const { port } = await serve(fakeService());
    expect(await statusFor(port, "localhost")).toBe(200);
    expect(await statusFor(port, "evil.example")).toBe(403);
  });
});

const origin = (value: string) => ({ origin: value });

describe("origin guard", () => {
  const only = { cors_origins: ["https://app.example"] };

  it("refuses writes of a foreign page", async () => {
    const { request } = await serve(fakeService({ settings: only }));
    const answer = await request("POST", "/threads", "{}", {
      ...origin("https://evil.example"),
      "content-type": "text/plain",
    });
    expect(answer).toMatchObject({
      status: 403,
      body: { code: "forbidden_origin", detail: expect.stringContaining("cors_origins") as unknown },
    });
  });

  it.each(["POST", "PATCH", "DELETE"])("refuses %s of an opaque origin", async (method) => {
    const { request } = await serve(fakeService({ settings: only }));
    expect((await request(method, `/threads/${THREAD_ID}`, undefined, origin("null"))).status).toBe(403);
  });

  it("lets an allowed page write", async () => {
    const { request } = await serve(fakeService({ settings: only }));
    const answer = await request("POST", "/threads", "{}", origin("https://app.example"));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
  });

  it("lets the server's own pages write", async () => {
    const { url, request } = await serve(fakeService({ settings: only }));
    expect((await request("POST", "/threads", "{}", origin(url))).status).toBe(200);
  });

  it("lets any page read without allowing it", async () => {
    const { request } = await serve(fakeService({ settings: only }));
    const answer = await request("GET", "/ok", undefined, origin("https://evil.example"));
    expect(answer.status).toBe(200);
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });

  it("lets any page write by default", async () => {
    const { request } = await serve(fakeService());
    expect((await request("POST", "/threads", "{}", origin("https://evil.example"))).status).toBe(200);
  });
});

describe("CORS", () => {
  const preflight = {
    ...origin("https://app.example"),
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-api-key,content-type,last-event-id",
  };

  it("answers a preflight with 204", async () => {
    const { request } = await serve(fakeService());
    const answer = await request("OPTIONS", `/threads/${THREAD_ID}/runs/stream`, undefined, preflight);
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET,POST,PUT,PATCH,DELETE,OPTIONS",
      "access-control-allow-headers": "x-api-key,content-type,last-event-id",
    });
  });

  it("allows the headers of the settings alone", async () => {
    const { request } = await serve(
      fakeService({ settings: { cors_headers: ["content-type"], cors_methods: ["GET"] } }),
    );
    const { headers } = await request("OPTIONS", "/threads", undefined, preflight);
    expect(headers.get("access-control-allow-headers")).toBe("content-type");
    expect(headers.get("access-control-allow-methods")).toBe("GET");
  });

  it("exposes the headers that clients read", async () => {
    const { request } = await serve(fakeService());
    const { headers } = await request("GET", "/ok", undefined, origin("https://app.example"));
    expect(headers.get("access-control-expose-headers")).toBe(
      "Content-Location,Location,X-Pagination-Total,X-Pagination-Next,X-Tokens-Used,X-Request-Id",
    );
  });

  it("marks errors too", async () => {
    const { request } = await serve(fakeService());
    const { status, headers } = await request("GET", "/nope", undefined, origin("https://app.example"));
    expect(status).toBe(404);
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });
});
