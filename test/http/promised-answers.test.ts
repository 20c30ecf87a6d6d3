/** Checks the required fields and the answers in the OpenAPI document against the running server. */
import { describe, expect, it } from "vitest";
import type { Issue } from "../../src/support/errors/codes.js";
import { ASSISTANT_FIELDS } from "../../src/models/assistant.js";
import { RUN_FIELDS } from "../../src/models/run.js";
import { THREAD_FIELDS } from "../../src/models/thread.js";
import { buildOpenApi } from "../../src/http/openapi.js";
import { ROUTES } from "../../src/http/route-table.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { webhooks } from "../helpers/webhook-receiver.js";

interface Schema {
  $ref?: string;
  type?: string | string[];
  required?: string[];
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  items?: Schema;
  format?: string;
}
interface Operation {
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
}

const document = buildOpenApi(ROUTES);
const UUID = "0197f0a0-0000-7000-8000-00000000dead";
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [
    `${method.toUpperCase()} ${path.replace(/\{assistant_id\}/, "chat").replace(/\{\w+\}/g, UUID)}`,
    operation as Operation,
  ]),
);

function resolved(schema: Schema): Schema {
  if (!schema.$ref) return schema;
  return document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] as Schema;
}

/** The smallest value that satisfies a schema. */
function leastOf(schema: Schema): unknown {
  const { type, required = [], properties = {}, items, format } = resolved(schema);
  if (type === "array") return items ? [leastOf(items)] : [];
  if (type === "string") return format === "uuid" ? UUID : "chat";
  return Object.fromEntries(required.map((name) => [name, leastOf(properties[name] ?? {})]));
}

async function missingIn(server: TestServer, request: string, body?: unknown): Promise<Issue["loc"][]> {
  const [method = "", path = ""] = request.split(" ");
  const { body: answer } = await server.request(method, path, body);
  const { detail } = (answer ?? {}) as { detail?: Issue[] | string };
  return Array.isArray(detail) ? detail.filter(({ type }) => type === "missing").map(({ loc }) => loc) : [];
}

const open = () =>
  startTestServer({ graphs: { chat }, settings: { crons: true, webhooks, assistants: "managed" } });

describe("required fields of the OpenAPI document", () => {
  const withBody = operations.filter(([, { requestBody }]) => requestBody);

  it.each(withBody)("the required fields of %s are sufficient", async (request, { requestBody }) => {
    const body = leastOf(requestBody?.content["application/json"].schema ?? {});
    const query = request.endsWith("/store/items") ? "?key=k" : "";
    expect(await missingIn(await open(), request + query, body)).toEqual([]);
  });

  it("exactly the documented query parameters are required", async () => {
    const server = await open();
    for (const [request, { parameters = [] }] of operations.filter(([name]) => name.startsWith("GET "))) {
      // A stream without an end.
      if (request === "GET /changes") continue;
      const required = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
      const missing = await missingIn(server, request);
      expect(missing, request).toEqual(required.map(({ name }) => ["query", name]));
    }
  });

  it("the item key and the thread of a run cancellation are required", () => {
    const [, item] = operations.find(([name]) => name === "GET /store/items") ?? [];
    expect(item?.parameters).toContainEqual(expect.objectContaining({ name: "key", required: true }));
    expect(document.components.schemas.CancelManyRequest).toMatchObject({ required: ["thread_id"] });
  });
});

describe("answers with select", () => {
  const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };

  async function withRun() {
    const server = await open();
    const { body } = await server.request("POST", "/threads", {});
    const { thread_id } = body as { thread_id: string };
    await server.request("POST", `/threads/${thread_id}/runs`, hello);
    const ask = async (method: string, path: string, sent?: unknown) => {
      const answer = await server.request(method, path, sent);
      expect(answer.status).toBe(200);
      expectDocumented(method, path, answer);
      return (answer.body as object[])[0] ?? {};
    };
    return { ask, runs: `/threads/${thread_id}/runs` };
  }

  it.each([
    ["/threads/search", THREAD_FIELDS.filter((field) => field !== "context")],
    ["/assistants/search", ASSISTANT_FIELDS],
  ])("%s returns exactly the selected fields", async (path, fields) => {
    const { ask } = await withRun();
    const whole = await ask("POST", path, {});
    expect(Object.keys(whole).sort()).toEqual([...fields].sort());
    expect(await ask("POST", path, { select: [] })).toEqual(whole);
    for (const field of fields) {
      const shown = whole[field as keyof typeof whole];
      expect(await ask("POST", path, { select: [field] })).toEqual({ [field]: shown });
    }
  });

  it("the run list returns exactly the selected fields", async () => {
    const { ask, runs } = await withRun();
    const whole = await ask("GET", runs);
    expect(Object.keys(whole).sort()).toEqual([...RUN_FIELDS].sort());
    expect(await ask("GET", `${runs}?select=`)).toEqual(whole);
    for (const field of RUN_FIELDS)
      expect(await ask("GET", `${runs}?select=${field}`)).toEqual({
        [field]: whole[field as keyof typeof whole],
      });
    expect(Object.keys(await ask("GET", `${runs}?select=status&select=run_id`))).toEqual([
      "status",
      "run_id",
    ]);
  });
});
