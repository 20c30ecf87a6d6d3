/** Two branches, of one thread or of two, side by side. */
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const HOSTILE = '"><iframe srcdoc="x"></iframe><img src=x onerror=alert(1)>';

describeWithChromium("two branches", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent } });

  it("of one thread are compared from where they part", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const [tip, , forked] = await service.state.history(id, { limit: 3 });
    const checkpoint = { checkpoint_id: forked?.checkpoint?.checkpoint_id ?? "" };
    const message = { role: "tool", tool_call_id: "call_add", content: "seven", name: "add" };
    const written = await service.state.update(id, {
      values: { messages: [message] },
      as_node: "tools",
      checkpoint,
    });
    const { checkpoint_id } = written.checkpoint;
    await service.runs.create(id, { assistant_id: "agent", input: null, checkpoint: { checkpoint_id } });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}/at/${tip?.checkpoint?.checkpoint_id}`);
    await page.getByRole("link", { name: "Compare with the newest" }).click();
    await page.getByText("Steps in common: 3").waitFor();
    await visit("#/compare");
    await page.getByText("Which two?").waitFor();
    await page.getByLabel("first").fill(`${id}@${tip?.checkpoint?.checkpoint_id}`);
    await page.getByLabel("second").fill(`${id}@-1`);
    await page.keyboard.press("Enter");
    await page.getByText("Steps in common: 3").waitFor();
    const pairs = page.locator(".pair");
    await expect.poll(() => pairs.count()).toBe(2);
    await page.locator(".pair .change").getByText("seven").first().waitFor();
    await page.locator(".pair").last().getByText("The sum is 5").first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("table").getByRole("link").last().click();
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
  });

  it("of two threads are compared by what ran, and those that are none are told", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "agent", ask("two and three"));
    const other = await ranThread(service, "agent", ask("four and five"));
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit(`#/compare/${one}@-1/${other}@3`);
    await page.getByText("They have no step in common.").waitFor();
    const badges = page.locator(".pair .badge");
    await expect
      .poll(() => badges.allTextContents())
      .toEqual(["same values", "differs", "differs", "differs", "differs"]);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    await visit(`#/compare/${one}@99/${other}@-1`);
    await page.getByRole("alert").getByText(`thread "${one}" has no step "99"`).waitFor();
    await visit(`#/compare/${encodeURIComponent(HOSTILE)}/${other}@-1`);
    await page.getByRole("alert").waitFor();
    expect(await page.locator("main :is(img, iframe)").count()).toBe(0);
  });
});
