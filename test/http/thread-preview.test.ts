/** The preview of a thread in searches: its title and last message, read without any state, on every backend. */
import { AIMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { Thread } from "../../src/models/thread.js";
import { newId } from "../../src/support/ids.js";
import { observeStorage } from "../../src/storage/observed.js";
import { gateOf } from "../fixtures/gates.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, MEMORY, onEveryBackend } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { byHeader } from "../helpers/two-users.js";

const answer = ({ messages }: typeof MessagesAnnotation.State) => {
  if (messages.at(-1)?.text === "fail") throw new Error("boom");
  return {
    messages: [new AIMessage({ content: "x".repeat(900), tool_calls: [{ name: "look", args: {} }] })],
  };
};
const talk = new StateGraph(MessagesAnnotation).addNode("answer", answer).addEdge(START, "answer").compile();

/** Shows `topic` and hides its messages. */
const Hidden = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<string> });
const shy = new StateGraph({ stateSchema: Hidden, output: Annotation.Root({ topic: Hidden.spec.topic }) })
  .addNode("answer", answer)
  .addEdge(START, "answer")
  .compile();

const Counts = Annotation.Root({ n: Annotation<number>, name: Annotation<string | null> });
/** Its state contains no text after a run. */
const counts = new StateGraph(Counts)
  .addNode("one", ({ n }) => ({ n: n + 1, name: null }))
  .addNode("two", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .compile();

const graphs = { talk, shy, counts };
const PATIENT = { timeout: 20_000 };

async function previews(server: TestServer, body: object = {}, headers = {}) {
  const found = await server.request(
    "POST",
    "/threads/search",
    { select: ["thread_id", "preview"], ...body },
    headers,
  );
  expect([found.status, found.text]).toEqual([200, found.text]);
  return (found.body as Pick<Thread, "thread_id" | "preview">[]).map(({ preview }) => preview);
}

const said = (content: string, assistant_id = "talk") => ({
  assistant_id,
  input: { messages: [{ role: "user", content }], ...(assistant_id === "shy" && { topic: "tents" }) },
});

onEveryBackend("a thread's preview", (backend) => {
  it("is stored with the end of a run and read without a state", PATIENT, async () => {
    const calls: string[] = [];
    const storage = observeStorage(await keptStorage(backend()), (operation) => calls.push(operation));
    const server = await startTestServer({ graphs, storage });
    const { thread_id } = await server.service.threads.create({ metadata: { tag: "stored" } });
    const ids = [thread_id];
    expect(await previews(server, { ids })).toEqual([null]);
    calls.length = 0;
    await server.service.runs.create(thread_id, said("Where is my order?\ud83d\ude00"));
    expect(calls.filter((call) => call === "runs.settle")).toHaveLength(1);
    expect(calls).not.toContain("threads.update");
    calls.length = 0;
    const [preview] = await previews(server, { ids });
    // Maintenance may read other tables meanwhile.
    expect(calls.filter((call) => /^(threads|checkpoints)\./.test(call))).toEqual(["threads.search"]);
    expect(preview).toEqual({
      title: "Where is my order?\ud83d\ude00",
      messages: 2,
      last: { type: "ai", text: "x".repeat(200), tools: ["look"] },
      steps: 1,
    });
    await server.service.runs.create(thread_id, said("fail"));
    expect(await previews(server, { ids })).toMatchObject([
      { title: preview?.title, messages: 3, last: { type: "human", text: "fail" } },
    ]);
    const whole = await server.request("POST", "/threads/search", { ids });
    expect((whole.body as Thread[])[0]).not.toHaveProperty("preview");
  });

  it("counts the steps of a state without texts, and keeps a title that the input had", PATIENT, async () => {
    const server = await startTestServer({ graphs, storage: await keptStorage(backend()) });
    const { runs, threads } = server.service;
    const { thread_id } = await threads.create({});
    const ids = [thread_id];
    const untitled = { title: null, messages: 0, last: null };
    await runs.create(thread_id, { assistant_id: "counts", input: { n: 1 } });
    expect(await previews(server, { ids })).toEqual([{ ...untitled, steps: 2 }]);
    await runs.create(thread_id, { assistant_id: "counts", input: { n: 1, name: "Ada" } });
    expect(await previews(server, { ids })).toEqual([{ ...untitled, title: "Ada", steps: 6 }]);
    await server.request("POST", `/threads/${thread_id}/state`, { values: { n: 7 }, as_node: "two" });
    expect(await previews(server, { ids })).toEqual([{ ...untitled, title: "Ada", steps: 7 }]);
  });
});

describe("a thread's preview", () => {
  it("a running thread already has its title", async () => {
    const [started, gate] = [deferred(), deferred()];
    const slow = new StateGraph(MessagesAnnotation)
      .addNode("wait", async () => {
        started.resolve();
        await gate.promise;
        return {};
      })
      .addEdge(START, "wait")
      .compile();
    const server = await startTestServer({ graphs: { slow } });
    const { thread_id } = await server.service.threads.create({});
    const run = server.service.runs.create(thread_id, said("Compare tents", "slow"));
    await started.promise;
    expect(await previews(server, { ids: [thread_id] })).toMatchObject([{ title: "Compare tents" }]);
    gate.resolve();
    await run;
  });

  it("follows rollbacks", async () => {
    const slow = new StateGraph(MessagesAnnotation)
      .addNode("wait", async ({ messages }, { signal }) => {
        await gateOf(messages.at(-1)?.text ?? "").wait(signal, false);
        return {};
      })
      .addEdge(START, "wait")
      .compile();
    const server = await startTestServer({ graphs: { slow, talk } });
    const { runs, threads } = server.service;
    const [{ thread_id: empty }, { thread_id }] = [await threads.create({}), await threads.create({})];
    await runs.create(thread_id, said("Where is my order?"));
    const before = await previews(server, { ids: [thread_id] });
    for (const id of [empty, thread_id]) {
      const reverted = newId();
      const { run_id } = await runs.background(id, said(reverted, "slow"));
      await gateOf(reverted).entered;
      await runs.cancel(id, run_id, { action: "rollback" });
    }
    expect(await previews(server, { ids: [empty] })).toMatchObject([{ title: null, messages: 0 }]);
    expect(await previews(server, { ids: [thread_id] })).toEqual(before);
  });

  it("follows edits, copies and imports", async () => {
    const server = await startTestServer({ graphs });
    const { threads } = server.service;
    const { thread_id } = await threads.create({});
    await server.service.runs.create(thread_id, said("first"));
    const values = { messages: [{ role: "user", content: "second" }] };
    await server.request("POST", `/threads/${thread_id}/state`, { values, as_node: "answer" });
    const edited = { title: "first", messages: 3, last: { type: "human", text: "second", tools: [] } };
    expect(await previews(server, { ids: [thread_id] })).toMatchObject([edited]);
    const copy = await threads.copy(thread_id);
    expect(await previews(server, { ids: [copy.thread_id] })).toMatchObject([edited]);
    const seeded = await threads.create({
      metadata: { graph_id: "talk" },
      supersteps: [{ updates: [{ values, as_node: "answer" }] }],
    });
    expect(await previews(server, { ids: [seeded.thread_id] })).toMatchObject([
      { title: "second", messages: 1 },
    ]);
  });

  it("shows nothing of keys that a graph hides, whichever graph is named", async () => {
    const server = await startTestServer({ graphs });
    const { thread_id } = await server.service.threads.create({});
    const ids = [thread_id];
    await server.service.runs.create(thread_id, said("secret words"));
    expect(await previews(server, { ids })).toMatchObject([{ title: "secret words" }]);
    // From now on, `messages` is a key that one of its graphs hides. The other hides nothing, so `topic` is shown.
    await server.service.runs.create(thread_id, said("more", "shy"));
    expect(await previews(server, { ids })).toEqual([{ title: "tents", messages: 0, last: null, steps: 4 }]);
    await server.service.threads.update(thread_id, { metadata: { graph_id: "talk" } });
    expect(await previews(server, { ids })).toEqual([null]);
    const other = await server.service.threads.create({});
    await server.service.runs.create(other.thread_id, said("more", "shy"));
    expect(await previews(server, { ids: [other.thread_id] })).toEqual([
      { title: "tents", messages: 0, last: null, steps: 1 },
    ]);
  });

  it("a key that is hidden after a restart is not shown from the row", async () => {
    const storage = await keptStorage(MEMORY);
    const before = await startTestServer({ graphs: { agent: talk }, storage });
    const { thread_id } = await before.service.threads.create({});
    await before.service.runs.create(thread_id, said("secret words", "agent"));
    expect(await previews(before, { ids: [thread_id] })).toMatchObject([{ title: "secret words" }]);
    const after = await startTestServer({ graphs: { agent: shy }, storage });
    expect(await previews(after, { ids: [thread_id] })).toEqual([null]);
  });

  it("belongs to the user of the thread", async () => {
    const server = await startTestServer({ graphs, authenticate: byHeader });
    const [ann, bob] = [{ user: "ann" }, { user: "bob" }];
    const created = await server.request("POST", "/threads", {}, ann);
    const { thread_id } = created.body as Thread;
    await server.request("POST", `/threads/${thread_id}/runs`, said("mine"), ann);
    expect(await previews(server, { ids: [thread_id] }, ann)).toMatchObject([{ title: "mine" }]);
    expect(await previews(server, { ids: [thread_id] }, bob)).toEqual([]);
  });
});
