/** A server that restarts, or cannot be reached, while its page follows a run. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { gateOf } from "../fixtures/gates.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { itSqlite } from "../helpers/with-sqlite.js";
import { gatedChat } from "./gated-model.js";
import { useBrowser, useServer } from "./open.js";

/** Each call begins another answer, and waits at the gate of its number before it completes it. */
class RestartedModel extends FakeModel {
  #calls = 0;

  override async *_streamResponseChunks(
    _: BaseMessage[],
    { signal }: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    this.#calls += 1;
    const call = this.#calls;
    for (const text of [`attempt ${call} `, "of an ", "answer"]) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
      if (text === "of an ") await gateOf(`restart-${call}`).wait(signal, false);
    }
  }
}

describeWithChromium("a run whose server restarts", () => {
  const open = useBrowser();

  itSqlite("is followed to its end, without the answer that its first attempt began", async () => {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-restart-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const model = new RestartedModel();
    const chat = new StateGraph(MessagesAnnotation)
      .addNode("write", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, "write")
      .addEdge("write", END)
      .compile({ name: "chat" });
    const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: join(folder, "threads.db") };
    const start = async (port: number) => {
      const service = await openService({ graphs: { chat }, settings });
      return startServer(service, { host: "127.0.0.1", port, studio: true });
    };
    const first = await start(0);
    const { page, visit } = await open(first.url);
    await visit("#/run?graph=chat");
    const message = page.getByRole("textbox", { name: "Message to the graph" });
    await message.fill("hello");
    await message.press("Enter");
    await page.getByText("attempt 1 of an").waitFor();
    await message.fill("what comes next");
    await first.close(0);
    await page.getByText("The page reconnects when it is back").waitFor();
    const second = await start(first.port);
    onTestFinished(() => second.close(0));
    await page.getByText("attempt 2 of an").waitFor();
    expect(await page.getByText("attempt 1").count()).toBe(0);
    gateOf("restart-2").open();
    await page.getByText("attempt 2 of an answer").waitFor();
    await page.getByText(/^done/).waitFor();
    expect(await message.inputValue()).toBe("what comes next");
  });
});

describeWithChromium("a run that ends while the server cannot be reached", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { chat: gatedChat } });

  /** The page of a conversation whose answer has begun. */
  async function asked(text: string) {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=chat");
    const message = page.getByRole("textbox", { name: "Message to the graph" });
    await message.fill(text);
    await message.press("Enter");
    await page.getByText("first words").waitFor();
    return { page, message };
  }

  it("keeps the conversation and what was entered, and is read once the browser is online", async () => {
    const { page, message } = await asked("gate unreachable");
    await message.fill("what comes next");
    const thread = /\/threads\/[\w-]+(\/state)?$/;
    const failed = page.waitForEvent("requestfailed", (request) => /\/state$/.test(request.url()));
    await page.route(thread, (route) => route.abort());
    gateOf("unreachable").open();
    await failed;
    await page.getByText(/^done/).waitFor();
    expect(await message.inputValue()).toBe("what comes next");
    expect(await page.getByText("first words of an answer").count()).toBe(1);
    await page.locator(".facts .status.is-busy").waitFor();
    await page.unroute(thread);
    await page.evaluate(`dispatchEvent(new Event("online"))`);
    await page.locator(".facts .status.is-idle").waitFor();
    expect(await message.inputValue()).toBe("what comes next");
  });

  it("says so while the browser is offline, and loses and doubles nothing", async () => {
    const { page } = await asked("gate offline");
    const joined = page.waitForRequest((request) => /\/runs\/[^/]+\/stream/.test(request.url()));
    await page.context().setOffline(true);
    await joined;
    await page.getByText("The page reconnects when it is back").first().waitFor();
    gateOf("offline").open();
    await page.context().setOffline(false);
    await page.getByText(/^done/).waitFor();
    expect(await page.getByText("first words of an answer").count()).toBe(1);
    await page.context().setOffline(true);
    const screens = page.getByRole("navigation", { name: "Screens" });
    await screens.getByRole("link", { name: "Threads" }).click();
    await page.getByRole("alert").getByText("The server is not reachable").waitFor();
    await expect.poll(() => page.getByText("Live", { exact: true }).count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
  });
});
