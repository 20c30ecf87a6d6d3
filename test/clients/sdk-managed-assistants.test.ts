/** The SDK's `client.assistants` with the setting `assistants: "managed"`. */
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { startTestServer } from "../helpers/app.js";
import { byHeader } from "../helpers/two-users.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { clientOf, NOBODY } from "./open.js";

const State = Annotation.Root({ heard: Annotation<unknown> });

/** Returns what its run got as config and context. */
const heard = new StateGraph(State)
  .addNode("hear", (_, { configurable = {}, context }: LangGraphRunnableConfig) => ({
    heard: { model: configurable.model as unknown, tone: configurable.tone as unknown, context },
  }))
  .addEdge(START, "hear")
  .addEdge("hear", END)
  .compile();

async function open(settings: object = { assistants: "managed" }) {
  const server = await startTestServer({
    graphs: { heard, gate },
    settings: { crons: true, delayed_runs: true, ...settings },
  });
  return { server, client: clientOf(server.url) };
}

const CONFIG = { configurable: { model: "small", tone: "dry" }, tags: ["house"] };

describe("managed assistants", () => {
  it("are created, read, searched, counted and deleted", async () => {
    const { client } = await open();
    const made = await client.assistants.create({
      graphId: "heard",
      name: "Butler",
      description: "serves",
      config: CONFIG,
      metadata: { team: "house" },
    });
    expect(made).toMatchObject({
      graph_id: "heard",
      name: "Butler",
      config: CONFIG,
      context: {},
      version: 1,
    });
    expect(await client.assistants.get(made.assistant_id)).toEqual(made);
    expect(await client.assistants.search({ metadata: { team: "house" } })).toEqual([made]);
    expect(await client.assistants.count({ name: "butl" })).toBe(1);
    expect(await client.assistants.count()).toBe(2);
    expect(await client.assistants.getSchemas(made.assistant_id)).toMatchObject({ graph_id: "heard" });
    await client.assistants.delete(made.assistant_id);
    await expect(client.assistants.get(made.assistant_id)).rejects.toMatchObject({ status: 404 });
    await expect(client.assistants.delete(NOBODY)).rejects.toMatchObject({ status: 404 });
  });

  it("an id that exists is refused, or its assistant returned", async () => {
    const { client } = await open();
    const made = await client.assistants.create({ graphId: "heard", assistantId: NOBODY });
    const again = { graphId: "gate", assistantId: NOBODY };
    await expect(client.assistants.create(again)).rejects.toMatchObject({ status: 409 });
    expect(await client.assistants.create({ ...again, ifExists: "do_nothing" })).toEqual(made);
    await expect(client.assistants.create({ graphId: "none" })).rejects.toMatchObject({ status: 404 });
    await expect(client.assistants.create({ graphId: "heard", assistantId: "seven" })).rejects.toMatchObject({
      status: 422,
    });
  });

  it("each change is a version, and setLatest selects one", async () => {
    const { client } = await open();
    const first = await client.assistants.create({ graphId: "heard", config: CONFIG, metadata: { a: 1 } });
    const id = first.assistant_id;
    const second = await client.assistants.update(id, { context: { mood: "glad" }, metadata: { b: 2 } });
    expect(second).toMatchObject({ version: 2, config: CONFIG, context: { mood: "glad" } });
    expect(second.metadata).toEqual({ a: 1, b: 2 });
    const versions = await client.assistants.getVersions(id);
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
    expect(await client.assistants.getVersions(id, { metadata: { b: 2 } })).toHaveLength(1);
    expect(await client.assistants.setLatest(id, 1)).toMatchObject({ version: 1, context: {} });
    await expect(client.assistants.setLatest(id, 9)).rejects.toMatchObject({ status: 422 });
    expect(await client.assistants.update(id, { name: "Third" })).toMatchObject({ version: 3, context: {} });
  });

  it("keeps the newest versions of an assistant", async () => {
    const { client } = await open();
    const { assistant_id } = await client.assistants.create({ graphId: "heard" });
    for (let version = 2; version <= 102; version += 1)
      await client.assistants.update(assistant_id, { name: `v${version}` });
    const versions = await client.assistants.getVersions(assistant_id, { limit: 200 });
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 100 }, (_, at) => 102 - at));
  });

  it("a run uses the graph, config, context and metadata of its assistant; its own take precedence", async () => {
    const { client } = await open();
    const { assistant_id } = await client.assistants.create({
      graphId: "heard",
      config: CONFIG,
      context: { mood: "glad", place: "home" },
      metadata: { team: "house" },
    });
    const { thread_id } = await client.threads.create();
    const values = await client.runs.wait(thread_id, assistant_id, {
      input: {},
      config: { configurable: { tone: "warm" } },
      context: { mood: "sad" },
    });
    const expected = { model: "small", tone: "warm", context: { mood: "sad", place: "home" } };
    expect(values).toMatchObject({ heard: expected });
    const [run] = await client.runs.list(thread_id);
    expect(run).toMatchObject({ assistant_id, metadata: { team: "house", graph_id: "heard", assistant_id } });
    expect((await client.threads.get(thread_id)).metadata).toMatchObject({ assistant_id, graph_id: "heard" });
    await client.assistants.delete(assistant_id);
    await expect(client.runs.wait(thread_id, assistant_id, { input: {} })).rejects.toMatchObject({
      status: 404,
    });
  });

  it("crons and delayed runs use it when they are due", async () => {
    const { client, server } = await open();
    const { assistant_id } = await client.assistants.create({ graphId: "heard", config: CONFIG });
    const { thread_id } = await client.threads.create();
    await client.crons.createForThread(thread_id, assistant_id, { schedule: "0 0 1 1 *", input: {} });
    expect(await client.crons.search({ assistantId: assistant_id })).toHaveLength(1);
    await client.runs.create(thread_id, assistant_id, { input: {}, afterSeconds: 3600 });
    await server.service.fireDue(`${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`);
    const runs = await client.runs.list(thread_id);
    expect(runs).toHaveLength(2);
    for (const { run_id } of runs)
      expect(await client.runs.join(thread_id, run_id)).toMatchObject({ heard: { model: "small" } });
    expect(runs.map((run) => run.assistant_id)).toEqual([assistant_id, assistant_id]);
  });

  it("deletes its threads on request", async () => {
    const { client } = await open();
    const { assistant_id } = await client.assistants.create({ graphId: "heard" });
    const [own, other] = [await client.threads.create(), await client.threads.create()];
    await client.runs.wait(own.thread_id, assistant_id, { input: {} });
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    expect((await client.threads.search()).map(({ thread_id }) => thread_id)).toEqual([other.thread_id]);
  });

  it("users see only their own", async () => {
    const server = await startTestServer({
      graphs: { heard },
      authenticate: byHeader,
      settings: { assistants: "managed" },
    });
    const as = (user: string) => new Client({ apiUrl: server.url, apiKey: null, defaultHeaders: { user } });
    const [ann, ben] = [as("ann"), as("ben")];
    const { assistant_id } = await ann.assistants.create({ graphId: "heard", assistantId: NOBODY });
    expect(await ben.assistants.count()).toBe(1);
    expect(await ann.assistants.count()).toBe(2);
    const taken = { graphId: "heard", assistantId: NOBODY, ifExists: "do_nothing" } as const;
    await expect(ben.assistants.create(taken)).rejects.toMatchObject({ status: 409 });
    const { thread_id } = await ben.threads.create();
    await expect(ben.runs.wait(thread_id, assistant_id, { input: {} })).rejects.toMatchObject({
      status: 404,
    });
  });

  it("secrets, and changes to assistants of the configuration, are refused", async () => {
    const { client } = await open();
    const secret = { configurable: { api_key: "sk-1234567890abcdef1234567890" } };
    await expect(client.assistants.create({ graphId: "heard", config: secret })).rejects.toMatchObject({
      status: 422,
    });
    const { assistant_id } = await client.assistants.get("heard");
    await expect(client.assistants.update(assistant_id, { name: "x" })).rejects.toThrow("configuration");
    expect(await client.assistants.getVersions("heard")).toMatchObject([{ version: 1 }]);
  });

  it("the setting is on with compat: langgraph, and off by default", async () => {
    const on = await open({ compat: "langgraph" });
    expect(await on.client.assistants.create({ graphId: "heard" })).toMatchObject({ version: 1 });
    const off = await open({});
    await expect(off.client.assistants.create({ graphId: "heard" })).rejects.toMatchObject({ status: 404 });
  });
});
