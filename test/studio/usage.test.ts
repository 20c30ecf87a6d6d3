/** The usage page: tables by group, a chart by day, empty states, and who sees what. */
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import { now } from "../../src/storage/rows/rows.js";
import { BillingModel } from "../fixtures/billing-model.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { openTestService } from "../helpers/service.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const input = { messages: [{ role: "user", content: "hello" }] };

const asks = (model: BillingModel) =>
  new StateGraph(MessagesAnnotation)
    .addNode("ask", async () => ({ messages: [await model.invoke("hello")] }))
    .addEdge(START, "ask")
    .compile();

const graphs = () => ({
  cheap: asks(new BillingModel("cheap", () => ({ input: 1200, output: 10, cached: 40 }))),
  dear: asks(new BillingModel("dear")),
  free: asks(new BillingModel("<b>unpriced</b>\u202e")),
});
const prices = { cheap: { input: 0.25, output: 2 }, "acme/dear": { input: 10_000, output: 40 } };

const runOf = async (service: Pick<Service, "runs">, assistant_id: string) =>
  (await service.runs.waitStateless({ assistant_id, input })).answer;

const CELLS = `[...document.querySelectorAll(".usage-table tr")].map((row) =>
  [...row.cells].map((cell) => cell.textContent))`;
const cells = (page: Page) => page.evaluate<string[][]>(CELLS);

describeWithChromium("the usage page", () => {
  // No midnight falls between the runs and the page.
  beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
  afterAll(() => void vi.useRealTimers());
  const open = useBrowser();
  const server = useServer({ graphs: graphs(), settings: { prices } });

  it("is opened by keyboard, says why it is empty, and then shows new usage by itself", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/threads");
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByText("No usage in this period").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("/");
    await page.keyboard.press("End");
    await page.getByText("Usage is recorded when a run calls a model.").waitFor();
    await ranThread(service, "cheap", input);
    await page.getByRole("table", { name: "Usage by model" }).waitFor();
    await expect
      .poll(() => cells(page))
      .toEqual([
        ["Model", "Calls", "Input", "Cached", "Output", "Cost"],
        ["cheap", "1", "1,200", "40", "10", "$0.00032"],
        ["Total", "1", "1,200", "40", "10", "$0.00032"],
      ]);
    // A stateless run leaves no thread that a list could show.
    await runOf(service, "cheap");
    await expect.poll(async () => (await cells(page)).at(-1)?.[1]).toBe("2");
  });

  it("has tables by model, user, graph and day, the most expensive first", async () => {
    const { service, url } = server();
    for (const graph of ["cheap", "dear", "free"]) await runOf(service, graph);
    const { page, visit } = await open(url);
    await page.clock.setFixedTime(Date.now());
    await visit("#/usage");
    const names = async () => (await cells(page)).map(([name]) => name);
    await expect.poll(names).toEqual(["Model", "dear", "cheap", "<b>unpriced</b>\\u202e", "Total"]);
    expect((await cells(page))[3]?.at(-1)).toBe("unknown");
    expect((await cells(page)).at(-1)?.at(-1)).toMatch(/^≥ \$1\.00/);
    await page.getByText("Calls whose price is unknown are not part of the costs.").waitFor();
    await page.getByRole("link", { name: "Graph", exact: true }).press("Enter");
    await expect.poll(names).toEqual(["Graph", "dear", "cheap", "free", "Total"]);
    await page.getByRole("link", { name: "User", exact: true }).press("Enter");
    await expect.poll(names).toEqual(["User", "no user", "Total"]);
    await page.getByRole("link", { name: "Day", exact: true }).press("Enter");
    const today = now().slice(0, 10);
    await expect.poll(names).toEqual(["Day", today, "Total"]);
    expect(page.url()).toContain("#/usage?by=day");
    const chart = page.getByRole("img", { name: /Bars by UTC day/ });
    const bars = chart.locator(".usage-bar");
    await expect.poll(() => bars.count()).toBe(30);
    await expect.poll(() => bars.last().getAttribute("height")).toBe("120");
    await expect.poll(() => bars.first().getAttribute("height")).toBe("0");
    await expect
      .poll(() => chart.locator("title").last().textContent())
      .toMatch(new RegExp(`^${today}: \\$1\\.`));
    await page.getByLabel("Period").selectOption("the last 7 days");
    await expect.poll(() => bars.count()).toBe(7);
  });

  it.each([
    { scheme: "light", width: 1440 },
    { scheme: "dark", width: 1440 },
    { scheme: "light", width: 390 },
    { scheme: "dark", width: 390 },
  ] as const)("has no WCAG 2.2 AA violations and fits the page: %j", async (look) => {
    const { service, url } = server();
    for (const graph of ["cheap", "dear", "free"]) await runOf(service, graph);
    const { page, visit } = await open(url, look);
    await visit("#/usage");
    await page.getByRole("table").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    // A name includes text that the style sheet adds, such as the units on the cards of other lists.
    await page.getByRole("columnheader", { name: "Cost", exact: true }).waitFor();
  });
});

describeWithChromium("the usage page of a storage without usage", () => {
  const open = useBrowser();

  it("says why it is empty", async () => {
    const { usage: _, ...storage } = await openStorage({
      ...{ checkpointer_scheme: "memory", checkpointer_options: {}, max_queued_runs: 1 },
    });
    const service = await openTestService({ graphs: graphs(), storage });
    const server = await startServer(service, { host: "127.0.0.1", port: 0, studio: true });
    onTestFinished(() => server.close(0));
    const { page, visit } = await open(server.url);
    await visit("#/usage");
    await page.getByText("This storage does not record usage").waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});

describeWithChromium("the usage page of a server with users", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: graphs(),
    authenticate: ({ headers: { "x-api-key": key } }) => (typeof key === "string" ? { identity: key } : null),
  });

  it("asks for the key, and shows users their own usage", async () => {
    const { url } = server();
    const body = JSON.stringify({ assistant_id: "dear", input });
    for (const user of ["ann", "anna", "ann"]) {
      const headers = { "x-api-key": user, "content-type": "application/json" };
      expect((await fetch(`${url}/runs/wait`, { method: "POST", headers, body })).status).toBe(200);
    }
    for (const [user, calls] of [
      ["ann", "2"],
      ["anna", "1"],
    ]) {
      const { page, visit } = await open(url);
      await visit("#/usage?by=user");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("API key").fill(user ?? "");
      await page.keyboard.press("Enter");
      await expect.poll(async () => (await cells(page))[1]?.slice(0, 2)).toEqual([user, calls]);
      expect(await page.locator(".usage-table tbody tr").count()).toBe(1);
    }
    const { page, visit } = await open(url);
    await visit("#key=eve-of-nobody");
    await visit("#/usage");
    await page.getByText("No usage in this period").waitFor();
  });
});
