/** Browsing the history of a thread: branches, the drawing of each step, and subgraphs. */
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import type { Service } from "../../src/service/service.js";
import { ranThread, useBrowser, useServer } from "./open.js";

const COUNTED = 9998;
const Count = Annotation.Root({ n: Annotation<number>() });
const counter = new StateGraph(Count)
  .addNode("step", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ n }) => (n < COUNTED ? "step" : END), ["step", END])
  .compile({ name: "counter" });

const one = new StateGraph(Count)
  .addNode("only", ({ n }) => ({ n: n + 1 }))
  .addEdge(START, "only")
  .addEdge("only", END)
  .compile({ name: "one" });
const fan = new StateGraph(Count)
  .addNode("one", one)
  .addNode("other", () => ({}))
  .addConditionalEdges(START, ({ n }) => [new Send("one", { n }), "other"], ["one", "other"])
  .addEdge("one", END)
  .addEdge("other", END)
  .compile({ name: "fan" });

const stepsOf = (page: Page, which: Parameters<Page["getByRole"]>[1] = {}) =>
  page.getByRole("listbox", { name: "Steps" }).getByRole("option", which);
const ask = (content: string) => ({ messages: [{ role: "user", content }] });

const idsOf = async (service: Service, thread: string): Promise<string[]> =>
  (await service.state.history(thread, { limit: 100 })).map(
    ({ checkpoint }) => checkpoint?.checkpoint_id ?? "",
  );

/** The DOM members used here; the tests do not load the DOM types. */
interface Dom {
  scrollTop: number;
  scrollHeight: number;
  classList: { contains(name: string): boolean };
  getAttribute(name: string): string | null;
}

describeWithChromium("a thread with branches", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent }, settings: { list_all_assistants: true } });

  it("shows a lane per branch and marks the path to the selected step", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const [newest = "", , forked] = await idsOf(service, id);
    await service.runs.create(id, {
      assistant_id: "agent",
      input: null,
      checkpoint: { checkpoint_id: forked },
    });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    const dots = page.locator(".step .dot");
    await expect.poll(() => dots.count()).toBe(8);
    const lanes = () =>
      dots.evaluateAll((all) => (all as unknown as Dom[]).map((dot) => Number(dot.getAttribute("cx"))));
    const [first = 0] = await lanes();
    await expect
      .poll(async () => (await lanes()).map((x) => (x - first) / 14))
      .toEqual([0, 0, 0, 1, 1, 0, 0, 0]);
    const marked = () =>
      dots.evaluateAll((all) =>
        (all as unknown as Dom[]).map((dot) => Number(dot.classList.contains("is-path"))),
      );
    await expect.poll(marked).toEqual([1, 1, 1, 0, 0, 1, 1, 1]);
    await visit(`#/threads/${id}/at/${newest}`);
    await expect.poll(marked).toEqual([0, 0, 0, 1, 1, 1, 1, 1]);
    expect(await stepsOf(page).nth(3).textContent()).toContain("branch");
  });
});

describeWithChromium("the drawing of a step", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, hitl, subgraph, fan },
    settings: { list_all_assistants: true },
  });
  const nodes = (page: Page, mark: string) => page.locator(`.graph-node.is-${mark} title`).allTextContents();

  it("highlights nodes that ran, next nodes and taken edges, and follows the selected step", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=drawing`);
    await expect.poll(() => nodes(page, "ran")).toEqual(["model_request"]);
    await expect.poll(() => nodes(page, "next")).toEqual([]);
    await expect.poll(() => page.locator(".edge.is-taken").count()).toBe(2);
    await page.keyboard.press("j");
    await expect.poll(() => nodes(page, "ran")).toEqual(["tools"]);
    await expect.poll(() => nodes(page, "next")).toEqual(["model_request"]);
    const said = page.getByRole("img", { name: "ran: tools" });
    expect(await said.getAttribute("aria-label")).toContain("runs next: model_request. ran: tools");
    const waits = await ranThread(service, "hitl", { topic: "tea" });
    await visit(`#/threads/${waits}?tab=drawing`);
    await expect.poll(() => nodes(page, "asks")).toEqual(["ask"]);
  });

  it("keeps its tab and view in sight on a narrow screen", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url, { width: 320 });
    await visit(`#/threads/${id}?tab=raw`);
    const isInSight = async (list: string, name: string) => {
      const tabs = page.getByRole("tablist", { name: list });
      const [outer, inner] = [
        await tabs.boundingBox(),
        await tabs.getByRole("tab", { name, exact: true }).boundingBox(),
      ];
      if (!outer || !inner) return false;
      return inner.x >= outer.x - 1 && inner.x + inner.width <= outer.x + outer.width + 1;
    };
    await expect.poll(() => isInSight("Views of the run", "Raw")).toBe(true);
    await expect.poll(() => isInSight("Step", "Run")).toBe(true);
    await page.keyboard.press("1");
    await expect.poll(() => isInSight("Step", "Changes")).toBe(true);
  });

  it("has four tabs, and Run has views with the addresses of former tabs", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=times`);
    const listed = (name: string) => page.getByRole("tablist", { name }).getByRole("tab");
    const chosen = () => page.getByRole("tab", { selected: true }).allTextContents();
    await expect.poll(chosen).toEqual(["Run", "Timeline"]);
    expect(await listed("Step").allTextContents()).toEqual(["Changes", "State", "Messages", "Run"]);
    expect(await listed("Views of the run").allTextContents()).toEqual([
      "Tasks",
      "Timeline",
      "Graph",
      "Metadata",
      "Raw",
    ]);
    await page.getByRole("listbox", { name: "Timeline" }).waitFor();
    await listed("Views of the run").getByText("Timeline").press("ArrowRight");
    await expect.poll(chosen).toEqual(["Run", "Graph"]);
    await expect.poll(() => page.url()).toContain("tab=drawing");
    await page.locator(".graph-node").first().waitFor();
    await page.keyboard.press("3");
    await page.locator(".message").first().waitFor();
    await expect.poll(chosen).toEqual(["Messages"]);
    await page.keyboard.press("4");
    await page.locator(".task").first().waitFor();
    await expect.poll(chosen).toEqual(["Run", "Tasks"]);
    await visit(`#/threads/${id}?tab=nonsense`);
    await expect.poll(chosen).toEqual(["Changes"]);
  });

  it("opens subgraphs, including one with a single node", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "subgraph", ask("hello"));
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=drawing`);
    await stepsOf(page, { name: /child/ }).click();
    await page.getByRole("link", { name: "Open the steps of child" }).click();
    await expect.poll(() => nodes(page, "ran")).toEqual(["leaf"]);
    await page.getByRole("link", { name: "Open the steps of leaf" }).click();
    await expect.poll(() => nodes(page, "ran")).toEqual(["leaf_end"]);
    expect(await page.locator(".graph-node title").allTextContents()).toEqual([
      "__start__",
      "leaf_start",
      "leaf_end",
      "__end__",
    ]);
    await page.keyboard.press("2");
    await page.getByRole("treeitem", { name: /messages/ }).waitFor();
    const fanned = await ranThread(service, "fan", { n: 1 });
    await visit(`#/threads/${fanned}?tab=drawing`);
    await expect.poll(() => nodes(page, "ran")).toEqual(["one", "other"]);
    await page.getByRole("link", { name: "Open the steps of one" }).click();
    await expect.poll(() => nodes(page, "ran")).toEqual(["only"]);
  });
});

describeWithChromium("a thread of 10,000 steps", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { counter } });

  it(
    "can be scrolled from first to last, and only visible steps are loaded and rendered",
    { timeout: 240_000 },
    async () => {
      const { service, url } = server();
      const { thread_id } = await service.threads.create({});
      await service.runs.create(thread_id, {
        assistant_id: "counter",
        input: { n: 0 },
        config: { recursion_limit: 20_000 },
      });
      const { page, visit } = await open(url);
      const asked: string[] = [];
      page.on("request", (request) => request.url().endsWith("/history") && asked.push(request.url()));
      await visit(`#/threads/${thread_id}`);
      await stepsOf(page, { name: /^9998/ }).waitFor();
      expect(await page.locator("#app *").count()).toBeLessThan(600);
      const list = page.getByRole("listbox", { name: "Steps" });
      expect(await list.evaluate((box) => Math.round((box as unknown as Dom).scrollHeight / 52))).toBe(
        10_000,
      );
      for (const [share, step] of [
        [0.5, 4998],
        [1, -1],
        [0.1, 8998],
      ] as const) {
        await list.evaluate((element, share) => {
          const box = element as unknown as Dom;
          box.scrollTop = box.scrollHeight * share;
        }, share);
        await stepsOf(page)
          .filter({ hasText: new RegExp(`^${step}(step|input)`) })
          .waitFor();
      }
      expect(await page.locator("#app *").count()).toBeLessThan(600);
      await list.focus();
      await page.keyboard.press("End");
      await expect.poll(() => stepsOf(page, { selected: true }).textContent()).toMatch(/^-1input/);
      const [middle] = await service.state.history(thread_id, { limit: 1, metadata: { step: 3000 } });
      await visit(`#/threads/${thread_id}/at/${middle?.checkpoint?.checkpoint_id}`);
      await expect.poll(() => stepsOf(page, { selected: true }).textContent()).toMatch(/^3000step/);
      // Each jump needs one request for its position and one or two pages.
      expect(asked.length).toBeLessThan(20);
    },
  );
});
