/** Running graphs in the Studio, and following runs of other clients. */
import { AIMessageChunk } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { FakeModel } from "../fixtures/fake-model.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as custom } from "../fixtures/graphs/custom.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as zod } from "../fixtures/graphs/schemas-zod.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { gatedChat, GatedModel } from "./gated-model.js";
import { expectCopied, fillJson, held, jsonIn, ranThread, useBrowser, useServer } from "./open.js";

const box = (page: Page) => page.getByRole("textbox", { name: "Message to the graph" });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const said = (page: Page) => page.locator(".said");
const nodesThat = (page: Page, state: string) =>
  page.locator(`.graph-node.is-${state} title`).allTextContents();

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
}

const threadOf = (page: Page): string => /#\/run\/([\w-]+)/.exec(page.url())?.[1] ?? "";

const LONG = "kundenbeschwerdebearbeitungsassistent-mit-einem-sehr-langen-namen";

/** An agent whose tool fails. */
const failing = createAgent({
  model: new FakeModel((messages) => {
    if (messages.at(-1)?.type === "tool") return "There is no such city.";
    const call = {
      name: "weather",
      args: { city: "Atlantis" },
      id: "call_weather",
      type: "tool_call" as const,
    };
    return { text: "", toolCalls: [call] };
  }),
  tools: [
    tool(
      () => {
        throw new Error("no such city");
      },
      { name: "weather", description: "Returns the weather.", schema: z.object({ city: z.string() }) },
    ),
  ],
});

/** Calls a tool and pauses at a gate in the middle of its answer. */
const slowly = createAgent({
  model: new GatedModel((messages) => {
    const last = messages.at(-1);
    if (last?.type === "tool") return "words of an answer that take their time";
    const call = { name: "look", args: { gate: last?.text }, id: "call_look", type: "tool_call" as const };
    return { text: "", toolCalls: [call] };
  }),
  tools: [
    tool(({ gate }: { gate: string }) => `gate ${gate}`, {
      name: "look",
      description: "Looks.",
      schema: z.object({ gate: z.string() }),
    }),
  ],
});

/** Makes two tool calls at once, in one task. */
const both = createAgent({
  model: new FakeModel((messages) => {
    if (messages.at(-1)?.type === "tool") return "Both have looked.";
    const call = (to: string) => {
      const id = `call_${to}_${messages.length}`;
      return { name: "look", args: { to }, id, type: "tool_call" as const };
    };
    return { text: "", toolCalls: [call("left"), call("right")] };
  }),
  tools: [
    tool(({ to }: { to: string }) => `seen ${to}`, {
      name: "look",
      description: "Looks.",
      schema: z.object({ to: z.string() }),
    }),
  ],
  version: "v1",
});

/** Streams a reasoning block before its answer. */
const thinking = new StateGraph(MessagesAnnotation)
  .addNode("think", () => ({
    messages: [
      new AIMessageChunk({
        content: [
          { type: "thinking", thinking: "What is meant by that?" },
          { type: "text", text: "Nothing." },
        ],
      }),
    ],
  }))
  .addEdge(START, "think")
  .compile({ name: "thinking" });

describeWithChromium("running a graph", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: {
      agent,
      both,
      chat: gatedChat,
      custom,
      failing,
      gate,
      hitl,
      slowly,
      subgraph,
      thinking,
      zod,
      [LONG]: agent,
    },
    settings: { list_all_assistants: true },
  });

  it.each([1280, 390])("a long thread is scrolled to its end at a width of %i pixels", async (width) => {
    const { service, url } = server();
    const messages = Array.from({ length: 40 }, (_, index) => ({ role: "user", content: `number ${index}` }));
    const id = await ranThread(service, "agent", { messages });
    const { page, visit } = await open(url, { width });
    await visit(`#/run/${id}`);
    await page.getByText("The sum is 5").waitFor();
    const newest = said(page).last();
    const composer = page.locator(".composer");
    const isInSight = async () => {
      const [last, below] = [await newest.boundingBox(), await composer.boundingBox()];
      return last !== null && below !== null && last.y > 0 && last.y + last.height <= below.y;
    };
    await expect.poll(isInSight).toBe(true);
    // A reader who has scrolled up keeps the scroll position when new messages arrive.
    await page.getByText("number 20").hover();
    await page.mouse.wheel(0, -2000);
    await page.getByText("number 3", { exact: true }).hover();
    await service.runs.create(id, {
      assistant_id: "agent",
      input: { messages: [{ role: "user", content: "new" }] },
    });
    await expect.poll(() => said(page).count()).toBeGreaterThan(43);
    expect(await isInSight()).toBe(false);
  });

  it("fits a narrow screen with long graph names, and selects the graph from the URL", async () => {
    const { page, visit } = await open(server().url, { width: 320 });
    for (const graph of [LONG, "hitl", LONG]) {
      await visit(`#/run?graph=${graph}`);
      await expect.poll(() => page.locator(".picker select").inputValue()).toBe(graph);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    }
  });

  it("creates a thread with the first message, and shows tool calls with their results", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("");
    await say(page, "two and three");
    await page.getByText("The sum is 5").waitFor();
    await page.getByText("done · ").waitFor();
    const id = threadOf(page);
    expect((await service.threads.get(id)).metadata).toMatchObject({ graph_id: "agent" });
    const card = page.getByRole("region", { name: "calls add" });
    await expect
      .poll(() => card.innerText())
      .toMatch(/add\s+done\s+[\d.]+ m?s\s+arguments\s+\{\s+"a": 2,\s+"b": 3\s+\}\s+result\s+5$/);
    // The result of the tool is shown only in its card.
    await expect.poll(() => said(page).count()).toBe(3);
    await expect.poll(() => nodesThat(page, "ran")).toEqual(["model_request", "tools"]);
    await expect.poll(() => page.locator(".edge.is-taken").count()).toBe(4);
    await say(page, "and again");
    await expect.poll(() => said(page).count()).toBe(6);
    expect(threadOf(page)).toBe(id);
    await box(page).press("ArrowUp");
    await expect.poll(() => box(page).inputValue()).toBe("and again");
    await page.getByRole("link", { name: "Steps" }).click();
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
  });

  it("shows the duration of a tool call while the run is in flight", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=slowly");
    await say(page, "slow");
    await gateOf("slow").entered;
    const card = page.getByRole("region", { name: "calls look" });
    await expect.poll(() => card.innerText()).toMatch(/look\s+done\s+[\d.]+ m?s\s/);
    await page.getByText(/^\W*running/).waitFor();
    gateOf("slow").open();
    await page.getByText("take their time").waitFor();
  });

  it("shows the duration of each of several tool calls in one task", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=both");
    await say(page, "look");
    await page.getByText("Both have looked.").waitFor();
    const cards = page.getByRole("region", { name: "calls look" });
    const areTimed = async () => {
      for (const [index, side] of ["left", "right"].entries())
        await expect
          .poll(() => cards.nth(index).innerText())
          .toMatch(new RegExp(`look\\s+done\\s+[\\d.]+ m?s\\s[^]*seen ${side}`));
    };
    await areTimed();
    // The durations are also shown after a reload, and for earlier runs.
    await page.reload();
    await areTimed();
    await say(page, "look again");
    await expect.poll(() => cards.count()).toBe(4);
    await areTimed();
  });

  it("shows a failed tool call with its error", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=failing");
    await say(page, "weather?");
    const card = page.getByRole("region", { name: "calls weather" });
    await card.getByText("failed").waitFor();
    await expect.poll(() => card.innerText()).toMatch(/Atlantis[^]*error[^]*no such city/);
  });

  it("collapses the reasoning of a model", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=thinking");
    await say(page, "well?");
    await page.getByText("Nothing.").waitFor();
    expect(await page.getByText("What is meant by that?").isVisible()).toBe(false);
    await page.getByText("Reasoning").click();
    expect(await page.getByText("What is meant by that?").isVisible()).toBe(true);
  });

  it("streams tokens as Markdown; a reload and a second tab continue at the same point", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const name = `reload-${Date.now()}`;
    await visit("#/run?graph=chat");
    await say(page, `gate ${name}`);
    await page.getByText("first words").waitFor();
    await expect.poll(() => nodesThat(page, "running")).toEqual(["write"]);
    await page.reload();
    await page.getByText("first words").waitFor();
    await expect.poll(() => page.getByText("running write").count()).toBe(1);
    const other = await open(url);
    await other.visit(`#/run/${threadOf(page)}`);
    await other.page.getByText("first words").waitFor();
    gateOf(name).open();
    for (const each of [page, other.page]) {
      await each.locator(".said strong", { hasText: "an answer" }).waitFor();
      await each.getByText("done · ").waitFor();
      await expect.poll(() => said(each).count()).toBe(2);
      await expect.poll(() => nodesThat(each, "ran")).toEqual(["write", "close"]);
    }
    expect(await service.runs.list(threadOf(page), {})).toHaveLength(1);
  });

  it("reconnects after the tab was hidden and resumes from the last event id", async () => {
    const { url } = server();
    const { page, visit } = await open(url);
    const name = `hidden-${Date.now()}`;
    const asked: string[] = [];
    page.on("request", (request) => {
      const last = request.headers()["last-event-id"];
      if (last !== undefined) asked.push(last);
    });
    await visit("#/run?graph=chat");
    await say(page, `gate ${name}`);
    await page.getByText("first words").waitFor();
    const show = (state: string) =>
      page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));`);
    await show("hidden");
    gateOf(name).open();
    await show("visible");
    await page.getByText("done · ").waitFor();
    expect(Number(asked[0])).toBeGreaterThan(0);
    await expect.poll(() => said(page).count()).toBe(2);
  });

  it("stops a run, or rolls it back", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/run?graph=chat");
    await say(page, `gate stop-${Date.now()}`);
    await page.getByText("first words").waitFor();
    await button(page, "Stop").click();
    const partial = said(page).filter({ hasText: "first words" });
    await partial.getByText("stopped", { exact: true }).waitFor();
    expect(await partial.getByText("first words").isVisible()).toBe(true);
    const id = threadOf(page);
    await expect
      .poll(async () => (await service.runs.list(id, {})).map(({ status }) => status))
      .toEqual(["interrupted"]);
    await say(page, `gate back-${Date.now()}`);
    await expect.poll(() => partial.count()).toBe(2);
    const back = page.getByRole("group", { name: "Copy rollback as" });
    await expectCopied(back, "curl", new RegExp(`POST .*/threads/${id}/runs/.*/cancel\\?action=rollback`));
    await expectCopied(
      back,
      "SDK call",
      new RegExp(`client.runs.cancel\\("${id}", ".*", false, "rollback"\\)`),
    );
    await button(page, "Roll back").click();
    await expect.poll(async () => (await service.runs.list(id, {})).length).toBe(1);
    await expect.poll(() => said(page).filter({ hasText: "back-" }).count()).toBe(0);
    await expect.poll(() => partial.count()).toBe(1);
    await expect.poll(() => box(page).isEnabled()).toBe(true);
  });

  it("keeps message, form and JSON in sync, and shows the position of invalid JSON", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=agent");
    await box(page).fill("hello");
    await page.getByRole("tab", { name: "JSON" }).click();
    const json = page.getByRole("textbox", { name: "Input as JSON" });
    expect(JSON.parse(await jsonIn(json))).toEqual({ messages: [{ role: "user", content: "hello" }] });
    await fillJson(json, '{\n  "messages": [{ "role": "user", "content": "hel" },]\n}');
    await page.getByText("Invalid JSON: line 2, column").waitFor();
    await page.keyboard.press("Control+Enter");
    expect(page.url()).not.toMatch(/run\/\w/);
    await fillJson(json, '{"messages": [{"role": "user", "content": "changed"}]}');
    await page.getByRole("tab", { name: "Message" }).click();
    expect(await box(page).inputValue()).toBe("changed");
    await page.getByRole("tab", { name: "Form" }).click();
    expect(await page.getByLabel("messages").inputValue()).toContain("changed");
  });

  it("renders a form for the input schema, and shows server errors at the field", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=zod");
    await button(page, "Run").click();
    const field = page.getByLabel("question");
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await page.locator(".field .bad").getByText("expected string").waitFor();
    const sent = page.url();
    for (const place of ["#/threads", "#/runs", sent.replace(/^.*#\/run\//, "#/threads/")]) {
      await visit(place);
      await page
        .locator("main .bad")
        .getByText(/^question: .*expected string/)
        .first()
        .waitFor();
    }
    await page.goto(sent);
    await field.fill("why?");
    await button(page, "Run").click();
    await page.getByText("done").first().waitFor();
    await visit("#/run?graph=agent");
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByLabel("messages").fill('[{"role": "user", "content": 5}]');
    await button(page, "Run").click();
    await page.locator(".fault").getByText("content must be text").waitFor();
    expect(page.url()).not.toMatch(/run\/\w/);
  });

  it("offers earlier inputs", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "custom", { count: 1 });
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    await page.getByLabel("Earlier inputs").selectOption({ label: '{"count":1}' });
    expect(await page.getByRole("textbox", { name: "count" }).inputValue()).toBe("1");
  });

  it("highlights nodes inside subgraphs, and shows custom stream events", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=subgraph");
    await say(page, "hello");
    await page.getByText("done · ").waitFor();
    await expect
      .poll(() => nodesThat(page, "ran"))
      .toEqual(["child:inner_model", "child:leaf:leaf_start", "child:leaf:leaf_end", "close"]);
    await expect.poll(() => page.locator(".edge.is-taken:not(.is-stub)").count()).toBe(5);
    await visit("#/run?graph=custom");
    await page.getByRole("region", { name: "Graph custom" }).waitFor();
    await page.getByLabel("count").fill("3");
    await button(page, "Run").click();
    await page.getByText("Custom events").waitFor();
    await page.locator(".custom li").first().waitFor();
    await page.getByText("Frames").click();
    await page.getByRole("option", { name: /^0 metadata/ }).click();
    await page.getByText('"attempt": 1').waitFor();
  });

  it("joins a run that another client started", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const name = `others-${thread_id}`;
    const run = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    const search = await held(page, `**/threads/${thread_id}/runs?*`);
    await visit(`#/run/${thread_id}`);
    await search.asked;
    await page.locator(".thread-head .is-busy").first().waitFor();
    // Its next node is running, and not stopped at a breakpoint.
    expect(await page.locator(".stopped").count()).toBe(0);
    search.release();
    await page.getByText(/^\W*running/).waitFor();
    gateOf(name).open();
    await run;
    await page.getByText("done").first().waitFor();
    await page.getByText(`after ${name}`).waitFor();
  });

  it("keeps what is typed while the request is sent", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=agent");
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/runs/stream", async (route) => {
      await released;
      await route.continue();
    });
    const sent = page.waitForRequest("**/runs/stream");
    await say(page, "two and three");
    await sent;
    await box(page).fill("and four");
    release();
    await expect.poll(() => threadOf(page)).not.toBe("");
    await button(page, "Run").and(page.locator("[aria-disabled=false]")).waitFor();
    expect(await box(page).inputValue()).toBe("and four");
  });

  it("keeps what was entered for a graph while another one is shown", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=agent");
    await box(page).fill("two and three");
    await visit("#/run?graph=subgraph");
    await expect.poll(() => box(page).inputValue()).toBe("");
    await box(page).fill("hello");
    await page.goBack();
    await expect.poll(() => box(page).inputValue()).toBe("two and three");
    await page.getByRole("tab", { name: "JSON" }).click();
    const json = page.getByRole("textbox", { name: "Input as JSON" });
    await fillJson(json, '{"messages": [');
    await page.goForward();
    await expect.poll(() => box(page).inputValue()).toBe("hello");
    await page.goBack();
    await expect.poll(() => json.count()).toBe(1);
    expect(await jsonIn(json)).toContain('{"messages": [');
  });

  it("can be copied as curl, SDK and command line calls", async () => {
    const { page, visit } = await open(server().url);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await visit("#/run?graph=agent");
    await box(page).fill("it's");
    const copied = async (name: string) => {
      await button(page, name).click();
      await expect.poll(() => page.getByText("Copied").count()).toBe(1);
      const text = await page.evaluate<string>("navigator.clipboard.readText()");
      await expect.poll(() => page.getByText("Copied").count()).toBe(0);
      return text;
    };
    expect(await copied("curl")).toContain("/runs/stream");
    expect(await copied("graph-serve")).toBe(
      `npx graph-serve run agent --input '{"messages":[{"role":"user","content":"it'\\''s"}]}' --url ${server().url}`,
    );
    expect(await copied("SDK call")).toContain('client.runs.stream(null, "agent", {');
  });

  it("says that it was not copied if the browser has no clipboard", async () => {
    const { page, visit } = await open(server().url);
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await visit("#/run?graph=agent");
    await button(page, "curl").click();
    await page.getByText("Copying is not allowed here").waitFor();
    await button(page, "curl").waitFor();
  });
});
