/** Two threads on one page: each has its own run, outcome and questions. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { gatedChat } from "./gated-model.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const paneOf = (page: Page) => page.getByRole("region", { name: "Second thread" });
const mainOf = (page: Page) => page.locator(".run-main:not(.beside)");

describeWithChromium("two threads side by side", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { chat: gatedChat, gate, hitl },
    settings: { list_all_assistants: true },
  });

  it("stream at once, and stopping one does not affect the other", async () => {
    const { service, url } = server();
    for (const name of ["first", "second"]) gateOf(name).open();
    const one = await ranThread(service, "gate", { gate: "first" });
    const two = await ranThread(service, "gate", { gate: "second" });
    const { page, visit } = await open(url);
    await visit(`#/run/${one}`);
    await page.locator("details.more > summary").click();
    await page.getByLabel("Show a second thread").selectOption(two);
    await expect.poll(() => new URL(page.url()).hash).toContain(`beside=${two}`);
    await paneOf(page).getByText("after second").waitFor();
    const runs = [one, two].map((id, index) =>
      service.runs
        .create(id, { assistant_id: "gate", input: { gate: `beside-${index}` } })
        .catch((error: unknown) => error),
    );
    for (const pane of [mainOf(page), paneOf(page)]) await pane.getByText(/^\W*running/).waitFor();
    await mainOf(page).getByRole("button", { name: "Stop", exact: true }).click();
    await mainOf(page)
      .getByText(/^stopped/)
      .waitFor();
    await paneOf(page)
      .getByText(/^\W*running/)
      .waitFor();
    gateOf("beside-1").open();
    await paneOf(page).getByText(/^done/).waitFor();
    await mainOf(page)
      .getByText(/^stopped/)
      .waitFor();
    expect(await mainOf(page).getByText("before beside-1").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await paneOf(page).getByRole("link", { name: "Close" }).click();
    await paneOf(page).waitFor({ state: "detached" });
    await mainOf(page)
      .getByText(/^stopped/)
      .waitFor();
    await Promise.all(runs);
  });

  it("can have different graphs: the answer of the second is sent to its own graph", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "chat", ask("hello"));
    const two = await ranThread(service, "hitl", { topic: "refund" });
    const { page, visit } = await open(url);
    await visit(`#/run/${one}?beside=${two}`);
    await paneOf(page).getByRole("textbox").fill("yes");
    await paneOf(page).getByRole("button", { name: "Answer", exact: true }).click();
    await paneOf(page).getByText(/^done/).waitFor();
    expect((await service.state.get(two)).values).toMatchObject({ answer: "yes" });
    expect(new URL(page.url()).hash).toContain(one);
    await page.getByRole("textbox", { name: "Message to the graph" }).waitFor();
  });

  it("the steps of a thread never show the outcome of the previous one, even before it is loaded", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "chat", ask("hello"));
    const two = await ranThread(service, "chat", ask("other"));
    const { page, visit } = await open(url, { width: 1440 });
    await visit(`#/threads/${one}`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("again");
    await page.keyboard.press("Enter");
    const outcome = page.locator(".dock-head").getByText(/^done/);
    await outcome.waitFor();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/threads/search", async (route) => {
      if (route.request().postData()?.includes(two)) await held;
      await route.continue();
    });
    await page.locator(".recent").getByText("other").click();
    await page.getByRole("heading", { level: 1, name: two }).waitFor();
    expect(await outcome.count()).toBe(0);
    release();
    await page.getByRole("heading", { level: 1, name: "other" }).waitFor();
    expect(await outcome.count()).toBe(0);
  });
});
