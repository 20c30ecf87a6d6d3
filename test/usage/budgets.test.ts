/** Budgets: a run asks before the model call that it can no longer pay, and an answer lets it continue. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { cli, createProject } from "../cli/harness.js";
import { startTestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { settingsOf } from "../helpers/server-processes.js";
import { openTestService, readAll } from "../helpers/service.js";
import { byHeader } from "../helpers/two-users.js";

const input = { messages: [{ role: "user", content: "hello" }] };
const prices = { dear: { input: 1000, output: 10_000 } };
/** A call has 110 tokens and costs 0.20 USD. */
const COST = 0.2;

/** Calls the model in `calls` nodes, one after the other; the last one then asks the user. */
function graphWith(calls: number) {
  const model = new BillingModel("dear");
  const nodes = Array.from({ length: calls }, (_, index) => `call${index}`);
  const graph = new StateGraph(MessagesAnnotation) as StateGraph<
    typeof MessagesAnnotation.spec,
    unknown,
    unknown,
    string
  >;
  for (const [index, name] of nodes.entries()) {
    graph.addNode(name, async () => {
      const message = await model.invoke("hello");
      if (index === calls - 1) return { messages: [message, String(interrupt("really?"))] };
      return { messages: [message] };
    });
    graph.addEdge(index === 0 ? START : (nodes[index - 1] ?? START), name);
  }
  return { model, graph: graph.compile() };
}

async function opened(calls: number, budgets: Settings["budgets"]) {
  const { model, graph } = graphWith(calls);
  const service = await openTestService({ graphs: { agent: graph }, settings: { prices, budgets } });
  const { thread_id } = await service.threads.create({});
  const run = (request: object) => service.runs.create(thread_id, { assistant_id: "agent", ...request });
  const questions = async () => {
    const { interrupts } = await service.state.get(thread_id);
    return interrupts.map(({ value }) => value);
  };
  return { model, service, thread_id, run, questions };
}

describe("a budget of a run", () => {
  it("stops it before the next model call, with a typed question", async () => {
    const { model, run, questions } = await opened(3, { run: "0.30 USD" });
    const { status, usage } = await run({ input });
    expect([status, model.bill.length, usage?.cost_usd]).toEqual(["interrupted", 2, 2 * COST]);
    expect(await questions()).toEqual([
      {
        ...{ type: "budget_exceeded", budget: "run", limit: "0.3 USD", spent: "0.4 USD" },
        message: "The budget of the run is used up: 0.4 USD of 0.3 USD.",
        answer: { raise_by: "0.3 USD" },
      },
    ]);
  });

  it("is raised by the answer, which the graph's own question does not receive", async () => {
    const { model, service, thread_id, run, questions } = await opened(3, { run: "200 tokens" });
    await run({ input });
    await run({ command: { resume: { raise_by: "1k tokens" } } });
    expect([await questions(), model.bill.length]).toEqual([["really?"], 3]);
    const { status } = await run({ command: { resume: "yes" } });
    expect(status).toBe("success");
    const { values } = await service.threads.get(thread_id);
    expect((values.messages as { content: string }[]).at(-1)?.content).toBe("yes");
  });

  it("stops streamed runs, whose callbacks LangChain manages, too", async () => {
    const { model, service, thread_id, questions } = await opened(3, { run: "0.30 USD" });
    const stream_mode = ["messages-tuple" as const, "updates" as const];
    const stream = await service.runs.stream(thread_id, { assistant_id: "agent", input, stream_mode });
    const events = await readAll(stream);
    expect(model.bill).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "interrupted" } });
    expect(await questions()).toMatchObject([{ budget: "run" }]);
  });

  it("refuses an answer without an amount, and keeps the question", async () => {
    const { run, questions } = await opened(3, { run: "0.30 USD" });
    await run({ input });
    await expect(run({ command: { resume: "continue" } })).rejects.toMatchObject({
      code: "invalid_request",
      hint: 'answer with {"raise_by":"0.3 USD"}, or another amount in USD or tokens',
    });
    expect(await questions()).toMatchObject([{ type: "budget_exceeded" }]);
  });
});

describe("a budget in a run request", () => {
  async function served(budgets?: Settings["budgets"]) {
    const { model, graph } = graphWith(3);
    const server = await startTestServer({ graphs: { agent: graph }, settings: { prices, budgets } });
    const { body } = await server.request("POST", "/threads", {});
    const { thread_id } = body as { thread_id: string };
    const run = (request: object) =>
      server.request("POST", `/threads/${thread_id}/runs/wait`, { assistant_id: "agent", ...request });
    return { model, server, thread_id, run };
  }
  const asked = ({ body }: { body: unknown }) =>
    (body as { __interrupt__?: { value: unknown }[] }).__interrupt__?.map(({ value }) => value);

  it("stops the run without a setting, and the answer raises it for the run that continues", async () => {
    const { model, run } = await served();
    expect(asked(await run({ input, budget: "0.10 USD" }))).toMatchObject([
      { type: "budget_exceeded", budget: "run", limit: "0.1 USD", answer: { raise_by: "0.1 USD" } },
    ]);
    expect(model.bill).toHaveLength(1);
    const refused = await run({ command: { resume: "continue" } });
    expect([refused.status, model.bill.length]).toEqual([422, 1]);
    const second = await run({ command: { resume: { raise_by: "0.10 USD" } } });
    expect([asked(second), model.bill.length]).toMatchObject([[{ budget: "run", spent: "0.2 USD" }], 2]);
    await run({ command: { resume: { raise_by: "1k tokens" } } });
    expect(model.bill).toHaveLength(3);
    expect(asked(await run({ command: { resume: "yes" } }))).toBeUndefined();
  });

  it.each([
    ["0.10 USD", "0.30 USD", 1],
    ["0.50 USD", "0.10 USD", 1],
    ["0.50 USD", "150 tokens", 2],
  ])("of %s and a setting of %s are both kept: %i calls", async (budget, setting, calls) => {
    const { model, run } = await served({ run: setting });
    expect(asked(await run({ input, budget }))).toMatchObject([{ budget: "run" }]);
    expect(model.bill).toHaveLength(calls);
  });

  it("is stored with the run, and refused if it is not an amount", async () => {
    const { server, thread_id, run } = await served();
    await run({ input, budget: "1k tokens" });
    const { body } = await server.request("GET", `/threads/${thread_id}/runs`);
    expect(body).toMatchObject([{ kwargs: { budget: "1k tokens" } }]);
    for (const budget of ["5 EUR", "USD", "-1 USD", 5])
      expect((await run({ input, budget })).status).toBe(422);
  });

  it("is set by run --budget, on a server and in the process", async () => {
    const { model, server } = await served();
    const project = await createProject({
      "graph.ts": `
        import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
        import { BillingModel } from ${JSON.stringify(new URL("../fixtures/billing-model.ts", import.meta.url).pathname)};
        const ask = async () => ({ messages: [await new BillingModel("dear").invoke("hello")] });
        export const graph = new StateGraph(MessagesAnnotation)
          .addNode("one", ask).addNode("two", ask)
          .addEdge(START, "one").addEdge("one", "two").compile();`,
    });
    onTestFinished(() => project.remove());
    const run = (...argv: string[]) =>
      cli(["run", ...argv, "-i", JSON.stringify(input), "--budget", "100 tokens"], { cwd: project.dir });
    const remote = await run("agent", "--url", server.url);
    expect(remote.stderr).toContain(`--resume '{"raise_by":"100 tokens"}'`);
    expect(model.bill).toHaveLength(1);
    const local = await run("./graph.ts:graph", "--db", "memory", "--json");
    expect(JSON.parse(local.stdout)).toMatchObject({
      status: "interrupted",
      interrupts: [{ value: { limit: "100 tokens", spent: "110 tokens" } }],
    });
    const refused = await cli(["run", "--message", "hello", "--budget", "0,50"], { cwd: project.dir });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("0.50 USD")]);
  });
});

describe("a budget of a run is checked", () => {
  /** Runs the graph until it has ended, raising the budget by the same amount each time. */
  async function raised(graph: ReturnType<typeof graphWith>["graph"], model: BillingModel) {
    const service = await openTestService({ graphs: { agent: graph }, settings: { prices } });
    const { thread_id } = await service.threads.create({});
    const create = (request: object) => service.runs.create(thread_id, { assistant_id: "agent", ...request });
    const calls: number[] = [];
    let { status } = await create({ input, budget: "0.30 USD" });
    for (; status === "interrupted"; calls.push(model.bill.length))
      ({ status } = await create({ command: { resume: { raise_by: "0.30 USD" } } }));
    return { status, calls, service, thread_id };
  }

  it("in a subgraph, which resumes where it stopped", async () => {
    const model = new BillingModel("dear");
    const ask = async () => ({ messages: [await model.invoke("hello")] });
    const child = new StateGraph(MessagesAnnotation)
      .addNode("first", ask)
      .addNode("second", ask)
      .addNode("third", ask)
      .addEdge(START, "first")
      .addEdge("first", "second")
      .addEdge("second", "third")
      .compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("child", child)
      .addEdge(START, "child")
      .compile();
    const { status, calls } = await raised(graph as never, model);
    expect([status, calls, model.bill.length]).toEqual(["success", [3], 3]);
  });

  it("in tools that call models", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    const model = new BillingModel("dear");
    const research = tool(async () => (await model.invoke("hello")).text, {
      name: "research",
      description: "Asks a model.",
      schema: { type: "object", properties: {} },
    });
    const call = (id: string) =>
      new AIMessage({ content: "", tool_calls: [{ name: "research", args: {}, id }] });
    const tools = new ToolNode([research]);
    const again = (id: string) => async (_: unknown, config: LangGraphRunnableConfig) => ({
      messages: (await tools.invoke([call(id)], config)) as BaseMessage[],
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("plan", () => ({ messages: [call("one")] }))
      .addNode("one", tools)
      .addNode("two", again("two"))
      .addNode("three", again("three"))
      .addEdge(START, "plan")
      .addEdge("plan", "one")
      .addEdge("one", "two")
      .addEdge("two", "three")
      .compile();
    const { status, calls, service, thread_id } = await raised(graph as never, model);
    expect([status, calls, model.bill.length]).toEqual(["success", [3], 3]);
    const { values } = await service.threads.get(thread_id);
    // The interrupt did not become the result of a tool.
    expect(JSON.stringify(values)).not.toContain("budget");
  });

  it("in parallel branches, which exceed it by the calls in flight; one answer continues all of them", async () => {
    const branches = 5;
    const model = new BillingModel("dear");
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("branch", async () => {
        await model.invoke("hello");
        return { messages: [await model.invoke("hello")] };
      })
      .addConditionalEdges(START, () =>
        Array.from({ length: branches }, () => new Send("branch", { messages: [] })),
      )
      .compile();
    const service = await openTestService({ graphs: { agent: graph }, settings: { prices } });
    const { thread_id } = await service.threads.create({});
    const create = (request: object) => service.runs.create(thread_id, { assistant_id: "agent", ...request });
    await create({ input, budget: "0.30 USD" });
    // Two calls use up the budget.
    expect(model.bill.length).toBeGreaterThanOrEqual(2);
    expect(model.bill.length).toBeLessThan(2 + branches);
    const { interrupts } = await service.state.get(thread_id);
    expect(interrupts.length).toBeGreaterThan(1);
    const { status } = await create({ command: { resume: { raise_by: "100 USD" } } });
    expect(status).toBe("success");
  });
});

describe("a budget of a thread", () => {
  it("counts all its runs; an answer raises it for the run that continues", async () => {
    const { model, run, questions } = await opened(1, { thread: "0.30 USD" });
    await run({ input });
    await run({ input });
    expect(model.bill).toHaveLength(2);
    const third = await run({ input });
    expect([third.status, model.bill.length]).toEqual(["interrupted", 2]);
    expect(await questions()).toMatchObject([{ budget: "thread", spent: "0.4 USD" }]);
    await run({ command: { resume: { raise_by: "0.10 USD" } } });
    expect([model.bill.length, await questions()]).toEqual([3, ["really?"]]);
  });
});

describe("a budget of a user and day", () => {
  it("counts the runs of all their threads, and those in flight, but not those of others", async () => {
    const { model, graph } = graphWith(1);
    const settings = { prices, budgets: { user: { day: "0.50 USD" } } };
    const server = await startTestServer({ graphs: { agent: graph }, authenticate: byHeader, settings });
    const run = (user: string, body: object = { input }) =>
      server.request("POST", "/runs/wait", { assistant_id: "agent", ...body }, { user });
    for (let index = 0; index < 5; index += 1) await run("ann");
    expect(model.bill).toHaveLength(3);
    const { body } = await run("ann");
    expect(JSON.stringify(body)).toContain(
      "The budget of the user for this day is used up: 0.6 USD of 0.5 USD.",
    );
    await run("anna");
    expect(model.bill).toHaveLength(4);
  });

  it("is exceeded by no more than the calls in flight", async () => {
    const { model, graph } = graphWith(4);
    const settings = { prices, budgets: { user: { day: "1 USD" } } };
    const server = await startTestServer({ graphs: { agent: graph }, authenticate: byHeader, settings });
    const runs = Array.from({ length: 4 }, () =>
      server.request("POST", "/runs/wait", { assistant_id: "agent", input }, { user: "ann" }),
    );
    await Promise.all(runs);
    expect(model.bill.length).toBeGreaterThanOrEqual(5);
    expect(model.bill.length).toBeLessThan(5 + 4);
  });
});

withPostgres("a budget of a user with a queue in postgres", (postgres) => {
  it("is exceeded by no more than the calls in flight, across servers", async () => {
    const { model, graph } = graphWith(4);
    const settings = {
      ...settingsOf(postgres.options()),
      ...{ queue: "postgres" as const, prices, budgets: { user: { day: "1 USD" } } },
    };
    const open = () => startTestServer({ graphs: { agent: graph }, authenticate: byHeader, settings });
    const servers = await Promise.all([open(), open(), open()]);
    const runs = Array.from({ length: 9 }, (_, index) =>
      (servers[index % 3] ?? servers[0]).request(
        ...(["POST", "/runs/wait", { assistant_id: "agent", input }, { user: "ann" }] as const),
      ),
    );
    const bodies = (await Promise.all(runs)).map((answer) => JSON.stringify(answer.body));
    expect(bodies.some((body) => body.includes("budget_exceeded"))).toBe(true);
    // Five calls use up the budget.
    expect(model.bill.length).toBeGreaterThanOrEqual(5);
    expect(model.bill.length).toBeLessThan(5 + runs.length);
    const { items } = await servers[0].service.usage({ group_by: "user" });
    expect(items).toMatchObject([{ user: "ann", calls: model.bill.length }]);
  });
});

describe("the setting budgets", () => {
  it.each([
    ['{ "run": "2 USD", "thread": "1 USD" }', "budgets.run (2 USD) is larger than budgets.thread (1 USD)"],
    ['{ "run": "2 USD", "user": { "day": "1.5 USD" } }', "is larger than budgets.user.day (1.5 USD)"],
    ['{ "run": "2 EUR" }', "budgets.run must match pattern"],
    ['{ "user": "2 USD" }', "budgets.user must be an object"],
  ])("%s is refused with its place in the configuration", async (text, message) => {
    const project = await createProject({
      "graph-server.config.json": `{\n  "graphs": {},\n  "budgets": ${text}\n}\n`,
    });
    onTestFinished(() => project.remove());
    const { code, stderr } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/graph-server\.config\.json:3/);
  });
});
