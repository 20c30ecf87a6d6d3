/** Usage equals what a provider bills, over many runs with branches, retries and failures. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { BillingModel } from "../fixtures/billing-model.js";
import { openTestService } from "../helpers/service.js";

/** `GRAPH_SERVE_TEST_RUNS=10000` takes minutes. */
const RUNS = Number(process.env.GRAPH_SERVE_TEST_RUNS ?? 600);
const PARALLEL = 20;
const input = { messages: [{ role: "user", content: "hello" }] };

/** Asks in two branches: one is tried twice by every third run, and fails in every seventh. */
function billed() {
  const cheap = new BillingModel("cheap", (call) => ({ input: 100 + (call % 7), output: 10, cached: 40 }));
  const dear = new BillingModel("dear", (call) => ({ input: 200, output: 1 + (call % 5) }));
  const tried = new Set<string>();
  const retryPolicy = {
    ...{ maxAttempts: 2, initialInterval: 1, logWarning: false },
    retryOn: (error: unknown) => error instanceof TypeError,
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("left", async () => ({ messages: [await cheap.invoke("hello")] }))
    .addNode(
      "right",
      async (_: unknown, { metadata }: RunnableConfig) => {
        const answer = await dear.invoke("hello");
        const thread = String(metadata?.thread_id);
        const isFirst = !tried.has(thread);
        tried.add(thread);
        if (metadata?.kind === "retry" && isFirst) throw new TypeError("try again");
        if (metadata?.kind === "fail") throw new RangeError("kaboom");
        return { messages: [answer] };
      },
      { retryPolicy },
    )
    .addNode("end", async () => ({ messages: [await cheap.invoke("bye")] }))
    .addEdge(START, "left")
    .addEdge(START, "right")
    .addEdge(["left", "right"], "end")
    .compile();
  return { graph, bills: { cheap: cheap.bill, dear: dear.bill } };
}

const kindOf = (index: number): string => (index % 7 === 0 ? "fail" : index % 3 === 0 ? "retry" : "plain");

it(`usage of ${RUNS} runs is exactly what the provider billed`, { timeout: 1_200_000 }, async () => {
  const { graph, bills } = billed();
  const service = await openTestService({ graphs: { billed: graph } });
  let index = 0;
  const work = async () => {
    while (index < RUNS) {
      const metadata = { kind: kindOf(index++) };
      const { thread_id } = await service.threads.create({});
      await service.runs.create(thread_id, { assistant_id: "billed", input, config: { metadata } });
      await service.threads.delete(thread_id);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  const { items } = await service.usage({ group_by: "model", limit: 10 });
  const sums = Object.entries(bills).map(([model, bill]) => ({
    ...{ model, calls: bill.length },
    input_tokens: bill.reduce((sum, call) => sum + call.input_tokens, 0),
    output_tokens: bill.reduce((sum, call) => sum + call.output_tokens, 0),
  }));
  expect(items).toMatchObject(sums);
  expect(bills.dear.length).toBeGreaterThan(1.2 * RUNS);
});
