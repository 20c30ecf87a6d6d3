/** Each template's graph, run by LangGraph without a server. */
import type { BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import { graph as agent } from "../../templates/agent-tools/graph.js";
import { graph as chat } from "../../templates/chat/graph.js";
import { graph as hitl } from "../../templates/hitl/graph.js";
import { graph as minimal } from "../../templates/minimal/graph.js";

const onThread = (thread_id: string) => ({ configurable: { thread_id } });
const say = (content: string) => ({ messages: [{ role: "user", content }] });
const texts = (messages: BaseMessage[]) => messages.map((message) => message.text);

beforeEach(() => {
  for (const graph of [chat, agent.graph, hitl, minimal]) graph.checkpointer = new MemorySaver();
});

/** The message chunks and custom events of a stream. */
async function drain(stream: AsyncIterable<unknown>): Promise<{ words: string[]; custom: unknown[] }> {
  const words: string[] = [];
  const custom: unknown[] = [];
  for await (const [mode, chunk] of stream as AsyncIterable<[string, unknown]>) {
    if (mode === "messages") words.push((chunk as [BaseMessage])[0].text);
    if (mode === "custom") custom.push(chunk);
  }
  return { words, custom };
}

describe("chat template", () => {
  it("the answer quotes the user's words", async () => {
    const { messages } = await chat.invoke(say("good morning"), onThread("t"));
    expect(texts(messages).at(-1)).toContain('You said: "good morning"');
  });

  it("earlier messages are remembered", async () => {
    await chat.invoke(say("my name is Ada"), onThread("t"));
    const { messages } = await chat.invoke(say("who am I?"), onThread("t"));
    expect(messages).toHaveLength(4);
    expect(texts(messages).at(-1)).toContain('Before that you said: "my name is Ada"');
  });

  it("the answer is streamed word by word", async () => {
    const stream = await chat.stream(say("hi"), { ...onThread("t"), streamMode: ["messages"] });
    const { words } = await drain(stream);
    expect(words.slice(0, 4)).toEqual(["Hello! ", "You ", "said: ", '"hi". ']);
    const { messages } = (await chat.getState(onThread("t"))).values as { messages: BaseMessage[] };
    expect(words.join("")).toBe(texts(messages).at(-1));
  });

  it.each(["invoke", "stream"] as const)("%s reports the tokens used", async (how) => {
    if (how === "invoke") await chat.invoke(say("one two"), onThread("t"));
    else await drain(await chat.stream(say("one two"), { ...onThread("t"), streamMode: ["messages"] }));
    const { messages } = (await chat.getState(onThread("t"))).values as { messages: BaseMessage[] };
    expect(messages.at(-1)).toMatchObject({
      usage_metadata: { input_tokens: 9, output_tokens: 15, total_tokens: 24 },
    });
  });

  it("the same message gets the same answer", async () => {
    const first = await chat.invoke(say("hi"), onThread("one"));
    const second = await chat.invoke(say("hi"), onThread("two"));
    expect(texts(first.messages)).toEqual(texts(second.messages));
  });
});

describe("agent-tools template", () => {
  it("every required tool is called", async () => {
    const question = 'what is 6 * 7, and count the words in "to be or not to be"';
    const { messages } = await agent.invoke(say(question), onThread("t"));
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "tool", "ai"]);
    expect(texts(messages).at(-1)).toBe('Here you are: 6 * 7 = 42; "to be or not to be" has 6 words.');
  });

  it("a message without a task is answered without tools", async () => {
    const { messages } = await agent.invoke(say("hello"), onThread("t"));
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai"]);
    expect(texts(messages).at(-1)).toContain("I can calculate");
  });

  it("division by zero is refused", async () => {
    const { messages } = await agent.invoke(say("1 / 0"), onThread("t"));
    expect(texts(messages).at(-1)).toBe("Here you are: 1 / 0 has no result.");
  });

  it("tools report progress as custom events", async () => {
    const stream = await agent.stream(say("6 * 7"), { ...onThread("t"), streamMode: ["messages", "custom"] });
    const { words, custom } = await drain(stream);
    expect(custom).toEqual([{ tool: "calculator", step: "calculating 6 * 7" }]);
    expect(words.length).toBeGreaterThan(5);
  });
});

describe("hitl template", () => {
  const payment = { payee: "Ada", amount: 5 };

  it("the graph interrupts before it pays", async () => {
    const result = await hitl.invoke(payment, onThread("t"));
    expect(result).toMatchObject({
      status: "waiting for approval",
      __interrupt__: [{ value: { question: "Pay 5 to Ada?", ...payment } }],
    });
  });

  it.each([
    [true, "paid 5 to Ada"],
    ["no", "refused by you"],
  ])("answer %j sets the status: %s", async (answer, status) => {
    await hitl.invoke(payment, onThread("t"));
    const result: unknown = await hitl.invoke(new Command({ resume: answer }), onThread("t"));
    expect(result).toEqual({ ...payment, status });
  });

  it("suspicious payments are refused without a question", async () => {
    const result: unknown = await hitl.invoke({ payee: "Eve", amount: 20_000 }, onThread("t"));
    expect(result).toEqual({ payee: "Eve", amount: 20_000, status: "refused by the bank" });
  });
});

describe("minimal template", () => {
  it("the nodes fill in the state", async () => {
    expect(await minimal.invoke({ text: "to be or perhaps not" }, onThread("t"))).toEqual({
      text: "to be or perhaps not",
      words: ["to", "be", "or", "perhaps", "not"],
      summary: '5 words, the longest is "perhaps"',
    });
  });
});
