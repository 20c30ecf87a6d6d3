import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { MAX_DEPTH } from "../../src/http/core/json-body.js";
import type { ThreadCreateRequest } from "../../src/models/thread.js";
import { serve, type TestServer } from "../helpers/app.js";
import { fakeService, someThread } from "../helpers/fake-service.js";

/** A server that records the bodies of POST /threads. */
async function recorder(bodyLimit = 4096): Promise<TestServer & { seen: ThreadCreateRequest[] }> {
  const seen: ThreadCreateRequest[] = [];
  const threads = {
    create: async (request: ThreadCreateRequest) => {
      seen.push(request);
      return someThread;
    },
  };
  const server = await serve(fakeService({ settings: { body_limit: bodyLimit }, threads }));
  return { ...server, seen };
}

const nested = (depth: number) => `{"metadata":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
const nestedObject = (depth: number) => `{"metadata":${'{"a":'.repeat(depth - 1)}1${"}".repeat(depth - 1)}}`;

describe("request bodies", () => {
  it.each(["application/json", "text/plain", "application/octet-stream", ""])(
    "JSON sent as %j is parsed",
    async (type) => {
      const { request, seen } = await recorder();
      const answer = await request("POST", "/threads", '{"metadata":{"a":1}}', { "content-type": type });
      expect(answer.status).toBe(200);
      expect(seen).toEqual([{ metadata: { a: 1 } }]);
    },
  );

  it.each(["", "  \n", "\uFEFF"])("%j is read as an empty object", async (text) => {
    const { request, seen } = await recorder();
    expect((await request("POST", "/threads", text)).status).toBe(200);
    expect(seen).toEqual([{}]);
  });

  it("invalid JSON is rejected with the reason", async () => {
    const { request } = await recorder();
    const answer = await request("POST", "/threads", '{"a": tru}');
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      detail: [
        { loc: ["body"], msg: expect.stringContaining("not valid JSON") as unknown, type: "json_invalid" },
      ],
      code: "invalid_request",
    });
  });

  it.each(["null", "3", '"text"', "[]", "true"])(
    "%s is rejected because it is not an object",
    async (text) => {
      const { request } = await recorder();
      const answer = await request("POST", "/threads", text);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ loc: ["body"], msg: "must be object", type: "type" }] });
    },
  );

  it("invalid UTF-8 is rejected", async () => {
    const { request } = await recorder();
    const answer = await request("POST", "/threads", Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    expect(answer.body).toMatchObject({ detail: [{ type: "utf8_invalid" }] });
  });

  it.each([nested, nestedObject])(
    "a body at the maximum depth is accepted and a deeper one is rejected",
    async (build) => {
      const { request } = await recorder();
      const deepest = await request("POST", "/threads", build(MAX_DEPTH));
      expect(deepest.text).not.toContain("too_deep");
      const deeper = await request("POST", "/threads", build(MAX_DEPTH + 1));
      expect(deeper.status).toBe(422);
      expect(deeper.body).toMatchObject({ detail: [{ type: "too_deep" }] });
    },
  );

  it.each([0, 1, 31, 32, 33, 200])(
    "strings of %i characters and more are skipped with their escapes",
    async (length) => {
      const { request, seen } = await recorder(100_000);
      const start = "x".repeat(length);
      for (const [end, isDeep] of [
        ['"' + "[".repeat(300), false],
        ['\\"' + "[".repeat(300), false],
        ["\\", true],
        ["\\\\", true],
      ] as const) {
        const text = JSON.stringify(start + end);
        const inner = isDeep ? "[".repeat(MAX_DEPTH) + "]".repeat(MAX_DEPTH) : "[]";
        const answer = await request("POST", "/threads", `{"metadata":{"text":${text},"inner":${inner}}}`);
        if (isDeep) expect(answer.body).toMatchObject({ detail: [{ type: "too_deep" }] });
        else expect(seen.at(-1)).toEqual({ metadata: { text: start + end, inner: [] } });
      }
    },
  );

  it("a million nested brackets are rejected", async () => {
    const { request } = await recorder(4_000_000);
    const answer = await request("POST", "/threads", nested(1_000_000));
    expect(answer.body).toMatchObject({ detail: [{ type: "too_deep" }] });
  });

  it("more than 500,000 values are rejected before parsing, not counting string contents", async () => {
    const { request } = await recorder(4_000_000);
    const many = await request("POST", "/threads", `{"metadata":{"a":[${"{},".repeat(300_000)}1]}}`);
    expect(many).toMatchObject({ status: 422, body: { detail: [{ type: "too_many_values" }] } });
    const text = await request("POST", "/threads", { metadata: { a: ",[{".repeat(400_000) } });
    expect(text.status).toBe(200);
  });

  it.each([{ metadata: { a: "x\0" } }, { metadata: { "\0": 1 } }, { metadata: { a: [["\0"]] } }])(
    "a NUL character in %j is rejected",
    async (body) => {
      const { request, seen } = await recorder();
      const answer = await request("POST", "/threads", body);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ type: "nul_character" }] });
      expect(seen).toEqual([]);
    },
  );

  it.each([
    '{"metadata":{"a":"x\\ud83d"}}',
    '{"metadata":{"\\uDE00":1}}',
    '{"metadata":{"a":[["\\ude00\\ud83d"]]}}',
    '{"metadata":{"a":"\\ud83d\\ude00\\ude00"}}',
    '{"metadata":{"a":"\\\\ud83d\\ude00"}}',
  ])("half a surrogate pair in %s is rejected", async (body) => {
    const { request, seen } = await recorder();
    const answer = await request("POST", "/threads", body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ type: "lone_surrogate" }] } });
    expect(seen).toEqual([]);
  });

  it("escaped surrogate pairs, and a backslash followed by ud83d, are accepted", async () => {
    const { request, seen } = await recorder();
    const body = String.raw`{"metadata":{"a":"\ud83d\ude00\uD83D\uDE00","b":"\\ud83d"}}`;
    expect((await request("POST", "/threads", body)).status).toBe(200);
    expect(seen).toEqual([{ metadata: { a: "😀😀", b: "\\ud83d" } }]);
  });

  it("a backslash followed by u0000 is accepted", async () => {
    const { request, seen } = await recorder();
    expect((await request("POST", "/threads", { metadata: { a: "\\u0000" } })).status).toBe(200);
    expect(seen).toEqual([{ metadata: { a: "\\u0000" } }]);
  });

  it("__proto__ keys are treated as data", async () => {
    const { request, seen } = await recorder();
    await request("POST", "/threads", '{"metadata":{"__proto__":{"polluted":true}},"__proto__":{"ttl":-1}}');
    expect(Object.hasOwn(seen[0]?.metadata ?? {}, "__proto__")).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("body_limit", () => {
  it("a larger body is rejected with 413", async () => {
    const { request, seen } = await recorder();
    const answer = await request("POST", "/threads", { metadata: { a: "x".repeat(5000) } });
    expect(answer.status).toBe(413);
    expect(answer.body).toEqual({
      detail: "request body is larger than 4096 bytes; raise the setting body_limit",
      code: "payload_too_large",
    });
    expect(seen).toEqual([]);
  });

  it("a chunked body is counted as it arrives", async () => {
    const { fetch } = await recorder();
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 100; i++) controller.enqueue(new Uint8Array(1000).fill(32));
        controller.close();
      },
    });
    const init = { body, duplex: "half" } as RequestInit;
    expect((await fetch("POST", "/threads", undefined, init)).status).toBe(413);
  });

  it("a connection stays usable after a 413", async () => {
    const { request } = await recorder();
    await request("POST", "/threads", "x".repeat(100_000));
    expect((await request("POST", "/threads", {})).status).toBe(200);
  });

  it("a body of exactly the limit is accepted", async () => {
    const { request } = await recorder();
    expect((await request("POST", "/threads", `{}${" ".repeat(4094)}`)).status).toBe(200);
  });
});

describe("content encodings", () => {
  const gzip = { "content-encoding": "gzip" };

  it("a gzip body is decompressed", async () => {
    const { request, seen } = await recorder();
    await request("POST", "/threads", gzipSync('{"metadata":{"a":1}}'), gzip);
    expect(seen).toEqual([{ metadata: { a: 1 } }]);
  });

  it("the limit applies to the decompressed size", async () => {
    const { request } = await recorder();
    expect((await request("POST", "/threads", gzipSync(" ".repeat(1_000_000)), gzip)).status).toBe(413);
  });

  it.each([
    ["gzip", "{}"],
    ["br", "{}"],
  ])("an invalid %s body is rejected", async (encoding, body) => {
    const { request } = await recorder();
    const answer = await request("POST", "/threads", body, { "content-encoding": encoding });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ type: "encoding" }] });
  });
});

describe("clients that disconnect while sending a body", () => {
  it("the server survives a body that ends early", async () => {
    const { url, request, seen } = await recorder();
    const aborted = new Promise<void>((resolve) => {
      const req = httpRequest(`${url}/threads`, { method: "POST", headers: { "content-length": 100 } });
      req.on("error", () => resolve());
      req.write('{"metadata":', () => req.destroy());
    });
    await aborted;
    expect((await request("GET", "/ok")).status).toBe(200);
    expect(seen).toEqual([]);
  });

  it("a stalled body does not block other requests", async () => {
    const { url, request } = await recorder();
    const stalled = httpRequest(`${url}/threads`, { method: "POST", headers: { "content-length": 100 } });
    stalled.on("error", () => undefined);
    await new Promise<void>((resolve) => stalled.write("{", () => resolve()));
    expect((await request("POST", "/threads", {})).status).toBe(200);
    stalled.destroy();
  });
});
