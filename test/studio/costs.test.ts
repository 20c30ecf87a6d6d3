/** Tokens and costs beside messages, runs and nodes. A cost without a price is unknown, never 0. */
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { BillingModel } from "../fixtures/billing-model.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const input = { messages: [{ role: "user", content: "hello" }] };

/** Nodes that call one model each. */
function asking(...models: BillingModel[]) {
  const graph = new StateGraph(MessagesAnnotation);
  const names = models.map((model, index) => {
    const name = `ask${index + 1}`;
    graph.addNode(name, async () => ({ messages: [await model.invoke("hello")] }));
    return name;
  });
  const ends = graph as unknown as { addEdge(from: string, to: string): void; compile(): object };
  for (const [index, name] of names.entries())
    ends.addEdge(index === 0 ? START : (names[index - 1] ?? ""), name);
  return ends.compile();
}

const cheap = () => new BillingModel("cheap", () => ({ input: 1000, output: 200 }));
const free = () => new BillingModel("unpriced", () => ({ input: 30, output: 4 }));

const FITS = `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector(".node-panel"))`;

describeWithChromium("costs", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { priced: asking(cheap()), mixed: asking(cheap(), free()) },
    settings: { list_all_assistants: true, prices: { cheap: { input: 1, output: 10 } } },
  });
  const costsOf = (page: Page) => page.locator("[data-list] td.is-cost").allTextContents();

  it("are in the table of runs and in the runs of a thread", async () => {
    const { service, url } = server();
    await ranThread(service, "priced", input);
    const id = await ranThread(service, "mixed", input);
    const { page, visit } = await open(url);
    await visit("#/runs");
    await expect.poll(() => costsOf(page)).toEqual(["unknown", "$0.003"]);
    expect(await violationsOf(page)).toEqual([]);
    await visit(`#/threads/${id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    const row = page.locator(".runs li");
    await expect
      .poll(() => row.allTextContents())
      .toEqual([expect.stringMatching(/1,234 tokens\s*cost unknown/)]);
  });

  it("are beside the messages of the calls that they were for", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "mixed", input);
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=messages`);
    const notes = () => page.locator(".message .tokens-of").allTextContents();
    await expect.poll(notes).toEqual(["1,200 tokens · $0.003", "34 tokens · cost unknown"]);
    expect(await page.locator(".message.is-human .tokens-of").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await visit(`#/threads/${id}?tab=times`);
    await page.getByRole("button", { name: "Prices" }).click();
    await page.getByLabel(/One model per line/).fill("unpriced 1000 10000");
    await page.getByRole("button", { name: "Save" }).click();
    await visit(`#/threads/${id}?tab=messages`);
    await expect.poll(notes).toEqual(["1,200 tokens · $0.003", "34 tokens · $0.07"]);
  });

  it("are in the details of a node, and beside its calls", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "mixed", input);
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    const facts = async (node: string) => {
      await page.getByRole("button", { name: new RegExp(`^${node} .*ran$`) }).press("Enter");
      const panel = page.getByRole("complementary", { name: `Node ${node}` });
      await panel.locator(".node-calls li").waitFor();
      expect(await page.evaluate(FITS)).toBe(true);
      return async () => [
        (await panel.locator(".node-facts dd").allTextContents()).slice(1, 3),
        (await panel.locator(".node-ms").textContent())?.replace(/ · [\d.]+ m?s$/, ""),
      ];
    };
    await expect.poll(await facts("ask1")).toEqual([["1,200", "$0.003"], "1,200 tokens · $0.003"]);
    await expect.poll(await facts("ask2")).toEqual([["34", "unknown"], "34 tokens · cost unknown"]);
    expect(await violationsOf(page)).toEqual([]);
  });
});
