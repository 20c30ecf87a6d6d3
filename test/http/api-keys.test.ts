import { describe, expect, it } from "vitest";
import { buildOpenApi } from "../../src/http/openapi.js";
import { ROUTES } from "../../src/http/route-table.js";
import { serve } from "../helpers/app.js";
import { fakeService, THREAD_ID } from "../helpers/fake-service.js";
import { recordingLogger } from "../helpers/service.js";

const OURS = "key-of-the-chat-page";
const OTHER = "key-of-the-batch-jobs";
const settings = { api_keys: [OTHER, { name: "chat page", key: OURS }] };
const thread = `/threads/${THREAD_ID}`;

describe("a server with API keys", () => {
  it.each([
    ["x-api-key", { "x-api-key": OURS }],
    ["a Bearer token", { authorization: `Bearer ${OURS}` }],
    ["a lowercase bearer token", { authorization: `bearer ${OURS}` }],
    [
      "a valid bearer token next to an invalid x-api-key",
      { "x-api-key": "somebody-elses", authorization: `Bearer ${OTHER}` },
    ],
  ])("%s is accepted", async (_what, headers) => {
    const { request } = await serve(fakeService({ settings }));
    expect((await request("GET", thread, undefined, headers)).status).toBe(200);
  });

  it.each([
    ["no key", {}],
    ["an unknown key", { "x-api-key": "key-of-the-chat-pagE" }],
    ["part of a key", { "x-api-key": OURS.slice(0, -1) }],
    ["a key with an extra character", { "x-api-key": `${OURS}x` }],
    ["an empty key", { "x-api-key": "" }],
    ["the name of a key", { "x-api-key": "chat page" }],
    ["a Basic authorization header", { authorization: `Basic ${OURS}` }],
    ["a key without a scheme", { authorization: OURS }],
  ])("%s is rejected with 401", async (_what, headers) => {
    const { request } = await serve(fakeService({ settings }));
    const answer = await request("GET", thread, undefined, headers);
    expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  it("a key in the query string is not accepted", async () => {
    const { request } = await serve(fakeService({ settings }));
    expect((await request("GET", `${thread}?x-api-key=${OURS}`)).status).toBe(401);
  });

  it("an unknown route without a key returns 401, not 404", async () => {
    const { request } = await serve(fakeService({ settings }));
    expect((await request("GET", "/nothing")).status).toBe(401);
    expect((await request("PUT", thread)).status).toBe(401);
  });

  it("a 401 response has CORS headers", async () => {
    const { request } = await serve(fakeService({ settings: { ...settings, cors_origins: ["*"] } }));
    const answer = await request("GET", thread, undefined, { origin: "https://app.example" });
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("a preflight request needs no key", async () => {
    const { request } = await serve(fakeService({ settings }));
    const answer = await request("OPTIONS", thread, undefined, {
      origin: "https://app.example",
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "x-api-key",
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-headers")).toBe("x-api-key");
  });

  it("every route except the open ones requires a key", async () => {
    const { request } = await serve(fakeService({ settings }));
    const open: string[] = [];
    for (const { method, path } of ROUTES) {
      const { status } = await request(method.toUpperCase(), path.replace(/\{\w+\}/g, THREAD_ID));
      if (status !== 401) open.push(path);
    }
    for (const page of ["/docs/", "/openapi.json"]) expect((await request("GET", page)).status).toBe(401);
    expect(open.sort()).toEqual(["/api/health", "/info", "/ok", "/ready"]);
  });

  it("open_routes replaces the default open routes", async () => {
    const open_routes = ["/docs" as const, "/openapi.json" as const];
    const { request } = await serve(fakeService({ settings: { ...settings, open_routes } }));
    for (const path of ["/docs/", "/docs/swagger-ui.css", "/openapi.json"])
      expect((await request("GET", path)).status).toBe(200);
    for (const path of ["/ok", "/info", "/docsx", "/doc"])
      expect((await request("GET", path)).status).toBe(401);
  });

  it("the log contains the key's name and never the key", async () => {
    const logger = recordingLogger();
    const { request, ...server } = await serve(fakeService({ settings, logger }));
    await request("GET", thread, undefined, { "x-api-key": OURS });
    await request("GET", thread, undefined, { "x-api-key": OTHER });
    await request("GET", thread, undefined, { "x-api-key": "not-known-here" });
    await server.close(0);
    const keys = logger.lines.filter(({ message }) => message === "request").map(({ fields }) => fields);
    expect(keys).toMatchObject([{ key: "chat page", status: 200 }, { status: 200 }, { status: 401 }]);
    expect(keys.slice(1).every((fields) => !("key" in fields))).toBe(true);
    expect(JSON.stringify(logger.lines)).not.toMatch(/key-of-the|not-known/);
  });
});

describe("a server without API keys", () => {
  it("any x-api-key header is accepted", async () => {
    const { request } = await serve(fakeService());
    expect((await request("GET", thread)).status).toBe(200);
    expect((await request("GET", thread, undefined, { "x-api-key": "whatever" })).status).toBe(200);
  });
});

describe("the OpenAPI document with API keys", () => {
  const document = buildOpenApi(ROUTES, { openRoutes: ["/ok"] });

  it("the document lists both security schemes", () => {
    expect(Object.keys(document.components.securitySchemes ?? {})).toEqual(["api_key", "bearer"]);
    expect(document.security).toEqual([{ api_key: [] }, { bearer: [] }]);
    expect(buildOpenApi(ROUTES)).not.toHaveProperty("security");
  });

  it("open routes are marked and the others document 401", () => {
    const operation = (path: string) =>
      document.paths[path]?.get as { responses: object; security?: unknown };
    expect(operation("/ok").security).toEqual([]);
    expect(operation("/ok").responses).not.toHaveProperty("401");
    expect(operation("/info")).not.toHaveProperty("security");
    expect(operation("/info").responses).toHaveProperty("401");
  });

  it("the served document contains the security schemes", async () => {
    const { request } = await serve(fakeService({ settings }));
    const { body } = await request("GET", "/openapi.json", undefined, { "x-api-key": OURS });
    expect(body).toHaveProperty("components.securitySchemes.api_key");
  });
});
