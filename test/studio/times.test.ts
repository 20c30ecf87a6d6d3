/** The timeline tab: start and end of tasks and calls, and token costs. */
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { storedSpan } from "../../src/tracing/run-span.js";
import type { TaskSpan } from "../../src/tracing/task-spans.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const cheap = new BillingModel("cheap", () => ({ input: 100, output: 10, cached: 40 }));
const broken = new BillingModel("broken", () => {
  throw new RangeError("kaboom");
});
const billed = new StateGraph(MessagesAnnotation)
  .addNode("ask", async () => ({ messages: [await cheap.invoke("hello")] }))
  .addNode("fail", async () => ({ messages: [await broken.invoke("hello")] }))
  .addEdge(START, "ask")
  .addEdge("ask", "fail")
  .compile();
/** Its last of 1,301 steps fails. */
const long = new StateGraph(Annotation.Root({ n: Annotation<number>() }))
  .addNode("step", ({ n }) => ({ n: n + 1 }))
  .addNode("last", () => {
    throw new RangeError("too late");
  })
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < 1300 ? "step" : "last"), ["step", "last"])
  .compile();
const bars = (page: Page) =>
  page.getByRole("listbox", { name: "Timeline of runs and calls" }).getByRole("option");
const tokens = (page: Page) =>
  page
    .getByRole("table", { name: "Tokens" })
    .getByRole("row")
    .allTextContents()
    .then((rows) => rows.slice(1));

describeWithChromium("the timeline of a run", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, billed, hitl, long, subgraph },
    settings: { list_all_assistants: true, prices: { cheap: { input: 1, output: 2, cache_read: 0.5 } } },
  });

  it("shows nodes and calls, and opens their steps by keyboard", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=times`);
    await expect.poll(() => bars(page).count()).toBe(6);
    const text = (await bars(page).allTextContents()).map((each) => each.replace(/ [\d.]+ m?s$/, ""));
    const model = expect.stringMatching(/^model FakeModel\d+ tokens$/) as string;
    expect(text).toEqual(["model_request", model, "tools", "tool add", "model_request", model]);
    await page.getByRole("listbox", { name: "Timeline of runs and calls" }).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const chosen = page.getByRole("listbox", { name: "Steps" }).getByRole("option", { selected: true });
    await expect.poll(() => chosen.textContent()).toContain("tools");
    const waits = await ranThread(service, "hitl", { topic: "tea" });
    await visit(`#/threads/${waits}?tab=times`);
    await expect.poll(() => bars(page).last().textContent()).toContain("ask waiting");
  });

  it("keeps the first 200 and the last 800 parts of a long run, with a late failure", async () => {
    const { service, url } = server();
    const { thread_id: id } = await service.threads.create({});
    const config = { recursion_limit: 2000 };
    await service.runs.create(id, { assistant_id: "long", input: { n: 0 }, config }).catch(() => undefined);
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=times`);
    await page.getByText("301 parts between the first 200 and the last 800 not stored").waitFor();
    await page.getByText(/, 1,000 parts$/).waitFor();
    await page.getByRole("listbox", { name: "Timeline of runs and calls" }).focus();
    await page.keyboard.press("End");
    await expect.poll(() => bars(page).last().textContent()).toMatch(/^last failed: RangeError/);
  });

  it("includes the duration of steps after an answer and after an edit", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "hitl", { topic: "tea" });
    await service.runs.create(id, { assistant_id: "hitl", command: { resume: "yes" } });
    await service.state.update(id, { values: { topic: "coffee" }, as_node: "ask" });
    await service.runs.create(id, { assistant_id: "hitl", input: null });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    const steps = page.getByRole("listbox", { name: "Steps" }).getByRole("option");
    const durations = async () =>
      (await steps.allTextContents())
        .filter((text) => /^\d+(ask|finish)/.test(text))
        .map((text) => /[\d.]+ m?s$/.test(text));
    await expect.poll(durations).toEqual([true, true, true]);
  });

  it("shows the spans of the trace, with the cost of each call and the class of each error", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "billed", ask("hello"));
    const [run] = await service.runs.list(id, {});
    const spans = storedSpan(run as Run, await service.runs.tasks(id, String(run?.run_id))).children;
    const flat = (each: TaskSpan): TaskSpan[] => [each, ...each.children.flatMap(flat)];
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=times`);
    const names = async () =>
      (await bars(page).locator(".bar-name").allTextContents()).map((text) =>
        text.replace(/^model /, "chat "),
      );
    await expect
      .poll(names)
      .toEqual(
        spans.flatMap(flat).map(({ name, hasFailed }) => name + (hasFailed ? " failed: RangeError" : "")),
      );
    expect(await names()).toEqual([
      "ask",
      "chat cheap",
      "fail failed: RangeError",
      "chat broken failed: RangeError",
    ]);
    await expect
      .poll(() => bars(page).nth(1).locator(".bar-ms").textContent())
      .toMatch(/^\$0\.0001 110 tokens/);
    // 60 uncached and 40 cached input tokens, and 10 output tokens.
    await expect
      .poll(async () => (await tokens(page)).slice(1))
      .toEqual(["its run10010110$0.0001", "the thread10010110$0.0001"]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it("opens subgraphs", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "subgraph", ask("hello"));
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=times`);
    await bars(page).filter({ hasText: "leaf_end" }).click();
    await page.getByText("Inside child|leaf").waitFor();
    await expect.poll(() => bars(page).count()).toBe(7);
  });

  it("shows tokens per step, run and thread, and their cost at the configured prices", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    await service.runs.create(id, { assistant_id: "agent", input: ask("four and five") });
    const [run, first] = await service.runs.list(id, {});
    const total = (run?.usage?.total_tokens ?? 0) + (first?.usage?.total_tokens ?? 0);
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=times`);
    await expect.poll(async () => (await tokens(page)).at(2)).toMatch(new RegExp(`${total}unknown$`));
    await expect
      .poll(async () => (await tokens(page)).at(1))
      .toMatch(new RegExp(`^its run.*${run?.usage?.total_tokens}unknown$`));
    await page.getByRole("button", { name: "Prices" }).click();
    const list = page.getByLabel(/One model per line/);
    await list.fill("Fake* 1000000");
    await page.getByRole("alert").getByText("Line 1 is not a price").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await list.fill("Fake* 1000000 1000000");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await tokens(page)).at(2)?.endsWith(`${total}$${total}.00`)).toBe(true);
    await page.reload();
    await expect.poll(async () => (await tokens(page)).at(2)?.endsWith(`${total}$${total}.00`)).toBe(true);
    await visit("#/threads");
    await page
      .locator(`[data-list] tr:has([href*="${id}"])`)
      .getByRole("cell", { name: `${total}`, exact: true })
      .waitFor();
  });
});
