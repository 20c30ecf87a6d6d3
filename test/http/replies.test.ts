import { describe, expect, it, vi } from "vitest";
import { GraphServeError, StorageUnavailableError } from "../../src/support/errors.js";
import { silentLogger } from "../../src/support/log.js";
import { client, serve } from "../helpers/app.js";
import { deferred } from "../helpers/deferred.js";
import { fakeService, lazy, RUN_ID, someRun, someThread, THREAD_ID } from "../helpers/fake-service.js";

const thread = `/threads/${THREAD_ID}`;

describe("response headers", () => {
  it("a JSON response has its content type and length", async () => {
    const { request } = await serve(fakeService());
    const answer = await request("GET", thread);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(answer.text)));
  });

  it("content-length counts bytes, not characters", async () => {
    const { request } = await serve(
      fakeService({ threads: { get: async () => ({ ...someThread, values: { a: "ü🙂" } }) } }),
    );
    expect((await request("GET", thread)).body).toMatchObject({ values: { a: "ü🙂" } });
  });

  it("a response reveals no framework and has no ETag", async () => {
    const { request } = await serve(fakeService());
    const { headers } = await request("GET", "/ok");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("etag")).toBeNull();
  });

  it.each([
    ["OPTIONS", "/ok", 204],
    ["GET", "/docs", 200],
    ["GET", "/docs/swagger-ui-bundle.js", 200],
    ["GET", "/docs/nope", 404],
    ["POST", `${thread}/runs/stream`, 200],
    ["GET", "/threads/%zz", 422],
  ])("the response to %s %s has nosniff", async (method, path, status) => {
    const { request } = await serve(fakeService());
    const answer = await request(method, path, method === "POST" ? { assistant_id: "agent" } : undefined);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("responses to rejected origins and keys have nosniff", async () => {
    const settings = { api_keys: ["key-of-a-reader"], cors_origins: ["http://a.example"] };
    const { request } = await serve(fakeService({ settings }));
    const callers: Record<string, string>[] = [{}, { origin: "http://b.example" }];
    for (const headers of callers) {
      const answer = await request("POST", "/threads", {}, headers);
      expect([401, 403]).toContain(answer.status);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it.each(["/threads/search", "/assistants/search"])(
    "%s returns the total and the next offset",
    async (path) => {
      const page = { total: 25, next: 10 };
      const find = async () => ({ items: lazy([]), ...page });
      const search = async () => ({ items: [], ...page });
      const { request } = await serve(fakeService({ threads: { find }, assistants: { search } }));
      const { headers } = await request("POST", path, {});
      expect(headers.get("x-pagination-total")).toBe("25");
      expect(headers.get("x-pagination-next")).toBe("10");
    },
  );

  it("the last page has no next offset", async () => {
    const { request } = await serve(fakeService());
    expect((await request("POST", "/threads/search", {})).headers.has("x-pagination-next")).toBe(false);
  });

  it.each([
    [someRun.usage, "7"],
    [null, "0"],
  ])("a run response has its path and token count", async (usage, tokens) => {
    const { request } = await serve(fakeService({ runs: { create: async () => ({ ...someRun, usage }) } }));
    const { headers } = await request("POST", `${thread}/runs`, { assistant_id: "agent" });
    expect(headers.get("location")).toBe(`${thread}/runs/${RUN_ID}`);
    expect(headers.get("content-location")).toBe(`${thread}/runs/${RUN_ID}`);
    expect(headers.get("x-tokens-used")).toBe(tokens);
  });
});

describe("responses without a body", () => {
  it.each(["return=minimal", "respond-async, Return=Minimal"])("Prefer: %s returns 204", async (prefer) => {
    const { request } = await serve(fakeService());
    const answer = await request("PATCH", thread, { metadata: {} }, { prefer });
    expect(answer).toMatchObject({ status: 204, text: "" });
  });

  it("other preferences return a body", async () => {
    const { request } = await serve(fakeService());
    expect((await request("PATCH", thread, {}, { prefer: "return=representation" })).status).toBe(200);
  });

  it("a HEAD request returns headers only", async () => {
    const { request } = await serve(fakeService());
    const answer = await request("HEAD", thread);
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(Number(answer.headers.get("content-length"))).toBeGreaterThan(0);
  });
});

describe("error responses", () => {
  it("a wrong method returns the allowed methods", async () => {
    const { request } = await serve(fakeService());
    const answer = await request("PUT", thread);
    expect(answer.headers.get("allow")).toBe("GET, PATCH, DELETE, HEAD");
    expect(answer.body).toEqual({
      detail: "PUT is not allowed here; allowed: GET, PATCH, DELETE, HEAD",
      code: "method_not_allowed",
    });
  });

  it("an unknown route returns 404 with its path", async () => {
    const { request } = await serve(fakeService());
    expect((await request("GET", "/nope?secret=1")).body).toEqual({
      detail: "route GET /nope does not exist",
      code: "route_not_found",
    });
  });

  it("an invalid path encoding returns 422", async () => {
    const { request } = await serve(fakeService());
    expect(await request("GET", "/threads/%zz")).toMatchObject({
      status: 422,
      body: { code: "invalid_request" },
    });
  });

  it("internal errors do not expose details", async () => {
    const error = vi.fn();
    const get = () => Promise.reject(new Error("ENOENT /home/me/db.sqlite postgres://u:pw@h/db"));
    const { request } = await serve(fakeService({ threads: { get }, logger: { ...silentLogger, error } }));
    const answer = await request("GET", thread);
    expect(answer).toMatchObject({
      status: 500,
      body: { detail: "internal error", code: "internal_error", request_id: expect.any(String) as unknown },
    });
    expect(answer.text).not.toMatch(/ENOENT|sqlite|pw/);
    expect(error).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ path: thread }),
      "request failed",
    );
  });

  it("an error of a graph that does not load hides its path", async () => {
    const get = () => Promise.reject(new GraphServeError("graph_load_failed", "/home/me/graph.ts broke"));
    const { request } = await serve(fakeService({ threads: { get } }));
    const answer = await request("GET", thread);
    expect(answer).toMatchObject({
      status: 500,
      body: { detail: "internal error", code: "graph_load_failed" },
    });
    expect(answer.text).not.toContain("graph.ts");
  });

  it("a thrown value that is not an Error returns 500", async () => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    const { request } = await serve(fakeService({ threads: { get: () => Promise.reject(undefined) } }));
    expect((await request("GET", thread)).status).toBe(500);
  });

  it("unavailable storage returns 503 with Retry-After", async () => {
    const get = () => Promise.reject(new StorageUnavailableError("the database does not answer"));
    const { request } = await serve(fakeService({ threads: { get } }));
    const answer = await request("GET", thread);
    expect(answer).toMatchObject({
      status: 503,
      body: { detail: "the database does not answer", code: "storage_unavailable" },
    });
    expect(answer.headers.get("retry-after")).toBe("1");
  });
});

describe("disconnects", () => {
  it("a disconnect aborts the signal of a run", async () => {
    const reached = deferred<AbortSignal>();
    const create = (_id: string, _request: unknown, options?: { signal?: AbortSignal }) => {
      const { signal } = options ?? {};
      if (signal) reached.resolve(signal);
      return new Promise<never>((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    };
    const error = vi.fn();
    const server = await serve(fakeService({ runs: { create }, logger: { ...silentLogger, error } }));
    const caller = new AbortController();
    const answer = server.fetch(
      "POST",
      `${thread}/runs`,
      { assistant_id: "agent" },
      { signal: caller.signal },
    );
    const signal = await reached.promise;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    caller.abort();
    await expect(answer).rejects.toThrow();
    await aborted;
    expect((await client(server.url).request("GET", "/ok")).status).toBe(200);
    expect(error).not.toHaveBeenCalled();
  });

  it("a finished run's signal is not aborted", async () => {
    let signal: AbortSignal | undefined;
    const create = async (_id: string, _request: unknown, options?: { signal?: AbortSignal }) => {
      signal = options?.signal;
      return someRun;
    };
    const server = await serve(fakeService({ runs: { create } }));
    await server.request("POST", `${thread}/runs`, { assistant_id: "agent" });
    await server.close();
    expect(signal?.aborted).toBe(false);
  });
});

describe("access log", () => {
  it("the access log contains method, path, status and duration", async () => {
    const logged = deferred<object>();
    const logger = { ...silentLogger, info: (fields: object) => logged.resolve(fields) };
    const { request } = await serve(fakeService({ logger }));
    await request("GET", `${thread}?token=secret`);
    expect(await logged.promise).toEqual({
      request_id: expect.any(String) as unknown,
      method: "GET",
      path: thread,
      status: 200,
      ms: expect.any(Number) as unknown,
    });
  });
});
