/** The list of all runs in the Studio. */
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { newId } from "../../src/support/ids.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { expectCopied, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const model = new BillingModel("cheap");
const billed = new StateGraph(MessagesAnnotation)
  .addNode("ask", async () => ({ messages: [await model.invoke("hello")] }))
  .addEdge(START, "ask")
  .compile();
const rows = (page: Page) => page.locator("[data-list] tbody tr");

describeWithChromium("the list of runs", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { steps, fail, gate, billed },
    settings: { list_all_assistants: true },
  });

  it("is sorted newest first, can be filtered, and opens a thread at the last step of the run", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", {});
    const first = (await service.state.get(id)).checkpoint?.checkpoint_id ?? "";
    await service.runs.create(id, { assistant_id: "steps", input: {}, metadata: { team: "blue" } });
    await ranThread(service, "fail", {});
    const { page, visit } = await open(url);
    await visit("#/runs");
    await expect.poll(() => rows(page).count()).toBe(3);
    expect(
      (await rows(page).allTextContents()).map((text) => /(failed|done)\s*(\w+)/.exec(text)?.[0]),
    ).toEqual([
      expect.stringMatching(/failed.*fail/),
      expect.stringMatching(/done.*steps/),
      expect.stringMatching(/done.*steps/),
    ]);
    expect(await rows(page).first().textContent()).toContain("kaboom");
    await page.getByRole("link", { name: "failed", exact: true }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(page.url()).toContain("status=error");
    await page.getByRole("link", { name: "all", exact: true }).click();
    await page.getByLabel("Metadata").fill("team=blue");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByLabel("Metadata").fill("");
    await page.keyboard.press("Enter");
    await page.locator(".filters").getByLabel("Graph").fill("steps");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.locator(".filters").getByLabel("Started").selectOption("in the last hour");
    await expect.poll(() => page.url()).toContain("since=hour");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`#/threads/${id}/at/${first}`);
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await visit("#/runs?status=timeout");
    await page.getByText("No matching runs").waitFor();
  });

  it("sorts by age, duration, tokens and status; the address keeps the order", async () => {
    const { service, url } = server();
    const tag = newId();
    const more = { input: { messages: [] }, metadata: { tag } };
    const [gated, other] = [await service.threads.create({}), await service.threads.create({})];
    const slow = await service.runs.background(gated.thread_id, {
      assistant_id: "gate",
      input: { gate: tag },
      metadata: { tag },
    });
    await gateOf(tag).entered;
    const billed = await service.runs.create(other.thread_id, { assistant_id: "billed", ...more });
    const failed = await service.runs.create(other.thread_id, { assistant_id: "fail", ...more });
    gateOf(tag).open();
    await service.runs.join(gated.thread_id, slow.run_id);
    const { page, visit } = await open(url);
    await visit(`#/runs?meta=tag=${tag}`);
    const titles = () => rows(page).locator("td:nth-child(3) code").all();
    const order = async () => Promise.all((await titles()).map((each) => each.getAttribute("title")));
    const sorted = (...runs: { run_id: string }[]) =>
      expect.poll(order).toEqual(runs.map(({ run_id }) => run_id));
    const head = (name: string) => page.getByRole("columnheader", { name });
    await sorted(failed, billed, slow);
    await head("Duration").getByRole("button").click();
    await expect.poll(async () => (await order())[0]).toBe(slow.run_id);
    expect(await head("Duration").getAttribute("aria-sort")).toBe("descending");
    expect(page.url()).toContain("sort=-duration");
    await head("Duration").getByRole("button").click();
    await expect.poll(async () => (await order()).at(-1)).toBe(slow.run_id);
    await head("Tokens").getByRole("button").click();
    await sorted(billed, failed, slow);
    await head("Status").getByRole("button").click();
    await sorted(failed, slow, billed);
    await page.reload();
    await sorted(failed, slow, billed);
    await head("Started").getByRole("button").click();
    await sorted(failed, billed, slow);
    expect(page.url()).not.toContain("sort=");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel("Sort").selectOption("-tokens");
    await sorted(billed, failed, slow);
  });

  it("cancels runs in flight", async () => {
    const { service, url } = server();
    const name = newId();
    const { thread_id } = await service.threads.create({});
    await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    await visit("#/runs?status=running");
    await expectCopied(page.getByRole("group", { name: "Copy as" }), "SDK call", /client\.runs\.cancel\(/);
    await page.getByRole("button", { name: /^Cancel/ }).click();
    await page.getByText("No matching runs").waitFor();
    await page.getByRole("link", { name: "interrupted", exact: true }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  it("loads more runs when its end is scrolled into view", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const tag = newId();
    for (let index = 0; index < 55; index += 1)
      await service.runs.create(thread_id, { assistant_id: "steps", input: {}, metadata: { tag } });
    const { page, visit } = await open(url);
    await visit(`#/runs?meta=tag=${tag}`);
    await expect.poll(() => rows(page).count()).toBeGreaterThanOrEqual(50);
    await page.mouse.wheel(0, 20_000);
    await expect.poll(() => rows(page).count()).toBe(55);
    await page.getByText("End of the list.").waitFor();
  });

  it.each([{ scheme: "light" }, { scheme: "dark" }, { scheme: "dark", width: 320 }] as const)(
    "has no WCAG 2.2 AA violations: %j",
    async (look) => {
      const { service, url } = server();
      await ranThread(service, "steps", {}, { note: "<img src=x onerror=alert(1)>" });
      const name = newId();
      const { thread_id } = await service.threads.create({});
      const run = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
      await gateOf(name).entered;
      const { page, visit } = await open(url, look);
      await visit("#/runs");
      await rows(page).first().waitFor();
      await page
        .getByRole("button", { name: /^Cancel/ })
        .first()
        .waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      gateOf(name).open();
      await service.runs.join(thread_id, run.run_id);
    },
  );
});
