/** Callbacks of a graph, model, tool or tracer receive the same events with and without our handler. */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import { registerConfigureHook, setContextVariable } from "@langchain/core/context";
import { HumanMessage } from "@langchain/core/messages";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { tool } from "@langchain/core/tools";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ModelCallbacks } from "../../src/graphs/callbacks/model-callbacks.js";
import { RunUsage } from "../../src/graphs/callbacks/usage.js";
import { newId } from "../../src/support/ids.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { watched } from "../helpers/heard-events.js";

const State = Annotation.Root({ ...MessagesAnnotation.spec });
type Values = typeof State.State;
const QUESTION = { messages: [new HumanMessage("two words")] };
/** Number of model calls in the graph below. */
const CALLS = 4;
const HOOK = "graph_serve_test_handler";

/** Calls a model in a node, in a subgraph, behind a chain, and in a tool. */
function compile(model: FakeModel) {
  const ask = async ({ messages }: Values) => ({ messages: [await model.invoke(messages.slice(0, 1))] });
  const inner = new StateGraph(State).addNode("deep", ask).addEdge(START, "deep").addEdge("deep", END);
  const chain = RunnableLambda.from(({ messages }: Values) => messages.slice(0, 1))
    .pipe(model)
    .withConfig({ tags: ["of the chain"] });
  const search = tool(async () => (await model.invoke("in a tool")).text, {
    name: "search",
    description: "searches",
  });
  return new StateGraph(State)
    .addNode("ask", ask)
    .addNode("inner", inner.compile({ name: "inner" }))
    .addNode("chain", async (state) => ({ messages: [await chain.invoke(state)] }))
    .addNode("tool", async (_, config: RunnableConfig) => {
      await dispatchCustomEvent("progress", { part: 1 }, config);
      return { messages: [new HumanMessage(String(await search.invoke({})))] };
    })
    .addEdge(START, "ask")
    .addEdge("ask", "inner")
    .addEdge("inner", "chain")
    .addEdge("chain", "tool")
    .addEdge("tool", END)
    .compile({ name: "calls" });
}

const search = tool(({ query }: { query: string }) => `found ${query}`, {
  name: "search",
  description: "searches",
  schema: z.object({ query: z.string() }),
});

/** The config of a run: with `ModelCallbacks`, with the plain handler in an array, or without a handler. */
type Callbacks = RunnableConfig["callbacks"];
const configOf = (callbacks: Callbacks): RunnableConfig => ({
  runId: newId(),
  tags: ["of the run"],
  metadata: { user: "u" },
  callbacks,
});

describe("ModelCallbacks", () => {
  let usage: RunUsage;
  beforeEach(() => {
    usage = new RunUsage();
  });
  const counted = () => usage.total(undefined).total_tokens;

  it("counts every model call, wherever it is made", async () => {
    const graph = compile(new FakeModel());
    await graph.invoke(QUESTION, configOf([usage]));
    const expected = counted();
    expect(expected).toBeGreaterThan(0);
    usage = new RunUsage();
    await graph.invoke(QUESTION, configOf(new ModelCallbacks(usage)));
    expect(counted()).toBe(expected);
  });

  it.each([
    ["invoke", undefined],
    ["messages", "messages"],
  ] as const)("callbacks of the graph receive the same events: %s", async (_, streamMode) => {
    const graph = compile(new FakeModel());
    const heard = async (callbacks: Callbacks) => {
      const handler = watched();
      const config = { ...configOf(callbacks), streamMode };
      const chunks = await graph.withConfig({ callbacks: [handler] }).stream(QUESTION, config);
      for await (const _chunk of chunks);
      return handler.heard;
    };
    const expected = await heard([usage]);
    expect(expected.length).toBeGreaterThan(4 * CALLS);
    expect(await heard(new ModelCallbacks(usage))).toEqual(expected);
  });

  it("a tracer registered by a configure hook receives the whole tree, including the root", async () => {
    const graph = compile(new FakeModel());
    const heard = async (callbacks: Callbacks) => {
      const handler = watched();
      await AsyncLocalStorageProviderSingleton.runWithConfig({}, async () => {
        registerConfigureHook({ contextVar: HOOK });
        setContextVariable(HOOK, handler);
        await graph.invoke(QUESTION, configOf(callbacks));
      });
      return handler.heard;
    };
    const expected = await heard([usage]);
    expect(expected[0]).toMatchObject({ event: "chain start", path: ["calls"] });
    expect(await heard(new ModelCallbacks(usage))).toEqual(expected);
  });

  it("callbacks of a model receive the same tags and metadata with ModelCallbacks", async () => {
    const heard = async (callbacks: Callbacks) => {
      const handler = watched();
      const model = new FakeModel();
      model.callbacks = [handler];
      await compile(model).invoke(QUESTION, configOf(callbacks));
      return handler.heard.map(({ path: _path, ...event }) => event);
    };
    const expected = await heard(undefined);
    expect(expected.filter(({ event }) => event === "chat model start")).toHaveLength(CALLS);
    expect(await heard(new ModelCallbacks(usage))).toEqual(expected);
    expect(counted()).toBeGreaterThan(0);
  });

  it("tool calls are streamed unchanged, while model tokens reach only two handlers", async () => {
    const told: string[][] = [];
    const model = new FakeModel();
    const graph = new StateGraph(State)
      .addNode("ask", async ({ messages }, config: RunnableConfig) => {
        const { callbacks } = config;
        if (callbacks && !Array.isArray(callbacks)) told.push(callbacks.handlers.map(({ name }) => name));
        const answer: unknown = await search.invoke({ query: "q" }, config);
        return { messages: [await model.invoke(messages.slice(0, 1)), new HumanMessage(String(answer))] };
      })
      .addEdge(START, "ask")
      .addEdge("ask", END)
      .compile();
    const calls = async (callbacks: Callbacks) => {
      const streamMode: ("tools" | "messages")[] = ["messages", "tools"];
      const chunks: unknown[] = [];
      for await (const [mode, chunk] of await graph.stream(QUESTION, { ...configOf(callbacks), streamMode }))
        if (mode === "tools") chunks.push(chunk);
      return chunks;
    };
    const expected = await calls([usage]);
    expect(expected).toMatchObject([{ event: "on_tool_start" }, { event: "on_tool_end", output: "found q" }]);
    usage = new RunUsage();
    expect(await calls(new ModelCallbacks(usage))).toEqual(expected);
    expect(told[1]).toEqual(["graph_serve_usage", "StreamMessagesHandler"]);
    expect(usage.times.list().tasks).toMatchObject([
      { kind: "node" },
      { kind: "tool", state: "done" },
      { kind: "model" },
    ]);
  });

  it("callbacks passed to a single call receive that call, and so does ModelCallbacks", async () => {
    const handler = watched();
    const model = new FakeModel();
    const graph = new StateGraph(State)
      .addNode("ask", async ({ messages }, config) => ({
        messages: [await model.invoke(messages, { ...config, callbacks: addTo(config, handler) })],
      }))
      .addNode("again", async ({ messages }) => ({ messages: [await model.invoke(messages.slice(0, 1))] }))
      .addEdge(START, "ask")
      .addEdge("ask", "again")
      .addEdge("again", END)
      .compile();
    await graph.invoke(QUESTION, configOf([usage]));
    const [expected, before] = [counted(), handler.heard.length];
    expect(before).toBeGreaterThan(0);
    usage = new RunUsage();
    await graph.invoke(QUESTION, configOf(new ModelCallbacks(usage)));
    expect([counted(), handler.heard.length]).toEqual([expected, 2 * before]);
  });
});

/** Adds a handler to existing callbacks like LangChain's `mergeConfigs`. */
function addTo({ callbacks }: RunnableConfig, handler: BaseCallbackHandler): Callbacks {
  if (callbacks === undefined || Array.isArray(callbacks)) return [...(callbacks ?? []), handler];
  const manager = callbacks.copy();
  manager.addHandler(handler, true);
  return manager;
}
