/** The measured graphs; each stresses one part of the system. */
import { setTimeout as sleep } from "node:timers/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import type { GraphConfig, ServedGraph } from "../src/graphs/graph.js";
import { sharedClock } from "./rpc.js";

export interface BenchGraph extends ServedGraph {
  invoke(input: unknown, options: GraphConfig): Promise<unknown>;
}

export const QUESTION = { messages: [{ role: "user", content: "How are you today?" }] };
const TOKENS = 200;

/** Number of runs in flight, now and at peak. */
export const inFlight = { now: 0, peak: 0 };

/** Streams its answer as fast as possible: 200 tokens, the last with the usage. */
class FakeModel extends BaseChatModel {
  override _llmType(): string {
    return "fake";
  }

  override async _generate(): Promise<ChatResult> {
    const text = "word ".repeat(TOKENS);
    return { generations: [{ text, message: new AIMessage(text) }] };
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const usage_metadata = { input_tokens: 5, output_tokens: TOKENS, total_tokens: TOKENS + 5 };
    for (let token = 1; token <= TOKENS; token += 1) {
      const message = new AIMessageChunk(token < TOKENS ? "word " : { content: "word", usage_metadata });
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      yield chunk;
      await run?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

/** Calls the tool once, then answers. */
class ToolCaller extends FakeModel {
  override bindTools(): this {
    return this;
  }

  override async _generate(messages?: BaseMessage[]): Promise<ChatResult> {
    const hasResult = messages?.at(-1)?.getType() === "tool";
    const call = { id: "call-1", name: "add", args: { a: 1, b: 2 } };
    const content = hasResult ? "3" : "";
    const usage_metadata = { input_tokens: 50, output_tokens: 10, total_tokens: 60 };
    const message = new AIMessage({ content, usage_metadata, tool_calls: hasResult ? [] : [call] });
    return { generations: [{ text: content, message }] };
  }

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const { generations } = await this._generate(messages);
    for (const { text, message } of generations)
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk(message) });
  }
}

const add = tool(({ a, b }: { a: number; b: number }) => String(a + b), {
  ...{ name: "add", description: "Adds two numbers." },
  schema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
});

const Steps = Annotation.Root({ n: Annotation<number>() });
const Events = Annotation.Root({ count: Annotation<number>(), done: Annotation<boolean>() });
const Records = Annotation.Root({ size: Annotation<number>(), records: Annotation<object[]>() });

/** About `size` bytes of JSON. */
function records(size: number): object[] {
  const record = (id: number) => ({ id, name: `record ${id}`, tags: ["a", "b"], text: "x".repeat(950) });
  return Array.from({ length: Math.ceil(size / 1024) }, (_, id) => record(id));
}

async function paced({ count }: { count: number }, { writer }: LangGraphRunnableConfig) {
  inFlight.now += 1;
  inFlight.peak = Math.max(inFlight.peak, inFlight.now);
  for (let event = 0; event < count; event += 1) {
    await sleep(20);
    writer?.({ at: sharedClock() });
  }
  inFlight.now -= 1;
  return { done: true };
}

/**
 * Computes for 200 ms, writes an event every millisecond and awaits only microtasks, so the event loop never
 * turns.
 */
async function selfish(_state: unknown, { writer }: LangGraphRunnableConfig) {
  const start = performance.now();
  for (let event = 0; event < 200; event += 1) {
    while (performance.now() - start < event);
    writer?.({ event });
    await Promise.resolve();
  }
  return { done: true };
}

/** Waits until its run is aborted. */
async function suspended(_state: unknown, { signal }: LangGraphRunnableConfig) {
  inFlight.now += 1;
  try {
    return await new Promise<{ done: boolean }>((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  } finally {
    inFlight.now -= 1;
  }
}

function burst({ count }: { count: number }, { writer }: LangGraphRunnableConfig) {
  for (let event = 0; event < count; event += 1) writer?.({ event, text: "some progress" });
  return { done: true };
}

type EventsNode = (state: typeof Events.State, config: LangGraphRunnableConfig) => unknown;

function eventsGraph(node: EventsNode) {
  return new StateGraph(Events)
    .addNode("work", (state, config) => node(state, config) as typeof Events.Update)
    .addEdge(START, "work")
    .addEdge("work", END);
}

const model = new FakeModel({});

const builders = {
  /** One trivial node over messages. */
  g1: new StateGraph(MessagesAnnotation)
    .addNode("reply", () => ({ messages: [new AIMessage("Fine, thank you.")] }))
    .addEdge(START, "reply")
    .addEdge("reply", END),
  /** Supersteps until `n` is 10: ten of them from 0. */
  g2: new StateGraph(Steps)
    .addNode("step", ({ n }) => ({ n: n + 1 }))
    .addEdge(START, "step")
    .addConditionalEdges("step", ({ n }) => (n < 10 ? "step" : END), ["step", END]),
  /** A chat model that streams 200 tokens. */
  g3: new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, "model")
    .addEdge("model", END),
  /** `count` custom events. */
  g3c: eventsGraph(burst),
  /** A state of `size` bytes, carried through three supersteps. */
  big: new StateGraph(Records)
    .addNode("make", ({ size }) => ({ records: records(size) }))
    .addNode("keep", ({ records: made }) => ({ records: [...made] }))
    .addNode("done", () => ({ size: 0 }))
    .addEdge(START, "make")
    .addEdge("make", "keep")
    .addEdge("keep", "done")
    .addEdge("done", END),
  paced: eventsGraph(paced),
  selfish: eventsGraph(selfish),
  suspended: eventsGraph(suspended),
};

/** `agent` calls a model, a tool and the model again. */
export type GraphName = keyof typeof builders | "agent";

export function compileGraphs(checkpointer?: BaseCheckpointSaver): Record<GraphName, BenchGraph> {
  const compiled = Object.entries(builders).map(([name, builder]) => [
    name,
    builder.compile({ checkpointer }),
  ]);
  return {
    ...Object.fromEntries(compiled),
    agent: createReactAgent({ llm: new ToolCaller({}), tools: [add], checkpointer }),
  } as Record<GraphName, BenchGraph>;
}
