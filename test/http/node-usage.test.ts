/** `GET /usage/nodes`: time, tokens, costs, errors and retries by node, summed over runs. */
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished, vi } from "vitest";
import type { NodeUsage, NodeUsageSums } from "../../src/models/usage.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { newId } from "../../src/support/ids.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { byHeader } from "../helpers/two-users.js";

const model = new BillingModel("cheap", () => ({ input: 90, output: 10 }));
const State = Annotation.Root({ ...MessagesAnnotation.spec, failures: Annotation<number>() });
/** plan -> child (ask) -> shaky, which fails `failures` times and is retried twice. */
function createGraph() {
  const left = new Map<string, number>();
  const child = new StateGraph(MessagesAnnotation)
    .addNode("ask", async () => ({ messages: [await model.invoke("hello")] }))
    .addEdge(START, "ask")
    .compile();
  return new StateGraph(State)
    .addNode("plan", () => ({}))
    .addNode("child", child)
    .addNode(
      "shaky",
      ({ failures = 0 }, { configurable }) => {
        const id = String(configurable?.run_id);
        const attempt = left.get(id) ?? 0;
        left.set(id, attempt + 1);
        if (attempt < failures) throw new Error("shaky");
        return {};
      },
      { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, retryOn: () => true } },
    )
    .addEdge(START, "plan")
    .addEdge("plan", "child")
    .addEdge("child", "shaky")
    .addEdge("shaky", END)
    .compile();
}

const get = async ({ request }: TestServer, query: string, headers = {}): Promise<NodeUsageSums> => {
  const { status, body } = await request("GET", `/usage/nodes?${query}`, undefined, headers);
  expect(status).toBe(200);
  return body as NodeUsageSums;
};
const byName = ({ nodes }: NodeUsageSums): Record<string, Omit<NodeUsage, "node" | "median_ms" | "p95_ms">> =>
  Object.fromEntries(nodes.map(({ node, median_ms: _, p95_ms: __, ...sums }) => [node, sums]));
const free = { total_tokens: 0, cost_usd: null, unpriced_calls: 0 };

onEveryBackend("usage by node", (backend) => {
  it("is summed over the runs of a graph and a period, attempts counted as retries", async () => {
    const server = await startTestServer({
      graphs: { tree: createGraph(), gate },
      settings: { prices: { cheap: { input: 10, output: 100 } } },
      storage: await keptStorage(backend()),
    });
    const since = new Date().toISOString();
    const run = async (failures: number) => {
      const { thread_id } = await server.service.threads.create({});
      const input = { messages: [{ role: "user", content: "hello" }], failures };
      return server.service.runs.create(thread_id, { assistant_id: "tree", input });
    };
    for (const failures of [0, 1, 5]) await run(failures);
    const sums = await get(server, `assistant_id=tree&since=${since}`);
    expect(sums).toMatchObject({ runs: 3, is_complete: true });
    const plain = { count: 3, ...free, errors: 0, retries: 0 };
    const priced = { ...plain, total_tokens: 300, cost_usd: expect.closeTo(0.0057, 9) as number };
    expect(byName(sums)).toEqual({
      plan: plain,
      child: priced,
      "child:ask": priced,
      shaky: { ...plain, errors: 1, retries: 3 },
    });
    expect(sums.nodes.every(({ median_ms, p95_ms }) => median_ms >= 0 && p95_ms >= median_ms)).toBe(true);
    expect(await get(server, `assistant_id=tree&until=${since}`)).toMatchObject({ runs: 0, nodes: [] });
    expect(await get(server, "assistant_id=nobody")).toMatchObject({ runs: 0, nodes: [] });
  });
});

it("the median is that of all executions, and runs in flight are not counted", async () => {
  const server = await startTestServer({ graphs: { gate } });
  const name = newId();
  const { thread_id } = await server.service.threads.create({});
  const run = await server.service.runs.background(thread_id, {
    assistant_id: "gate",
    input: { gate: name },
  });
  await gateOf(name).entered;
  expect(await get(server, "assistant_id=gate")).toEqual({ runs: 0, is_complete: true, nodes: [] });
  gateOf(name).open();
  await server.service.runs.join(thread_id, run.run_id);
  const { tasks } = await server.service.runs.tasks(thread_id, run.run_id);
  const [task] = tasks.filter(({ kind }) => kind === "node");
  const ms = Date.parse(task?.ended_at ?? "") - Date.parse(task?.started_at ?? "");
  const { nodes, runs } = await get(server, "assistant_id=gate");
  expect(runs).toBe(1);
  expect(nodes).toContainEqual({
    ...{ node: task?.name, count: 1, median_ms: ms, p95_ms: ms, ...free, errors: 0, retries: 0 },
  });
});

it("the 95th percentile is the duration that 95 of 100 executions do not exceed", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const slow = new StateGraph(Annotation.Root({ ms: Annotation<number>() }))
    .addNode("work", ({ ms }) => {
      vi.setSystemTime(Date.now() + ms);
      return {};
    })
    .addEdge(START, "work")
    .compile();
  const server = await startTestServer({ graphs: { slow } });
  for (let ms = 20; ms > 0; ms -= 1) {
    const { thread_id } = await server.service.threads.create({});
    await server.service.runs.create(thread_id, { assistant_id: "slow", input: { ms } });
  }
  const { nodes } = await get(server, "assistant_id=slow");
  expect(nodes).toMatchObject([{ node: "work", count: 20, median_ms: 10.5, p95_ms: 19 }]);
});

it("calls without a known price are counted, and their cost is not 0", async () => {
  const server = await startTestServer({ graphs: { tree: createGraph() } });
  const { thread_id } = await server.service.threads.create({});
  await server.service.runs.create(thread_id, { assistant_id: "tree", input: { messages: [] } });
  const { child } = byName(await get(server, "assistant_id=tree"));
  expect(child).toMatchObject({ total_tokens: 100, cost_usd: null, unpriced_calls: 1 });
});

it("only the caller's runs are summed", async () => {
  const server = await startTestServer({ graphs: { tree: createGraph() }, authenticate: byHeader });
  const ann = { user: "ann" };
  const { thread_id } = (await server.request("POST", "/threads", {}, ann)).body as { thread_id: string };
  const input = { messages: [] };
  await server.request("POST", `/threads/${thread_id}/runs/wait`, { assistant_id: "tree", input }, ann);
  expect((await get(server, "assistant_id=tree", ann)).runs).toBe(1);
  expect(await get(server, "assistant_id=tree", { user: "bob" })).toMatchObject({ runs: 0, nodes: [] });
});
