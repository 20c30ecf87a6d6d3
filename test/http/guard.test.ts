import { request as httpRequest } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService, someThread, THREAD_ID } from "../helpers/fake-service.js";

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

  it("lets any page write where the settings say so", async () => {
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
  ])("lets %s, which is this machine, write by default", async (value) => {
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
  ])("refuses %j by default, whatever the body is called", async (value) => {
    const create = vi.fn(async () => someThread);
    const { request } = await serve(fakeService({ threads: { create } }));
    for (const type of ["text/plain", "application/json", "application/x-www-form-urlencoded"]) {
      const answer = await request("POST", "/threads", "{}", { ...origin(value), "content-type": type });
      expect(answer.status).toBe(403);
      expect(answer.headers.has("access-control-allow-origin")).toBe(false);
    }
    expect(create).not.toHaveBeenCalled();
  });

  it("lets a page write whose origin is one of the pattern, and whole", async () => {
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

describe("CORS", () => {
  const preflight = {
    ...origin("http://localhost:3000"),
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-api-key,content-type,last-event-id",
  };

  it("answers a preflight with 204", async () => {
    const { request } = await serve(fakeService());
    const answer = await request("OPTIONS", `/threads/${THREAD_ID}/runs/stream`, undefined, preflight);
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
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
    const { headers } = await request("GET", "/ok", undefined, origin("http://localhost"));
    expect(headers.get("access-control-expose-headers")).toBe(
      "Content-Location,Location,X-Pagination-Total,X-Pagination-Next,X-Tokens-Used,X-Request-Id",
    );
  });

  it("marks errors too", async () => {
    const { request } = await serve(fakeService());
    const { status, headers } = await request("GET", "/nope", undefined, origin("http://localhost"));
    expect(status).toBe(404);
    expect(headers.get("access-control-allow-origin")).toBe("http://localhost");
  });

  it("allows a foreign page nothing", async () => {
    const { request } = await serve(fakeService());
    const foreign = { ...preflight, ...origin("https://evil.example") };
    const { status, headers } = await request("OPTIONS", "/threads", undefined, foreign);
    expect(status).toBe(204);
    expect(headers.has("access-control-allow-origin")).toBe(false);
  });

  it("of any origin names none", async () => {
    const { request } = await serve(fakeService({ settings: { cors_origins: ["*"] } }));
    const { headers } = await request("GET", "/ok", undefined, origin("https://app.example"));
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.has("access-control-allow-credentials")).toBe(false);
  });

  it("with credentials names the origin, also where any will do", async () => {
    for (const cors_origins of [["*"], ["https://app.example"]]) {
      const { request } = await serve(fakeService({ settings: { cors_origins, cors_credentials: true } }));
      const { headers } = await request("GET", "/ok", undefined, origin("https://app.example"));
      expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
      expect(headers.get("access-control-allow-credentials")).toBe("true");
    }
  });

  it("takes * for every method and every header, and adds what else is exposed and how long it holds", async () => {
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
