import { request as httpRequest } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService, someThread, THREAD_ID } from "../helpers/fake-service.js";

/** Returns the status of GET /ok with a custom Host header, which fetch does not allow. */
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
  ])("Host %s is accepted", async (host) => {
    const { port } = await serve(fakeService());
    expect(await statusFor(port, host)).toBe(200);
  });

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example:80",
    "notlocalhost",
    "a@localhost",
  ])("Host %j is rejected", async (host) => {
    const { port } = await serve(fakeService());
    expect(await statusFor(port, host)).toBe(403);
  });

  it("hosts from the settings host and allowed_hosts are accepted", async () => {
    const { port } = await serve(
      fakeService({ settings: { host: "Graphs.internal", allowed_hosts: ["api.example"] } }),
    );
    expect(await statusFor(port, "graphs.internal:80")).toBe(200);
    expect(await statusFor(port, "api.example")).toBe(200);
    expect(await statusFor(port, "www.api.example")).toBe(403);
  });

  it("every host is accepted when allowed_hosts contains *", async () => {
    const { port } = await serve(fakeService({ settings: { allowed_hosts: ["*"] } }));
    expect(await statusFor(port, "evil.example")).toBe(200);
  });

  it("the guard is off on a public address without configured hosts", async () => {
    const open = await serve(fakeService(), { host: "0.0.0.0" });
    expect(await statusFor(open.port, "graphs.example")).toBe(200);
    const named = await serve(fakeService({ settings: { allowed_hosts: ["api.example"] } }), {
      host: "0.0.0.0",
    });
    expect(await statusFor(named.port, "graphs.example")).toBe(403);
  });

  it("a host is rejected after another host was accepted", async () => {
    const { port } = await serve(fakeService());
    expect(await statusFor(port, "localhost")).toBe(200);
    expect(await statusFor(port, "evil.example")).toBe(403);
  });
});

const origin = (value: string) => ({ origin: value });

describe("origin guard", () => {
  const only = { cors_origins: ["https://app.example"] };

  it("a write from a foreign origin is rejected", async () => {
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

  it.each(["POST", "PATCH", "DELETE"])("a %s request from an opaque origin is rejected", async (method) => {
    const { request } = await serve(fakeService({ settings: only }));
    expect((await request(method, `/threads/${THREAD_ID}`, undefined, origin("null"))).status).toBe(403);
  });

  it("a write from an allowed origin is accepted", async () => {
    const { request } = await serve(fakeService({ settings: only }));
    const answer = await request("POST", "/threads", "{}", origin("https://app.example"));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
  });

  it("a write from the server's own origin is accepted", async () => {
    const { url, request } = await serve(fakeService({ settings: only }));
    expect((await request("POST", "/threads", "{}", origin(url))).status).toBe(200);
  });

  it("a read from any origin is answered without CORS headers", async () => {
    const { request } = await serve(fakeService({ settings: only }));
    const answer = await request("GET", "/ok", undefined, origin("https://evil.example"));
    expect(answer.status).toBe(200);
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });

  it("a write from any origin is accepted when cors_origins contains *", async () => {
    const { request } = await serve(fakeService({ settings: { cors_origins: ["*"] } }));
    expect((await request("POST", "/threads", "{}", origin("https://evil.example"))).status).toBe(200);
  });

  it.each([
    "http://localhost:3000",
    "https://localhost",
    "http://agent.localhost:5173",
    "http://127.0.0.1:8080",
    "http://127.9.8.7",
    "http://[::1]:3000",
  ])("local origin %s may write by default", async (value) => {
    const { request } = await serve(fakeService());
    const answer = await request("POST", "/threads", "{}", origin(value));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe(value);
    expect(answer.headers.get("vary")).toContain("Origin");
  });

  it.each([
    "https://evil.example",
    "null",
    "file://",
    "http://localhost.evil.example",
    "http://evil.example:localhost",
    "http://127.0.0.1.evil.example",
    "http://notlocalhost",
    "http://10.0.0.1",
    "http://[::2]",
    "http://evil.example/http://localhost",
    "http://localhost@evil.example",
    "",
  ])("origin %j is rejected by default for every content type", async (value) => {
    const create = vi.fn(async () => someThread);
    const { request } = await serve(fakeService({ threads: { create } }));
    for (const type of ["text/plain", "application/json", "application/x-www-form-urlencoded"]) {
      const answer = await request("POST", "/threads", "{}", { ...origin(value), "content-type": type });
      expect(answer.status).toBe(403);
      expect(answer.headers.has("access-control-allow-origin")).toBe(false);
    }
    expect(create).not.toHaveBeenCalled();
  });

  it("cors_origin_regex must match the whole origin", async () => {
    const settings = { cors_origins: [], cors_origin_regex: "https://[a-z]+\\.example\\.com|http://dev" };
    const { request } = await serve(fakeService({ settings }));
    const statuses = await Promise.all(
      [
        "https://chat.example.com",
        "http://dev",
        "https://chat.example.com.evil.example",
        "http://dev.evil.example",
        "https://evil.example/https://chat.example.com",
        "http://localhost:3000",
      ].map(async (value) => (await request("POST", "/threads", "{}", origin(value))).status),
    );
    expect(statuses).toEqual([200, 200, 403, 403, 403, 403]);
  });
});

describe("CORS headers", () => {
  const preflight = {
    ...origin("http://localhost:3000"),
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-api-key,content-type,last-event-id",
  };

  it("a preflight request is answered with 204", async () => {
    const { request } = await serve(fakeService());
    const answer = await request("OPTIONS", `/threads/${THREAD_ID}/runs/stream`, undefined, preflight);
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
      "access-control-allow-methods": "GET,POST,PUT,PATCH,DELETE,OPTIONS",
      "access-control-allow-headers": "x-api-key,content-type,last-event-id",
    });
  });

  it("only the headers and methods from the settings are allowed", async () => {
    const { request } = await serve(
      fakeService({ settings: { cors_headers: ["content-type"], cors_methods: ["GET"] } }),
    );
    const { headers } = await request("OPTIONS", "/threads", undefined, preflight);
    expect(headers.get("access-control-allow-headers")).toBe("content-type");
    expect(headers.get("access-control-allow-methods")).toBe("GET");
  });

  it("the headers that clients read are exposed", async () => {
    const { request } = await serve(fakeService());
    const { headers } = await request("GET", "/ok", undefined, origin("http://localhost"));
    expect(headers.get("access-control-expose-headers")).toBe(
      "Content-Location,Location,X-Pagination-Total,X-Pagination-Next,X-Tokens-Used,X-Cost-Used,X-Request-Id",
    );
  });

  it("an error response has CORS headers", async () => {
    const { request } = await serve(fakeService());
    const { status, headers } = await request("GET", "/nope", undefined, origin("http://localhost"));
    expect(status).toBe(404);
    expect(headers.get("access-control-allow-origin")).toBe("http://localhost");
  });

  it("a foreign origin gets no CORS headers", async () => {
    const { request } = await serve(fakeService());
    const foreign = { ...preflight, ...origin("https://evil.example") };
    const { status, headers } = await request("OPTIONS", "/threads", undefined, foreign);
    expect(status).toBe(204);
    expect(headers.has("access-control-allow-origin")).toBe(false);
  });

  it("allow-origin is * when every origin is allowed", async () => {
    const { request } = await serve(fakeService({ settings: { cors_origins: ["*"] } }));
    const { headers } = await request("GET", "/ok", undefined, origin("https://app.example"));
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.has("access-control-allow-credentials")).toBe(false);
  });

  it("allow-origin names the origin when credentials are allowed", async () => {
    for (const cors_origins of [["*"], ["https://app.example"]]) {
      const { request } = await serve(fakeService({ settings: { cors_origins, cors_credentials: true } }));
      const { headers } = await request("GET", "/ok", undefined, origin("https://app.example"));
      expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
      expect(headers.get("access-control-allow-credentials")).toBe("true");
    }
  });

  it("wildcard methods and headers, extra exposed headers and max age are applied", async () => {
    const settings = {
      cors_methods: ["*"],
      cors_headers: ["*"],
      cors_expose_headers: ["X-Mine"],
      cors_max_age: 600,
    };
    const { request } = await serve(fakeService({ settings }));
    const { headers } = await request("OPTIONS", "/threads", undefined, preflight);
    expect(Object.fromEntries(headers)).toMatchObject({
      "access-control-allow-methods": "GET,POST,PUT,PATCH,DELETE,OPTIONS",
      "access-control-allow-headers": "x-api-key,content-type,last-event-id",
      "access-control-max-age": "600",
      "access-control-expose-headers": expect.stringMatching(/X-Tokens-Used,.*X-Mine$/) as unknown,
    });
  });
});
