import { describe, expect, it } from "vitest";
import {
  InvalidRequestError,
  NotFoundError,
  ThreadBusyError,
  ThreadExistsError,
} from "../../src/support/errors.js";
import { serve } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { fakeService, RUN_ID, THREAD_ID, type FakeParts } from "../helpers/fake-service.js";

/** Pages that are not part of the documented API. */
const UNDOCUMENTED = new Set(["/openapi.json", "/docs/"]);

type Row = [request: string, status: number, body?: unknown];

const thread = `/threads/${THREAD_ID}`;

const health: Row[] = [
  ["GET /api/health", 200],
  ["GET /ok", 200],
  ["GET /ready", 200],
  ["POST /ready", 405],
  ["GET /info", 200],
  ["GET /api/initial-message", 200],
  ["GET /openapi.json", 200],
  ["GET /docs/", 200],
  ["HEAD /ok", 200],
  ["POST /ok", 405],
  ["POST /openapi.json", 405],
  ["GET /", 404],
  ["GET /api", 404],
];
const assistants: Row[] = [
  ["POST /assistants/search", 200, {}],
  ["POST /assistants/search", 200],
  ["POST /assistants/search", 422, { limit: 0 }],
  ["POST /assistants/count", 200, {}],
  ["GET /assistants/agent", 200],
  ["GET /assistants/agent/schemas", 200],
  ["GET /assistants/agent/graph", 200],
  ["GET /assistants/agent/graph?xray=2", 200],
  ["GET /assistants/agent/graph?xray=yes", 200],
  ["GET /assistants/agent/graph?xray=maybe", 422],
  ["GET /assistants/agent/graph?xray=-1", 422],
  ["GET /assistants/agent/subgraphs", 200],
  ["GET /assistants/agent/subgraphs?recurse=1", 200],
  ["GET /assistants/agent/subgraphs?recurse=2", 422],
  ["GET /assistants/search", 405],
  ["PUT /assistants/agent", 405],
  ["GET /assistants", 404],
];
const threads: Row[] = [
  ["POST /threads", 200, {}],
  ["POST /threads", 200],
  ["POST /threads", 422, { thread_id: "x" }],
  ["POST /threads", 422, { if_exists: "maybe" }],
  ["POST /threads", 422, { ttl: -1 }],
  ["POST /threads", 200, { ttl: { ttl: 5, strategy: "delete" }, metadata: null, unknown: 1 }],
  ["POST /threads/search", 200, {}],
  ["POST /threads/search", 422, { limit: 1001 }],
  ["POST /threads/search", 422, { select: ["nope"] }],
  ["POST /threads/count", 200, {}],
  [`GET ${thread}`, 200],
  [`GET ${thread}?include=values`, 200],
  [`PATCH ${thread}`, 200, { metadata: { a: 1 } }],
  [`PATCH ${thread}`, 422, { metadata: [] }],
  [`DELETE ${thread}`, 204],
  [`POST ${thread}/copy`, 200],
  [`POST ${thread}/copy`, 200, "not json"],
  ["GET /threads", 405],
  ["GET /threads/search", 405],
  [`PUT ${thread}`, 405],
  [`GET ${thread}/copy`, 405],
  [`GET ${thread}/nothing`, 404],
];
const state: Row[] = [
  [`GET ${thread}/state`, 200],
  [`GET ${thread}/state?subgraphs=true`, 200],
  [`GET ${thread}/state?subgraphs=`, 200],
  [`GET ${thread}/state?subgraphs=1&subgraphs=0`, 422],
  [`POST ${thread}/state`, 200, { values: { a: 1 }, as_node: "n" }],
  [`POST ${thread}/state`, 422, { values: "text" }],
  [`POST ${thread}/state/checkpoint`, 200, { checkpoint_id: "c" }],
  [`POST ${thread}/state/checkpoint`, 200, { checkpoint: { thread_id: THREAD_ID }, subgraphs: true }],
  [`POST ${thread}/state/checkpoint`, 422, { checkpoint: "c" }],
  [`GET ${thread}/state/c1?subgraphs=no`, 200],
  [`GET ${thread}/history`, 200],
  [`GET ${thread}/history?limit=1000&before=c1`, 200],
  [`GET ${thread}/history?limit=0`, 422],
  [`GET ${thread}/history?limit=1001`, 422],
  [`GET ${thread}/history?limit=abc`, 422],
  [`GET ${thread}/history?limit=1.5`, 422],
  [`POST ${thread}/history`, 200, { limit: 10, before: { configurable: { checkpoint_id: "c" } } }],
  [`POST ${thread}/history`, 422, { before: 3 }],
  [`DELETE ${thread}/state`, 405],
];
const runs: Row[] = [
  [`POST ${thread}/runs`, 200, { assistant_id: "agent" }],
  [`POST ${thread}/runs`, 422, {}],
  [`POST ${thread}/runs`, 422],
  [`POST ${thread}/runs`, 422, { assistant_id: "agent", stream_mode: "bogus" }],
  [
    `POST ${thread}/runs`,
    200,
    { assistant_id: "agent", stream_mode: [], command: { goto: ["a", { node: "b", input: 1 }] } },
  ],
  [`POST ${thread}/runs`, 200, { assistant_id: "agent", command: { update: [["key", 1]] } }],
  [`POST ${thread}/runs`, 422, { assistant_id: "agent", command: { update: [["key"]] } }],
  [`POST ${thread}/runs/stream`, 200, { assistant_id: "agent" }],
  [`POST ${thread}/runs/stream`, 422, { assistant_id: 1 }],
  [`GET ${thread}/runs`, 200],
  [`GET ${thread}/runs?limit=5&offset=2&status=success`, 200],
  [`GET ${thread}/runs?select=run_id&select=status`, 200],
  [`GET ${thread}/runs?select=nope`, 422],
  [`GET ${thread}/runs?status=done`, 422],
  [`GET ${thread}/runs?offset=-1`, 422],
  [`GET ${thread}/runs/${RUN_ID}`, 200],
  [`GET ${thread}/runs/stream`, 405],
  [`DELETE ${thread}/runs`, 405],
];

describe.each([
  ["health and info", health],
  ["assistants", assistants],
  ["threads", threads],
  ["state", state],
  ["runs", runs],
])("status codes of %s", (_name, rows) => {
  it.each(rows)("%s returns %i", async (request, status, body) => {
    const server = await serve(fakeService());
    const [method = "", path = ""] = request.split(" ");
    const answer = await server.request(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    if (method !== "HEAD" && !UNDOCUMENTED.has(path)) expectDocumented(method, path, answer);
  });
});

const refusals: [what: string, parts: FakeParts, request: string, status: number, code: string][] = [
  [
    "unknown thread",
    { threads: { get: () => Promise.reject(new NotFoundError("thread", "x")) } },
    `GET ${thread}`,
    404,
    "thread_not_found",
  ],
  [
    "unknown run",
    { runs: { get: () => Promise.reject(new NotFoundError("run", "x")) } },
    `GET ${thread}/runs/${RUN_ID}`,
    404,
    "run_not_found",
  ],
  [
    "unknown assistant",
    { assistants: { get: () => Promise.reject(new NotFoundError("assistant", "x")) } },
    "GET /assistants/x",
    404,
    "assistant_not_found",
  ],
  [
    "existing thread",
    { threads: { create: () => Promise.reject(new ThreadExistsError("x")) } },
    "POST /threads",
    409,
    "thread_exists",
  ],
  [
    "busy thread",
    { threads: { copy: () => Promise.reject(new ThreadBusyError("x")) } },
    `POST ${thread}/copy`,
    409,
    "thread_busy",
  ],
  [
    "bad id",
    { threads: { get: () => Promise.reject(InvalidRequestError.at(["path", "thread_id"], "no")) } },
    "GET /threads/x",
    422,
    "invalid_request",
  ],
];

describe("errors of the service", () => {
  it.each(refusals)("%s returns its status and code", async (_what, parts, request, status, code) => {
    const server = await serve(fakeService(parts));
    const [method = "", path = ""] = request.split(" ");
    const answer = await server.request(method, path);
    expect(answer.status).toBe(status);
    expectDocumented(method, path, answer);
    expect(answer.body).toMatchObject({ code, detail: expect.anything() as unknown });
  });
});
