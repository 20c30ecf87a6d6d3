/** The heat map of a graph: colors and numbers of nodes over the runs of a period, and why it is empty. */
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { BillingModel } from "../fixtures/billing-model.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const model = new BillingModel("cheap", () => ({ input: 90, output: 10 }));
const input = { messages: [{ role: "user", content: "hello" }] };

/** plan -> research (search twice) -> answer, which fails if `isBroken`. */
function createGraph(isBroken = false) {
  let attempts = 0;
  const ask = async () => ({ messages: [await model.invoke("hello")] });
  const twice = async () => ({ messages: [await model.invoke("hello"), await model.invoke("hello")] });
  const research = new StateGraph(MessagesAnnotation)
    .addNode("search", twice)
    .addEdge(START, "search")
    .compile();
  const retryPolicy = { maxAttempts: 2, initialInterval: 1, jitter: false, retryOn: () => true };
  return new StateGraph(MessagesAnnotation)
    .addNode("plan", () => ({}))
    .addNode("research", research)
    .addNode(
      "answer",
      () => {
        attempts += 1;
        if (isBroken || attempts % 2 === 1) throw new Error("no answer");
        return ask();
      },
      { retryPolicy },
    )
    .addEdge(START, "plan")
    .addEdge("plan", "research")
    .addEdge("research", "answer")
    .addEdge("answer", END)
    .compile();
}

const levels = (page: Page) =>
  page.evaluate<Record<string, string>>(`Object.fromEntries(
    [...document.querySelectorAll(".graph-node.is-heat")].map((node) =>
      [node.querySelector("title").textContent, node.style.getPropertyValue("--heat")]))`);
const row = (page: Page, node: string) => page.getByRole("row", { name: node });

describeWithChromium("the heat map", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { support: createGraph(), broken: createGraph(true) },
    settings: { list_all_assistants: true, prices: { cheap: { input: 10, output: 100 } } },
  });

  it("colors nodes by tokens, errors and retries, with numbers, and opens the runs behind them", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/graphs/support");
    await page.getByRole("link", { name: "Tokens", exact: true }).click();
    await page.getByText("No finished runs of this graph in the last day").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    for (let runs = 0; runs < 3; runs += 1) await ranThread(service, "support", input);
    // New runs appear by themselves.
    await page.getByText("3 runs", { exact: true }).waitFor();
    await expect
      .poll(() => levels(page))
      .toEqual({
        ...{ plan: "0%", research: "46%", answer: "23%" },
      });
    await expect.poll(() => page.locator(".heat-legend").textContent()).toMatch(/^0\s+600 tokens$/);
    await expect
      .poll(() => row(page, "answer").locator("td").allTextContents())
      .toEqual([
        expect.stringMatching(/ms|s$/),
        expect.stringMatching(/ms|s$/),
        ...["300", "$0.0057", "0", "3", "3"],
      ]);
    const node = page.getByRole("button", { name: "answer 300" });
    await node.click();
    await expect.poll(() => row(page, "answer").getAttribute("aria-current")).toBe("true");

    await page.getByRole("link", { name: "Cost", exact: true }).click();
    await page.getByRole("button", { name: "answer $0.0057" }).waitFor();
    expect(await row(page, "plan").locator(".is-cost").textContent()).toBe("–");
    await page.getByRole("link", { name: "Time, p95", exact: true }).click();
    await expect.poll(async () => Object.values(await levels(page))).toContain("46%");

    await page.getByRole("link", { name: "Retries", exact: true }).click();
    await expect.poll(() => levels(page)).toMatchObject({ plan: "0%", answer: "46%" });
    await page.getByRole("link", { name: "Errors", exact: true }).click();
    await page.getByText("No node failed in these runs.").waitFor();
    await page.getByLabel("Period").selectOption("in the last hour");
    await expect.poll(() => page.url()).toContain("since=hour");
    await page.reload();
    await page.getByText("No node failed in these runs.").waitFor();
    await page.getByRole("link", { name: "Slowest runs" }).click();
    await expect.poll(() => page.locator("[data-list] tbody tr").count()).toBe(3);
    await expect.poll(() => page.url()).toContain("sort=-duration");
  });

  it("shows which node failed how often, and the share of time", async () => {
    const { service, url } = server();
    for (let runs = 0; runs < 2; runs += 1) await ranThread(service, "broken", input).catch(() => undefined);
    const { page, visit } = await open(url);
    await visit("#/graphs/broken?heat=errors&since=week");
    await expect.poll(() => levels(page)).toMatchObject({ plan: "0%", answer: "46%" });
    await expect.poll(() => page.locator(".heat-legend").textContent()).toMatch(/^0\s+2 errors$/);
    await page.getByRole("link", { name: "Time", exact: true }).click();
    await expect.poll(async () => Object.values(await levels(page))).toContain("46%");
    await page.getByRole("link", { name: "Plain", exact: true }).click();
    await expect.poll(() => levels(page)).toEqual({});
  });

  it.each([{ scheme: "light" }, { scheme: "dark" }, { scheme: "dark", width: 320 }] as const)(
    "has no WCAG 2.2 AA violations: %j",
    async (look) => {
      const { service, url } = server();
      await ranThread(service, "support", input);
      const { page, visit } = await open(url, look);
      await visit("#/graphs/support?heat=time");
      await row(page, "answer").waitFor();
      await page.locator(".graph-node").first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    },
  );
});
