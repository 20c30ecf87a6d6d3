/** Breakpoints inside subgraphs: `child:node`. */
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { isAtBreakpoint, withInnerBreakpoints } from "../../src/graphs/breakpoints.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import type { Settings } from "../../src/config/settings.js";
import { startTestServer } from "../helpers/app.js";

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => log.concat(more), default: () => [] }),
});
const noting = (name: string) => () => ({ log: [name] });
const leaf = new StateGraph(Log)
  .addNode("read", noting("read"))
  .addNode("write", noting("write"))
  .addEdge(START, "read")
  .addEdge("read", "write")
  .addEdge("write", END)
  .compile();
const child = new StateGraph(Log)
  .addNode("plan", noting("plan"))
  .addNode("leaf", leaf)
  .addEdge(START, "plan")
  .addEdge("plan", "leaf")
  .addEdge("leaf", END)
  .compile();
const forgetful = new StateGraph(Log)
  .addNode("think", noting("think"))
  .addEdge(START, "think")
  .addEdge("think", END)
  .compile({ checkpointer: false });
const graph = new StateGraph(Log)
  .addNode("open", noting("open"))
  .addNode("child", child)
  .addNode("called", (state) => leaf.invoke(state), { subgraphs: [leaf] })
  .addNode("forgetful", forgetful)
  .addEdge(START, "open")
  .addConditionalEdges("open", () => "child", ["child", "called", "forgetful"])
  .compile();

interface At {
  next: string[];
  tasks: { state: At | null }[];
}
/** The nodes where the thread stopped, outermost first. */
const placesOf = ({ next, tasks }: At): string[] => [
  ...next,
  ...tasks.flatMap(({ state }) => (state ? placesOf(state) : [])),
];

async function open(settings: Partial<Settings> = {}) {
  const server = await startTestServer({ graphs: { graph }, settings });
  const client = new Client({ apiUrl: server.url });
  const newThread = async () => (await client.threads.create()).thread_id;
  const run = (thread: string, payload: object) =>
    client.runs.wait(thread, "graph", { input: { log: [] }, ...payload });
  const stoppedAt = async (thread: string) =>
    placesOf((await client.threads.getState(thread, undefined, { subgraphs: true })) as unknown as At);
  return { ...server, client, newThread, run, stoppedAt };
}

describe("breakpoints inside a subgraph", () => {
  it("a run stops at a breakpoint at any depth and resumes from there", async () => {
    const { client, newThread, run, stoppedAt } = await open();
    const thread = await newThread();
    const stops = { interruptBefore: ["child:leaf:write"], interruptAfter: ["child:plan"] };
    await run(thread, stops);
    expect(await stoppedAt(thread)).toEqual(["child", "leaf"]);
    expect(await client.threads.get(thread)).toMatchObject({
      status: "interrupted",
      values: { log: ["open"] },
    });
    await run(thread, { input: null, ...stops });
    expect(await stoppedAt(thread)).toEqual(["child", "leaf", "write"]);
    const done = await run(thread, { input: null, ...stops });
    expect(done).toMatchObject({ log: expect.arrayContaining(["plan", "read", "write"]) as unknown });
    expect(await client.threads.get(thread)).toMatchObject({ status: "idle" });
    const again = await newThread();
    await run(again, { interruptBefore: "*", interruptAfter: ["child:*"] });
    expect(await stoppedAt(again)).toEqual(["open"]);
    await run(again, { input: null, interruptAfter: ["*", "child:*"] });
    await run(again, { input: null, interruptAfter: ["*", "child:*"] });
    expect(await stoppedAt(again)).toEqual(["child", "leaf"]);
  });

  it("breakpoints of one run do not affect other runs of the graph", async () => {
    const { newThread, run, stoppedAt } = await open();
    const [stops, goes] = [await newThread(), await newThread()];
    await Promise.all([run(stops, { interruptBefore: ["child:leaf"] }), run(goes, {})]);
    expect(await stoppedAt(stops)).toEqual(["child", "leaf"]);
    expect(await stoppedAt(goes)).toEqual([]);
    await run(stops, { input: null });
    expect(await stoppedAt(stops)).toEqual([]);
  });

  it("a thread that stopped at a breakpoint before a crash is recognized", async () => {
    const bound = graph.withConfig({}) as unknown as ServedGraph;
    bound.checkpointer = new MemorySaver();
    type Asked = Parameters<typeof withInnerBreakpoints>[1];
    const at = async (asked: Asked) => {
      const config = { configurable: { thread_id: crypto.randomUUID() } };
      for await (const _ of await withInnerBreakpoints(bound, asked).stream({ log: [] }, config));
      return (asked: Asked) => isAtBreakpoint(withInnerBreakpoints(bound, asked), {}, config);
    };
    const before = await at({ interrupt_before: ["child:leaf:write"] });
    expect(await before({ interrupt_before: ["child:leaf:write"] })).toBe(true);
    expect(await before({ interrupt_after: ["child:leaf:read"] })).toBe(true);
    expect(await before({ interrupt_before: ["child:plan"], interrupt_after: ["child:leaf:write"] })).toBe(
      false,
    );
    const ended = await at({});
    expect(await ended({ interrupt_before: ["child:*"] })).toBe(false);
  });

  it("the graph's state is not read for a run without breakpoints", async () => {
    const bound = graph.withConfig({}) as unknown as ServedGraph;
    const asked = () => Promise.reject(new Error("was asked"));
    bound.getState = asked;
    const config = { configurable: { thread_id: crypto.randomUUID() } };
    expect(await isAtBreakpoint(bound, {}, config)).toBe(false);
    expect(await isAtBreakpoint(bound, { interruptBefore: [] }, config)).toBe(false);
    await expect(isAtBreakpoint(bound, { interruptBefore: ["open"] }, config)).rejects.toThrow("was asked");
    const stops = withInnerBreakpoints(bound, { interrupt_after: ["child:leaf:read"] });
    stops.getState = asked;
    await expect(isAtBreakpoint(stops, {}, config)).rejects.toThrow("was asked");
  });

  it("a remote graph with unknown nodes is left unchanged", () => {
    const { nodes: _, ...far } = graph as unknown as ServedGraph;
    expect(withInnerBreakpoints(far, { interrupt_before: ["unknown"] })).toBe(far);
  });

  it("a functional workflow with unknown tasks is left unchanged", () => {
    const { __start__: _, ...tasks } = graph.nodes as Record<string, unknown>;
    const workflow = { ...(graph as unknown as ServedGraph), nodes: tasks } as ServedGraph;
    expect(withInnerBreakpoints(workflow, { interrupt_before: ["task"] })).toBe(workflow);
  });

  it("unknown names are ignored for an accepted run, since the graph may have changed", () => {
    const served = graph as unknown as ServedGraph;
    expect(withInnerBreakpoints(served, { interrupt_before: ["opne", "chlid:leaf"] }, true)).toBe(served);
  });

  it("unknown names are ignored under compat: langgraph, and the others apply", async () => {
    const { request, newThread } = await open({ compat: "langgraph" });
    const body = { assistant_id: "graph", input: { log: [] }, interrupt_before: ["no_such_node", "open"] };
    const path = `/threads/${await newThread()}`;
    expect((await request("POST", `${path}/runs/wait`, body)).status).toBe(200);
    expect((await request("GET", `${path}/state`)).body).toMatchObject({ next: ["open"] });
  });

  it.each([
    ["opne", /there is no node "opne", did you mean "open"\?; the nodes are open, child/],
    ["child:laef", /there is no node "laef", did you mean "leaf"\?; the nodes are plan, leaf/],
    ["chlid:leaf", /there is no node "chlid", did you mean "child"\?; the nodes are open, child/],
    ["open:x", /the node "open" is not a subgraph/],
    [
      "called:read",
      /the node "called" is not a subgraph; a graph that its function calls stops only at the breakpoints it was compiled with/,
    ],
    ["forgetful:think", /the graph of node "forgetful" stores no checkpoints/],
    ["child:leaf:", /there is no node ""/],
  ])("the breakpoint %s is rejected", async (name, why) => {
    const { request, newThread } = await open();
    const path = `/threads/${await newThread()}/runs`;
    for (const field of ["interrupt_before", "interrupt_after"]) {
      const { status, body } = await request("POST", path, {
        assistant_id: "graph",
        input: {},
        [field]: ["open", name],
      });
      expect(status).toBe(422);
      expect(body).toMatchObject({
        detail: [{ loc: ["body", field, 1], msg: expect.stringMatching(why) as unknown }],
      });
    }
  });
});
