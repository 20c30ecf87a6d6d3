/** LangGraph's `Auth` object: what its handlers see, change and refuse. */
import { fileURLToPath } from "node:url";
import { HTTPException } from "@langchain/langgraph-sdk/auth";
import { beforeEach, describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { ROUTE_EVENTS } from "../../src/http/core/auth-events.js";
import { ROUTES } from "../../src/http/route-table.js";
import { answerWith, asked, requests } from "../fixtures/auth/recording.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as whoami } from "../fixtures/graphs/whoami.js";
import { startTestServer, type Answer } from "../helpers/app.js";
import { recordingLogger } from "../helpers/service.js";
import { newId } from "../../src/support/ids.js";
import type { Settings } from "../../src/config/settings.js";

const AUTH = fileURLToPath(new URL("../fixtures/auth/recording.ts", import.meta.url));
const MCP = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };

beforeEach(() => answerWith({}));

/** A server, and a function that sends the requests of a user. */
async function start(settings: Partial<Settings> = {}) {
  const logger = recordingLogger();
  const graphs = { chat, whoami };
  const { request } = await startTestServer({
    graphs,
    settings: { auth: `${AUTH}:auth`, ...settings },
    logger,
  });
  const as = (user: string, what: string, body?: unknown) => {
    const [method = "", path = ""] = what.split(" ");
    return request(method, path, body, { user });
  };
  return { request, as, logger };
}

const idOf = ({ body }: Answer) => (body as { thread_id: string }).thread_id;
const events = () => asked.map(({ event }) => event);

/** Each user sees own threads and those whose `readers` contain the user. */
const own = ({ user }: { user: { identity: string } }) => ({ owner: user.identity });
const shared = ({ user }: { user: { identity: string } }) => ({ readers: { $contains: user.identity } });

describe("the authenticate handler", () => {
  it("it receives a Request with method, address and headers", async () => {
    const { as } = await start();
    await as("ann", "GET /threads/00000000-0000-4000-8000-000000000000?x=1");
    expect(requests).toMatchObject([{ method: "GET" }]);
    expect(requests[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/threads\/[\d-]+\?x=1$/);
  });

  it("its HTTPException sets status, message and headers", async () => {
    const { as } = await start();
    const answer = await as("nobody", "POST /threads", {});
    expect(answer).toMatchObject({ status: 402, body: { code: "forbidden", detail: "pay first" } });
    expect(answer.headers.get("x-price")).toBe("5");
  });

  it("another error is logged and refused with 401, an invalid answer with 500", async () => {
    const { as, request, logger } = await start();
    expect(await request("POST", "/threads", {})).toMatchObject({
      status: 401,
      body: { code: "unauthorized" },
    });
    expect(logger.of("warn")).toContain("the auth function threw: the request is refused");
    expect((await as("number", "POST /threads", {})).status).toBe(500);
  });

  it("graphs get the user as LangGraph's server passes it", async () => {
    const { as } = await start();
    const run = {
      assistant_id: "whoami",
      input: {},
      config: { configurable: { langgraph_auth_user_id: "x" } },
    };
    expect((await as("ann", "POST /runs/wait", run)).body).toEqual({
      user: {
        ...{ identity: "ann", display_name: "ann", is_authenticated: true },
        ...{ permissions: ["chat"], role: "tester" },
      },
      keys: ["langgraph_auth_user", "langgraph_auth_user_id", "langgraph_auth_permissions"],
    });
  });

  it("an Auth object without it is refused at the start", async () => {
    await expect(start({ auth: `${AUTH}:empty` })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("has no authenticate handler") as unknown,
    });
  });
});

describe("handlers", () => {
  it("every route has its events", () => {
    expect(Object.keys(ROUTE_EVENTS).sort()).toEqual(ROUTES.map(({ id }) => id).sort());
  });

  it("the handler of the event takes precedence over the one of the resource, the action and all", async () => {
    const { as } = await start({
      auth: `${fileURLToPath(new URL("../fixtures/auth/precedence.ts", import.meta.url))}:auth`,
    });
    const statuses = [];
    for (const what of [
      "POST /threads",
      "POST /threads/search",
      "POST /assistants/search",
      "GET /assistants/chat",
    ])
      statuses.push((await as("ann", what, what.startsWith("POST") ? {} : undefined)).status);
    expect(statuses).toEqual([411, 412, 413, 414]);
  });

  it("they get the fields of the request, also missing ones", async () => {
    const { as } = await start({ crons: true });
    const thread = idOf(await as("ann", "POST /threads", { metadata: { a: 1 } }));
    expect(asked[0]).toMatchObject({
      event: "threads:create",
      permissions: ["chat"],
      value: { metadata: { a: 1 } },
    });
    expect(Object.keys(asked[0]?.value ?? {})).toEqual(["thread_id", "metadata", "if_exists"]);
    asked.length = 0;
    await as("ann", `POST /threads/${thread}/runs/wait`, { ...hello, metadata: { b: 2 } });
    expect(asked[0]).toMatchObject({
      event: "threads:create_run",
      value: { thread_id: thread, assistant_id: "chat", metadata: { b: 2 }, kwargs: { input: hello.input } },
    });
    await as("ann", "PUT /store/items", { namespace: ["n"], key: "k", value: { v: 1 } });
    await as("ann", "GET /store/items?namespace=n.m&key=k");
    expect(asked.slice(1)).toMatchObject([
      { event: "store:put", value: { namespace: ["n"], key: "k", value: { v: 1 } } },
      { event: "store:get", value: { namespace: ["n", "m"], key: "k" } },
    ]);
    asked.length = 0;
    await as("ann", `PATCH /threads/${thread}`, { metadata: { c: 3 } });
    await as("ann", `GET /threads/${thread}/state`);
    await as("ann", `POST /threads/${thread}/runs/crons`, { ...hello, schedule: "0 0 1 1 *" });
    await as("ann", "POST /runs/crons/search", {});
    await as("ann", "GET /assistants/chat");
    await as("ann", `POST /threads/${thread}/copy`);
    await as("ann", `DELETE /threads/${thread}`);
    expect(events()).toEqual([
      ...["threads:update", "threads:read", "crons:create", "threads:create_run", "crons:search"],
      ...["assistants:read", "threads:read", "threads:create", "threads:delete"],
    ]);
  });

  it("they can change metadata, and the namespace of an item", async () => {
    answerWith({
      "threads:create": ({ value }) => void (value.metadata = { team: "north" }),
      "store:put": ({ value, user }) => void (value.namespace = [user.identity, "notes"]),
      "store:get": ({ value, user }) => void (value.namespace = [user.identity, "notes"]),
    });
    const { as } = await start();
    expect((await as("ann", "POST /threads", {})).body).toMatchObject({ metadata: { team: "north" } });
    await as("ann", "PUT /store/items", { namespace: ["n"], key: "k", value: { v: 1 } });
    expect((await as("ann", "GET /store/items?namespace=n&key=k")).body).toMatchObject({
      namespace: ["ann", "notes"],
      value: { v: 1 },
    });
  });

  it("a change that makes the request invalid is refused with 500", async () => {
    answerWith({ "threads:create": ({ value }) => void (value.metadata = "x") });
    const { as } = await start();
    expect((await as("ann", "POST /threads", {})).status).toBe(500);
  });
});

describe("filters", () => {
  it("a filter decides which threads exist for the user, and is written to new ones", async () => {
    answerWith({ "threads:create": own, "threads:read": own, "threads:search": own, "threads:update": own });
    const { as } = await start();
    const thread = idOf(await as("ann", "POST /threads", { metadata: { owner: "bob", topic: "x" } }));
    expect((await as("ann", `GET /threads/${thread}`)).body).toMatchObject({
      metadata: { owner: "ann", topic: "x" },
    });
    expect((await as("bob", `GET /threads/${thread}`)).status).toBe(404);
    expect((await as("bob", "POST /threads/search", {})).body).toEqual([]);
    expect((await as("bob", "POST /threads/count", { metadata: { owner: "ann" } })).body).toBe(0);
    await as("ann", `PATCH /threads/${thread}`, { metadata: { owner: "bob" } });
    expect((await as("bob", `GET /threads/${thread}`)).status).toBe(404);
  });

  describe.each(["memory", "sqlite"] as const)("$contains on %s", (checkpointer_scheme) => {
    const test = checkpointer_scheme === "sqlite" ? itSqlite : it;
    test("shares threads", async () => {
      answerWith({
        "threads:create": shared,
        "threads:read": shared,
        "threads:search": shared,
        "threads:update": own,
      });
      const { as } = await start({ checkpointer_scheme, checkpointer_uri: ":memory:" });
      const thread = idOf(await as("ann", "POST /threads", { metadata: { owner: "ann", readers: ["bob"] } }));
      for (const user of ["ann", "bob"]) {
        expect((await as(user, `GET /threads/${thread}`)).status).toBe(200);
        expect((await as(user, "POST /threads/search", { limit: 1 })).body).toHaveLength(1);
      }
      expect((await as("eve", `GET /threads/${thread}`)).status).toBe(404);
      expect((await as("eve", "POST /threads/search", { limit: 1 })).body).toEqual([]);
      expect((await as("bob", `PATCH /threads/${thread}`, { metadata: { x: 1 } })).status).toBe(404);
      expect((await as("ann", `PATCH /threads/${thread}`, { metadata: { x: 1 } })).status).toBe(200);
    });
  });

  it("the filters of all events of a request apply together", async () => {
    answerWith({ "threads:read": own, "threads:create": () => ({ team: { $eq: "north" } }) });
    const { as } = await start();
    const plain = idOf(await as("ann", "POST /threads", { metadata: { owner: "ann", team: "south" } }));
    const copy = await as("ann", `POST /threads/${plain}/copy`);
    expect(copy.body).toMatchObject({ metadata: { owner: "ann", team: "north", forked_from: plain } });
    answerWith({ "threads:read": own, "threads:create": () => ({ owner: "bob" }) });
    expect((await as("ann", `POST /threads/${plain}/copy`)).status).toBe(403);
  });

  it("without a handler, every user sees every thread, as on LangGraph's server", async () => {
    const { as } = await start();
    const thread = idOf(await as("ann", "POST /threads", {}));
    expect((await as("bob", `GET /threads/${thread}`)).status).toBe(200);
  });
});

describe("refusals", () => {
  it.each([
    ["false", () => false, 403, "forbidden"],
    [
      "an HTTPException",
      () => {
        throw new HTTPException(404, { message: "gone" });
      },
      404,
      "forbidden",
    ],
    [
      "an HTTPException 401",
      () => {
        throw new HTTPException(401);
      },
      401,
      "unauthorized",
    ],
    [
      "an error",
      () => {
        throw new Error("secret detail");
      },
      500,
      "internal_error",
    ],
    ["a text", () => "yes", 500, "internal_error"],
    ["a list", () => ["ann"], 500, "internal_error"],
    ["an undefined value", () => ({ owner: undefined }), 500, "internal_error"],
    ["an unknown operator", () => ({ owner: { $ne: "bob" } }), 500, "internal_error"],
  ])("%s refuses the request", async (_what, handler, status, code) => {
    answerWith({ "threads:search": handler, "threads:create_run": handler });
    const { as, logger } = await start();
    for (const [what, body] of [
      ["POST /threads/search", {}],
      ["POST /runs/wait", hello],
    ] as const) {
      const answer = await as("ann", what, body);
      expect(answer).toMatchObject({ status, body: { code } });
      expect(answer.text).not.toContain("secret detail");
    }
    expect(logger.of("error")).toHaveLength(status === 500 ? 2 : 0);
  });

  it("a handler that does not answer is refused after auth_timeout_seconds", async () => {
    answerWith({ "threads:create": () => new Promise(() => undefined) });
    const { as, logger } = await start({ auth_timeout_seconds: 0.05 });
    expect(await as("ann", "POST /threads", {})).toMatchObject({
      status: 503,
      body: { code: "auth_timeout" },
    });
    expect(logger.of("warn")).toContain("an auth handler has not answered: the request is refused");
  });

  it("commands and MCP start no run that threads:create_run refuses", async () => {
    answerWith({ "threads:create_run": () => false });
    const { as, request } = await start({ mcp: true });
    const command = { id: 1, method: "run.start", params: hello };
    expect((await as("ann", `POST /threads/${newId()}/commands`, command)).status).toBe(403);
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "chat", arguments: hello.input },
    };
    expect((await request("POST", "/mcp", call, { user: "ann", ...MCP })).status).toBe(403);
    expect((await as("ann", "POST /threads/search", {})).body).toEqual([]);
  });

  it("MCP reads only the threads that the filters match", async () => {
    answerWith({ "threads:create": own, "threads:read": own });
    const { as, request } = await start({ mcp: true });
    const thread = idOf(await as("ann", "POST /threads", {}));
    const read = {
      jsonrpc: "2.0",
      id: 1,
      method: "resources/read",
      params: { uri: `graph-serve://threads/${thread}` },
    };
    const ask = (user: string) => request("POST", "/mcp", read, { user, ...MCP });
    expect((await ask("ann")).text).toContain('"contents"');
    expect((await ask("bob")).text).toContain('"error"');
  });
});
