/** The inbox while threads change, and forms whose question or thread changes. */
import { Annotation, interrupt, MessagesAnnotation, START, Send, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { heldResponse, ranThread, useBrowser, useServer } from "./open.js";

const State = Annotation.Root({ answers: Annotation<unknown> });

/** Asks twice in one node: LangGraph gives both questions the same id. */
const twice = new StateGraph(State)
  .addNode("ask", () => {
    const size: unknown = interrupt({ question: "Which size?", options: ["small", "large"] });
    return { answers: [size, interrupt("Which color?")] };
  })
  .addEdge(START, "ask")
  .compile({ name: "twice" });

const rowsOf = (page: Page) => page.locator(".inbox-row");
const asker = (page: Page) => page.locator(".asker");
const field = (page: Page) => asker(page).getByLabel("Answer", { exact: true });

/** Starts 50 tasks of one node. */
const sends = new StateGraph(State)
  .addNode("plan", () => ({}))
  .addNode("work", () => ({ answers: 1 }))
  .addEdge(START, "plan")
  .addConditionalEdges("plan", () => Array.from({ length: 50 }, () => new Send("work", {})), ["work"])
  .compile({ name: "sends" });

const asks = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => ({ messages: [String(interrupt("Approve?"))] }))
  .addEdge(START, "ask")
  .compile({ name: "asks" });

describeWithChromium("the inbox", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, asks, hitl, sends, twice },
    settings: { list_all_assistants: true },
  });
  const asked = (topic: string) => ranThread(server().service, "hitl", { topic }, { graph_id: "hitl" });

  it("keeps an answer that is being entered while threads arrive and its thread changes", async () => {
    const { service, url } = server();
    const id = await asked("tea");
    const { page, visit } = await open(url);
    await visit("#/inbox");
    await field(page).fill("half an answer");
    await asked("coffee");
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    expect(await asker(page).locator("code").first().textContent()).toBe(id.slice(0, 13));
    expect(await field(page).inputValue()).toBe("half an answer");
    const reread = page.waitForResponse(
      (response) => response.ok() && response.url().endsWith(`/${id}/state`),
    );
    await service.threads.update(id, { metadata: { seen: true } });
    await reread;
    await rowsOf(page)
      .first()
      .filter({ hasText: id.slice(0, 13) })
      .waitFor();
    expect(await field(page).inputValue()).toBe("half an answer");
    await asker(page).getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    // A row goes when the run of the answer starts.
    await expect
      .poll(async () => (await service.state.get(id)).values)
      .toMatchObject({ answer: "half an answer" });
  });

  it("shows the values that a question is about if there are no messages", async () => {
    const id = await asked("tea");
    const { page, visit } = await open(server().url);
    await visit(`#/inbox/${id}`);
    const values = asker(page).getByRole("tree", { name: "State" });
    await values.getByRole("treeitem", { name: 'topic "tea"' }).waitFor();
  });

  it("reads a question that could not be read again, once the browser is online or on request", async () => {
    const id = await asked("tea");
    const { page, visit } = await open(server().url);
    const state = `**/threads/${id}/state`;
    const fault = asker(page).getByText("The server is not reachable");
    await page.route(state, (route) => route.abort());
    await visit(`#/inbox/${id}`);
    await fault.waitFor();
    await page.unroute(state);
    await page.evaluate(`dispatchEvent(new Event("online"))`);
    await field(page).waitFor();
    expect(await fault.count()).toBe(0);
    await page.route(state, (route) => route.abort());
    await page.reload();
    await fault.waitFor();
    await page.unroute(state);
    await asker(page).getByRole("button", { name: "Try again" }).click();
    await field(page).waitFor();
  });

  it("shows the thread of the address, also one that is not in the list, and never another one", async () => {
    const { service, url } = server();
    const question = { messages: [{ role: "user", content: "two and three" }] };
    const idle = await ranThread(service, "agent", question);
    const waits = await asked("tea");
    const { page, visit } = await open(url);
    await visit(`#/inbox/${idle}`);
    await asker(page).getByText("This thread does not wait for an answer.").waitFor();
    await expect.poll(() => asker(page).locator("code").textContent()).toBe(idle.slice(0, 13));
    await visit("#/inbox/00000000-0000-4000-8000-000000000000");
    await asker(page)
      .getByText(/not found/)
      .waitFor();
    for (let count = 0; count < 50; count += 1) await asked(`${count}`);
    await visit(`#/inbox/${waits}`);
    await page.reload();
    await expect.poll(() => rowsOf(page).count()).toBe(50);
    await field(page).fill("yes");
    expect(await asker(page).locator("code").first().textContent()).toBe(waits.slice(0, 13));
    await service.runs.create(waits, { assistant_id: "hitl", command: { resume: "elsewhere" } });
    await asker(page).getByText("This thread does not wait for an answer.").waitFor();
  });

  it("keeps a thread that came while the list was loading", async () => {
    const { service, url } = server();
    const { page, visit, settled } = await open(url);
    const late = await heldResponse(page, "**/threads/search", "interrupted");
    await visit("#/inbox");
    await late.asked;
    const id = await asked("tea");
    const row = rowsOf(page).filter({ hasText: id.slice(0, 13) });
    await row.waitFor();
    late.release();
    await settled();
    expect(await row.count()).toBe(1);
    await service.threads.delete(id);
  });

  it("the next question of the same node gets a form of its own", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "twice", {});
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    await page.getByRole("radio", { name: "small" }).check();
    await service.runs.create(id, { assistant_id: "twice", command: { resume: "large" } });
    await page.getByText("Which color?").waitFor();
    await expect.poll(() => page.getByRole("radio").count()).toBe(0);
    const button = page.getByRole("button", { name: "Answer", exact: true });
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
  });

  it("a question answered elsewhere is not asked any more below the steps of its thread", async () => {
    const { service, url } = server();
    const id = await asked("tea");
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Approve?").first().waitFor();
    // A run would discard it.
    const field = page.getByRole("textbox", { name: "topic" });
    expect(await field.isVisible()).toBe(false);
    await page.getByText("Discard the question and send new input").click();
    await field.waitFor();
    await service.runs.create(id, { assistant_id: "hitl", command: { resume: "elsewhere" } });
    await page.getByRole("group", { name: "The graph asks" }).waitFor({ state: "detached" });
    await field.waitFor();
  });

  it("shows long titles in full width on phones", async () => {
    const { service, url } = server();
    const title = "Approve the refund of the Donaudampfschifffahrtsgesellschaft, order 4711";
    const id = await ranThread(service, "asks", { messages: [{ role: "user", content: title }] });
    const { page, visit } = await open(url, { width: 390 });
    await visit(`#/inbox/${id}`);
    const heading = asker(page).getByRole("heading", { name: title });
    await heading.waitFor();
    const [box, around] = [await heading.boundingBox(), await asker(page).boundingBox()];
    expect(box?.width).toBeGreaterThan((around?.width ?? 0) * 0.85);
  });

  it("selects no thread on phones until one is chosen", async () => {
    const { url } = server();
    const id = await asked("tea");
    const { page, visit } = await open(url, { width: 390 });
    const states: string[] = [];
    page.on("request", (request) => /\/state$/.test(request.url()) && states.push(request.url()));
    await visit("#/inbox");
    const row = rowsOf(page).filter({ hasText: id.slice(0, 13) });
    await row.waitFor();
    expect(await page.locator(".inbox-row[aria-current]").count()).toBe(0);
    expect(states).toEqual([]);
    await row.click();
    await field(page).waitFor();
    // The same page on a screen that is turned.
    await page.goBack();
    await row.waitFor();
    await page.setViewportSize({ width: 1000, height: 390 });
    await expect.poll(() => page.locator(".inbox-row[aria-current]").count()).toBe(1);
    await field(page).waitFor();
  });

  it("wraps a title without spaces inside its pane", async () => {
    const { service, url } = server();
    const title = "x".repeat(190);
    const id = await ranThread(service, "asks", { messages: [{ role: "user", content: title }] });
    for (const width of [1280, 390]) {
      const { page, visit } = await open(url, { width });
      await visit(`#/inbox/${id}`);
      await asker(page).getByRole("heading", { name: title }).waitFor();
      const isWithin = await page.evaluate<boolean>(
        `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector(".asker"))`,
      );
      expect(isWithin, `${width} pixels`).toBe(true);
    }
  });

  it("nodes before which a thread stopped are counted instead of repeated", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "sends", input: {}, interrupt_before: ["work"] });
    const { page, visit } = await open(url, { width: 390 });
    await visit(`#/run/${thread_id}`);
    await page.getByText("Stopped before work ×50", { exact: false }).waitFor();
  });

  it.each(["run", "threads"])("a thread deleted elsewhere is not shown any more at #/%s", async (screen) => {
    const { service, url } = server();
    const id = await asked("tea");
    const { page, visit } = await open(url);
    await visit(`#/${screen}/${id}`);
    await page.getByText("interrupted").first().waitFor();
    await service.threads.delete(id);
    await page
      .getByText(/not found/)
      .first()
      .waitFor();
    await expect.poll(() => page.getByText("Approve?").count()).toBe(0);
  });
});
