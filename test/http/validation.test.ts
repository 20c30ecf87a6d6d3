import { describe, expect, it } from "vitest";
import type { Issue } from "../../src/support/errors/codes.js";
import { serve } from "../helpers/app.js";
import { fakeService, THREAD_ID } from "../helpers/fake-service.js";

async function issuesOf(request: string, body?: unknown): Promise<Issue[]> {
  const server = await serve(fakeService());
  const [method = "", path = ""] = request.split(" ");
  const answer = await server.request(method, path, body);
  expect(answer.status).toBe(422);
  return (answer.body as { detail: Issue[] }).detail;
}

const run = `POST /threads/${THREAD_ID}/runs`;
const agent = { assistant_id: "agent" };

describe("issues of a body", () => {
  const cases: [what: string, request: string, body: unknown, issue: Issue][] = [
    ["a missing field", run, {}, { loc: ["body", "assistant_id"], msg: "is required", type: "missing" }],
    [
      "null for a required field",
      run,
      { assistant_id: null },
      { loc: ["body", "assistant_id"], msg: "must be string", type: "type" },
    ],
    [
      "a wrong type",
      "POST /threads/search",
      { limit: "10" },
      { loc: ["body", "limit"], msg: "must be integer or null", type: "type" },
    ],
    [
      "a wrong type for an enum",
      run,
      { ...agent, interrupt_before: 5 },
      { loc: ["body", "interrupt_before"], msg: "must be string or array or null", type: "type" },
    ],
    [
      "a value below the minimum",
      "POST /threads/search",
      { limit: 0 },
      { loc: ["body", "limit"], msg: "must be >= 1", type: "minimum" },
    ],
    [
      "an unknown enum value",
      run,
      { ...agent, multitask_strategy: "queue" },
      {
        loc: ["body", "multitask_strategy"],
        msg: 'must be one of "enqueue", "reject", "rollback", "interrupt"',
        type: "enum",
      },
    ],
    [
      "an invalid UUID",
      "POST /threads",
      { thread_id: "x" },
      { loc: ["body", "thread_id"], msg: "must be a valid uuid", type: "uuid_parsing" },
    ],
    [
      "an invalid list item",
      "POST /threads/search",
      { ids: [THREAD_ID, 3] },
      { loc: ["body", "ids", 1], msg: "must be string", type: "type" },
    ],
    [
      "a wrong type for a union",
      run,
      { ...agent, stream_mode: 5 },
      { loc: ["body", "stream_mode"], msg: "must be string or array or null", type: "type" },
    ],
    [
      "an invalid field in a union",
      "POST /threads",
      { ttl: { ttl: 0 } },
      { loc: ["body", "ttl", "ttl"], msg: "must be > 0", type: "exclusiveMinimum" },
    ],
    [
      "an invalid field in a nested model",
      run,
      { ...agent, checkpoint: { checkpoint_id: 7 } },
      { loc: ["body", "checkpoint", "checkpoint_id"], msg: "must be string or null", type: "type" },
    ],
    [
      "an offset beyond the integers",
      "POST /threads/search",
      { offset: 1e30 },
      { loc: ["body", "offset"], msg: "must be <= 9007199254740991", type: "maximum" },
    ],
    [
      "a missing field of an item",
      "POST /threads",
      { supersteps: [{ updates: [{}] }, {}] },
      { loc: ["body", "supersteps", 1, "updates"], msg: "is required", type: "missing" },
    ],
  ];

  it.each(cases)("%s is reported once", async (_what, request, body, issue) => {
    expect(await issuesOf(request, body)).toEqual([issue]);
  });

  it("an invalid stream mode in a list is reported once", async () => {
    const issues = await issuesOf(run, { ...agent, stream_mode: ["values", "bogus"] });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ loc: ["body", "stream_mode", 1], type: "enum" });
  });

  it("every invalid field is reported", async () => {
    const issues = await issuesOf("POST /threads/search", {
      limit: 0,
      offset: -1,
      status: "x",
      metadata: {},
    });
    expect(issues.map((issue) => issue.loc[1])).toEqual(["status", "limit", "offset"]);
  });

  it("a million invalid items are reported as one issue", async () => {
    const issues = await issuesOf("POST /threads/search", {
      ids: Array.from({ length: 1_000_000 }, () => 1),
    });
    expect(issues).toHaveLength(1);
  });
});

describe("issues of a query", () => {
  it("an invalid value is reported", async () => {
    const issues = await issuesOf(`GET /threads/${THREAD_ID}/runs?limit=ten&status=done`);
    expect(issues).toEqual([
      { loc: ["query", "limit"], msg: "must be integer", type: "type" },
      { loc: ["query", "status"], msg: expect.stringContaining('one of "pending"') as unknown, type: "enum" },
    ]);
  });

  it("a repeated key is reported", async () => {
    const issues = await issuesOf(`GET /threads/${THREAD_ID}/history?limit=1&limit=2`);
    expect(issues).toEqual([{ loc: ["query", "limit"], msg: "must not be repeated", type: "repeated" }]);
  });
});

describe("query values", () => {
  it.each([
    ["true", true],
    ["TRUE", true],
    ["1", 1],
    ["yes", true],
    ["false", false],
    ["0", 0],
    ["no", false],
    ["3", 3],
  ])("xray=%s is parsed as %j", async (text, value) => {
    let seen: unknown;
    const draw = async (_id: string, options: { xray: boolean | number }) => {
      seen = options.xray;
      return { nodes: [], edges: [] };
    };
    const { request } = await serve(fakeService({ assistants: { draw } }));
    await request("GET", `/assistants/agent/graph?xray=${text}`);
    expect(seen).toBe(value);
  });

  it("query values reach the service with their types", async () => {
    let seen: unknown;
    const walk = async function* (_id: string, query: unknown) {
      seen = query;
    };
    const { request } = await serve(fakeService({ runs: { walk } }));
    await request("GET", `/threads/${THREAD_ID}/runs?limit=5&offset=2&status=error&extra=1&__proto__=x`);
    expect(seen).toEqual({ limit: 5, offset: 2, status: "error" });
  });
});
