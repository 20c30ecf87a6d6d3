/** The request bodies that agent-chat-ui builds, sent with plain fetch. */
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { gateOf } from "../fixtures/gates.js";
import { messagesEvent } from "../helpers/langgraph-line.js";
import { allEvents, type SseEvent } from "../helpers/sse.js";
import { openClient } from "./open.js";
import { openWatched } from "./watched.js";

/** Options that it sends with every run. */
const ALWAYS = {
  stream_mode: ["values", "messages-tuple", "custom"],
  stream_subgraphs: true,
  stream_resumable: true,
  on_disconnect: "continue",
};

async function open() {
  const { server, client } = await openClient();
  const { thread_id } = await client.threads.create();
  const run = async (assistant_id: string, body: object): Promise<SseEvent[]> =>
    allEvents(
      await server.fetch("POST", `/threads/${thread_id}/runs/stream`, { assistant_id, ...ALWAYS, ...body }),
    );
  return { server, client, thread_id, run };
}

const human = (content: unknown) => ({ id: crypto.randomUUID(), type: "human", content });

describe("messages", () => {
  it("a text message is answered with tokens", async () => {
    const { run, client, thread_id } = await open();
    const message = human("tea");
    const events = await run("chat", { input: { messages: [message] } });
    const names = events.map(({ event = "" }) => event.replace(/:.*/, ""));
    expect(new Set(names)).toEqual(new Set(["metadata", "values", messagesEvent("model"), "end"]));
    const { messages } = (await client.threads.get(thread_id)).values as { messages: { id: string }[] };
    expect(messages[0]?.id).toBe(message.id);
  });

  it("text, image and file blocks are kept", async () => {
    const { run, client, thread_id } = await open();
    const content = [
      { type: "text", text: "what is this?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      {
        type: "file",
        source_type: "base64",
        mime_type: "application/pdf",
        data: "JVBERi0=",
        metadata: { filename: "a.pdf" },
      },
    ];
    const events = await run("chat", { input: { messages: [human(content)] } });
    const values = events.filter(({ event }) => event === "values").at(-1)?.data;
    expect(values).toMatchObject({ messages: [{ type: "human", content }, { type: "ai" }] });
    expect((await client.threads.get(thread_id)).values).toEqual(values);
  });

  it("messages of subgraphs are streamed", async () => {
    const { run } = await open();
    const events = await run("subgraph", { input: { messages: [human("hi")] } });
    expect(events.some(({ event }) => event?.startsWith("messages|child:"))).toBe(true);
    expect(events.at(-1)?.event).toBe("end");
  });
});

describe("interrupts", () => {
  it("a resume command with an empty input continues the run", async () => {
    const { run, client, thread_id } = await open();
    const asked = await run("hitl", { input: { topic: "cats" } });
    expect(asked.at(-2)).toMatchObject({
      event: "values",
      data: { __interrupt__: [{ value: { topic: "cats" } }] },
    });
    await run("hitl", { input: {}, command: { resume: [{ type: "accept" }] } });
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "idle",
      values: { answer: "[object Object]", log: ["planned", "answered [object Object]", "finished"] },
    });
  });

  it("goto __end__ alone leaves the interrupt open", async () => {
    const { run, client, thread_id } = await open();
    await run("hitl", { input: { topic: "cats" } });
    const before = await client.threads.get(thread_id);
    const events = await run("hitl", { input: {}, command: { goto: "__end__" } });
    // LangGraph behaves the same: the interrupted node still has to run.
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "interrupted" } });
    const { status, interrupts, values } = await client.threads.get(thread_id);
    expect({ status, values }).toEqual({ status: "interrupted", values: before.values });
    expect(Object.values(interrupts).flat()).toMatchObject([{ value: { topic: "cats" } }]);
  });

  it("goto __end__ on an idle thread runs no node", async () => {
    const { run, client, thread_id } = await open();
    await run("chat", { input: { messages: [human("tea")] } });
    const { values } = await client.threads.get(thread_id);
    const events = await run("chat", { input: {}, command: { goto: "__end__" } });
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", values });
  });
});

describe("regenerate", () => {
  it("a run from the parent checkpoint needs no input", async () => {
    const { run, client, thread_id } = await open();
    await run("chat", { input: { messages: [human("tea")] } });
    const [head] = await client.threads.getHistory(thread_id);
    const { thread_id: _, ...checkpoint } = head?.parent_checkpoint ?? {};
    await run("chat", { input: null, checkpoint });
    const { messages } = (await client.threads.get(thread_id)).values as { messages: { id: string }[] };
    expect(messages).toHaveLength(2);
    const old = (head?.values as { messages: { id: string }[] }).messages;
    expect(messages[0]?.id).toBe(old[0]?.id);
    expect(messages[1]?.id).not.toBe(old[1]?.id);
  });
});

describe("thread list", () => {
  it("threads are found by graph or assistant", async () => {
    const { server, client, thread_id, run } = await open();
    await client.threads.create();
    await run("chat", { input: { messages: [human("tea")] } });
    const { assistant_id } = await client.assistants.get("chat");
    for (const metadata of [{ graph_id: "chat" }, { assistant_id }]) {
      const { body } = await server.request("POST", "/threads/search", { metadata, limit: 100, offset: 0 });
      expect(body).toMatchObject([{ thread_id, values: { messages: [{ content: "tea" }, {}] } }]);
    }
    const { body } = await server.request("POST", "/threads/search", { metadata: { graph_id: "hitl" } });
    expect(body).toEqual([]);
  });

  it("/info answers without an API key", async () => {
    const { server } = await open();
    const { status, body } = await server.request("GET", "/info", undefined, { "x-api-key": "" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "ok", flags: { assistants: true } });
  });
});

describe("stop button", () => {
  /** Disconnects from a run at its gate, as the stop button does; `settled` resolves when the run has ended. */
  async function stopped(name: string, settings: Partial<Settings>) {
    const opened = await openWatched(settings);
    const { thread_id } = await opened.client.threads.create();
    const leave = new AbortController();
    const path = `/threads/${thread_id}/runs/stream`;
    const body = { assistant_id: "gate", input: { gate: name }, ...ALWAYS };
    const answer = await opened.server.fetch("POST", path, body, { signal: leave.signal });
    await gateOf(name).entered;
    const settled = opened.next("settled");
    leave.abort();
    await expect(answer.text()).rejects.toThrow();
    return { ...opened, thread_id, settled };
  }

  it('the run continues to its end when on_disconnect is "continue"', async () => {
    const { client, thread_id, settled } = await stopped("ui continue", {});
    gateOf("ui continue").open();
    await settled;
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "success" }]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    expect(gateOf("ui continue").passes).toBe(1);
  });

  it("the run is interrupted with ignore_on_disconnect_continue", async () => {
    const settings = { ignore_on_disconnect_continue: true };
    const { client, thread_id, settled } = await stopped("ui cancel", settings);
    await settled;
    expect(await client.runs.list(thread_id)).toMatchObject([
      { status: "interrupted", kwargs: { on_disconnect: "continue", stream_resumable: true } },
    ]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle" });
  });
});
