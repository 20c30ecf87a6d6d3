/** Streams through the official SDK's client: every mode, with and without subgraphs. */
import type { StreamMode } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { messagesEvent } from "../helpers/langgraph-line.js";
import { collect, dataOf, eventsOf, graphs, openClient, says, type Chunk } from "./open.js";

interface Request {
  input?: Record<string, unknown>;
  streamMode?: StreamMode[];
  streamSubgraphs?: boolean;
}

/** Streams a run on a new thread and collects everything. */
async function streamed(graph: string, { input = says("tea time"), ...request }: Request): Promise<Chunk[]> {
  const { client } = await openClient();
  const { thread_id } = await client.threads.create();
  return collect(client.runs.stream(thread_id, graph, { input, ...request }) as AsyncIterable<Chunk>);
}

/** `mode|node:<task id>` without the task ids. */
const withoutIds = (event: string) => event.replace(/:[0-9a-f-]{36}/g, "");

const total = (chunk: Chunk | undefined) =>
  (chunk?.data as { usage: { total_tokens: number } } | undefined)?.usage.total_tokens;

describe("client.runs.stream", () => {
  it("reports the run id before the first chunk", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const created: { run_id: string; thread_id?: string }[] = [];
    const onRunCreated = (params: { run_id: string; thread_id?: string }) => created.push(params);
    const chunks = await collect(client.runs.stream(thread_id, "chat", { input: says("tea"), onRunCreated }));
    expect(created).toHaveLength(1);
    expect(chunks[0]).toMatchObject({ event: "metadata", data: { ...created[0], attempt: 1 } });
    const run = await client.runs.get(thread_id, created[0]?.run_id ?? "");
    expect(run).toMatchObject({ status: "success", usage: { total_tokens: total(chunks.at(-1)) } });
  });

  it("streams values if no mode is given", async () => {
    for (const streamMode of [undefined, []]) {
      const chunks = await streamed("chat", { streamMode });
      expect(eventsOf(chunks)).toEqual(["metadata", "values", "values", "end"]);
    }
  });

  it("fails with a readable message", async () => {
    const chunks = await streamed("fail", { input: { x: 0 }, streamMode: ["values", "updates"] });
    expect(chunks.slice(1).map(({ event, data }) => [event, data])).toEqual([
      ["values", { x: 0 }],
      ["updates", { ok: { x: 1 } }],
      ["values", { x: 1 }],
      [
        "error",
        expect.objectContaining({
          error: "RangeError",
          message: "kaboom",
          detail: "kaboom",
          status: "error",
        }),
      ],
    ]);
  });
});

describe("stream mode", () => {
  it("values returns the state after each superstep", async () => {
    const chunks = await streamed("steps", { input: { n: 0 }, streamMode: ["values"] });
    expect(dataOf(chunks, "values").map((values) => (values as { n: number }).n)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  it("updates returns the output of each node", async () => {
    const chunks = await streamed("custom", { input: { count: 0 }, streamMode: ["updates"] });
    expect(dataOf(chunks, "updates")).toEqual([{ work: { done: true } }]);
  });

  it("custom returns the custom data of the graph", async () => {
    const chunks = await streamed("custom", { input: { count: 2 }, streamMode: ["custom", "values"] });
    expect(eventsOf(chunks)).toEqual(["metadata", "values", "custom", "custom", "values", "end"]);
    expect(dataOf(chunks, "custom")).toEqual([{ progress: 1 }, { progress: 2 }]);
  });

  it("messages-tuple returns tokens, with usage last", async () => {
    const chunks = await streamed("chat", { streamMode: ["messages-tuple"] });
    const pairs = dataOf(chunks, "messages") as [Record<string, unknown>, Record<string, unknown>][];
    expect(pairs.map(([message]) => message.content)).toEqual(["You", " said:", " tea", " time", ""]);
    expect(new Set(pairs.map(([message]) => message.id)).size).toBe(1);
    expect(pairs.map(([message]) => message.usage_metadata !== undefined)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
    const { run_id, thread_id } = chunks[0]?.data as Record<string, unknown>;
    expect(pairs[0]?.[1]).toMatchObject({ langgraph_node: "model", langgraph_step: 1, run_id, thread_id });
    expect(total(chunks.at(-1))).toBe(6);
  });

  it("messages returns messages as they grow", async () => {
    const chunks = await streamed("chat", { streamMode: ["messages"] });
    expect([...new Set(eventsOf(chunks))]).toEqual([
      "metadata",
      "messages/complete",
      "messages/metadata",
      "messages/partial",
      "end",
    ]);
    const partial = dataOf(chunks, "messages/partial") as [{ content: string }][];
    expect(partial.map(([{ content }]) => content)).toEqual([
      "You",
      "You said:",
      "You said: tea",
      "You said: tea time",
      "You said: tea time",
    ]);
    expect(dataOf(chunks, "messages/complete")).toMatchObject([
      [{ type: "human", content: "tea time" }],
      [{ type: "ai", content: "You said: tea time" }],
    ]);
  });

  it("tasks returns starts and ends of tasks", async () => {
    const chunks = await streamed("custom", { input: { count: 0 }, streamMode: ["tasks"] });
    const [start, end] = dataOf(chunks, "tasks");
    expect(start).toMatchObject({ name: "work", input: { count: 0 }, interrupts: [] });
    expect(end).toMatchObject({ name: "work", result: { done: true }, interrupts: [] });
  });

  it("checkpoints returns checkpoints", async () => {
    const chunks = await streamed("custom", { input: { count: 0 }, streamMode: ["checkpoints"] });
    const checkpoints = dataOf(chunks, "checkpoints") as Record<string, Record<string, unknown>>[];
    expect(checkpoints.map(({ metadata }) => metadata?.step)).toEqual([-1, 0, 1]);
    expect(checkpoints.map(({ next }) => next)).toEqual([["__start__"], ["work"], []]);
    expect(checkpoints[2]).toMatchObject({
      values: { done: true },
      parent_config: checkpoints[1]?.config,
      config: { configurable: { checkpoint_ns: "" } },
    });
  });

  it("debug returns steps with their type", async () => {
    const chunks = await streamed("custom", { input: { count: 0 }, streamMode: ["debug"] });
    const debug = dataOf(chunks, "debug") as { type: string; step: number }[];
    expect(debug.map(({ type, step }) => [step, type])).toEqual([
      [-1, "checkpoint"],
      [0, "checkpoint"],
      [1, "task"],
      [1, "task_result"],
      [1, "checkpoint"],
    ]);
  });

  it("events returns LangChain events", async () => {
    const chunks = await streamed("chat", { streamMode: ["events", "values"] });
    const names = (dataOf(chunks, "events") as { event: string }[]).map(({ event }) => event);
    expect(names).toEqual(expect.arrayContaining(["on_chain_start", "on_chat_model_stream", "on_chain_end"]));
    expect(dataOf(chunks, "values")).toHaveLength(2);
    expect(eventsOf(chunks)).not.toContain("checkpoints");
  });

  it("tools returns tool calls", async () => {
    const { graph: agent } = await import("../fixtures/graphs/agent.js");
    const { client } = await openClient({ graphs: { ...graphs, agent } });
    const { thread_id } = await client.threads.create();
    const request = { input: says("add"), streamMode: ["tools"] as StreamMode[] };
    const chunks = await collect(client.runs.stream(thread_id, "agent", request));
    expect(dataOf(chunks, "tools")).toMatchObject([
      { event: "on_tool_start", name: "add", toolCallId: "call_add", input: '{"a":2,"b":3}' },
      { event: "on_tool_end", name: "add", toolCallId: "call_add", output: { type: "tool", content: "5" } },
    ]);
  });
});

describe("subgraphs", () => {
  const input = says("hi");

  it("have event names of mode and namespace", async () => {
    const streamMode: StreamMode[] = ["values", "updates", "messages-tuple"];
    const chunks = await streamed("subgraph", { input, streamMode, streamSubgraphs: true });
    expect(new Set(eventsOf(chunks).map(withoutIds))).toEqual(
      new Set([
        "metadata",
        "values",
        "values|child",
        "values|child|leaf",
        "updates",
        "updates|child",
        "updates|child|leaf",
        messagesEvent("child", "inner_model"),
        messagesEvent("child", "leaf"),
        "end",
      ]),
    );
  });

  it("stream only their messages by default", async () => {
    const chunks = await streamed("subgraph", { input, streamMode: ["values", "messages-tuple"] });
    expect(new Set(eventsOf(chunks))).toEqual(new Set(["metadata", "values", "messages", "end"]));
    const pairs = dataOf(chunks, "messages") as [{ content: string }][];
    expect(pairs.map(([{ content }]) => content).join("")).toContain("inner model speaking");
  });
});
