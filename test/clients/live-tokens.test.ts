/**
 * Tokens and tool calls reach clients while the model is writing, whatever the graph hides. The model waits for each
 * word until the previous one has arrived, so a server that buffers tokens never gets the second.
 */
import type { BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, Command, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import type { Compat } from "../../src/config/compat.js";
import { AGENT_KINDS, AGENTS, type AgentKind } from "../fixtures/agents.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { PacedModel, Turnstile } from "../fixtures/paced-model.js";
import type { TestServer } from "../helpers/app.js";
import { command, isLast, openEvents } from "../helpers/thread-events.js";
import { allEvents, readEvents, type SseEvent } from "../helpers/sse.js";
import { openClient, says } from "./open.js";

const WORDS = "one two three four five six seven eight nine ten".split(" ");
const TIMEOUT = { timeout: 30_000 };

/** A server with one agent, and the turnstile of its model. */
async function open(kind: AgentKind, settings: object = {}) {
  const turnstile = new Turnstile();
  const model = new PacedModel(
    () => turnstile.pass(),
    () => WORDS.join(" "),
  );
  return { turnstile, ...(await openClient({ graphs: { agent: AGENTS[kind](model) }, settings })) };
}

const request = (stream_mode: string | string[], more: object = {}) => ({
  ...{ assistant_id: "agent", input: says("hi"), stream_mode, stream_subgraphs: true },
  ...more,
});

/** Releases a word, and the next one after `spoken` has yielded it. */
async function readWordByWord(turnstile: Turnstile, spoken: AsyncIterable<string>): Promise<void> {
  let said = "";
  let count = 0;
  turnstile.release();
  for await (const text of spoken) {
    said += text;
    if (said.trim().split(" ").length === count || said.trim() === "") continue;
    count += 1;
    expect(said.trim()).toBe(WORDS.slice(0, count).join(" "));
    turnstile.release();
    if (count === WORDS.length) return;
  }
  throw new Error(`the stream ended after ${JSON.stringify(said)}`);
}

/** The text of `messages-tuple` chunks. */
async function* tokensOf(events: AsyncIterable<SseEvent>): AsyncGenerator<string> {
  for await (const { event, data } of events) {
    if (event?.split("|")[0] !== "messages") continue;
    const [{ type, content }] = data as [{ type: string; content: string }];
    if (type === "AIMessageChunk" || type === "ai") yield content;
  }
}

/** The text added by each partial message of the mode `messages`. */
async function* growthOf(events: AsyncIterable<SseEvent>): AsyncGenerator<string> {
  let before = "";
  for await (const { event, data } of events) {
    if (event?.split("|")[0] !== "messages/partial") continue;
    const [{ content }] = data as [{ content: string }];
    yield content.slice(before.length);
    before = content;
  }
}

const KINDS_BY_COMPAT = (["specification", "langgraph"] as const).flatMap((compat) =>
  AGENT_KINDS.map((kind): [AgentKind, Compat] => [kind, compat]),
);

describe("ten words arrive one by one", () => {
  it.each(KINDS_BY_COMPAT)("from %s under compat %s", TIMEOUT, async (kind, compat) => {
    const { server, turnstile } = await open(kind, { compat });
    const response = await server.fetch("POST", "/runs/stream", request("messages-tuple"));
    await readWordByWord(turnstile, tokensOf(readEvents(response)));
  });

  it("in the mode messages", TIMEOUT, async () => {
    const { server, turnstile } = await open("an output schema that hides a key");
    const response = await server.fetch("POST", "/runs/stream", request("messages"));
    await readWordByWord(turnstile, growthOf(readEvents(response)));
  });

  it("for a client that joins a background run", TIMEOUT, async () => {
    const { server, turnstile } = await open("summarizationMiddleware", { run_create_mode: "background" });
    const thread = crypto.randomUUID();
    const body = request("messages-tuple", { if_not_exists: "create" });
    const run = (await server.request("POST", `/threads/${thread}/runs`, body)).body as { run_id: string };
    const joined = await server.fetch("GET", `/threads/${thread}/runs/${run.run_id}/stream`);
    await readWordByWord(turnstile, tokensOf(readEvents(joined)));
  });

  it.each<[string, AgentKind, object]>([
    ["server-sent events", "deepagents", {}],
    ["server-sent events", "humanInTheLoopMiddleware", {}],
    ["a WebSocket", "deepagents", { transport: "websocket", webSocketFactory: socketTo }],
  ])("as thread events over %s, from %s", TIMEOUT, async (_, kind, way) => {
    const { client, turnstile } = await open(kind);
    const thread = client.threads.stream({ assistantId: "agent", ...way });
    await thread.run.start({ input: says("hi") });
    await readWordByWord(turnstile, textsOf(thread.messages));
    await thread.close();
  });
});

function socketTo(url: string) {
  return new WebSocket(url) as never;
}

interface SpokenMessage {
  text: AsyncIterable<string>;
}

async function* textsOf(messages: AsyncIterable<SpokenMessage>): AsyncGenerator<string> {
  for await (const message of messages) for await (const text of message.text) yield text;
}

describe("a model call with the tag nostream", () => {
  const secret = new FakeModel(() => "a secret plan").withConfig({ tags: ["nostream"] });
  const graph = new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec, plan: Annotation<string> }))
    .addNode("think", async () => ({ plan: (await secret.invoke("?")).text }))
    .addNode("reply", async () => ({ messages: [await new FakeModel(() => "a fine reply").invoke("?")] }))
    .addEdge(START, "think")
    .addEdge("think", "reply")
    .compile();

  it.each(["messages-tuple", "messages"])("is not streamed in the mode %s", async (mode) => {
    const { server } = await openClient({ graphs: { agent: graph } });
    const { text } = await server.request("POST", "/runs/stream", request(mode));
    expect(text).toContain("reply");
    expect(text).not.toContain("secret");
  });

  it("is streamed as one message if a node returns its message object", async () => {
    const returning = new StateGraph({
      stateSchema: Annotation.Root({ ...MessagesAnnotation.spec, plan: Annotation<BaseMessage> }),
      output: MessagesAnnotation,
    })
      .addNode("think", async () => ({ plan: await secret.invoke("?") }))
      .addEdge(START, "think")
      .compile();
    const { server } = await openClient({ graphs: { agent: returning } });
    const response = await server.fetch("POST", "/runs/stream", request("messages-tuple"));
    const said: string[] = [];
    for await (const text of tokensOf(readEvents(response))) said.push(text);
    expect(said).toEqual(["a secret plan"]);
  });
});

describe("a tool call of an agent with hidden keys", () => {
  const CALL = { id: "call-1", name: "look_up", args: { at: "the old oak" } };
  const calling = (messages: BaseMessage[]) =>
    messages.at(-1)?.type === "tool" ? "done" : { text: "", toolCalls: [CALL] };
  const openCalling = async (kind: AgentKind, settings: object = {}) => {
    const graph = AGENTS[kind](new FakeModel(calling));
    return (await openClient({ graphs: { agent: graph }, settings })).server;
  };
  const toolEvents = async (server: TestServer) => {
    const thread = crypto.randomUUID();
    const events = await openEvents(server, thread, { channels: ["tools", "lifecycle"] });
    await command(server, thread, "run.start", { assistant_id: "agent", input: says("hi") });
    const told = await events.until(isLast());
    return told.filter(({ method }) => method === "tools").map(({ params }) => params.data);
  };
  const KINDS = ["deepagents", "humanInTheLoopMiddleware", "summarizationMiddleware"] as const;

  it.each(KINDS)("sends its input and output as thread events: %s", TIMEOUT, async (kind) => {
    expect(await toolEvents(await openCalling(kind))).toEqual([
      {
        event: "tool-started",
        tool_call_id: CALL.id,
        tool_name: CALL.name,
        input: JSON.stringify(CALL.args),
      },
      {
        event: "tool-finished",
        tool_call_id: CALL.id,
        output: expect.objectContaining({ type: "tool", content: "found at the old oak" }) as object,
      },
    ]);
  });

  it("sends the update of a returned command without exposing the hidden key in the state", async () => {
    const note = tool(() => new Command({ update: { note: "a private note" } }), {
      name: "look_up",
      schema: z.object({ at: z.string() }),
    });
    const graph = new StateGraph({
      stateSchema: Annotation.Root({ ...MessagesAnnotation.spec, note: Annotation<string> }),
      output: MessagesAnnotation,
    })
      .addNode("write", async () => [
        (await note.invoke({ ...CALL, type: "tool_call" })) as unknown as Command,
      ])
      .addEdge(START, "write")
      .compile();
    const { server } = await openClient({ graphs: { agent: graph } });
    const modes = ["tools", "values", "updates", "tasks"];
    const events = await allEvents(await server.fetch("POST", "/runs/stream", request(modes)));
    const showing = events.filter(({ data }) => JSON.stringify(data).includes("a private note"));
    expect(
      showing.map(({ event, data }) => [event?.split("|")[0], (data as { event: string }).event]),
    ).toEqual([["tools", "on_tool_end"]]);
  });

  it("sends neither input nor output under hold_messages", TIMEOUT, async () => {
    expect(await toolEvents(await openCalling("deepagents", { hold_messages: true }))).toEqual([
      { event: "tool-started", tool_call_id: CALL.id, tool_name: CALL.name },
      { event: "tool-finished", tool_call_id: CALL.id },
    ]);
  });
});
