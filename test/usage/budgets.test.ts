/** Budgets: a run asks before the model call that it can no longer pay, and an answer lets it continue. */
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { cli, createProject } from "../cli/harness.js";
import { startTestServer } from "../helpers/app.js";
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
