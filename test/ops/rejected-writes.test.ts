/** Writes that a reducer rejects fail their run, and leave the thread usable. */
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { RunCreateRequest } from "../../src/models/run.js";
import { startTestServer } from "../helpers/app.js";
import { openTestService } from "../helpers/service.js";

const State = Annotation.Root({
  x: Annotation<number>,
  log: Annotation<string[]>({
    reducer: (log, more) => {
      if (!Array.isArray(more)) throw new TypeError("log takes lists");
      // It changes its argument, as careless reducers do.
      more.unshift(...log);
      return more;
    },
    default: () => [],
  }),
});

const graph = new StateGraph(State)
  .addNode("bad", ({ x }) => ({ log: x === 1 ? (5 as never) : ["bad"] }))
  .addNode("good", () => ({ log: ["good"] }))
  .addEdge(START, "bad")
  .addEdge(START, "good")
  .compile();
const outer = new StateGraph(State).addNode("good", graph).addEdge(START, "good").compile();
const asking = new StateGraph(State)
  .addNode("ask", () => ({ log: [interrupt<string, string>("Sure?")] }))
  .addEdge(START, "ask")
  .compile();
const graphs = { graph, outer, asking };

async function ran(assistant_id: keyof typeof graphs, input: object) {
  const service = await openTestService({ graphs });
  const { thread_id } = await service.threads.create({});
  const execute = (request: Partial<RunCreateRequest>) =>
    service.runs.create(thread_id, { assistant_id, ...request });
  return { service, thread_id, execute, run: await execute({ input }) };
}

describe.each(["graph", "outer"] as const)("in %s, a write that a reducer rejects", (name) => {
  it.each([{ log: 5 }, { x: 1 }])(
    "leaves the thread readable and editable, with the input %o",
    async (input) => {
      const { service, thread_id, execute, run } = await ran(name, input);
      expect(run).toMatchObject({ status: "error", error: "log takes lists" });
      for (const subgraphs of [false, true])
        expect(await service.state.get(thread_id, { subgraphs })).toMatchObject({ values: { log: [] } });
      expect(await service.threads.get(thread_id)).toMatchObject({ status: "error", values: { log: [] } });
      const before = await service.state.history(thread_id, {});

      await service.state.update(thread_id, { values: { log: ["edited"] }, as_node: "good" });
      expect(await service.state.get(thread_id)).toMatchObject({ values: { log: ["edited"] }, next: [] });
      expect(await service.state.history(thread_id, {})).toHaveLength(before.length + 1);
      expect(await execute({ input: { x: 2 } })).toMatchObject({ status: "success" });
    },
  );

  it("does not keep an edit that a reducer rejects, too", async () => {
    const { service, thread_id } = await ran(name, { x: 1 });
    const edit = service.state.update(thread_id, { values: { log: 6 }, as_node: "good" });
    await expect(edit).rejects.toMatchObject({ code: "invalid_request" });
    expect(await service.state.get(thread_id)).toMatchObject({ values: { log: [] } });
  });

  it("lets a thread command start the next run", async () => {
    const { url } = await startTestServer({ graphs });
    const send = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return (await response.json()) as Record<string, unknown>;
    };
    const { thread_id } = await send("/threads", {});
    await send(`/threads/${String(thread_id)}/runs/wait`, { assistant_id: name, input: { log: 5 } });
    const params = { assistant_id: name, input: { x: 2 } };
    const command = { id: 1, method: "run.start", params };
    expect(await send(`/threads/${String(thread_id)}/commands`, command)).toMatchObject({ type: "success" });
  });
});

describe("a command with an update", () => {
  it.each([
    { update: { log: 5 } },
    { update: { log: 5 }, goto: "good" },
    {
      update: [
        ["x", 1],
        ["x", 2],
      ],
    },
  ])("that the state rejects fails its run only: %o", async (command) => {
    const { service, thread_id, execute } = await ran("graph", { x: 2 });
    const before = await service.state.get(thread_id);
    const run = await execute({ command: command as never });
    expect(run.status).toBe("error");
    expect(run.error).toMatch(/^log takes lists|can only receive one value/i);
    expect(await service.state.get(thread_id)).toEqual(before);
    expect(await execute({ input: { x: 3 } })).toMatchObject({ status: "success", error: null });
  });

  it("that the state rejects keeps the question of the thread", async () => {
    const { service, thread_id, execute } = await ran("asking", { x: 1 });
    const run = await execute({ command: { resume: "yes", update: { log: 5 } } });
    expect(run).toMatchObject({ status: "error", error: "log takes lists" });
    expect(await service.state.get(thread_id)).toMatchObject({ interrupts: [{ value: "Sure?" }] });

    const answered = await execute({ command: { resume: "yes", update: { log: ["by hand"] } } });
    expect(answered).toMatchObject({ status: "success" });
    expect(await service.state.get(thread_id)).toMatchObject({ values: { log: ["by hand", "yes"] } });
  });
});

it.each([
  ["goto", "god", []],
  ["goto", { node: "god", input: {} }, []],
  ["goto", ["good", "god"], [1]],
])("a command with the %s %o is refused, with the nodes of the graph", async (_, goto, place) => {
  const { service, thread_id, execute } = await ran("graph", { x: 2 });
  await expect(execute({ command: { goto: goto as never } })).rejects.toMatchObject({
    code: "invalid_request",
    issues: [
      {
        loc: ["body", "command", "goto", ...place],
        msg: 'there is no node "god", did you mean "good"?; the nodes are bad, good',
      },
    ],
  });
  expect(await service.runs.list(thread_id, {})).toHaveLength(1);
  expect(await execute({ command: { goto: "__end__" } })).toMatchObject({ status: "success" });
});

it.each(["__proto__", "constructor", "toString"])("an update of the key %s is refused", async (key) => {
  const { service, thread_id, execute } = await ran("graph", { x: 2 });
  const updates = [JSON.parse(`{${JSON.stringify(key)}:1}`) as object, [[key, 1]]];
  for (const update of updates)
    await expect(execute({ command: { update: update as never } })).rejects.toMatchObject({
      code: "invalid_request",
      issues: [{ loc: ["body", "command", "update"], msg: `"${key}" cannot be a state key` }],
    });
  expect(await service.state.get(thread_id)).toMatchObject({ values: { x: 2 } });
});
