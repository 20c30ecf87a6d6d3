/** Thread events and commands over HTTP. */
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { FakeModel } from "../fixtures/fake-model.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as asking } from "../fixtures/graphs/asking.js";
import { gateOf } from "../fixtures/gates.js";
import { graphs } from "../clients/open.js";
import { startTestServer } from "../helpers/app.js";
import { INNER_TOKENS_ARE_LEFT_OUT } from "../helpers/langgraph-line.js";
import { command, isLast, openEvents, outline, type ThreadEvent } from "../helpers/thread-events.js";

const open = () => startTestServer({ graphs: { ...graphs, agent, asking } });
const model = new FakeModel();
type Server = Awaited<ReturnType<typeof open>>;

const says = (content: string) => ({ messages: [{ role: "user", content }] });

/** Starts a run by command on a new thread and returns its events. */
async function run(server: Server, assistant_id: string, input: unknown) {
  const thread = crypto.randomUUID();
  const stream = await openEvents(server, thread);
  const { result } = await command(server, thread, "run.start", { assistant_id, input });
  return { thread, stream, runId: result.run_id, events: await stream.until(isLast(result.run_id)) };
}

const of = (events: readonly ThreadEvent[], method: string) =>
  events.filter((event) => event.method === method).map(({ params }) => params);

describe("the events of a run", () => {
  it("a turn is streamed token by token", async () => {
    const server = await open();
    const { events } = await run(server, "chat", says("hello there"));
    expect(outline(events)).toEqual([
      "lifecycle running",
      "checkpoints",
      "values",
      "tasks",
      "model lifecycle started",
      "model messages message-start",
      "model messages content-block-start",
      ...Array<string>(4).fill("model messages content-block-delta"),
      "updates",
      "model messages content-block-finish",
      "model messages message-finish",
      "tasks",
      "checkpoints",
      "values",
      "model lifecycle completed",
      "lifecycle completed",
    ]);
    const [, last] = of(events, "values");
    const [question, answer] = last?.data.messages as Record<string, unknown>[];
    expect(question).toEqual({ type: "human", content: "hello there", id: expect.any(String) as string });
    expect(answer).toMatchObject({
      type: "ai",
      content: "You said: hello there",
      id: expect.stringMatching(/^run-/) as string,
    });
    const ids = of(events, "messages").map(({ data }) => data.id ?? data.run_id);
    expect(new Set(ids)).toEqual(new Set([answer?.id]));
    expect(of(events, "messages").at(-1)).toMatchObject({
      node: "model",
      data: { event: "message-finish", usage: { input_tokens: 2, output_tokens: 4, total_tokens: 6 } },
    });
  });

  it("tool calls are streamed with their deltas and results", async () => {
    const server = await open();
    const { events } = await run(server, "agent", says("2 and 3?"));
    expect(of(events, "tools").map(({ namespace, data }) => [namespace[0]?.split(":")[0], data])).toEqual([
      [
        "tools",
        { event: "tool-started", tool_call_id: "call_add", tool_name: "add", input: '{"a":2,"b":3}' },
      ],
      ["tools", expect.objectContaining({ event: "tool-finished", tool_call_id: "call_add" })],
    ]);
    const blocks = of(events, "messages").map(({ data }) => data);
    expect(blocks.find(({ event }) => event === "content-block-finish")).toMatchObject({
      content: { type: "tool_call", id: "call_add", name: "add", args: { a: 2, b: 3 } },
    });
  });

  it("input without an interrupt id is rejected when several interrupts are pending", async () => {
    const server = await open();
    const { thread, events } = await run(server, "asking", says("hello"));
    const ids = of(events, "input.requested").map(({ data }) => String(data.interrupt_id));
    const refused = await command(server, thread, "run.start", { assistant_id: "asking", input: "yes" });
    expect(refused).toMatchObject({ type: "error", error: "invalid_argument" });
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(refused.message).toContain(id);
    const { interrupts } = (await server.request("GET", `/threads/${thread}`)).body as { interrupts: object };
    expect(Object.values(interrupts).flat()).toHaveLength(2);
  });

  it("event ids are unique when a run stops again in the superstep it resumed", async () => {
    const server = await open();
    const { thread, stream, events } = await run(server, "asking", says("hello"));
    const [left] = of(events, "input.requested");
    const { interrupt_id } = left?.data as { interrupt_id: string };
    const answer = { namespace: [], interrupt_id, response: "yes" };
    const { result } = await command(server, thread, "input.respond", answer);
    const all = await stream.until(isLast(result.run_id));
    expect(of(all, "values").at(-1)?.data).toMatchObject({ answers: ['left: "yes"'] });
    expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(all.length);
    const late = await openEvents(server, thread);
    expect(await late.until(isLast(result.run_id))).toEqual(all);
  });

  it("subgraphs are reported", async () => {
    const server = await open();
    const { events } = await run(server, "subgraph", says("hi"));
    const told = outline(events).filter((line) => line.includes("lifecycle"));
    expect(told).toEqual([
      "lifecycle running",
      "child lifecycle started",
      "child inner_model lifecycle started",
      "child inner_model lifecycle completed",
      "child leaf lifecycle started",
      "child leaf lifecycle completed",
      "child lifecycle completed",
      "lifecycle completed",
    ]);
  });

  it("a subgraph ends before its calling task, declared or not", async () => {
    const inner = new StateGraph(MessagesAnnotation)
      .addNode("sub", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, "sub")
      .addEdge("sub", END)
      .compile();
    const outer = new StateGraph(MessagesAnnotation)
      .addNode("run_subgraph", (state) => inner.invoke(state))
      .addEdge(START, "run_subgraph")
      .addEdge("run_subgraph", END)
      .compile();
    const { events } = await run(await startTestServer({ graphs: { outer } }), "outer", says("hi"));
    expect(outline(events).filter((line) => line.includes("lifecycle"))).toEqual([
      "lifecycle running",
      "run_subgraph lifecycle started",
      "run_subgraph sub lifecycle started",
      "run_subgraph sub lifecycle completed",
      "run_subgraph lifecycle completed",
      "lifecycle completed",
    ]);
  });

  it("the error of a failed run is reported", async () => {
    const server = await open();
    const { events } = await run(server, "fail", {});
    expect(events.at(-1)?.params.data).toEqual({ event: "failed", graph_name: "fail", error: "kaboom" });
  });

  it("custom events are reported", async () => {
    const server = await open();
    const { events } = await run(server, "custom", { count: 2 });
    expect(of(events, "custom").map(({ data }) => data)).toEqual([
      { payload: { progress: 1 } },
      { payload: { progress: 2 } },
    ]);
  });

  it("seq increases along the thread and event ids are unique", async () => {
    const server = await open();
    const { thread, stream } = await run(server, "chat", says("one"));
    const { result } = await command(server, thread, "run.start", {
      assistant_id: "chat",
      input: says("two"),
    });
    const events = await stream.until(isLast(result.run_id));
    expect(events.filter(isLast())).toHaveLength(2);
    const places = events.map(({ seq }) => seq);
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    expect(places.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
  });
});

describe("a thread event stream", () => {
  it("a late stream replays the same events, starting after `since`", async () => {
    const server = await open();
    const { thread, runId, events } = await run(server, "agent", says("2 and 3?"));
    const bare = ({ event_id, seq, method, params }: ThreadEvent) => [event_id, seq, method, params.data];
    const again = await openEvents(server, thread);
    expect((await again.until(isLast(runId))).map(bare)).toEqual(events.map(bare));
    const since = events[7]?.seq;
    const rest = await openEvents(server, thread, { since });
    expect((await rest.until(isLast(runId))).map(bare)).toEqual(events.slice(8).map(bare));
  });

  it("a stream opened during a run replays its beginning and continues", async () => {
    const server = await open();
    const thread = crypto.randomUUID();
    const input = { gate: "mid-run" };
    const { result } = await command(server, thread, "run.start", { assistant_id: "gate", input });
    await gateOf("mid-run").entered;
    const stream = await openEvents(server, thread);
    await stream.until(({ method }) => method === "updates");
    gateOf("mid-run").open();
    const events = await stream.until(isLast(result.run_id));
    expect(of(events, "updates").map(({ node }) => node)).toEqual(["before", "wait", "after"]);
  });

  it("a stream is filtered by channels and namespaces", async () => {
    const server = await open();
    const { thread, runId } = await run(server, "subgraph", says("hi"));
    const ask = async (filter: object) => {
      const stream = await openEvents(server, thread, filter);
      await stream.until(({ seq }) => seq >= lastSeq);
      return stream.events;
    };
    const lastSeq = (await (await openEvents(server, thread)).until(isLast(runId))).at(-1)!.seq;
    const inRoot = await ask({ namespaces: [[]], depth: 1 });
    expect(Math.max(...inRoot.map(({ params }) => params.namespace.length))).toBe(1);
    const channels = ["lifecycle", "values"];
    const inChild = await openEvents(server, thread, { channels, namespaces: [["child"]], depth: 0 });
    const told = await inChild.until(({ params }) => params.data.event === "completed");
    expect(new Set(outline(told))).toEqual(
      new Set(["child lifecycle started", "child values", "child lifecycle completed"]),
    );
    const task = told[0]!.params.namespace;
    const exact = await openEvents(server, thread, { channels, namespaces: [task], depth: 0 });
    expect(await exact.until(({ params }) => params.data.event === "completed")).toHaveLength(told.length);
  });

  it.each([
    ["no channels", {}, "channels"],
    ["an unknown channel", { channels: ["vlaues"] }, "channels"],
    ["a negative depth", { channels: ["values"], depth: -1 }, "depth"],
    ["namespaces that are strings", { channels: ["values"], namespaces: ["child"] }, "namespaces"],
  ])("a stream with %s is rejected", async (_, body, where) => {
    const server = await open();
    const answer = await server.request("POST", `/threads/${crypto.randomUUID()}/stream/events`, body);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain(`"${where}"`);
  });

  it("a stream of an invalid thread id is rejected", async () => {
    const server = await open();
    const answer = await server.request("POST", "/threads/mine/stream/events", { channels: ["values"] });
    expect(answer.status).toBe(422);
  });

  it("streams end with their thread, and too many are rejected", async () => {
    const server = await open();
    const { thread, stream } = await run(server, "chat", says("hi"));
    const streams = await Promise.all(Array.from({ length: 99 }, () => openEvents(server, thread)));
    const one = { channels: ["values"] };
    const refused = await server.request("POST", `/threads/${thread}/stream/events`, one);
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_streams" } });
    await server.request("DELETE", `/threads/${thread}`);
    await Promise.all([stream, ...streams].map(({ ended }) => ended));
  });
});

describe("runs of the run routes and of commands", () => {
  it("a run of the run routes is fully reported to readers of its thread", async () => {
    const server = await open();
    const thread = crypto.randomUUID();
    const stream = await openEvents(server, thread);
    const body = { assistant_id: "subgraph", input: says("hi"), if_not_exists: "create" };
    const values = { ...body, stream_mode: ["values", "messages"] };
    const { text: frames } = await server.request("POST", `/threads/${thread}/runs/stream`, values);
    const names = new Set(frames.match(/(?<=^event: ).*/gm));
    expect(names).toEqual(
      new Set(["metadata", "values", "messages/metadata", "messages/partial", "messages/complete", "end"]),
    );
    const events = await stream.until(isLast());
    expect(outline(events)).toContain("child inner_model messages content-block-delta");
    expect(outline(events)).toContain("checkpoints");
    const ended = await server.request("POST", `/threads/${thread}/runs/wait`, body);
    expect(ended.status).toBe(200);
    const runs = (await server.request("GET", `/threads/${thread}/runs`)).body as { run_id: string }[];
    const second = await stream.until(isLast(runs[0]?.run_id));
    expect(second.filter(isLast())).toHaveLength(2);
  });

  it("a run's own stream does not depend on readers of the thread", async () => {
    const server = await open();
    const request = { assistant_id: "subgraph", input: says("hi"), if_not_exists: "create" };
    const streamed = async (isRead: boolean, more: object) => {
      const thread = crypto.randomUUID();
      if (isRead) await openEvents(server, thread);
      const body = { ...request, ...more };
      const { text } = await server.request("POST", `/threads/${thread}/runs/stream`, body);
      return text.match(/(?<=^event: ).*/gm)?.map((name) => name.replace(/:[0-9a-f-]{36}/g, ""));
    };
    for (const more of [{ stream_mode: ["values", "tasks"], stream_subgraphs: true }, {}])
      expect(await streamed(true, more)).toEqual(await streamed(false, more));
    const tuples = { stream_mode: ["updates", "messages-tuple"] };
    const [read, unread] = [await streamed(true, tuples), await streamed(false, tuples)];
    // With a reader, inner tokens are streamed live and the complete messages after them are left out.
    if (INNER_TOKENS_ARE_LEFT_OUT) expect(new Set(read)).toEqual(new Set(unread));
    else expect(read).toEqual(unread);
  });

  it("an ended run of the run routes is replayed with the modes its client requested", async () => {
    const server = await open();
    const thread = crypto.randomUUID();
    const body = { assistant_id: "chat", input: says("hi"), if_not_exists: "create" };
    await server.request("POST", `/threads/${thread}/runs/stream`, body);
    const events = await (await openEvents(server, thread)).until(isLast());
    expect(outline(events)).toEqual(["lifecycle running", "values", "values", "lifecycle completed"]);
  });

  it("a run started by command can be joined and read on the run routes", async () => {
    const server = await open();
    const { thread, runId } = await run(server, "chat", says("hi"));
    const joined = await server.request("GET", `/threads/${thread}/runs/${runId}/stream`);
    const names = new Set(joined.text.match(/(?<=^event: )\w[\w-]*/gm));
    expect(names).toEqual(new Set(["metadata", "values", "tasks", "messages", "updates", "end"]));
    const stored = (await server.request("GET", `/threads/${thread}/state`)).body as {
      values: { messages: object[] };
    };
    const other = crypto.randomUUID();
    const body = { assistant_id: "chat", input: says("hi"), if_not_exists: "create" };
    await server.request("POST", `/threads/${other}/runs/stream`, {
      ...body,
      stream_mode: ["messages-tuple"],
    });
    const older = (await server.request("GET", `/threads/${other}/state`)).body as typeof stored;
    const form = ({ values }: typeof stored) => values.messages.map((message) => ({ ...message, id: "" }));
    expect(form(stored)).toEqual(form(older));
  });
});
