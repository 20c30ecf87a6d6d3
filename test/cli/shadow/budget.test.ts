/** `shadow --models live --budget`: no model is called once the budget is used up, and the report says what is missing. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { JudgedResult } from "../../../src/cli/shadow/report.js";
import { cli, createProject, type Project } from "../harness.js";
import { itSqlite as it } from "../../helpers/with-sqlite.js";

const MODEL = new URL("../../fixtures/billing-model.ts", import.meta.url).pathname;

/** Calls the model in two nodes; a call has 110 tokens and costs 0.20 USD, and is a line in `bill.txt`. */
const graphOf = (after = "") => `
import { appendFileSync } from "node:fs";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { BillingModel } from ${JSON.stringify(MODEL)};
const ask = async () => {
  const message = await new BillingModel("dear").invoke("hello");
  appendFileSync(process.env.BILL, "call\\n");
  return { messages: [message.text${after}] };
};
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("one", ask).addNode("two", ask).addEdge(START, "one").addEdge("one", "two").compile();`;

let project: Project;
let bill: string;
beforeEach(async () => {
  project = await createProject({ "graph.ts": graphOf(), "next.ts": graphOf(' + "!"') });
  await configure({ prices: { dear: { input: 1000, output: 10_000 } } });
  process.env.BILL = bill = join(project.dir, "bill.txt");
  for (const content of ["one", "two", "three"]) {
    const { code } = await cli(["run", "--message", content], { cwd: project.dir });
    expect(code).toBe(0);
  }
});
afterEach(async () => {
  delete process.env.BILL;
  await project.remove();
});

const configure = (settings: object) =>
  project.put("graph-server.config.json", { graphs: { agent: "./graph.ts:graph" }, ...settings });

const calls = async () => (await readFile(bill, "utf8")).trim().split("\n").length;

async function shadowed(budget: string, ...flags: string[]) {
  const before = await calls();
  const argv = ["shadow", "--json", "--models", "live", "--budget", budget, ...flags];
  const { code, stdout, stderr } = await cli(argv, { cwd: project.dir });
  expect(stdout, stderr).not.toBe("");
  const { items } = JSON.parse(stdout) as { items: JudgedResult[] };
  return { code, stderr, items, calls: (await calls()) - before, outcomes: items.map((one) => one.outcome) };
}

it.each(["0.60 USD", "330 tokens"])(
  "%s: the run that cannot pay its next call, and later ones",
  async (budget) => {
    const { outcomes, items, calls: made, code, stderr } = await shadowed(budget, "--ci");
    // The third call uses the budget up, in the second run.
    expect([made, outcomes]).toEqual([3, ["same", "over_budget", "over_budget"]]);
    const used = budget === "330 tokens" ? "330 tokens of 330 tokens" : "0.6 USD of 0.6 USD";
    expect(items[1]).toMatchObject({
      reason: `the budget is used up: ${used}`,
      status: null,
      difference: null,
    });
    expect(items[2]).toMatchObject({ reason: `the budget is used up: ${used}` });
    expect(stderr).toContain(`1 same, 2 are over the budget (used ${used})`);
    expect(code).toBe(1);
  },
);

it("a run that ends with its last call is compared, and the text lists the threads that are not", async () => {
  const argv = ["shadow", "--models", "live", "--budget", "0.40 USD"];
  const { stdout, stderr, code } = await cli([...argv, "--junit", "junit.xml"], { cwd: project.dir });
  expect(stdout.match(/over_budget {2}the budget is used up: 0\.4 USD of 0\.4 USD/g)).toHaveLength(2);
  expect(stderr).toContain("1 same, 2 are over the budget (used 0.4 USD of 0.4 USD)");
  expect(code).toBe(0);
  expect(await readFile(join(project.dir, "junit.xml"), "utf8")).toContain('tests="3" failures="2"');
});

it("calls of the unchanged graph count too", async () => {
  const enough = await shadowed("2 USD", "--against", "./next.ts:graph", "--sample", "1");
  expect([enough.outcomes, enough.calls]).toEqual([["words"], 4]);
  expect(enough.stderr).toContain("(used 0.8 USD of 2 USD)");
  const short = await shadowed("0.60 USD", "--against", "./next.ts:graph", "--sample", "1");
  expect([short.outcomes, short.calls]).toEqual([["over_budget"], 3]);
});

it("a model without a price stops a budget in dollars, and not one in tokens", async () => {
  await configure({});
  const dollars = await shadowed("5 USD");
  expect(dollars.outcomes).toEqual(["over_budget", "over_budget", "over_budget"]);
  expect(dollars.items[0]?.reason).toContain(
    "the price of a model is not known: add it to the setting prices",
  );
  expect(dollars.calls).toBe(2);
  expect((await shadowed("10k tokens", "--ci")).outcomes).toEqual(["same", "same", "same"]);
});

it.each([
  [["--models", "live", "--budget", "0,50"], '--budget "0,50" is not an amount', "0.50 USD"],
  [["--models", "live", "--budget", "0 USD"], "is not an amount", "above 0"],
  [["--budget", "1 USD"], "--budget needs --models live: with recorded", "add --models live"],
  [["--models", "hybrid", "--budget", "1 USD"], "with hybrid", "add --models live"],
])("%j is refused", async (flags, message, hint) => {
  const before = await calls();
  const { code, stderr } = await cli(["shadow", ...flags], { cwd: project.dir });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
  expect(await calls()).toBe(before);
});
