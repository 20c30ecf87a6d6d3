/** A state reports which writes belong to an unfinished superstep, and of which run. */
import { Annotation, interrupt, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import type { ThreadState } from "../../src/models/state.js";
import { newId } from "../../src/support/ids.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as halves } from "../fixtures/graphs/halves.js";

interface Opened extends TestServer {
  threadId: string;
  run: (input: unknown, more?: object) => Promise<Run>;
  state: (checkpointId?: string) => Promise<ThreadState>;
}

async function open(): Promise<Opened> {
  const server = await startTestServer({ graphs: { halves } });
  const { body } = await server.request("POST", "/threads", {});
  const { thread_id: threadId } = body as { thread_id: string };
  const path = `/threads/${threadId}`;
  return {
    ...server,
    threadId,
    run: async (input, more = {}) => {
      const request = { assistant_id: "halves", input, ...more };
      return (await server.request("POST", `${path}/runs`, request)).body as Run;
    },
    state: async (checkpointId) => {
      const at = checkpointId === undefined ? "" : `/${checkpointId}`;
      return (await server.request("GET", `${path}/state${at}`)).body as ThreadState;
    },
  };
}

/** The unfinished step of a state, with task names in place of ids. */
function unfinished({ unfinished_step: step, tasks }: ThreadState) {
  return (
    step && { run_id: step.run_id, tasks: step.tasks.map((id) => tasks.find((task) => task.id === id)?.name) }
  );
}

it("a run that has ended leaves no unfinished superstep", async () => {
  const { run, state, request, threadId } = await open();
  await run({ how: "ends" });
  expect(unfinished(await state())).toBeUndefined();
  const history = (await request("GET", `/threads/${threadId}/history`)).body as ThreadState[];
  expect(history.length).toBeGreaterThan(2);
  for (const past of history) {
    expect(past.unfinished_step).toBeUndefined();
    expect((await state(past.checkpoint?.checkpoint_id ?? "")).unfinished_step).toBeUndefined();
  }
});

it.each(["asks", "throws"])(
  "an unfinished superstep in which another node %s reports the run and the finished tasks",
  async (right) => {
    const { run, state, request, threadId } = await open();
    const { run_id } = await run({ how: right });
    const now = await state();
    expect(now.values).toMatchObject({ log: ["left"] });
    expect(unfinished(now)).toEqual({ run_id, tasks: ["left"] });
    expect(unfinished(await state(now.checkpoint?.checkpoint_id ?? ""))).toEqual({ run_id, tasks: ["left"] });
    const history = (await request("GET", `/threads/${threadId}/history`)).body as ThreadState[];
    expect(history.map(unfinished)).toEqual([
      { run_id, tasks: ["left"] },
      ...history.slice(1).map(() => undefined),
    ]);
    const filtered = await request("POST", `/threads/${threadId}/history`, { metadata: { source: "input" } });
    expect((filtered.body as ThreadState[]).map(unfinished)).toEqual([undefined]);
  },
);

it("an unfinished superstep that a second run resumed reports the second run", async () => {
  const { run, state } = await open();
  const first = await run({ how: "asks twice" });
  const second = await run(null, { command: { resume: "once" } });
  expect(second.status).toBe("interrupted");
  expect(unfinished(await state())).toEqual({ run_id: second.run_id, tasks: ["left"] });
  expect(second.run_id).not.toBe(first.run_id);
});

it("an unfinished superstep is dropped by a run with new input and completed by a run that resumes", async () => {
  const { run, state } = await open();
  await run({ how: "throws" });
  await run({ how: "asks" });
  const { log } = (await state()).values as { log: string[] };
  expect(log).toEqual(["left"]);
  await run(null, { command: { resume: "yes" } });
  const ended = await state();
  expect(ended.values).toMatchObject({ log: ["left", "right yes"] });
  expect(unfinished(ended)).toBeUndefined();
});

it("an unfinished superstep is reported while its run is in flight, and not for a queued run", async () => {
  const { run, state, request, threadId } = await open();
  const gate = newId();
  const path = `/threads/${threadId}/runs`;
  const headers = { Prefer: "respond-async" };
  const { body } = await request("POST", path, { assistant_id: "halves", input: { how: gate } }, headers);
  const queued = await request("POST", path, { assistant_id: "halves", input: null }, headers);
  expect(queued.body).toMatchObject({ status: "pending" });
  await gateOf(gate).entered;
  await expect
    .poll(async () => unfinished(await state()))
    .toEqual({ run_id: (body as Run).run_id, tasks: ["left"] });
  gateOf(gate).open();
  await run({ how: "ends" });
  expect(unfinished(await state())).toBeUndefined();
});

it("an unfinished superstep includes tasks without writes", async () => {
  const State = Annotation.Root({ a: Annotation<number>() });
  const graph = new StateGraph(State)
    .addNode("silent", () => ({}))
    .addNode("asking", (_state, _config: LangGraphRunnableConfig) => ({
      a: interrupt<string, number>("how many?"),
    }))
    .addEdge("__start__", "silent")
    .addEdge("__start__", "asking")
    .compile();
  const { request } = await startTestServer({ graphs: { graph } });
  const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
  const run = await request("POST", `/threads/${thread_id}/runs`, { assistant_id: "graph", input: { a: 1 } });
  const { run_id } = run.body as Run;
  const { body } = await request("GET", `/threads/${thread_id}/state`);
  expect(unfinished(body as ThreadState)).toEqual({ run_id, tasks: ["silent"] });
  const history = (await request("GET", `/threads/${thread_id}/history`)).body as ThreadState[];
  expect(history.slice(0, 1).map(unfinished)).toEqual([{ run_id, tasks: ["silent"] }]);
});

it("an unfinished superstep includes a task whose edge failed after its node wrote", async () => {
  const graph = new StateGraph(Annotation.Root({ a: Annotation<number>() }))
    .addNode("writes", () => ({ a: 2 }))
    .addEdge("__start__", "writes")
    .addConditionalEdges("writes", () => {
      throw new Error("no route");
    })
    .compile();
  const { request } = await startTestServer({ graphs: { graph } });
  const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
  const run = await request("POST", `/threads/${thread_id}/runs`, { assistant_id: "graph", input: { a: 1 } });
  const { run_id } = run.body as Run;
  const state = (await request("GET", `/threads/${thread_id}/state`)).body as ThreadState;
  // What LangGraph says: the write is applied, and the node is not executed again.
  expect(state).toMatchObject({ values: { a: 2 }, next: [] });
  expect(state.tasks[0]?.error).toContain("no route");
  expect(unfinished(state)).toEqual({ run_id, tasks: ["writes"] });
  const history = (await request("GET", `/threads/${thread_id}/history`)).body as ThreadState[];
  expect(history.map(unfinished).slice(0, 2)).toEqual([{ run_id, tasks: ["writes"] }, undefined]);
});

it("an unfinished superstep of a copied thread has no run id", async () => {
  const { run, request, threadId } = await open();
  await run({ how: "asks" });
  const { thread_id } = (await request("POST", `/threads/${threadId}/copy`)).body as { thread_id: string };
  const { body } = await request("GET", `/threads/${thread_id}/state`);
  expect(unfinished(body as ThreadState)).toEqual({ run_id: null, tasks: ["left"] });
});
