/** Finds the step from which on a value of the state holds, with few reads. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const STEPS = 400;
const State = Annotation.Root({
  n: Annotation<number>(),
  phase: Annotation<string>(),
  last: Annotation<number>(),
});
/** `phase` changes once; `last` is 7 from step 100 to 299. */
const counter = new StateGraph(State)
  .addNode("step", ({ n }) => ({
    n: n + 1,
    phase: n + 1 < 137 ? "early" : "late",
    last: n + 1 >= 100 && n + 1 < 300 ? 7 : 0,
  }))
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < STEPS ? "step" : END), ["step", END])
  .compile();

const status = (page: Page) => page.getByRole("form").or(page.locator(".step-finder")).getByRole("status");

describeWithChromium("the search for a step by a value", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { counter } });

  it("opens the first step, reads few states, and says if it does not hold at every later one", async () => {
    const { service, url } = server();
    const { thread_id: thread } = await service.threads.create({});
    const config = { recursion_limit: 500 };
    await service.runs.create(thread, { assistant_id: "counter", input: { n: 0 }, config });
    const { page, visit } = await open(url);
    const reads: string[] = [];
    page.on("request", (request) => request.postData()?.includes('"values"') && reads.push(request.url()));
    await visit(`#/threads/${thread}`);
    await page.getByRole("button", { name: "Find step" }).click();
    const field = page.getByLabel("First step from which on this holds");
    await field.fill("phase");
    await page.keyboard.press("Enter");
    await page.getByText("Write a path, =, !=, <, <=, > or >=, and a value").waitFor();
    await page.getByLabel("First step from which on this holds").fill('phase = "late"');
    await page.keyboard.press("Enter");
    await expect.poll(() => status(page).textContent()).toContain("It holds from step 137 on.");
    expect(await status(page).textContent()).toMatch(/from step 137 on\. \d+ states of 40[23] steps read\.$/);
    expect(reads.length).toBeLessThanOrEqual(24);
    await page.getByRole("option", { name: /^137/, selected: true }).waitFor();
    const { values } = await service.state.get(thread, { checkpoint: { checkpoint_id: atOf(page.url()) } });
    expect(values).toMatchObject({ n: 137, phase: "late" });

    await page.getByLabel("First step from which on this holds").fill("last = 7");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => status(page).textContent())
      .toMatch(/from step 100 on\. But not at every later step/);
    await page.getByLabel("First step from which on this holds").fill("n >= 1000");
    await page.keyboard.press("Enter");
    await expect.poll(() => status(page).textContent()).toContain("It holds at none of the steps");
  });

  it("searches for the selected value, on the branch of its step", async () => {
    const { service, url } = server();
    const thread = await ranThread(service, "counter", { n: 380 });
    const states = await service.state.history(thread, { limit: 1000 });
    const early = states.find(({ values }) => (values as { n: number }).n === 385);
    const checkpoint = early?.checkpoint ?? undefined;
    await service.state.update(thread, {
      values: { n: 396, phase: "fork" },
      ...(checkpoint && { checkpoint }),
    });
    await service.runs.create(thread, { assistant_id: "counter", input: null });
    const { page, visit } = await open(url);
    await visit(`#/threads/${thread}?tab=state`);
    await page.getByRole("treeitem", { name: /^n / }).click();
    await page.getByRole("button", { name: "Find first step" }).click();
    await expect.poll(() => status(page).textContent()).toMatch(/It holds from step \d+ on\./);
    await expect.poll(() => atOf(page.url())).not.toBe("");
    const { values, metadata } = await service.state.get(thread, {
      checkpoint: { checkpoint_id: atOf(page.url()) },
    });
    expect(values).toMatchObject({ n: 400 });
    const newest = await service.state.get(thread);
    expect(metadata.step).toBe(newest.metadata.step);
    expect(await violationsOf(page)).toEqual([]);
  });
});

const atOf = (address: string): string => /\/at\/([^?]+)/.exec(address)?.[1] ?? "";
