/** Each template, served with its own configuration and called through the official SDK. */
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { openService } from "../../src/service/open.js";
import { serve } from "../helpers/app.js";

const TEMPLATES = join(import.meta.dirname, "../../templates");

async function serveTemplate(name: string): Promise<Client> {
  const { settings, baseDir } = await loadConfig({ cwd: join(TEMPLATES, name), env: {} });
  const service = await openService({ settings, cwd: baseDir });
  const server = await serve(service);
  return new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
}

interface Chunk {
  event: string;
  data: unknown;
}

async function drain(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const dataOf = (chunks: Chunk[], event: string) =>
  chunks.filter((chunk) => chunk.event === event).map(({ data }) => data);
const say = (content: string) => ({ messages: [{ role: "user", content }] });

describe("served chat template", () => {
  it("words are streamed and usage is reported", async () => {
    const client = await serveTemplate("chat");
    const { thread_id } = await client.threads.create();
    const chunks = await drain(
      client.runs.stream(thread_id, "agent", { input: say("hello"), streamMode: "messages-tuple" }),
    );
    const words = dataOf(chunks, "messages").map((data) => (data as [{ content: string }])[0].content);
    expect(words.slice(0, 3)).toEqual(["Hello! ", "You ", "said: "]);
    expect(chunks.at(-1)).toMatchObject({
      event: "end",
      data: { status: "success", usage: { total_tokens: 22 } },
    });
  });

  it("the thread is remembered between runs", async () => {
    const client = await serveTemplate("chat");
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "agent", { input: say("my name is Ada") });
    await client.runs.create(thread_id, "agent", { input: say("who am I?") });
    const { values } = await client.threads.getState<{ messages: { content: string }[] }>(thread_id);
    expect(values.messages).toHaveLength(4);
    expect(values.messages.at(-1)?.content).toContain('Before that you said: "my name is Ada"');
  });
});

describe("served agent-tools template", () => {
  it("tool progress and the answer are streamed", async () => {
    const client = await serveTemplate("agent-tools");
    const { thread_id } = await client.threads.create();
    const chunks = await drain(
      client.runs.stream(thread_id, "agent", {
        input: say("what is 6 * 7?"),
        streamMode: ["custom", "values"],
      }),
    );
    expect(dataOf(chunks, "custom")).toEqual([{ tool: "calculator", step: "calculating 6 * 7" }]);
    const { messages } = dataOf(chunks, "values").at(-1) as { messages: { type: string; content: string }[] };
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(messages.at(-1)?.content).toBe("Here you are: 6 * 7 = 42.");
  });
});

describe("served hitl template", () => {
  const payment = { payee: "Ada", amount: 5 };

  it("a payment interrupts and completes on resume", async () => {
    const client = await serveTemplate("hitl");
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "agent", { input: payment });
    const waiting = await client.threads.get(thread_id);
    expect(waiting).toMatchObject({ status: "interrupted", values: { status: "waiting for approval" } });
    expect(Object.values(waiting.interrupts).flat()).toMatchObject([
      { value: { question: "Pay 5 to Ada?", ...payment } },
    ]);
    await client.runs.create(thread_id, "agent", { command: { resume: true } });
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "idle",
      values: { ...payment, status: "paid 5 to Ada" },
    });
  });

  it("private keys are never returned", async () => {
    const client = await serveTemplate("hitl");
    const { thread_id } = await client.threads.create();
    const modes = ["values", "updates", "debug", "tasks", "checkpoints"] as const;
    const asked = await drain(
      client.runs.stream(thread_id, "agent", { input: payment, streamMode: [...modes] }),
    );
    const paid = await drain(
      client.runs.stream(thread_id, "agent", { command: { resume: true }, streamMode: [...modes] }),
    );
    const seen = [
      ...asked,
      ...paid,
      await client.threads.get(thread_id),
      await client.threads.getState(thread_id),
      await client.threads.getHistory(thread_id),
      await client.threads.search(),
    ];
    expect(JSON.stringify(seen)).toContain("paid 5 to Ada");
    expect(JSON.stringify(seen)).not.toMatch(/"(fraudScore|approved)"/);
  });
});

describe("served minimal template", () => {
  it("the updates of each node are streamed", async () => {
    const client = await serveTemplate("minimal");
    const { thread_id } = await client.threads.create();
    const chunks = await drain(
      client.runs.stream(thread_id, "agent", { input: { text: "to be" }, streamMode: "updates" }),
    );
    expect(dataOf(chunks, "updates")).toEqual([
      { split: { words: ["to", "be"] } },
      { summarize: { summary: '2 words, the longest is "to"' } },
    ]);
  });
});

describe.each(["chat", "agent-tools", "hitl", "minimal"])("served %s template", (name) => {
  it("the graph and the schemas are returned", async () => {
    const client = await serveTemplate(name);
    const [assistant] = await client.assistants.search();
    const { assistant_id } = assistant ?? { assistant_id: "" };
    expect((await client.assistants.getGraph(assistant_id)).nodes.length).toBeGreaterThan(2);
    const { input_schema } = await client.assistants.getSchemas(assistant_id);
    expect(Object.keys(input_schema?.properties ?? {})).not.toEqual([]);
  });
});
