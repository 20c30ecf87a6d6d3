/** LangGraph's own RemoteGraph: a served graph used like a local one. */
import { HumanMessage } from "@langchain/core/messages";
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { openClient, says } from "./open.js";

/** A graph on a thread that does not exist yet: RemoteGraph requests its creation. */
async function openRemote(graphId: string) {
  const { client, server } = await openClient();
  const remote = new RemoteGraph({ graphId, url: server.url });
  return { client, remote, config: { configurable: { thread_id: newId() } } };
}

async function collectAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe("RemoteGraph.invoke", () => {
  it("returns the last values", async () => {
    const { remote, config } = await openRemote("chat");
    const values = (await remote.invoke({ messages: [new HumanMessage("tea")] }, config)) as object;
    expect(values).toMatchObject({ messages: [{ type: "human" }, { type: "ai", content: "You said: tea" }] });
    const more = (await remote.invoke(says("more"), config)) as { messages: unknown[] };
    expect(more.messages).toHaveLength(4);
  });

  it("throws the error of the graph", async () => {
    const { remote, config } = await openRemote("fail");
    await expect(remote.invoke({ x: 0 }, config)).rejects.toThrow(/kaboom/);
  });

  it("interrupts and resumes by command", async () => {
    const { remote, config } = await openRemote("hitl");
    await expect(remote.invoke({ topic: "cats" }, config)).rejects.toMatchObject({
      name: "GraphInterrupt",
      interrupts: [{ value: { question: "Approve?", topic: "cats" } }],
    });
    const state = await remote.getState(config);
    expect(state.next).toEqual(["ask"]);
    expect(state.tasks[0]?.interrupts).toMatchObject([{ value: { question: "Approve?" } }]);
    const values = (await remote.invoke(new Command({ resume: "yes" }), config)) as object;
    expect(values).toMatchObject({ answer: "yes" });
    expect(values).not.toHaveProperty("secret");
  });

  it("passes recursion limit, tags and metadata", async () => {
    const { client, remote, config } = await openRemote("steps");
    const options = { ...config, recursionLimit: 3, tags: ["remote"], metadata: { by: "remote" } };
    await expect(remote.invoke({}, options)).rejects.toThrow(/[Rr]ecursion limit/);
    const [run] = await client.runs.list(config.configurable.thread_id);
    const sent = { recursion_limit: 3, tags: ["remote"], metadata: { by: "remote" } };
    expect(run).toMatchObject({ status: "error", kwargs: { config: sent } });
  });

  it("works without a thread", async () => {
    const { remote } = await openRemote("chat");
    const values = (await remote.invoke(says("tea"))) as object;
    expect(values).toMatchObject({ messages: [{ content: "tea" }, { content: "You said: tea" }] });
  });

  it("works as a node of another graph", async () => {
    const { remote, config } = await openRemote("chat");
    const local = new StateGraph(Annotation.Root(MessagesAnnotation.spec))
      .addNode("remote", (state) => remote.invoke(state, config) as Promise<typeof MessagesAnnotation.State>)
      .addEdge(START, "remote")
      .addEdge("remote", END)
      .compile();
    const { messages } = await local.invoke({ messages: [new HumanMessage("tea")] });
    expect(messages.map(({ text }) => text)).toEqual(["tea", "You said: tea"]);
  });
});

describe("RemoteGraph.stream", () => {
  it("yields the bare chunks of a single mode", async () => {
    const { remote, config } = await openRemote("steps");
    const chunks = await collectAll(await remote.stream({ n: 0 }, { ...config, streamMode: "values" }));
    expect(chunks).toHaveLength(11);
    expect(chunks.at(-1)).toMatchObject({ n: 10 });
  });

  it("yields pairs for several modes", async () => {
    const { remote, config } = await openRemote("custom");
    const options = { ...config, streamMode: ["updates", "custom"] as ("updates" | "custom")[] };
    expect(await collectAll(await remote.stream({ count: 1 }, options))).toEqual([
      ["custom", { progress: 1 }],
      ["updates", { work: { done: true } }],
    ]);
  });

  it("yields the namespaces of subgraphs", async () => {
    const { remote, config } = await openRemote("subgraph");
    const options = { ...config, streamMode: ["updates"] as "updates"[], subgraphs: true };
    const chunks = (await collectAll(await remote.stream(says("hi"), options))) as [
      string[],
      string,
      object,
    ][];
    const seen = chunks.map(([path, mode, data]) => [
      path.map((part) => part.split(":")[0]),
      mode,
      Object.keys(data),
    ]);
    expect(seen).toEqual([
      [["child"], "updates", ["inner_model"]],
      [["child", "leaf"], "updates", ["leaf_start"]],
      [["child", "leaf"], "updates", ["leaf_end"]],
      [["child"], "updates", ["leaf"]],
      [[], "updates", ["child"]],
      [[], "updates", ["close"]],
    ]);
  });
});

describe("RemoteGraph state", () => {
  it("is read, updated and read again", async () => {
    const { remote, config } = await openRemote("steps");
    await remote.invoke({}, config);
    const before = await remote.getState(config);
    expect(before).toMatchObject({
      values: { n: 10 },
      next: [],
      config: { configurable: config.configurable },
    });

    const written = await remote.updateState(config, { n: 4 }, "step");
    expect(written.configurable).toMatchObject({ ...config.configurable, checkpoint_ns: "" });
    const after = await remote.getState(config);
    expect(after).toMatchObject({ values: { n: 4 }, next: ["step"], parentConfig: before.config });
    expect(after.config.configurable?.checkpoint_id).toBe(written.configurable?.checkpoint_id);
    expect(await remote.getState(before.config)).toMatchObject({ values: { n: 10 } });
  });

  it("includes the history", async () => {
    const { remote, config } = await openRemote("steps");
    await remote.invoke({}, config);
    const history = [];
    for await (const state of remote.getStateHistory(config, { limit: 4 })) history.push(state);
    expect(history.map(({ values }) => (values as { n: number }).n)).toEqual([10, 9, 8, 7]);
    const before = { before: history[3]?.config, limit: 1 };
    for await (const state of remote.getStateHistory(config, before)) {
      expect(state).toMatchObject({ values: { n: 6 }, config: history[3]?.parentConfig });
    }
    const earlier = await collectAll(remote.getStateHistory(config, before));
    expect(earlier).toHaveLength(1);
  });

  it("is empty on a new thread", async () => {
    const { client, remote } = await openRemote("chat");
    const { thread_id } = await client.threads.create();
    const state = await remote.getState({ configurable: { thread_id } });
    expect(state).toMatchObject({ values: {}, next: [], tasks: [] });
  });
});

describe("RemoteGraph.getGraphAsync", () => {
  it("draws the served graph", async () => {
    const { remote } = await openRemote("subgraph");
    const graph = await remote.getGraphAsync();
    expect(Object.keys(graph.nodes)).toEqual(["__start__", "child", "close", "__end__"]);
    expect(graph.drawMermaid()).toContain("child --> close");
    const xray = await remote.getGraphAsync({ xray: true });
    expect(Object.keys(xray.nodes)).toContain("child:inner_model");
  });
});
