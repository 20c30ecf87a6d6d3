/** A fake model server on loopback that speaks OpenAI chat completions, streamed and whole. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: { role: string; content: string }[];
}

export interface ModelServer {
  url: string;
  /** Requests so far. */
  readonly requests: Asked[];
  close(): Promise<void>;
}

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** Echoes the last message. Asked about the weather, it calls the tool and repeats the tool result. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: Asked[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, requests);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, requests: Asked[]): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked;
  requests.push(asked);
  const last = asked.messages.at(-1);
  const wantsTool = last?.role === "user" && /weather/.test(last.content);
  const text = `reply ${requests.length}: ${last?.content ?? ""}`;
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "weather", arguments: '{"city":"Oslo"}' },
  };
  const id = `chatcmpl-${requests.length}`;
  if (!asked.stream) {
    const message = {
      role: "assistant",
      ...(wantsTool ? { content: "", tool_calls: [call] } : { content: text }),
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ id, choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE }),
    );
    return;
  }
  const deltas = wantsTool ? [{ tool_calls: [call] }] : text.split(/(?<= )/).map((content) => ({ content }));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (data: object) => response.write(`data: ${JSON.stringify({ id, ...data })}\n\n`);
  for (const delta of deltas) send({ choices: [{ index: 0, delta: { role: "assistant", ...delta } }] });
  if (asked.stream_options?.include_usage) send({ choices: [], usage: USAGE });
  response.end("data: [DONE]\n\n");
}

/** A graph that calls the server at MODEL_URL with streaming and has a tool that calls the server too. */
export const httpGraph = `
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const wire = (messages) => messages.map((message) => ({
  role: { human: "user", ai: "assistant", tool: "tool", system: "system" }[message.type],
  content: message.text,
}));

class ChatWire extends BaseChatModel {
  #url = () => process.env.MODEL_URL + "/v1/chat/completions";
  _llmType() { return "wire"; }
  bindTools(tools) { return this.withConfig({ tools }); }
  async #ask(messages, stream) {
    return fetch(this.#url(), {
      method: "POST",
      headers: { authorization: "Bearer " + process.env.MODEL_API_KEY },
      body: JSON.stringify({ stream, stream_options: { include_usage: true }, messages: wire(messages) }),
    });
  }
  async _generate(messages) {
    const { id, choices: [{ message }], usage } = await (await this.#ask(messages, false)).json();
    const tool_calls = (message.tool_calls ?? []).map((call) => ({
      id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments), type: "tool_call",
    }));
    return { generations: [{ text: message.content, message: new AIMessage({
      id, content: message.content, tool_calls,
      usage_metadata: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, total_tokens: usage.total_tokens },
    }) }] };
  }
  async *_streamResponseChunks(messages, options, run) {
    const text = await (await this.#ask(messages, true)).text();
    for (const [, json] of text.matchAll(/^data: ({.*)$/gm)) {
      const { id, choices: [choice], usage } = JSON.parse(json);
      const calls = choice?.delta.tool_calls ?? [];
      const message = new AIMessageChunk({
        id,
        content: choice?.delta.content ?? "",
        tool_call_chunks: calls.map((call) => ({
          type: "tool_call_chunk", index: call.index, id: call.id, name: call.function.name, args: call.function.arguments,
        })),
        ...(usage && { usage_metadata: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens, total_tokens: usage.total_tokens } }),
      });
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      yield chunk;
      await run?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

const weather = tool(async ({ city }, runtime) => {
  runtime.writer?.({ asking: city });
  const answer = await fetch(process.env.MODEL_URL, { method: "POST", body: JSON.stringify({ messages: [{ role: "tool", content: city }] }) });
  return "sunny, says " + (await answer.json()).id + ", key " + process.env.MODEL_API_KEY;
}, { name: "weather", description: "The weather.", schema: z.object({ city: z.string() }) });

export const graph = createAgent({ model: new ChatWire({}), tools: [weather], systemPrompt: "Be brief." });
`;

const openAi = `
import { ChatOpenAI } from "@langchain/openai";
import { tool } from "langchain";
import { z } from "zod";

const model = new ChatOpenAI({
  model: "gpt-local",
  apiKey: process.env.MODEL_API_KEY,
  maxRetries: 0,
  configuration: { baseURL: process.env.MODEL_URL + "/v1" },
});
const weather = tool(async ({ city }, runtime) => {
  runtime.writer?.({ asking: city });
  const answer = await fetch(process.env.MODEL_URL, { method: "POST", body: JSON.stringify({ messages: [{ role: "tool", content: city }] }) });
  return "sunny, says " + (await answer.json()).id + ", key " + process.env.MODEL_API_KEY;
}, { name: "weather", description: "The weather.", schema: z.object({ city: z.string() }) });
`;

/** A graph around the @langchain/openai model at MODEL_URL. It stores the chunks of the answer. */
export const openAiGraph = `${openAi}
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  chunks: Annotation({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});
const asking = model.bindTools([weather]);
async function ask({ messages }) {
  const chunks = [];
  let whole;
  for await (const chunk of await asking.stream(messages)) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
    chunks.push({ text: chunk.text, calls: chunk.tool_call_chunks, usage: chunk.usage_metadata ?? null });
  }
  return { messages: [whole], chunks };
}
export const graph = new StateGraph(State)
  .addNode("ask", ask)
  .addNode("tools", new ToolNode([weather]))
  .addEdge(START, "ask")
  .addConditionalEdges("ask", toolsCondition, ["tools", END])
  .addEdge("tools", "ask")
  .compile();
`;

/** The same model and tool in a langchain agent. */
export const openAiAgent = `${openAi}
import { createAgent } from "langchain";
export const graph = createAgent({ model, tools: [weather], systemPrompt: "Be brief." });
`;
