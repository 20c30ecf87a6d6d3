import { describe, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { serve } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { fakeService, THREAD_ID } from "../helpers/fake-service.js";
import { recordingLogger } from "../helpers/service.js";

const UUID = /^[0-9a-f-]{36}$/;
const thread = `/threads/${THREAD_ID}`;
const withId = (id: string) => ({ "x-request-id": id });

describe("request ids", () => {
  it.each(["abc-123", "Root=1-67891233-abcdef", "a/b:c@d+e.f_g", "x".repeat(128)])(
    "%s is used as request id",
    async (id) => {
      const { request } = await serve(fakeService());
      expect((await request("GET", "/ok", undefined, withId(id))).headers.get("x-request-id")).toBe(id);
    },
  );

  it.each(["", "two words", "x".repeat(129), '"quoted"', "<script>", "caf\u00e9"])(
    "the invalid request id %j is replaced",
    async (id) => {
      const { request } = await serve(fakeService());
      expect((await request("GET", "/ok", undefined, withId(id))).headers.get("x-request-id")).toMatch(UUID);
    },
  );

  it("each request has a unique request id", async () => {
    const { request } = await serve(fakeService());
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await request("GET", "/ok")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(3);
  });

  it("streams and errors have a request id", async () => {
    const { request } = await serve(fakeService());
    const stream = await request("POST", `${thread}/runs/stream`, { assistant_id: "agent" }, withId("s1"));
    expect(stream.headers.get("x-request-id")).toBe("s1");
    const refused = await request("GET", "/nothing", undefined, withId("r1"));
    expect(refused.headers.get("x-request-id")).toBe("r1");
    expect(refused.body).not.toHaveProperty("request_id");
  });

  it.each([
    ["an internal error", new Error("secret"), 500],
    ["an unavailable storage", new StorageUnavailableError("the storage does not answer"), 503],
  ])("the error body for %s contains the request id", async (_what, error, status) => {
    const logger = recordingLogger();
    const service = fakeService({ logger, threads: { get: () => Promise.reject(error) } });
    const { request, ...server } = await serve(service);
    const answer = await request("GET", thread, undefined, withId("f1"));
    expect(answer).toMatchObject({ status, body: { request_id: "f1" } });
    expectDocumented("GET", thread, answer);
    await server.close(0);
    const ids = logger.lines.map(({ message, fields }) => [
      message,
      (fields as { request_id?: string }).request_id,
    ]);
    expect(ids).toEqual([["request failed", "f1"], ["request", "f1"]]); // prettier-ignore
  });
});
