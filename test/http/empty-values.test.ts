/** Some clients send unset parameters as `name=`. Every route treats an empty value as an omitted one. */
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/route-table.js";
import { pathParameters, type Route } from "../../src/http/core/route.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer, type Answer, type TestServer } from "../helpers/app.js";
import { readEvents, type SseEvent } from "../helpers/sse.js";
import { webhooks } from "../helpers/webhook-receiver.js";

/** Its stream ends when the thread is deleted. */
const THREAD_STREAM = "join_thread_stream";
/** Cannot be repeated. */
const DELETE = "delete_assistant";
const withQuery = ROUTES.filter(({ query, id }) => query && id !== THREAD_STREAM && id !== DELETE).map(
  (route): [string, Route] => [route.id, route],
);

/**
 * Returns a server with finished runs, one of them stateless, and a function that returns the path of a route
 * for them.
 */
async function open(): Promise<{ server: TestServer; pathOf: (route: Route) => string }> {
  const server = await startTestServer({
    graphs: { chat },
    settings: { crons: true, webhooks, assistants: "managed" },
  });
  const ask = async (request: string, body?: unknown) => {
    const [method = "", path = ""] = request.split(" ");
    return (await server.request(method, path, body)).body as Record<string, string>;
  };
  const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hi" }] } };
  const { thread_id = "" } = await ask("POST /threads", {});
  const { run_id = "" } = await ask(`POST /threads/${thread_id}/runs`, hello);
  const { checkpoint } = await ask(`GET /threads/${thread_id}/state`);
  const { checkpoint_id } = checkpoint as unknown as { checkpoint_id: string };
  const { run_id: stateless = "" } = await ask("POST /runs", hello);
  await server.request("GET", `/runs/${stateless}/stream`);
  const ids = { assistant_id: "chat", thread_id, run_id, checkpoint_id, cron_id: run_id, namespace: "child" };
  return {
    server,
    pathOf: ({ path }) =>
      pathParameters(path).reduce(
        (text, name) => text.replace(`{${name}}`, ids[name]),
        path.replace(/^\/runs\/\{run_id\}/, `/runs/${stateless}`),
      ),
  };
}

/** The part of a response that is equal when the request is repeated. */
const shape = ({ status, body }: Answer) => ({
  status,
  body: JSON.stringify(body)?.replace(/"[0-9a-f-]{36}"|"\d{4}-[^"]+Z"/g, '"id or time"'),
});

describe("empty query values", () => {
  it.each(withQuery)("an empty value of %s is treated as omitted", async (_id, route) => {
    const { server, pathOf } = await open();
    const required = route.query?.required ?? [];
    const given = required.map((name) => `${name}=x`);
    const empty = Object.keys(route.query?.properties ?? {}).filter((name) => !required.includes(name));
    expect(empty).not.toHaveLength(0);
    const body = route.body ? { thread_id: "0197f0a0-0000-7000-8000-00000000dead" } : undefined;
    const ask = (query: string[]) =>
      server.request(route.method.toUpperCase(), `${pathOf(route)}?${query.join("&")}`, body);
    const without = await ask(given);
    expect(shape(await ask([...given, ...empty.map((name) => `${name}=`)]))).toEqual(shape(without));
    expect(shape(await ask([...given, ...empty.flatMap((name) => [`${name}=`, `${name}=`])]))).toEqual(
      shape(without),
    );
    expect(without.status).toBeLessThan(300);
  });

  it("an empty value of a stream without an end is treated as omitted", async () => {
    const { server, pathOf } = await open();
    const path = pathOf(ROUTES.find(({ id }) => id === THREAD_STREAM) as Route);
    const init = { headers: { "last-event-id": "-1" } };
    const answers = ["", "?stream_mode=", "?stream_mode=&stream_mode="].map(async (query) => {
      const events: SseEvent[] = [];
      for await (const event of readEvents(await server.fetch("GET", path + query, undefined, init))) {
        events.push(event);
        if (event.event === "run_done") break;
      }
      return events;
    });
    const [without, ...others] = await Promise.all(answers);
    expect(without?.map(({ event }) => event)).toContain("values");
    expect(others).toEqual([without, without]);
  });

  it("an empty value does not satisfy a required parameter", async () => {
    const { server } = await open();
    expect(await server.request("GET", "/store/items?key=&namespace=")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "key"], msg: "is required" }] },
    });
  });

  it("an empty value next to a non-empty one is ignored", async () => {
    const { server, pathOf } = await open();
    const list = ROUTES.find(({ id }) => id === "list_runs") as Route;
    expect(
      (await server.request("GET", `${pathOf(list)}?select=&select=status&limit=&limit=1`)).body,
    ).toEqual([{ status: "success" }]);
  });
});
