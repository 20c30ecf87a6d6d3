/** The start and end of each task is stored with its run, without any values, even if no client streams it. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { RunTask, RunTasks } from "../../src/models/run.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { startTestServer, type TestServer } from "../helpers/app.js";

const State = Annotation.Root({ n: Annotation<number>() });
const parallel = new StateGraph(State)
  .addNode("left", () => new Promise((resolve) => setTimeout(resolve, 30, {})))
  .addNode("right", () => new Promise((resolve) => setTimeout(resolve, 30, {})))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge("left", END)
  .addEdge("right", END)
  .compile();
const asks = new StateGraph(State)
  .addNode("ask", () => ({ n: Number(interrupt("how many")) }))
  .addEdge(START, "ask")
  .compile();
const counter = new StateGraph(State)
  .addNode("step", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < 1100 ? "step" : END), ["step", END])
  .compile();

const GRAPHS = { agent, subgraph, parallel, asks, fail, gate, counter };
const ask = (content: string) => ({ messages: [{ role: "user", content }] });

async function ran(server: TestServer, assistant_id: string, request: object): Promise<RunTasks> {
  const { thread_id } = await server.service.threads.create({});
  const { body } = await server.request("POST", `/threads/${thread_id}/runs`, { assistant_id, ...request });
  return tasksOf(server, body as { thread_id: string; run_id: string });
}

async function tasksOf({ request }: TestServer, run: { thread_id: string; run_id: string }) {
  const { status, body } = await request("GET", `/threads/${run.thread_id}/runs/${run.run_id}/tasks`);
  expect(status).toBe(200);
  return body as RunTasks;
}

/** Depth by namespace, kind and name. */
const outline = ({ tasks }: RunTasks) =>
  tasks.map(({ namespace, kind, name }) => `${namespace.split("|").length} ${kind} ${name}`);

const ms = ({ started_at, ended_at }: RunTask) =>
  [Date.parse(started_at), Date.parse(ended_at ?? "")] as const;

describe("the tasks of a run", () => {
  it("nodes, model calls with tokens, and tool calls are listed", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    const told = await ran(server, "agent", { input: ask("two and three") });
    expect(outline(told)).toEqual([
      "1 node model_request",
      expect.stringMatching(/^1 model \w+/),
      "1 node tools",
      "1 tool add",
      "1 node model_request",
      expect.stringMatching(/^1 model \w+/),
    ]);
    for (const task of told.tasks) {
      const [from, to] = ms(task);
      expect(to).toBeGreaterThanOrEqual(from);
      expect(task.state).toBe("done");
    }
    const [first, model, , tool] = told.tasks;
    expect(first?.step).toBe(1);
    expect(model).toMatchObject({
      namespace: first?.namespace,
      usage: { total_tokens: expect.any(Number) as number },
    });
    expect(tool?.namespace).toMatch(/^tools:[\w-]{36}$/);
    expect(told.tasks.map(({ tool_call_id: id }) => id).filter(Boolean)).toEqual(["call_add"]);
    expect(told.omitted).toBe(0);
    expect(JSON.stringify(told)).not.toContain("two and three");
  });

  it("tasks of subgraphs are listed with their namespace", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    expect(outline(await ran(server, "subgraph", { input: ask("hello") }))).toEqual([
      "1 node child",
      "2 node inner_model",
      expect.stringMatching(/^2 model \w+/),
      "2 node leaf",
      "3 node leaf_start",
      "3 node leaf_end",
      "1 node close",
    ]);
  });

  it("a streamed run lists the same tasks in every mode", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    const expected = outline(await ran(server, "subgraph", { input: ask("hello") }));
    for (const stream_mode of [["values"], ["messages-tuple", "debug"], ["events"]]) {
      const { thread_id } = await server.service.threads.create({});
      const body = { assistant_id: "subgraph", input: ask("hello"), stream_mode, stream_subgraphs: true };
      await server.request("POST", `/threads/${thread_id}/runs/stream`, body);
      const [run] = await server.service.runs.list(thread_id, {});
      expect(outline(await tasksOf(server, run ?? expect.fail("no run")))).toEqual(expected);
    }
  });

  it("parallel tasks overlap and report how they ended", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    const { tasks } = await ran(server, "parallel", { input: { n: 1 } });
    const [left, right] = tasks.map(ms);
    expect(tasks.map(({ name }) => name)).toEqual(["left", "right"]);
    expect(right?.[0]).toBeLessThan(left?.[1] ?? 0);
    expect((left?.[1] ?? 0) - (left?.[0] ?? 0)).toBeGreaterThanOrEqual(25);
    expect((await ran(server, "asks", { input: { n: 1 } })).tasks).toMatchObject([
      { name: "ask", state: "waits" },
    ]);
    expect((await ran(server, "fail", { input: {} })).tasks.at(-1)).toMatchObject({ state: "failed" });
  });

  it("tasks are listed while the run is active", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    const { thread_id } = await server.service.threads.create({});
    const request = { assistant_id: "gate", input: { gate: thread_id } };
    const run = await server.service.runs.background(thread_id, request);
    await gateOf(thread_id).entered;
    expect((await tasksOf(server, run)).tasks.at(-1)).toMatchObject({ state: "running", ended_at: null });
    gateOf(thread_id).open();
    await server.service.runs.join(thread_id, run.run_id).then(({ answer }) => answer);
    expect((await tasksOf(server, run)).tasks.every(({ state }) => state === "done")).toBe(true);
  });

  it("the first 200 and the last 800 tasks are listed, and the others are counted", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    const told = await ran(server, "counter", { input: { n: 0 }, config: { recursion_limit: 2000 } });
    const steps = told.tasks.map(({ step }) => step);
    expect(steps.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(steps.slice(200)).toEqual(Array.from({ length: 800 }, (_, index) => index + 301));
    expect(told.omitted).toBe(100);
  });

  it("tasks of an unknown run return 404", async () => {
    const server = await startTestServer({ graphs: GRAPHS });
    const { thread_id } = await server.service.threads.create({});
    const { status, body } = await server.request("GET", `/threads/${thread_id}/runs/${thread_id}/tasks`);
    expect([status, (body as { code: string }).code]).toEqual([404, "run_not_found"]);
  });
});
