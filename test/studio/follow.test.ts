/** Following runs on the thread page, in many tabs, and with fast token streams. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { FakeModel } from "../fixtures/fake-model.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer } from "./open.js";

const TOKENS = 600;
const BURST = 200;
const burst = (count: number) => gateOf(`burst-${count}`);

/** Streams tokens as fast as they are read, in bursts that wait for a gate. */
class FastModel extends FakeModel {
  override async *_streamResponseChunks(
    _: BaseMessage[],
    { signal }: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (let count = 1; count <= TOKENS; count += 1) {
      const text = count % 20 === 0 ? `**${count}**\n\n` : `word ${count} `;
      const message = new AIMessageChunk({ content: text });
      const chunk = new ChatGenerationChunk({ text, message });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
      if (count % BURST === 0 && count < TOKENS) await burst(count).wait(signal, false);
    }
  }
}

const model = new FastModel();
const fast = new StateGraph(MessagesAnnotation)
  .addNode("write", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, "write")
  .addEdge("write", END)
  .compile({ name: "fast" });

const setVisibility = (page: Page, state: "visible" | "hidden") =>
  page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));`);
const stepsOf = (page: Page) => page.getByRole("listbox", { name: "Steps" }).getByRole("option");

describeWithChromium("the run of a thread", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, fail, fast, gate },
    settings: { list_all_assistants: true },
  });

  it("is started from the thread page, which shows its steps as they complete", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    await expect.poll(() => stepsOf(page).count()).toBe(5);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("again");
    await page.keyboard.press("Enter");
    await expect.poll(() => stepsOf(page).count()).toBe(10);
    await page.getByRole("button", { name: "Runs", exact: true }).click();
    await expect
      .poll(() => page.locator(".runs li").allTextContents())
      .toEqual([expect.stringContaining("done"), expect.stringContaining("done")]);
  });

  it("of another client is streamed without polling and can be cancelled", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const run = service.runs.create(thread_id, {
      assistant_id: "gate",
      input: { gate: `read-${thread_id}` },
    });
    await gateOf(`read-${thread_id}`).entered;
    const { page, visit } = await open(url);
    await page.clock.install();
    await visit(`#/threads/${thread_id}`);
    await page.getByText(/^\W*running/).waitFor();
    await expect.poll(() => stepsOf(page).count()).toBe(3);
    await page.getByRole("button", { name: "Runs", exact: true }).click();
    await page.getByRole("button", { name: "Cancel", exact: true }).waitFor();
    // Lists are reloaded once when the stream of changes begins.
    await page.clock.runFor(2000);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.clock.runFor(6500);
    expect(asked).toEqual([]);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await expect.poll(() => page.locator(".runs li").textContent()).toContain("stopped");
    await run;
  });

  it("lights the nodes whatever stream modes another client asked for", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const name = `modes-${thread_id}`;
    const body = JSON.stringify({ assistant_id: "gate", input: { gate: name }, stream_mode: "custom" });
    const run = fetch(`${url}/threads/${thread_id}/runs/stream`, { method: "POST", body });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    await visit(`#/run/${thread_id}`);
    const nodes = (state: string) => page.locator(`.graph-node.is-${state} title`).allTextContents();
    await expect.poll(() => nodes("running")).toEqual(["wait"]);
    await expect.poll(() => nodes("ran")).toEqual(["before"]);
    gateOf(name).open();
    await (await run).text();
    await expect.poll(() => nodes("ran")).toEqual(["before", "wait", "after"]);
  });

  it("is not shown as failed while a later run is in flight", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const name = `again-${thread_id}`;
    await service.runs.create(thread_id, { assistant_id: "fail", input: { x: 1 } }).catch(() => undefined);
    expect((await service.threads.get(thread_id)).status).toBe("error");
    const run = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    // Also before the page has loaded the id of that run.
    let goOn = () => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route(/select=run_id&select=status/, async (route) => {
      await held;
      await route.continue();
    });
    await visit(`#/run/${thread_id}`);
    await page.getByText(`before ${name}`).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await page.locator(".scene").getByText("failed").count()).toBe(0);
    goOn();
    await page.getByText(/^\W*running/).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    gateOf(name).open();
    await run;
    await page.getByText(/^done/).waitFor();
  });

  it("is streamed to its end in eight tabs, and hidden tabs hold no connection", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const name = `eight-${thread_id}`;
    const run = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    // Tabs of one browser context share its connections.
    const window = await (await open(url)).page.context().browser()?.newContext();
    const pages: Page[] = [];
    for (let tab = 1; tab <= 8; tab += 1) {
      if (pages.length > 0) await setVisibility(pages.at(-1) as Page, "hidden");
      const page = (await window?.newPage()) as Page;
      await page.goto(`${url}/studio/#/run/${thread_id}`);
      await page.getByText(/^\W*running/).waitFor();
      pages.push(page);
    }
    gateOf(name).open();
    await run;
    for (const page of pages) {
      await setVisibility(page, "visible");
      await page.getByText(/^done/).waitFor();
      await page.getByText(`after ${name}`).waitFor();
      // A window shows one of its tabs at a time.
      await setVisibility(page, "hidden");
    }
    await window?.close();
  });

  it("is rendered at most once per frame at any token rate", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=fast");
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("go");
    await page.evaluate(`globalThis.seen = { frames: 0, paints: 0 };
      (function frame() { seen.frames += 1; requestAnimationFrame(frame); })();
      let last = -1;
      new MutationObserver(() => {
        if (last !== seen.frames) { last = seen.frames; seen.paints += 1; }
        else seen.again = (seen.again ?? 0) + 1;
      }).observe(document.querySelector("main"), { childList: true, characterData: true, subtree: true });`);
    await page.keyboard.press("Enter");
    for (let count = BURST; count < TOKENS; count += BURST) {
      await burst(count).entered;
      await page.locator(".said strong", { hasText: String(count - 20) }).waitFor();
      burst(count).open();
    }
    await page.locator(".said strong", { hasText: String(TOKENS) }).waitFor({ timeout: 60_000 });
    const { paints, again = 0 } = await page.evaluate<{ paints: number; again?: number }>("seen");
    expect(paints).toBeGreaterThanOrEqual(TOKENS / BURST);
    // Rendering each token would change the page 600 times.
    expect(again).toBeLessThan(TOKENS / 4);
  });
});
