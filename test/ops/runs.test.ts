import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { GraphServeError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import type { RunCreateRequest } from "../../src/models/run.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { keptStorage, MEMORY } from "../helpers/backends.js";
import { openTestService, readAll } from "../helpers/service.js";

const graphs = { chat, fail, gate, hitl, steps };

async function openThread(settings = {}, served: Record<string, unknown> = graphs) {
  const service = await openTestService({ graphs: served, settings });
  const { thread_id } = await service.threads.create({});
  const run = (request: Partial<RunCreateRequest> & { assistant_id: string }) =>
    service.runs.create(thread_id, request);
  return { service, thread_id, run };
}

const codeOf = (error: unknown) => (error instanceof GraphServeError ? error.code : error);
const refusal = (promise: Promise<unknown>) => promise.then(() => "accepted", codeOf);

describe("a blocking run", () => {
  it("ends with status success and reports its usage", async () => {
    const { service, thread_id, run } = await openThread();
    const ended = await run({
      assistant_id: "chat",
      input: { messages: ["hello there"] },
      metadata: { source: "test" },
    });
    expect(ended).toMatchObject({
      status: "success",
      error: null,
      assistant_id: "chat",
      multitask_strategy: "enqueue",
      metadata: { source: "test", graph_id: "chat" },
      kwargs: { input: { messages: ["hello there"] }, stream_mode: ["values"] },
    });
    expect(ended.usage?.total_tokens).toBeGreaterThan(0);
    expect(await service.runs.get(thread_id, ended.run_id)).toEqual(ended);
    const thread = await service.threads.get(thread_id);
    expect(thread).toMatchObject({ status: "idle", metadata: { graph_id: "chat" } });
    expect(thread.values.messages).toMatchObject([
      { type: "human", content: "hello there" },
      { type: "ai", content: "You said: hello there" },
    ]);
  });

  it("reports its own usage only, on a thread with earlier runs", async () => {
    const { run } = await openThread();
    const first = await run({ assistant_id: "chat", input: { messages: ["one two"] } });
    const second = await run({ assistant_id: "chat", input: { messages: ["one two"] } });
    expect(second.usage?.output_tokens).toBe(first.usage?.output_tokens);
  });

  it("ends with status error when the graph throws", async () => {
    const { service, thread_id, run } = await openThread();
    const ended = await run({ assistant_id: "fail", input: { x: 0 } });
    expect(ended).toMatchObject({ status: "error", error: "kaboom" });
    expect(await service.threads.get(thread_id)).toMatchObject({ status: "error", error: "kaboom" });
    const { tasks } = await service.state.get(thread_id);
    expect(JSON.parse(tasks[0]?.error ?? "null")).toMatchObject({ message: "kaboom", name: "RangeError" });
  });

  it("fails on null input without a checkpoint", async () => {
    const { run } = await openThread();
    expect(await run({ assistant_id: "steps" })).toMatchObject({ status: "error" });
  });

  it("stamps its run id on every checkpoint", async () => {
    const { service, thread_id, run } = await openThread();
    const { run_id } = await run({ assistant_id: "steps", input: { n: 0 } });
    const states = await service.state.history(thread_id, { limit: 100 });
    expect(states.length).toBeGreaterThan(10);
    expect(states.every((state) => state.metadata.run_id === run_id)).toBe(true);
    const own = await service.state.history(thread_id, { limit: 100, metadata: { run_id } });
    expect(own).toHaveLength(states.length);
  });

  it("stamps its metadata on every checkpoint", async () => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "steps", input: { n: 0 }, metadata: { team: "blue" } });
    await run({ assistant_id: "steps", input: { n: 0 }, metadata: { team: "red" } });
    const blue = await service.state.history(thread_id, { limit: 100, metadata: { team: "blue" } });
    const all = await service.state.history(thread_id, { limit: 100 });
    expect(blue).toHaveLength(all.length / 2);
    expect(Object.keys(blue[0]?.metadata ?? {}).filter((key) => /^(ls_|langgraph_)/.test(key))).toEqual([]);
  });

  it("times out after run_timeout_seconds", async () => {
    const storage = await keptStorage(MEMORY);
    const open = (settings: Partial<Settings>) => openTestService({ graphs, settings, storage });
    const service = await open({ run_timeout_seconds: 0.05 });
    const { thread_id } = await service.threads.create({});
    const ended = await service.runs.create(thread_id, { assistant_id: "gate", input: { gate: newId() } });
    expect(ended).toMatchObject({ status: "timeout", error: "Run timed out after 0.05 s" });
    expect((await service.threads.get(thread_id)).status).toBe("error");
    // On a busy machine, this run may take longer than the limit.
    const unlimited = await open({});
    const next = await unlimited.runs.create(thread_id, {
      assistant_id: "chat",
      input: { messages: ["hi"] },
    });
    expect(next.status).toBe("success");
  });

  it("writes one checkpoint with durability exit", async () => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "steps", input: { n: 0 }, durability: "exit" });
    expect(await service.state.history(thread_id, { limit: 100 })).toHaveLength(1);
  });

  it("respects the recursion limit of its config", async () => {
    const { run } = await openThread();
    const ended = await run({ assistant_id: "steps", input: { n: 0 }, config: { recursion_limit: 3 } });
    expect(ended.error).toMatch(/[Rr]ecursion limit of 3/);
  });

  it("stores its config on the thread", async () => {
    const { service, thread_id, run } = await openThread();
    await run({
      assistant_id: "steps",
      input: { n: 0 },
      config: { configurable: { user: "u" }, callbacks: ["x"] },
    });
    expect((await service.threads.get(thread_id)).config).toEqual({ configurable: { user: "u" } });
  });

  it("passes configurable and context to the graph", async () => {
    const State = Annotation.Root({ seen: Annotation<unknown> });
    const probe = new StateGraph(State)
      .addNode("a", (_, config) => ({
        seen: { user: (config.configurable ?? {}).user, context: config.context },
      }))
      .addEdge(START, "a")
      .addEdge("a", END)
      .compile();
    const { service, thread_id, run } = await openThread({}, { probe });
    await run({
      assistant_id: "probe",
      input: { seen: 0 },
      config: { configurable: { user: "u", __pregel_stream: 1, thread_id: "x" } },
      context: { tone: "dry" },
    });
    expect((await service.threads.get(thread_id)).values.seen).toEqual({
      user: "u",
      context: { tone: "dry" },
    });
  });
});

describe("an interrupt", () => {
  it("leaves run and thread interrupted until resumed", async () => {
    const { service, thread_id, run } = await openThread();
    const asked = await run({ assistant_id: "hitl", input: { topic: "cats" } });
    expect(asked).toMatchObject({ status: "interrupted", error: null });
    const waiting = await service.threads.get(thread_id);
    expect(waiting.status).toBe("interrupted");
    expect(Object.values(waiting.interrupts).flat()).toMatchObject([
      { value: { question: "Approve?", topic: "cats" } },
    ]);

    const answered = await run({ assistant_id: "hitl", input: {}, command: { resume: "yes" } });
    expect(answered.status).toBe("success");
    expect(await service.threads.get(thread_id)).toMatchObject({
      status: "idle",
      interrupts: {},
      values: { answer: "yes" },
    });
  });

  it("is resumed by a map of interrupt ids", async () => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "hitl", input: { topic: "cats" } });
    const { interrupts } = await service.state.get(thread_id);
    await run({ assistant_id: "hitl", command: { resume: { [interrupts[0]?.id ?? ""]: "mapped" } } });
    expect((await service.threads.get(thread_id)).values.answer).toBe("mapped");
  });

  it.each([[false], [0], [""], [null], [{}]])("accepts %j as the resume value", async (answer) => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "hitl", input: { topic: "cats" } });
    expect(await run({ assistant_id: "hitl", command: { resume: answer } })).toMatchObject({
      status: "success",
    });
    expect((await service.threads.get(thread_id)).values.answer).toBe(`${answer as string}`);
  });

  it("is resumed from the checkpoint that clients send with the command", async () => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "hitl", input: { topic: "cats" } });
    const { checkpoint } = await service.state.get(thread_id);
    const selector = { checkpoint_id: checkpoint?.checkpoint_id, checkpoint_ns: "", checkpoint_map: null };
    expect(
      await run({ assistant_id: "hitl", command: { resume: "yes" }, checkpoint: selector }),
    ).toMatchObject({ status: "success" });
  });

  it.each([
    ["interrupt_before", ["step"]],
    ["interrupt_after", "*"],
  ])("stops a run by %s", async (option, nodes) => {
    const { service, thread_id, run } = await openThread();
    expect(await run({ assistant_id: "steps", input: { n: 0 }, [option]: nodes })).toMatchObject({
      status: "interrupted",
    });
    expect(await service.threads.get(thread_id)).toMatchObject({ status: "interrupted" });
    expect(await run({ assistant_id: "steps" })).toMatchObject({ status: "success" });
    expect((await service.threads.get(thread_id)).values.n).toBe(10);
  });

  it("is resumed with goto and update", async () => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "hitl", input: { topic: "cats" } });
    await run({ assistant_id: "hitl", command: { goto: "finish", update: { topic: "dogs" } } });
    expect((await service.threads.get(thread_id)).values).toMatchObject({
      topic: "dogs",
      log: ["planned", "finished"],
    });
  });
});

describe("time travel", () => {
  it("resumes from an earlier checkpoint", async () => {
    const { service, thread_id, run } = await openThread();
    await run({ assistant_id: "steps", input: { n: 0 } });
    const states = await service.state.history(thread_id, { limit: 100 });
    const fifth = states.find((state) => (state.values as { n: number }).n === 5);
    await run({ assistant_id: "steps", checkpoint_id: fifth?.checkpoint?.checkpoint_id });
    const { log } = (await service.threads.get(thread_id)).values as { log: string[] };
    expect(log).toHaveLength(10);
    expect((await service.state.history(thread_id, { limit: 100 })).length).toBeGreaterThan(states.length);
  });
});

describe("a rejected run", () => {
  const missing = "00000000-0000-4000-8000-000000000000";

  it.each([
    ["assistant_not_found", { assistant_id: "unknown" }],
    ["assistant_not_found", { assistant_id: missing }],
    ["unsupported_option", { assistant_id: "chat", after_seconds: 5 }],
    ["unsupported_option", { assistant_id: "chat", webhook: "http://x" }],
    ["invalid_request", { assistant_id: "chat", input: { messages: [{ type: "alien" }] } }],
    ["invalid_request", { assistant_id: "chat", config: { recursion_limit: "many" } }],
    ["invalid_request", { assistant_id: "chat", config: { tags: "x" } }],
    ["invalid_request", { assistant_id: "chat", context: { a: { lc: 1 } } }],
    ["invalid_request", { assistant_id: "chat", metadata: { a: { lc: 1 } } }],
    ["invalid_request", { assistant_id: "chat", checkpoint: { thread_id: missing } }],
    ["checkpoint_not_found", { assistant_id: "chat", checkpoint_id: missing }],
  ])("returns %s and stores no row", async (code, request) => {
    const { service, thread_id } = await openThread();
    expect(await refusal(service.runs.create(thread_id, request))).toBe(code);
    expect(await refusal(service.runs.stream(thread_id, request))).toBe(code);
    expect(await service.runs.list(thread_id, {})).toEqual([]);
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });

  it("reports an unknown assistant before an unknown thread", async () => {
    const { service } = await openThread();
    expect(await refusal(service.runs.create(missing, { assistant_id: "unknown" }))).toBe(
      "assistant_not_found",
    );
    expect(await refusal(service.runs.create(missing, { assistant_id: "chat", webhook: "x" }))).toBe(
      "thread_not_found",
    );
    expect(await refusal(service.runs.create("no-uuid", { assistant_id: "chat" }))).toBe("invalid_request");
  });

  it("does not create its missing thread", async () => {
    const { service } = await openThread();
    const request = { assistant_id: "chat", if_not_exists: "create", webhook: "x" } as const;
    expect(await refusal(service.runs.create(missing, request))).toBe("unsupported_option");
    expect(await refusal(service.threads.get(missing))).toBe("thread_not_found");
  });

  it("is not rejected for a missing thread with if_not_exists create", async () => {
    const { service } = await openThread();
    const request = { assistant_id: "chat", input: { messages: ["hi"] }, if_not_exists: "create" } as const;
    expect(await service.runs.create(missing, request)).toMatchObject({
      status: "success",
      thread_id: missing,
    });
    expect((await service.threads.get(missing)).status).toBe("idle");
  });
});

describe("stream mode events", () => {
  it("is rejected if it would expose hidden state", async () => {
    const { service, thread_id } = await openThread();
    const request = { assistant_id: "hitl", input: { topic: "x" }, stream_mode: "events" } as const;
    expect(await refusal(service.runs.stream(thread_id, request))).toBe("unsupported_option");
    const open = await openThread({ allow_unfiltered_events: true });
    const events = await readAll(await open.service.runs.stream(open.thread_id, request));
    expect(events.map(({ event }) => event)).toContain("events");
  });
});

describe("a network error", () => {
  it("is retried without adding the input twice", { timeout: 20_000 }, async () => {
    let calls = 0;
    const State = Annotation.Root({
      messages: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const flaky = new StateGraph(State)
      .addNode("model", () => {
        calls += 1;
        if (calls === 1) throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
        return { messages: [{ type: "ai", content: "ok" }] };
      })
      .addEdge(START, "model")
      .addEdge("model", END)
      .compile();
    const { service, thread_id } = await openThread({}, { flaky });
    const request = { assistant_id: "flaky", input: { messages: ["hi"] }, stream_mode: "updates" } as const;
    const events = await readAll(await service.runs.stream(thread_id, request));
    expect(events.map(({ event }) => event)).toEqual(["metadata", "updates", "end"]);
    expect(calls).toBe(2);
    expect((await service.threads.get(thread_id)).values.messages).toMatchObject([
      { type: "human" },
      { type: "ai" },
    ]);
  });

  it("fails the run once an event has been sent", async () => {
    let calls = 0;
    const State = Annotation.Root({ n: Annotation<number> });
    const flaky = new StateGraph(State)
      .addNode("a", () => {
        calls += 1;
        throw Object.assign(new Error("fetch failed"), { code: "ECONNRESET" });
      })
      .addEdge(START, "a")
      .addEdge("a", END)
      .compile();
    const { service, thread_id } = await openThread({}, { flaky });
    const events = await readAll(
      await service.runs.stream(thread_id, { assistant_id: "flaky", input: { n: 1 } }),
    );
    expect(events.map(({ event }) => event)).toEqual(["metadata", "values", "error"]);
    expect(calls).toBe(1);
  });
});

describe("the run list", () => {
  it("is sorted newest first, paged and filtered by status", async () => {
    const { service, thread_id, run } = await openThread();
    const first = await run({ assistant_id: "steps", input: { n: 0 } });
    const second = await run({ assistant_id: "fail", input: { x: 0 } });
    const ids = async (query: object) =>
      (await service.runs.list(thread_id, query)).map(({ run_id }) => run_id);
    expect(await ids({})).toEqual([second.run_id, first.run_id]);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([first.run_id]);
    expect(await ids({ status: "error" })).toEqual([second.run_id]);
    expect(await refusal(service.runs.list(newId(), {}))).toBe("thread_not_found");
  });

  it("returns a run only on its own thread", async () => {
    const { service, run } = await openThread();
    const { run_id } = await run({ assistant_id: "steps", input: { n: 0 } });
    const other = await service.threads.create({});
    expect(await refusal(service.runs.get(other.thread_id, run_id))).toBe("run_not_found");
  });
});

describe("the test gate", () => {
  it("holds a run until it opens", async () => {
    const { run } = await openThread();
    const name = newId();
    const ended = run({ assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    gateOf(name).open();
    expect(await ended).toMatchObject({ status: "success" });
  });
});
