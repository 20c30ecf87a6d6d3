/** A page of `@langchain/react` 1 on a finished thread whose agent called subagents with tools named `task`. */
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createAgent, tool, type ToolRuntime } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { newId } from "../../src/support/ids.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { startTestServer } from "../helpers/app.js";
import { mountHook } from "./mount.js";

const worker = createAgent({
  name: "worker",
  model: new FakeModel((messages) => `done: ${messages.at(-1)?.text}`),
  tools: [],
});
const task = tool(
  async ({ description }, { toolCallId }: ToolRuntime) => {
    const { messages } = await worker.invoke({ messages: [{ role: "user", content: description }] });
    const content = messages.at(-1)?.text ?? "";
    const answer = new ToolMessage({ content, tool_call_id: toolCallId, name: "task" });
    return new Command({ update: { messages: [answer] } });
  },
  {
    name: "task",
    description: "Delegates work to a subagent.",
    schema: z.object({ description: z.string(), subagent_type: z.string() }),
  },
);
const callOf = (name: string) => ({
  name: "task",
  args: { description: name, subagent_type: "worker" },
  id: `task-${name}`,
  type: "tool_call" as const,
});
const model = new FakeModel((messages) =>
  messages.at(-1)?.type === "tool" ? "all done" : { text: "", toolCalls: ["one", "two"].map(callOf) },
);
const { graph } = createAgent({ model, tools: [task] });

async function finishedThread(compat: "specification" | "langgraph") {
  const server = await startTestServer({
    graphs: { fanout: graph },
    settings: { compat },
  });
  const thread = newId();
  const body = { assistant_id: "fanout", input: { messages: [{ role: "user", content: "go" }] } };
  await server.request("POST", `/threads/${thread}/runs/wait`, { ...body, if_not_exists: "create" });
  return { server, thread };
}

it("messages of finished subagents are shown without an event stream", async () => {
  const { server, thread } = await finishedThread("langgraph");
  const opened: string[] = [];
  const real = globalThis.fetch;
  const counting: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url.includes("/events")) opened.push(url);
    return real(input, init);
  };
  const page = await mountHook(async () => {
    const { useMessages, useStream, useToolCalls } = await import("@langchain/react");
    const options = { apiUrl: server.url, assistantId: "fanout", threadId: thread, fetch: counting };
    return () => {
      const stream = useStream<{ messages: BaseMessage[] }>(options);
      const [one, two] = [...stream.subagents.values()];
      const cards = [useMessages(stream, one), useMessages(stream, two)];
      useToolCalls(stream, one);
      useToolCalls(stream, two);
      return cards.map((messages) => messages.map(({ text }) => text));
    };
  });
  const done = JSON.stringify([
    ["one", "done: one"],
    ["two", "done: two"],
  ]);
  await page.until((cards) => JSON.stringify(cards) === done);
  expect(opened).toEqual([]);
});

it("the history contains messages of undeclared graphs only with compat langgraph", async () => {
  const messagesOf = async (compat: "specification" | "langgraph") => {
    const { server, thread } = await finishedThread(compat);
    const history = async (body: object) =>
      (await server.request("POST", `/threads/${thread}/history`, body)).body as {
        values: { messages?: unknown[] };
        tasks: { id: string; name: string }[];
      }[];
    const calls = (await history({})).flatMap(({ tasks }) => tasks).filter(({ name }) => name === "tools");
    const [state] = await history({ limit: 1, checkpoint: { checkpoint_ns: `tools:${calls[0]?.id}` } });
    return state?.values;
  };
  expect(await messagesOf("specification")).toEqual({});
  expect((await messagesOf("langgraph"))?.messages).toHaveLength(2);
});
