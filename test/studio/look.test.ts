/** Viewing threads, their steps and their states. */
import { HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { MessagesAnnotation, REMOVE_ALL_MESSAGES, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { expectCopied, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const stepsOf = (page: Page, which: Parameters<Page["getByRole"]>[1] = {}) =>
  page.getByRole("listbox", { name: "Steps" }).getByRole("option", which);
const ask = (content: string) => ({ messages: [{ role: "user", content }] });

/** Stores its messages again, under new ids. */
const renamed = new StateGraph(MessagesAnnotation)
  .addNode("rename", ({ messages }) => ({
    messages: [
      new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
      ...messages.map(({ text }, index) => new HumanMessage({ id: `new-${index}`, content: text })),
      new HumanMessage({ id: "more", content: "four" }),
    ],
  }))
  .addEdge(START, "rename")
  .compile();

const parallel = new StateGraph(MessagesAnnotation)
  .addNode("stopped", (_, { signal }) => {
    return new Promise<object>((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  })
  .addNode("broken", () => {
    throw new Error("kaboom");
  })
  .addEdge(START, "stopped")
  .addEdge(START, "broken")
  .compile();

const wordy = new StateGraph(MessagesAnnotation)
  .addNode("call", () => {
    throw new Error(`You exceeded your quota. ${"See the documentation. ".repeat(20)}`);
  })
  .addEdge(START, "call")
  .compile();

describeWithChromium("the list of threads", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, hitl, fail, wordy }, settings: { list_all_assistants: true } });

  it("shows the last message, status and graph of each thread, and applies filters", async () => {
    const { service, url } = server();
    await ranThread(service, "agent", ask("two and three"), { user: "ada" });
    await ranThread(service, "hitl", { topic: "tea" }, { user: "bo" });
    await ranThread(service, "fail", {}, { user: "bo" }).catch(() => undefined);
    const { page, visit } = await open(url);
    await visit("#/threads");
    const rows = page.locator("[data-list] tbody tr");
    await expect.poll(() => rows.count()).toBe(3);
    await expect
      .poll(() => rows.filter({ hasText: "ai: The sum is 5" }).textContent())
      .toMatch(/agent.*idle/);
    await page.getByRole("link", { name: "interrupted 1" }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(page.url()).toContain("#/threads?status=interrupted");
    await page.reload();
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining("hitl")]);
    await page.getByRole("link", { name: /^all/ }).click();
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByLabel("Metadata").fill("user=bo");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel("Metadata").fill("user=nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No matching threads").waitFor();
    expect(await page.getByText("No threads yet").count()).toBe(0);
    await page.getByLabel("Metadata").fill("user=bo");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel("Search", { exact: true }).fill("FAIL");
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringMatching(/kaboom.*fail.*error/)]);
    await page.getByLabel("Metadata").fill("nonsense");
    await page.keyboard.press("Enter");
    await page.getByText("Use key=value").waitFor();
  });

  it("shows the id of a thread without messages beside a long error", async () => {
    const { service, url } = server();
    await ranThread(service, "wordy", {}).catch(() => undefined);
    const { page, visit } = await open(url);
    await visit("#/threads");
    const title = page.locator("[data-list] tr", { hasText: "exceeded your quota" }).locator(".row-title");
    await expect.poll(() => title.textContent()).toMatch(/^no messages [\da-f-]{13}$/);
    const id = await title.locator("code").boundingBox();
    const shown = await title.boundingBox();
    expect((id?.x ?? 0) + (id?.width ?? 0)).toBeLessThanOrEqual(
      Math.ceil((shown?.x ?? 0) + (shown?.width ?? 0)),
    );
  });

  it("loads more threads when its end is scrolled into view", async () => {
    const { service, url } = server();
    const before = await service.threads.count({});
    await Promise.all(Array.from({ length: 60 }, () => service.threads.create({})));
    const { page, visit } = await open(url);
    await visit("#/threads");
    const rows = page.locator("[data-list] tbody tr");
    await expect.poll(() => rows.count()).toBe(50);
    await page.mouse.wheel(0, 20_000);
    await expect.poll(() => rows.count()).toBe(60 + before);
    await page.getByText("End of the list.").waitFor();
  });
});

describeWithChromium("an empty list of threads", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent } });

  it("shows the command that creates a thread, as does a thread without runs", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/threads");
    await page.getByText('graph-serve run --message "hello"').waitFor();
    const { thread_id } = await service.threads.create({});
    await visit(`#/threads/${thread_id}`);
    await page.getByText(`graph-serve run --thread ${thread_id}`).waitFor();
    await visit("#/threads/0197");
    await page.getByText('"0197" is not a complete thread id').waitFor();
    await page.getByRole("link", { name: "Find threads whose id contains 0197" }).click();
    await expect.poll(() => page.url()).toMatch(/#\/threads\?q=0197$/);
    await visit("#/threads/0197f0a0-0000-7000-8000-000000000001");
    await page.getByRole("alert").filter({ hasText: "not found" }).waitFor();
    await visit("#/nowhere");
    await page.getByText("Page not found").waitFor();
  });

  it("uses the color scheme of the system, or the chosen one after a reload", async () => {
    const { page, visit } = await open(server().url, { scheme: "dark" });
    await visit("#/threads");
    const ink = () => page.evaluate<string>("getComputedStyle(document.body).color");
    const dark = await ink();
    await page.getByLabel("Theme").selectOption("light");
    await expect.poll(ink).not.toBe(dark);
    const light = await ink();
    await page.reload();
    await page.getByLabel("Theme").waitFor();
    expect(await ink()).toBe(light);
    await page.getByLabel("Theme").selectOption("system");
    await expect.poll(ink).toBe(dark);
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(ink).toBe(light);
  });
});

describeWithChromium("the thread page", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, hitl, fail, steps, subgraph, gate, parallel, renamed },
    settings: { list_all_assistants: true },
  });

  it("is navigable by keyboard from the list to a step's state, and the URL reflects the location", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await visit("#/threads");
    await page.getByText("ai: The sum is 5").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await stepsOf(page).first().waitFor();
    expect(page.url()).toContain(`#/threads/${id}`);
    expect((await stepsOf(page).allTextContents()).map((text) => text.replace(/\d+ ms$/, ""))).toEqual([
      "3model_request+1 AI message",
      "2tools+1 tool result",
      "1model_request+1 AI message, 1 tool call",
      "0start+1 human message",
      "-1input",
    ]);
    await page.getByText("by model_request").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.getByText("by tools").waitFor();
    expect(await stepsOf(page, { selected: true }).textContent()).toContain("tools");
    await expect
      .poll(() => page.locator(".change").allTextContents())
      .toEqual([expect.stringMatching(/added.*\[2\].*tool.*add.*5/)]);
    await page.keyboard.press("2");
    await page.getByRole("treeitem", { name: /messages/ }).waitFor();
    await expect.poll(() => page.url()).toMatch(/\/at\/[\w-]+\?tab=state$/);
    const address = page.url();
    await page.reload();
    await page.getByRole("treeitem", { name: /tool: 5/ }).waitFor();
    expect(page.url()).toBe(address);
    await page.keyboard.press("/");
    await page.keyboard.type("call_add");
    await page.getByText(/^\d matches$/).waitFor();
    await page.keyboard.press("Enter");
    const chosen = page.getByLabel("Selected value");
    await chosen.getByText("messages[1].tool_calls[0].id").waitFor();
    await expectCopied(chosen, "Copy path", /^messages\[1\]\.tool_calls\[0\]\.id$/);
    await expectCopied(chosen, "Copy value", /^call_add$/);
    await page.reload();
    await chosen.getByText("messages[1].tool_calls[0].id").waitFor();
    expect(await page.getByRole("treeitem", { selected: true }).textContent()).toContain("call_add");
    await page.locator("h1").click();
    for (const key of ["g", "t"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: "Threads" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("next thread or step").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  it("selects the value of the address in the state, also when only that changes", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    const at = (path: string) => `#/threads/${id}?tab=state&path=${encodeURIComponent(path)}`;
    const chosen = page.getByRole("treeitem", { selected: true });
    await visit(at('["messages",0,"content"]'));
    await expect.poll(() => chosen.textContent()).toContain("two and three");
    await visit(at('["messages",3,"content"]'));
    await expect.poll(() => chosen.textContent()).toContain("The sum is 5");
    await page.goBack();
    await expect.poll(() => chosen.textContent()).toContain("two and three");
  });

  it("renders messages as Markdown in Changes and Messages, but results of tools as they are", async () => {
    const { service, url } = server();
    const id = await ranThread(
      service,
      "agent",
      ask("**two**\n\n- [three](javascript:alert(1)) <b>four</b>"),
    );
    const result = { role: "tool", content: "**5**", tool_call_id: "other" };
    await service.state.update(id, { values: { messages: [result] }, as_node: "tools" });
    const first = (await service.state.history(id, { limit: 100 })).at(-2)?.checkpoint?.checkpoint_id ?? "";
    const { page, visit } = await open(url);
    for (const place of [`${id}?tab=messages`, `${id}/at/${first}`]) {
      await visit(`#/threads/${place}`);
      const human = page.locator(".message.is-human");
      await human.locator("strong").getByText("two", { exact: true }).waitFor();
      expect(await human.locator("li").textContent()).toBe("three <b>four</b>");
      expect(await human.locator("a, b").count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
    }
    await visit(`#/threads/${id}`);
    await page.locator(".message.is-tool").getByText("**5**", { exact: true }).waitFor();
  });

  it("shows messages in the direction of their script, and code from left to right", async () => {
    const { service, url } = server();
    const text = "ما هو الطقس `اليوم` في Paris؟\n\n- بند\n\n```\nconst a = 1;\n```\n\nIn English: مرحبا";
    const id = await ranThread(service, "agent", ask(text));
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    const words = page.locator(".chat .markdown").first();
    await words.locator("li").waitFor();
    const directions = await page.evaluate<string[]>(
      `[...document.querySelector(".chat .markdown").querySelectorAll("p, ul, pre")]
        .map((each) => getComputedStyle(each).direction)`,
    );
    expect(directions).toEqual(["rtl", "rtl", "ltr", "ltr"]);
  });

  it("matches messages by their content in the changes if they got new ids", async () => {
    const { service, url } = server();
    const messages = ["one", "two", "three"].map((content, index) => ({
      role: "user",
      content,
      id: `${index}`,
    }));
    const id = await ranThread(service, "renamed", { messages });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    await page.getByText("by rename").waitFor();
    await expect
      .poll(() => page.locator(".change.is-add").allTextContents())
      .toEqual([expect.stringMatching(/\[3\].*four/)]);
    await expect
      .poll(() => page.locator(".change.is-replace").allTextContents())
      .toEqual([0, 1, 2].map((at) => expect.stringContaining(`[${at}].id`) as string));
    expect(await page.locator(".change.is-remove").count()).toBe(0);
  });

  it("marks the removed and added words of a long text, also for screen readers", async () => {
    const { service, url } = server();
    const filler = Array.from({ length: 500 }, (_, index) => `Clause ${index} stays.`).join(" ");
    const before = `The customer pays within 30 days. ${filler} Sign here.`;
    const after = `The customer pays within 45 working days. ${filler} Sign below.`;
    const id = await ranThread(service, "agent", { messages: [{ role: "user", id: "m", content: before }] });
    const replace = (content: string) =>
      service.state.update(id, {
        values: { messages: [{ role: "user", id: "m", content }] },
        as_node: "tools",
      });
    await replace(after);
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    const marks = page.locator(".changed-text :is(del, ins)");
    await marks.first().waitFor();
    const read = ["[removed: 30]", "[added: 45 working]", "[removed: here]", "[added: below]"];
    await expect.poll(() => marks.allTextContents()).toEqual(read);
    // Readable without color.
    const line = "getComputedStyle(document.querySelector('.changed-text del')).textDecorationLine";
    expect(await page.evaluate(line)).toBe("line-through");
    expect(await violationsOf(page)).toEqual([]);
    const shown = () => page.locator(".changed-text").innerText();
    expect((await shown()).length).toBeLessThan(2000);
    await page.getByRole("button", { name: /^Show all \d+,\d+ characters$/ }).click();
    await expect.poll(shown).toContain("Clause 250 stays.");
    const other = Array.from({ length: 80 }, (_, index) => `entirely${index}`).join("-");
    await replace(other);
    await page.locator(".before-after").getByText(other).waitFor();
    await expect.poll(() => marks.count()).toBe(0);
  });

  it("marks what is selected in high-contrast modes, which replace backgrounds", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await page.emulateMedia({ forcedColors: "active" });
    await visit(`#/threads/${id}`);
    await stepsOf(page).first().waitFor();
    const groundOf = (selector: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`,
      );
    for (const [each, chosen] of [
      ["[role=option]", "[aria-selected=true]"],
      [".views a", "[aria-current]"],
      [".tabs button", "[aria-selected=true]"],
    ] as const)
      expect(await groundOf(each + chosen)).not.toBe(await groundOf(`${each}:not(${chosen})`));
  });

  it("shows the writes, interrupts and errors of each task", async () => {
    const { service, url } = server();
    const waits = await ranThread(service, "hitl", { topic: "tea" });
    const failed = await ranThread(service, "fail", {}).catch(() => undefined);
    const { page, visit } = await open(url);
    await visit(`#/threads/${waits}?tab=tasks`);
    await page.locator(".task", { hasText: "plan" }).getByText("planned").waitFor();
    await page.locator(".task", { hasText: "ask" }).getByText("Approve?").waitFor();
    await expect.poll(() => stepsOf(page).first().textContent()).toMatch(/next: ask.*waiting/);
    const [thread] = await service.threads.search({ status: "error" }).then(({ items }) => items);
    await visit(`#/threads/${failed ?? thread?.thread_id}?tab=tasks`);
    await page
      .locator(".task")
      .getByText(/kaboom/)
      .waitFor();
    await expect.poll(() => page.locator("[data-failed]").textContent()).toMatch(/bad failed/);
    // The conversation shows the error although no page streamed that run.
    await page.getByRole("link", { name: "Conversation" }).click();
    await page.getByRole("alert").getByText("kaboom").waitFor();
    await page.locator(".scene").getByText("failed", { exact: true }).waitFor();
  });

  it("names the node that failed, without those that were stopped because of it", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "parallel", input: ask("hello") });
    const { page, visit } = await open(url);
    await visit(`#/threads/${thread_id}`);
    await expect.poll(() => page.locator("[data-failed]").innerText()).toMatch(/^\W*broken failed$/);
  });

  it("shows the steps of a subgraph", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "subgraph", ask("hello"));
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=tasks`);
    await stepsOf(page, { name: /child/ }).click();
    await page.getByRole("link", { name: "Open its steps" }).click();
    await stepsOf(page, { name: /inner_model/ }).waitFor();
    await page.getByText("Inside child").waitFor();
    await stepsOf(page, { name: /leaf/ }).click();
    await page.keyboard.press("3");
    await page.getByText("leaf was here").waitFor();
    await page.getByRole("link", { name: "the whole graph" }).click();
    await stepsOf(page, { name: /close/ }).waitFor();
  });

  it("follows the newest step until another is selected, then shows the number of new steps", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    const first = stepsOf(page).first();
    const chosen = stepsOf(page, { selected: true });
    await expect.poll(() => chosen.textContent()).toContain("step");
    const before = await stepsOf(page).count();
    await service.runs.create(id, { assistant_id: "steps", input: { n: 9 } });
    await expect.poll(() => stepsOf(page).count()).toBeGreaterThan(before);
    await expect.poll(() => first.getAttribute("aria-selected")).toBe("true");
    await stepsOf(page).nth(1).click();
    await page.getByRole("button", { name: "Newest" }).waitFor();
    await service.runs.create(id, { assistant_id: "steps", input: { n: 9 } });
    await page.getByRole("button", { name: "3 new" }).waitFor();
    expect(await first.getAttribute("aria-selected")).toBe("false");
    await page.keyboard.press("n");
    await expect.poll(() => first.getAttribute("aria-selected")).toBe("true");
  });

  it("updates while another client runs the thread", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const name = `studio-${thread_id}`;
    const run = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    await visit(`#/threads/${thread_id}`);
    await page.getByText("busy").waitFor();
    gateOf(name).open();
    await run;
    await page.locator(".thread-head").getByText("idle").waitFor();
  });

  it("displays a large state with few DOM elements", { timeout: 240_000 }, async () => {
    const { service, url } = server();
    const long = { messages: [{ role: "user", content: "x".repeat(30_000) }] };
    const id = await ranThread(service, "agent", long, {});
    const items = Array.from({ length: 10_000 }, (_, index) => ({ role: "user", content: `item ${index}` }));
    await service.state.update(id, { values: { messages: items }, as_node: "tools" });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?tab=state`);
    const tree = page.getByRole("tree");
    await tree.waitFor();
    await tree.getByText("messages").click();
    await page.keyboard.press("End");
    await page.getByRole("treeitem", { name: /item 9999/ }).waitFor();
    expect(await page.locator("#app *").count()).toBeLessThan(400);
    await visit(`#/threads/${id}?tab=messages`);
    await page.getByRole("button", { name: "9904 earlier" }).click();
    await expect.poll(() => page.locator(".message").count()).toBe(200);
    const first = (await service.state.history(id, { limit: 100 })).at(-2)?.checkpoint?.checkpoint_id ?? "";
    await visit(`#/threads/${id}/at/${first}`);
    await page.getByRole("button", { name: "Show all 30,000 characters" }).click();
    await expect.poll(async () => (await page.locator(".change .markdown").innerText()).length).toBe(30_000);
  });
});

describeWithChromium("the graph page", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, hitl }, settings: { list_all_assistants: true } });

  it("shows the drawing and the schemas from the server", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/graphs");
    await page.getByRole("link", { name: /agent/ }).click();
    await page.getByRole("region", { name: "Graph agent" }).waitFor();
    const nodes = page.locator(".graph-node text");
    await expect.poll(() => nodes.allTextContents()).toEqual(["start", "model_request", "tools", "end"]);
    await expect.poll(() => page.locator(".edge.is-conditional").count()).toBeGreaterThan(0);
    await page.getByText("Dashed lines are").waitFor();
    await page.getByText("input", { exact: true }).click();
    await page.locator("details[open]").getByText('"messages"').waitFor();
    await visit("#/graphs/hitl");
    await page.getByRole("region", { name: "Graph hitl" }).waitFor();
    await expect.poll(() => page.getByText("Dashed lines are").count()).toBe(0);
  });

  it("says so if the schemas cannot be read, and reads them again", async () => {
    const { page, visit } = await open(server().url);
    await page.route("**/schemas", (route) => route.fulfill({ status: 500, json: { detail: "broken" } }));
    await visit("#/graphs/agent");
    await page.getByRole("region", { name: "Graph agent" }).waitFor();
    const failed = page.getByRole("alert");
    await failed.getByText("broken").waitFor();
    await page.unroute("**/schemas");
    await failed.getByRole("button", { name: "Try again" }).click();
    await page.getByText("input", { exact: true }).waitFor();
    expect(await failed.count()).toBe(0);
  });
});
