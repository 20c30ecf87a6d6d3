/** Runs through the official SDK's client. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { Checkpoint } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { failCalls } from "../fixtures/graphs/fail.js";
import { NOBODY, openClient, says } from "./open.js";

describe("client.runs.create", () => {
  it("runs to completion", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const created: unknown[] = [];
    const run = await client.runs.create(thread_id, "chat", {
      input: says("tea"),
      metadata: { by: "sdk" },
      onRunCreated: (params) => created.push(params),
    });
    expect(run).toMatchObject({
      thread_id,
      status: "success",
      multitask_strategy: "enqueue",
      metadata: { by: "sdk", graph_id: "chat" },
      kwargs: { input: says("tea"), stream_mode: ["values"] },
    });
    expect(created).toEqual([{ run_id: run.run_id, thread_id }]);
    expect(await client.runs.get(thread_id, run.run_id)).toEqual(run);
    const { status, values } = await client.threads.get(thread_id);
    expect(status).toBe("idle");
    expect(values).toMatchObject({ messages: [{ type: "human" }, { type: "ai", content: "You said: tea" }] });
  });

  it("runs a failing graph exactly once", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const before = failCalls();
    const run = await client.runs.create(thread_id, "fail", { input: { x: 0 } });
    expect(failCalls() - before).toBe(1);
    expect(run).toMatchObject({ status: "error", error: "kaboom" });
    expect(await client.runs.list(thread_id)).toEqual([run]);
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "error",
      error: "kaboom",
      values: { x: 1 },
    });
    const [task] = (await client.threads.getState(thread_id)).tasks;
    expect(JSON.parse(task?.error ?? "")).toEqual({ message: "kaboom", name: "RangeError" });
  });

  it("interrupts and resumes", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const asked = await client.runs.create(thread_id, "hitl", { input: { topic: "cats" } });
    expect(asked.status).toBe("interrupted");
    const { interrupts } = await client.threads.get(thread_id);
    const [interrupt] = Object.values(interrupts).flat();
    expect(interrupt?.value).toEqual({ question: "Approve?", topic: "cats" });

    const command = { resume: { [interrupt?.id ?? ""]: "yes" } };
    expect((await client.runs.create(thread_id, "hitl", { command })).status).toBe("success");
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "idle",
      values: { answer: "yes", log: ["planned", "answered yes", "finished"] },
      interrupts: {},
    });
  });

  it("stops at breakpoints and continues", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const stopped = await client.runs.create(thread_id, "fail", {
      input: { x: 0 },
      interruptBefore: ["bad"],
    });
    expect(stopped).toMatchObject({ status: "interrupted", error: null });
    expect(await client.threads.getState(thread_id)).toMatchObject({ next: ["bad"], values: { x: 1 } });
    const failed = await client.runs.create(thread_id, "fail", { input: null, interruptAfter: "*" });
    expect(failed).toMatchObject({ status: "error", error: "kaboom" });
  });

  it("applies update and goto", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "hitl", { input: { topic: "cats" } });
    const command = { update: { answer: "mine" }, goto: "finish" };
    await client.runs.create(thread_id, "hitl", { command });
    expect((await client.threads.get(thread_id)).values).toMatchObject({ answer: "mine" });
  });

  it("creates a missing thread with ifNotExists", async () => {
    const { client } = await openClient();
    const input = says("tea");
    await expect(client.runs.create(NOBODY, "chat", { input })).rejects.toMatchObject({ status: 404 });
    const run = await client.runs.create(NOBODY, "chat", { input, ifNotExists: "create" });
    expect(run).toMatchObject({ status: "success", thread_id: NOBODY });
  });

  it.each([
    ["checkpoint", (checkpoint: Checkpoint) => ({ checkpoint })],
    ["checkpointId", ({ checkpoint_id }: Checkpoint) => ({ checkpointId: String(checkpoint_id) })],
    ["its config", ({ checkpoint_id }: Checkpoint) => ({ config: { configurable: { checkpoint_id } } })],
    ["its whole config", (checkpoint: Checkpoint) => ({ config: { configurable: { ...checkpoint } } })],
  ])("starts from an earlier checkpoint in %s", async (_, selector) => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "chat", { input: says("one") });
    const { checkpoint } = await client.threads.getState(thread_id);
    await client.runs.create(thread_id, "chat", { input: says("two") });
    const run = await client.runs.create(thread_id, "chat", {
      input: says("three"),
      ...selector(checkpoint),
    });
    expect(JSON.stringify((run as unknown as { kwargs: object }).kwargs)).toContain(checkpoint.checkpoint_id);
    const { messages } = (await client.threads.get(thread_id)).values as { messages: { content: string }[] };
    expect(messages.map(({ content }) => content)).toEqual([
      "one",
      "You said: one",
      "three",
      "You said: three",
    ]);
  });

  it("ignores the checkpoint in the config of another graph's node", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "chat", { input: says("one") });
    for (const place of [{ checkpoint_ns: "node:1" }, { thread_id: NOBODY }]) {
      const configurable = { checkpoint_id: NOBODY, ...place };
      const run = await client.runs.create(thread_id, "chat", {
        input: says("two"),
        config: { configurable },
      });
      expect(run.status).toBe("success");
    }
    const config = { configurable: { checkpoint_id: NOBODY } };
    await expect(client.runs.create(thread_id, "chat", { config })).rejects.toMatchObject({ status: 404 });
  });

  it.each(["sync", "async", "exit"] as const)("stores the state under durability %s", async (durability) => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "steps", { input: {}, durability });
    expect((await client.threads.get(thread_id)).values).toMatchObject({ n: 10 });
    const history = await client.threads.getHistory(thread_id, { limit: 20 });
    expect(history).toHaveLength(durability === "exit" ? 1 : 12);
  });

  it("gives the graph a context, empty without one in the request", async () => {
    const State = Annotation.Root({ greeting: Annotation<string> });
    const greeter = new StateGraph(State, Annotation.Root({ name: Annotation<string> }))
      .addNode("greet", (_, { context }) => ({
        greeting: `Hello ${(context as { name?: string }).name ?? "you"}`,
      }))
      .addEdge(START, "greet")
      .addEdge("greet", END)
      .compile();
    const { client } = await openClient({ graphs: { greeter } });
    const greeted = (payload: object) =>
      client.runs.wait(null, "greeter", { input: { greeting: "" }, ...payload });
    expect(await greeted({})).toEqual({ greeting: "Hello you" });
    expect(await greeted({ context: { name: "Ada" } })).toEqual({ greeting: "Hello Ada" });
  });

  it.each(["complete", "continue"] as const)("accepts onCompletion %s", async (onCompletion) => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "chat", { input: says("tea"), onCompletion });
    expect(run.status).toBe("success");
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  it("rejects unsupported options", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    for (const payload of [{ afterSeconds: 5 }, { webhook: "https://example.com" }]) {
      await expect(client.runs.create(thread_id, "chat", payload)).rejects.toMatchObject({ status: 400 });
    }
    expect(await client.runs.list(thread_id)).toEqual([]);
  });
});

describe("a busy thread", () => {
  it.each(["reject", "rollback", "interrupt"] as const)("answers 409 under %s", async (multitaskStrategy) => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const gate = gateOf(`sdk ${multitaskStrategy}`);
    const first = client.runs.create(thread_id, "gate", { input: { gate: `sdk ${multitaskStrategy}` } });
    await gate.entered;
    const second = client.runs.create(thread_id, "chat", { input: says("tea"), multitaskStrategy });
    await expect(second).rejects.toMatchObject({ status: 409 });
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "running" }]);
    gate.open();
    expect(await first).toMatchObject({ status: "success" });
  });
});

describe("client.runs.list", () => {
  it("pages newest first and filters", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const good = await client.runs.create(thread_id, "chat", { input: says("tea") });
    const bad = await client.runs.create(thread_id, "fail", { input: { x: 0 } });
    expect(await client.runs.list(thread_id)).toEqual([bad, good]);
    expect(await client.runs.list(thread_id, { limit: 1, offset: 1 })).toEqual([good]);
    expect(await client.runs.list(thread_id, { status: "error" })).toEqual([bad]);
    expect(await client.runs.list(thread_id, { status: "timeout" })).toEqual([]);
  });

  it("does not return runs of other threads", async () => {
    const { client } = await openClient();
    const [mine, other] = await Promise.all([client.threads.create(), client.threads.create()]);
    const { run_id } = await client.runs.create(mine.thread_id, "chat", { input: says("tea") });
    await expect(client.runs.get(other.thread_id, run_id)).rejects.toMatchObject({ status: 404 });
    await expect(client.runs.list(NOBODY)).rejects.toMatchObject({ status: 404 });
  });
});
