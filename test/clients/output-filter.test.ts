/** A graph with an output schema: keys outside the schema appear in no response of the server. */
import { describe, expect, it } from "vitest";
import { CLASSIFIED } from "../fixtures/graphs/vault.js";
import { openClient } from "./open.js";
import type { Settings } from "../../src/config/settings.js";

const STREAM_MODES = [
  "values",
  "updates",
  "tasks",
  "checkpoints",
  "debug",
  "messages",
  "messages-tuple",
  "custom",
  "tools",
];
const HIDDEN = new RegExp(`secret|private_note|${CLASSIFIED}`);

const ask = { assistant_id: "vault", input: { topic: "cats" } };
const resume = { assistant_id: "vault", command: { resume: "yes" } };
const question = { value: { question: "Publish cats?" } };

/** A thread, and requests whose responses must not contain hidden values. */
async function open() {
  const { server, client } = await openClient();
  const { thread_id } = await client.threads.create();
  const hides = async (request: string, body?: unknown) => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await server.request(method, path, body);
    expect(answer.status, request).toBe(200);
    expect(answer.text, request).not.toMatch(HIDDEN);
    return answer;
  };
  return { server, client, thread_id, thread: `/threads/${thread_id}`, hides };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Requests every endpoint that reads a thread. */
async function readEverything({ client, thread, hides }: Opened): Promise<void> {
  await hides(`GET ${thread}`);
  await hides(`PATCH ${thread}`, { metadata: { seen: true } });
  await hides(`GET ${thread}/state`);
  await hides(`GET ${thread}/state?subgraphs=true`);
  await hides(`GET ${thread}/history?limit=100`);
  const history = (await hides(`POST ${thread}/history`, { limit: 100 })).body as { checkpoint: object }[];
  expect(history.length).toBeGreaterThan(2);
  for (const { checkpoint } of history) {
    const { checkpoint_id } = checkpoint as { checkpoint_id: string };
    await hides(`GET ${thread}/state/${checkpoint_id}?subgraphs=true`);
    await hides(`POST ${thread}/state/checkpoint`, { checkpoint, subgraphs: true });
  }
  await hides("POST /threads/search", { extract: { all: "values", one: "values.topic" } });
  const [run] = (await hides(`GET ${thread}/runs`)).body as { run_id: string }[];
  await hides(`GET ${thread}/runs/${run?.run_id}`);
  const copy = (await hides(`POST ${thread}/copy`)).body as { thread_id: string };
  await hides(`GET /threads/${copy.thread_id}/state?subgraphs=true`);
  expect(await client.threads.get(copy.thread_id)).toMatchObject({ values: { topic: "cats" } });
}

describe("hidden values", () => {
  describe.each([false, true])("with stream_subgraphs %s", (stream_subgraphs) => {
    it.each(STREAM_MODES)("do not appear in the stream mode %s", async (stream_mode) => {
      const { server, thread, hides } = await open();
      const options = { stream_mode, stream_subgraphs };
      await hides(`POST ${thread}/runs/stream`, { ...ask, ...options });
      await hides(`POST ${thread}/runs/stream`, { ...resume, ...options });
      expect((await server.request("GET", thread)).body).toMatchObject({ values: { answer: "yes" } });
    });
  });

  it("do not appear in any response while the graph is interrupted", async () => {
    const opened = await open();
    await opened.hides(`POST ${opened.thread}/runs`, ask);
    await readEverything(opened);
  });

  it("do not appear in any response after the run", async () => {
    const opened = await open();
    await opened.hides(`POST ${opened.thread}/runs`, ask);
    await opened.hides(`POST ${opened.thread}/runs`, resume);
    await readEverything(opened);
  });

  it("do not appear in the history of a subgraph", async () => {
    const { client, thread_id, thread, hides } = await open();
    await hides(`POST ${thread}/runs`, ask);
    const { tasks } = await client.threads.getState(thread_id);
    const checkpoint = { checkpoint_ns: tasks[0]?.checkpoint?.checkpoint_ns };
    expect(checkpoint.checkpoint_ns).toMatch(/^inner:/);
    expect((await hides(`POST ${thread}/history`, { checkpoint })).body).toHaveLength(3);
  });

  it("cannot be searched for", async () => {
    const { thread, hides } = await open();
    await hides(`POST ${thread}/runs`, ask);
    const search = async (body: object) => (await hides("POST /threads/search", body)).body;
    expect(await search({ values: { topic: "cats" } })).toHaveLength(1);
    expect(await search({ values: { secret: `${CLASSIFIED} facts` } })).toEqual([]);
    const { body } = await hides("POST /threads/search", {
      select: ["status"],
      extract: { x: "values.secret" },
    });
    expect(body).toEqual([{ status: "interrupted", extracted: { x: null } }]);
  });

  it("can be written but not read", async () => {
    const { server, thread, hides } = await open();
    await hides(`POST ${thread}/runs`, ask);
    await hides(`POST ${thread}/state`, { values: { secret: `${CLASSIFIED} edit` }, as_node: "gather" });
    await hides(`GET ${thread}/state`);
    const seed = { values: { topic: "dogs", secret: CLASSIFIED }, as_node: "gather" };
    const body = { metadata: { graph_id: "vault" }, supersteps: [{ updates: [seed] }] };
    const seeded = await hides("POST /threads", body);
    expect(seeded.body).toMatchObject({ values: { topic: "dogs" } });
    expect((await server.request("GET", thread)).body).toMatchObject({ values: { topic: "cats" } });
  });

  it("reject the events mode", async () => {
    const { server, thread } = await open();
    const events = { ...ask, stream_mode: ["values", "events"] };
    const refused = await server.request("POST", `${thread}/runs/stream`, events);
    expect(refused).toMatchObject({ status: 400, body: { code: "unsupported_option" } });
    expect((await server.request("GET", `${thread}/runs`)).body).toEqual([]);
  });

  it("reject the events mode under hold_messages and compat langgraph", async () => {
    const { server } = await openClient({ settings: { compat: "langgraph", hold_messages: true } });
    const refused = await server.request("POST", "/runs/stream", { ...ask, stream_mode: ["events"] });
    expect(refused).toMatchObject({ status: 400, body: { code: "unsupported_option" } });
  });

  it.each<[string, Partial<Settings>]>([
    ["allow_unfiltered_events", { allow_unfiltered_events: true }],
    ["allow_unfiltered_events and hold_messages", { allow_unfiltered_events: true, hold_messages: true }],
    ["compat langgraph", { compat: "langgraph" }],
  ])("appear in the events mode with %s", async (_, settings) => {
    const { server, client } = await openClient({ settings });
    const { thread_id } = await client.threads.create();
    const events = { ...ask, stream_mode: "events", stream_subgraphs: true };
    const { text } = await server.request("POST", `/threads/${thread_id}/runs/stream`, events);
    for (const word of ["secret", "private_note", CLASSIFIED]) expect(text).toContain(word);
  });
});

describe("an interrupt", () => {
  it("passes the filter in every response", async () => {
    const { client, thread_id, thread, hides } = await open();
    const stream = await hides(`POST ${thread}/runs/stream`, { ...ask, stream_mode: ["values", "updates"] });
    for (const event of ["values", "updates"]) {
      expect(stream.text).toMatch(
        new RegExp(`event: ${event}\ndata: \\{"__interrupt__":\\[\\{"id":"\\w+","value"`),
      );
    }
    expect(Object.values((await client.threads.get(thread_id)).interrupts)).toMatchObject([[question]]);
    expect(await client.threads.getState(thread_id)).toMatchObject({
      tasks: [{ interrupts: [question] }],
      interrupts: [question],
    });
    const [latest] = await client.threads.getHistory(thread_id);
    expect(latest?.tasks[0]?.interrupts).toMatchObject([question]);
  });
});
