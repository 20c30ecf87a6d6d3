/** User actions on a page built with `@langchain/react`, in Chromium, on a different origin than the server. */
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as asking } from "../fixtures/graphs/asking.js";
import { startTestServer } from "../helpers/app.js";
import { describeWithChromium, useChromium } from "../helpers/chromium.js";
import { ChatPage } from "./chat-page.js";
import { journey } from "./journey.js";
import { clientOf, graphs } from "./open.js";
import { bundlePage, type PageFiles, servePage } from "./page/serve.js";

describeWithChromium("a chat in Chromium", () => {
  const show = useChromium();
  let files: PageFiles = new Map();
  beforeAll(async () => {
    files = await bundlePage("page");
  });

  describe.each(["sse", "websocket"])("over %s", (transport) => {
    const open = async () => {
      const origin = await servePage(files);
      const server = await startTestServer({
        graphs: { ...graphs, agent, asking, journey },
        settings: { cors_origins: [origin] },
      });
      const page = async (assistant: string, thread = "") => {
        const query = new URLSearchParams({
          api: server.url,
          transport,
          assistant,
          ...(thread && { thread }),
        });
        return new ChatPage(await show(), `${origin}/?${query.toString()}`).load();
      };
      return { page, client: clientOf(server.url) };
    };

    it("shows a conversation of several turns", async () => {
      const { page } = await open();
      const chat = await page("chat");
      await chat.say("one");
      await chat.shows(["one", "You said: one"]);
      await chat.say("two words");
      await chat.shows(["one", "You said: one", "two words", "You said: two words"]);
      chat.expectSound();
    });

    it("shows tool calls with results and subgraphs with their messages", async () => {
      const { page } = await open();
      const sums = await page("agent");
      await sums.say("2 and 3?");
      await sums.shows(["2 and 3?", "", "5", "The sum is 5"]);
      await expect
        .poll(() => sums.items("#calls"))
        .toEqual([expect.stringContaining('add({"a":2,"b":3}) = ')]);
      const nested = await page("subgraph");
      await nested.say("hi");
      await nested.ready();
      await expect.poll(() => nested.items("#inside")).toContainEqual(expect.stringContaining("child: "));
      sums.expectSound();
      nested.expectSound();
    });

    it("shows tokens while the model is still writing", async () => {
      const { page } = await open();
      const chat = await page("journey");
      const name = newId();
      await chat.send({ messages: [{ type: "human", content: "go" }], name });
      await gateOf(name).entered;
      await expect.poll(() => chat.texts()).toEqual(["go", expect.stringMatching(/^one two .* eleven$/)]);
      expect(await chat.status()).toBe("running");
      gateOf(name).open();
      await chat.ready();
      expect(await chat.texts()).toHaveLength(3);
      chat.expectSound();
    });

    it("answers several interrupts together, then one of a subgraph", async () => {
      const { page } = await open();
      const chat = await page("asking");
      await chat.say("go");
      await expect.poll(() => chat.questions.count()).toBe(2);
      await chat.ready();
      await chat.press("Answer all");
      await expect
        .poll(() => chat.items("#questions code"))
        .toEqual(['{"from":"within","question":"within?"}']);
      await chat.ready();
      await chat.answer("within?", "false");
      await chat.ready();
      await expect.poll(() => chat.questions.count()).toBe(0);
      await expect.poll(() => chat.answers()).toContain("within: false");
      expect(await chat.answers()).toContain('left: {"to":{"from":"left","question":"left?"}}');
      chat.expectSound();
    });

    it("answers two interrupts one after the other", async () => {
      const { page } = await open();
      const chat = await page("asking");
      await chat.say("go");
      await expect.poll(() => chat.questions.count()).toBe(2);
      await chat.ready();
      await chat.answer("left?", '["a", 1]');
      await expect.poll(() => chat.items("#questions code")).toEqual([expect.stringContaining("right?")]);
      await chat.ready();
      await chat.answer("right?", "as you like");
      await expect.poll(() => chat.items("#questions code")).toEqual([expect.stringContaining("within?")]);
      await chat.ready();
      await chat.answer("within?", '{"ok": true}');
      await expect.poll(() => chat.answers()).toContain('within: {"ok":true}');
      expect(await chat.answers()).toEqual(expect.arrayContaining(['left: ["a",1]', 'right: "as you like"']));
      chat.expectSound();
    });

    it("stops a run and starts the next one", async () => {
      const { page, client } = await open();
      const chat = await page("gate");
      const name = newId();
      await chat.send({ gate: name });
      await gateOf(name).entered;
      await chat.press("Stop");
      await gateOf(name).aborted;
      await chat.ready();
      await expect.poll(async () => (await client.runs.list(chat.thread))[0]?.status).toBe("interrupted");
      const next = newId();
      gateOf(next).open();
      await chat.send({ gate: next });
      await expect.poll(async () => JSON.stringify(await chat.values())).toContain(`after ${next}`);
      chat.expectSound();
    });

    it("edits a question and regenerates an answer", async () => {
      const { page, client } = await open();
      const chat = await page("chat");
      await chat.say("one");
      await chat.shows(["one", "You said: one"]);
      await chat.say("two");
      await chat.shows(["one", "You said: one", "two", "You said: two"]);
      const second = chat.message("two");
      await second.getByLabel("Another question").fill("three");
      await second.getByRole("button", { name: "Ask that instead" }).click();
      await chat.shows(["one", "You said: one", "three", "You said: three"]);
      const states = await client.threads.getHistory(chat.thread, { limit: 100 });
      await chat.message("You said: three").getByRole("button", { name: "Regenerate" }).click();
      await expect
        .poll(async () => (await client.threads.getHistory(chat.thread, { limit: 100 })).length)
        .toBeGreaterThan(states.length);
      await chat.shows(["one", "You said: one", "three", "You said: three"]);
      chat.expectSound();
    });

    it("reloads during a run and shows it to the end", async () => {
      const { page } = await open();
      const chat = await page("journey");
      const name = newId();
      await chat.send({ messages: [{ type: "human", content: "go" }], name });
      await gateOf(name).entered;
      await expect.poll(() => chat.thread).not.toBe("");
      await chat.load();
      await expect.poll(() => chat.status()).toBe("running");
      await expect.poll(async () => (await chat.texts())[0]).toBe("go");
      gateOf(name).open();
      await chat.ready();
      await expect.poll(() => chat.texts()).toHaveLength(3);
      chat.expectSound();
    });

    it("shows the same turns and interrupts in two tabs", async () => {
      const { page } = await open();
      const first = await page("chat");
      await first.say("one");
      await first.shows(["one", "You said: one"]);
      const second = await page("chat", first.thread);
      await second.shows(["one", "You said: one"]);
      await second.say("two");
      for (const tab of [first, second]) await tab.shows(["one", "You said: one", "two", "You said: two"]);
      const asks = await page("hitl");
      await asks.send({ topic: "tea" });
      await expect.poll(() => asks.questions.count()).toBe(1);
      const other = await page("hitl", asks.thread);
      await expect.poll(() => other.questions.count()).toBe(1);
      await other.answer("Approve?", "yes");
      for (const tab of [asks, other]) await expect.poll(() => tab.values()).toMatchObject({ answer: "yes" });
      await expect.poll(() => other.questions.count()).toBe(0);
      // This client ignores `input.answered`: the other tab shows the form until it is reloaded.
      await asks.load();
      await asks.ready();
      await expect.poll(() => asks.questions.count()).toBe(0);
      asks.expectSound();
      other.expectSound();
    });

    it("shows the error of a failed run", async () => {
      const { page } = await open();
      const chat = await page("fail");
      await chat.send({ x: 0 });
      await expect.poll(() => chat.page.getByRole("alert").textContent()).toContain("kaboom");
      await chat.ready();
    });
  });
});
