/** Focus after navigation. */
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer } from "./open.js";

const fails = new StateGraph(MessagesAnnotation)
  .addNode("work", () => {
    throw new Error("no lines");
  })
  .addEdge(START, "work")
  .compile({ name: "fails" });

const focused = (page: Page) =>
  page.evaluate<string>("document.activeElement.id || document.activeElement.tagName.toLowerCase()");
/** The border of the focused node. */
const BORDER = `(({ strokeWidth, stroke }) => strokeWidth + " " + stroke)(
  getComputedStyle(document.activeElement.querySelector(".node-box")))`;
const toContent = (page: Page) => expect.poll(() => focused(page)).toBe("content");

describeWithChromium("after navigation, the focus", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, fails, hitl, steps, subgraph },
    settings: { list_all_assistants: true },
  });

  it("moves to the content: from links, shortcuts, and Back and Forward", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const { page, visit } = await open(url);
    await visit("#/threads");
    const row = page.locator("[data-list] a").first();
    await row.waitFor();
    // The first page keeps the focus that the browser chose.
    expect(await focused(page)).toBe("body");
    const screens = page.getByRole("navigation", { name: "Screens" });
    await screens.getByRole("link", { name: "Graphs" }).press("Enter");
    await page.getByRole("heading", { name: "Graphs" }).waitFor();
    await toContent(page);
    await page.goBack();
    await row.waitFor();
    await toContent(page);
    await row.press("Enter");
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
    expect(page.url()).toContain(id);
    await toContent(page);
    // Tab continues inside the content.
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('#content') !== null")).toBe(true);
    await page.goBack();
    await row.waitFor();
    await toContent(page);
    await page.goForward();
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
    await toContent(page);
    for (const key of ["g", "t"]) await page.keyboard.press(key);
    await row.waitFor();
    await toContent(page);
  });

  it("moves to screens that are loaded later", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/threads");
    const screens = page.getByRole("navigation", { name: "Screens" });
    for (const name of ["Usage", "Memory"]) {
      await screens.getByRole("link", { name }).press("Enter");
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await toContent(page);
    }
  });

  it("moves to the content if the page removes what had it", async () => {
    const { service, url } = server();
    await service.store.put({ namespace: ["users"], key: "ada", value: {} });
    const { page, visit } = await open(url);
    await visit("#/store/users");
    await page.getByRole("link", { name: "ada" }).press("Enter");
    await page.getByRole("heading", { name: "ada" }).waitFor();
    await toContent(page);
    const asks = await ranThread(service, "hitl", { topic: "tea" });
    await visit(`#/run/${asks}`);
    await page.getByRole("button", { name: "true", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Answer", exact: true }).press("Enter");
    await page.getByText(/^done/).waitFor();
    await toContent(page);
  });

  it("is kept if a button removes itself", async () => {
    const { service, url } = server();
    await service.store.put({ namespace: ["people"], key: "bo", value: {} });
    const { page, visit } = await open(url);
    await visit("#/store/people?key=bo");
    await page.getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await page.locator("[data-list] a").waitFor();
    await toContent(page);
    await page.route("**/assistants/search", (route) => route.abort(), { times: 1 });
    await visit("#/graphs");
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await page.getByRole("link", { name: "steps" }).waitFor();
    await toContent(page);
  });

  it("stays on a subgraph that is folded and unfolded", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/graphs/subgraph");
    const box = page.getByRole("button", { name: /^Subgraph / }).first();
    const folded = page.getByRole("button", { expanded: false }).and(page.locator("g"));
    await box.press("Enter");
    await folded.first().waitFor();
    const isExpanded = () => page.evaluate("document.activeElement.getAttribute('aria-expanded')");
    await expect.poll(isExpanded).toBe("false");
    await page.keyboard.press("Enter");
    await box.waitFor();
    await expect.poll(isExpanded).toBe("true");
  });

  it("is visible on a node of every status", async () => {
    const { service, url } = server();
    const input = { messages: [{ role: "user", content: "two and three" }] };
    const ran = await ranThread(service, "agent", input);
    const asks = await ranThread(service, "hitl", { topic: "tea" });
    const failed = await ranThread(service, "fails", input);
    const { page, visit } = await open(url);
    const borders = new Set<string>();
    for (const [id, mark] of [
      [asks, "asks"],
      [failed, "failed"],
      [ran, "ran"],
    ] as const) {
      await visit(`#/run/${id}`);
      const node = page.locator(`.graph-node.is-${mark} .node-body`).first();
      await node.waitFor();
      await page.keyboard.press("Tab");
      await node.focus();
      borders.add(await page.evaluate<string>(BORDER));
    }
    expect([...borders]).toEqual([expect.stringMatching(/^2.5px /)]);
  });

  it("returns to the button of a menu that Escape closes", async () => {
    const { service, url } = server();
    await ranThread(service, "steps", { n: 9 });
    const { page, visit } = await open(url);
    await visit("#/threads");
    const menu = page.locator("details.columns");
    await menu.locator("summary").press("ArrowDown");
    await expect.poll(() => page.evaluate("document.activeElement.type")).toBe("checkbox");
    await page.keyboard.press("Escape");
    await expect.poll(() => menu.getAttribute("open")).toBe(null);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Columns");
    await menu.locator("summary").press("Enter");
    await page.getByRole("heading", { level: 1 }).click();
    await expect.poll(() => menu.getAttribute("open")).toBe(null);
  });

  it("returns to the button of a dialog that Escape or a press outside closes, unless it is a form", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/threads");
    const dialog = page.getByRole("dialog");
    const outside = () => page.mouse.click(5, 790);
    for (const [name, close] of [
      ["Shortcuts (?)", () => page.keyboard.press("Escape")],
      ["Shortcuts (?)", outside],
      ["Search, commands Ctrl K", outside],
    ] as const) {
      const opener = page.getByRole("button", { name, exact: true });
      await opener.press("Enter");
      await dialog.waitFor();
      await close();
      await dialog.waitFor({ state: "detached" });
      expect(await opener.and(page.locator(":focus")).count()).toBe(1);
    }
    await page.getByRole("button", { name: "API key" }).press("Enter");
    await page.keyboard.type("half a key");
    await outside();
    expect(await dialog.getByLabel("API key").inputValue()).toBe("half a key");
  });

  it("returns to the node, the button or the link that opened what Escape closes", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit } = await open(url);
    const name = () =>
      page.evaluate<string>(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
      );
    await visit(`#/run/${id}`);
    for (const close of [
      () => page.keyboard.press("Escape"),
      () => page.locator(".node-panel").getByRole("button", { name: "Close" }).press("Enter"),
    ]) {
      await page.getByRole("button", { name: /^model_request .*ran$/ }).press("Enter");
      await expect.poll(name).toBe("Node model_request");
      await close();
      await expect.poll(name).toMatch(/^model_request .*ran$/);
    }
    await visit(`#/threads/${id}`);
    await page.getByRole("link", { name: "Fork" }).press("Enter");
    await expect.poll(name).toBe("Fork");
    expect(await page.evaluate("document.activeElement.className")).toBe("fork");
    await page.keyboard.press("Escape");
    await expect.poll(name).toBe("Fork (f)");
    await page.getByRole("listbox", { name: "Steps" }).focus();
    await page.keyboard.press("f");
    await expect.poll(name).toBe("Fork");
    await page.keyboard.press("Escape");
    await expect.poll(name).toBe("Steps");
    await page.getByRole("button", { name: "Find step" }).press("Enter");
    await expect.poll(() => focused(page)).toBe("condition");
    await page.keyboard.press("Escape");
    await expect.poll(name).toBe("Find step");
    expect(await page.locator(".step-finder").count()).toBe(0);
  });

  it("scrolls a panel with the arrow keys, and moves between tabs and widths with Home and End", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=raw`);
    const panel = page.getByRole("tabpanel");
    await panel.getByText('"values"').waitFor();
    await panel.press("ArrowDown");
    await expect.poll(() => page.evaluate("document.getElementById('panel').scrollTop")).toBeGreaterThan(0);
    expect(page.url()).not.toContain("/at/");
    const selected = page.getByRole("tablist").first().getByRole("tab", { selected: true });
    await selected.press("Home");
    await expect.poll(() => selected.textContent()).toBe("Changes");
    await selected.press("End");
    await expect.poll(() => selected.textContent()).toBe("Run");
    const border = page.getByRole("separator", { name: "Width of the steps" });
    for (const [key, limit] of [
      ["End", "aria-valuemax"],
      ["Home", "aria-valuemin"],
    ] as const) {
      await border.press(key);
      await expect.poll(() => border.getAttribute("aria-valuenow")).toBe(await border.getAttribute(limit));
    }
  });

  it("stays in a field, in a selection, and on the first page of a deep link", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    const steps = page.getByRole("listbox", { name: "Steps" });
    await steps.getByRole("option").first().waitFor();
    expect(await focused(page)).toBe("body");
    await steps.focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.url()).toContain("/at/");
    expect(await focused(page)).toBe("steps");
    await visit("#/run?graph=agent");
    const message = page.getByRole("textbox", { name: "Message to the graph" });
    await message.fill("two and three");
    await message.press("Enter");
    await page.getByText("The sum is 5").waitFor();
    await expect.poll(() => page.url()).toMatch(/#\/run\/[\w-]+/);
    expect(await focused(page)).toBe("message");
  });
});
