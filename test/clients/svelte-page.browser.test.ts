/** User actions on a page built with `@langchain/svelte`, in Chromium, on a different origin than the server. */
import { beforeAll, describe, expect, it } from "vitest";
import { startTestServer } from "../helpers/app.js";
import { describeWithChromium, useChromium } from "../helpers/chromium.js";
import { ChatPage } from "./chat-page.js";
import { graphs } from "./open.js";
import { bundlePage, type PageFiles, servePage } from "./page/serve.js";

describeWithChromium("a chat built with Svelte in Chromium", () => {
  const show = useChromium();
  let files: PageFiles = new Map();
  beforeAll(async () => {
    files = await bundlePage("svelte-page");
  });

  describe.each(["sse", "websocket"])("over %s", (transport) => {
    it("shows a conversation of several turns, also after a reload", async () => {
      const { page } = await open();
      const chat = await page("chat");
      await chat.say("one");
      await chat.shows(["one", "You said: one"]);
      await chat.say("two words");
      const said = ["one", "You said: one", "two words", "You said: two words"];
      await chat.shows(said);
      expect(chat.thread).not.toBe("");
      await chat.load();
      await chat.shows(said);
      chat.expectSound();
    });

    it("answers an interrupt", async () => {
      const { page } = await open();
      const chat = await page("hitl");
      await chat.send({ topic: "tea" });
      await expect.poll(() => chat.questions.count()).toBe(1);
      await chat.ready();
      await chat.answer("Approve?", "yes");
      await expect.poll(chat.values).toMatchObject({ answer: "yes" });
      await expect.poll(() => chat.questions.count()).toBe(0);
      chat.expectSound();
    });

    const open = async () => {
      const origin = await servePage(files);
      const server = await startTestServer({ graphs, settings: { cors_origins: [origin] } });
      const page = async (assistant: string) => {
        const query = new URLSearchParams({ api: server.url, transport, assistant });
        return new ChatPage(await show(), `${origin}/?${query.toString()}`).load();
      };
      return { page };
    };
  });
});
