/**
 * LangGraph's SDK client without a URL, inside graphs and inside an `http_app`: it connects to the server of
 * its own process.
 */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { Client } from "@langchain/langgraph-sdk";
import { resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openService } from "../../src/service/open.js";
import type { ServiceOptions } from "../../src/service/options.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as whoami } from "../fixtures/graphs/whoami.js";
import { gateOf } from "../fixtures/gates.js";
import { serve } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { allEvents } from "../helpers/sse.js";
import { byHeader } from "../helpers/two-users.js";

const FETCH = Symbol.for("langgraph_api:fetch");
const URL_BASE = Symbol.for("langgraph_api:url");
const KEY = "a key that only clients outside have";
const cwd = resolve(import.meta.dirname, "../fixtures/http-apps");
const input = { messages: [{ role: "user", content: "hi" }] };

type Work = (client: Client, thread: string) => Promise<unknown>;

/** Actions of the `caller` graph's node with an SDK client without a URL. */
const works: Record<string, Work> = {
  wait: (client) => client.runs.wait(null, "chat", { input }),
  whoami: (client) => client.runs.wait(null, "whoami", { input: {} }),
  async stream(client) {
    const events = [];
    for await (const { event } of client.runs.stream(null, "chat", { input, streamMode: "messages-tuple" }))
      events.push(event);
    return events;
  },
  async store(client) {
    await client.store.putItem(["notes"], "own", { text: "hello" });
    return (await client.store.getItem(["notes"], "own"))?.value;
  },
  search: (client, topic) => client.threads.search({ metadata: { topic } }),
  read: (client, thread) =>
    client.threads.get(thread).catch((error: { status?: number }) => ({ status: error.status })),
  async remote() {
    const configurable = { thread_id: undefined };
    return (await new RemoteGraph({ graphId: "chat" }).invoke(input, { configurable })) as unknown;
  },
  itself: (client, thread) =>
    client.runs
      .wait(thread, "chat", { input })
      .catch((error: { status?: number }) => ({ status: error.status })),
  async leave(client, name) {
    const leaving = new AbortController();
    const run = client.runs.wait(null, "gate", { input: { gate: name }, signal: leaving.signal });
    await gateOf(name).entered;
    leaving.abort(new Error("changed my mind"));
    const error = await run.catch((thrown: Error) => thrown.message);
    await gateOf(name).aborted;
    return error;
  },
};

const State = Annotation.Root({
  work: Annotation<string>,
  about: Annotation<string>,
  result: Annotation<unknown>,
});
const caller = new StateGraph(State)
  .addNode("call", async ({ work, about }) => ({ result: await works[work]?.(new Client(), about) }))
  .addEdge(START, "call")
  .addEdge("call", END)
  .compile();

const graphs = { caller, chat, gate, whoami };

async function open(options: Partial<ServiceOptions> = {}) {
  const service = await openService({ graphs, ...options });
  onTestFinished(() => service.close(0));
  const server = await serve(service);
  const ask = async (work: string, about = "", headers: Record<string, string> = {}) => {
    const body = { assistant_id: "caller", input: { work, about } };
    const { body: values } = await server.request("POST", "/runs/wait", body, headers);
    return (values as { result?: unknown }).result ?? values;
  };
  return { server, ask };
}

const guarded: Partial<ServiceOptions> = { authenticate: byHeader, settings: { api_keys: [KEY] } };
const headersOf = (user: string) => ({ user, "x-api-key": KEY });

describe("a client without a URL in a graph", () => {
  it("the client can run, join and stream another graph", async () => {
    const { ask } = await open();
    expect(await ask("wait")).toMatchObject({ messages: [{}, { content: "You said: hi" }] });
    expect(await ask("remote")).toMatchObject({ messages: [{}, { content: "You said: hi" }] });
    const events = (await ask("stream")) as string[];
    expect(events[0]).toBe("metadata");
    expect(events.filter((event) => event === "messages").length).toBeGreaterThan(1);
  });

  it("a call that would wait for its own run is rejected with 409", async () => {
    const { server } = await open();
    const { thread_id } = await server.service.threads.create({});
    const body = { assistant_id: "caller", input: { work: "itself", about: thread_id } };
    const { body: values } = await server.request("POST", `/threads/${thread_id}/runs/wait`, body);
    expect(values).toMatchObject({ result: { status: 409 } });
  });

  it("the client can read and write the store", async () => {
    const { ask } = await open();
    expect(await ask("store")).toEqual({ text: "hello" });
  });

  it("an aborted call interrupts the run that it waits for", async () => {
    const { ask } = await open();
    expect(await ask("leave", newId())).toBe("changed my mind");
  });

  it("tokens of a run started by the client are not in the caller's stream", async () => {
    const { server } = await open();
    const body = { assistant_id: "caller", input: { work: "wait", about: "" } };
    const stream_mode = ["messages", "values", "events"];
    const stream = await server.fetch("POST", "/runs/stream", JSON.stringify({ ...body, stream_mode }));
    const events = await allEvents(stream);
    expect(events.at(-1)?.event).toBe("end");
    expect(events.filter(({ event }) => event?.startsWith("messages"))).toEqual([]);
    expect(events.filter(({ data }) => JSON.stringify(data).includes("on_chat_model_stream"))).toEqual([]);
  });

  it("the client acts as the user of its run", async () => {
    const { server, ask } = await open(guarded);
    const topic = newId();
    const threads: Record<string, string> = {};
    for (const user of ["ann", "bob"]) {
      const made = await server.request("POST", "/threads", { metadata: { topic } }, headersOf(user));
      threads[user] = (made.body as { thread_id: string }).thread_id;
    }
    expect(await ask("search", topic, headersOf("ann"))).toMatchObject([{ thread_id: threads.ann }]);
    expect(await ask("search", topic, headersOf("bob"))).toMatchObject([{ thread_id: threads.bob }]);
    expect(await ask("read", threads.ann, headersOf("ann"))).toMatchObject({ thread_id: threads.ann });
    expect(await ask("read", threads.ann, headersOf("bob"))).toEqual({ status: 404 });
    expect(await ask("whoami", "", headersOf("ann"))).toMatchObject({ user: { identity: "ann" } });
  });

  it("with several servers in one process, the client reaches the server of its run", async () => {
    const [first, second] = [await open(), await open(guarded)];
    const { thread_id } = await first.server.service.threads.create({});
    expect(await first.ask("read", thread_id)).toMatchObject({ thread_id });
    expect(await second.ask("read", thread_id, headersOf("ann"))).toEqual({ status: 404 });
  });

  it("a client outside of runs and requests is not authenticated", async () => {
    await open(guarded);
    await expect(new Client().threads.search()).rejects.toMatchObject({ status: 401 });
  });

  it("the client's default URL is set only while the server listens", async () => {
    const scope = globalThis as Record<symbol, unknown>;
    // Servers of other tests may be listening in this process.
    const offered = () => [scope[URL_BASE], scope[FETCH]];
    const before = offered();
    const { server } = await open();
    expect(scope[URL_BASE]).toBe(server.url);
    expect(scope[FETCH]).toBeTypeOf("function");
    await server.close(0);
    expect(offered()).toEqual(before);
  });
});

describe.each(["hono", "node"])("a client without a URL in an http_app (%s)", (name) => {
  it("the client acts as the user of the request", async () => {
    const settings = {
      ...guarded.settings,
      http_app: `./own-client.ts:${name}`,
      open_routes: ["/info" as const],
    };
    const { server } = await open({ ...guarded, settings, cwd });
    const topic = newId();
    for (const user of ["ann", "bob"])
      await server.request("POST", "/threads", { metadata: { topic, of: user } }, headersOf(user));
    const mine = (user: string) => server.request("GET", `/mine?topic=${topic}`, undefined, headersOf(user));
    expect((await mine("ann")).body).toMatchObject([{ metadata: { of: "ann" } }]);
    expect((await mine("bob")).body).toMatchObject([{ metadata: { of: "bob" } }]);
    if (name === "hono")
      expect((await server.request("GET", `/info?topic=${topic}`)).body).toEqual({ status: 401 });
  });
});

withPostgres("a client without a URL in a queued graph", (postgres) => {
  it("a run that waits for another run does not block it when all slots are in use", async () => {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const { ask } = await open({
      settings: { ...storage, queue: "postgres", stream: "postgres", max_concurrent_runs: 1 },
    });
    expect(await ask("wait")).toMatchObject({ messages: [{}, { content: "You said: hi" }] });
  });
});
