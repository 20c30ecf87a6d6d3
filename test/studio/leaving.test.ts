/** Leaving a thread whose run continues. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { useBrowser, useServer } from "./open.js";

/** Longer than the page waits before it reads a thread again. */
const SOON_MS = 2000;

describeWithChromium("a thread whose run continues", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { gate }, settings: { list_all_assistants: true } });

  it.each(["run", "threads"])("is left at #/%s without requests that fail", async (screen) => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const name = `leave-${thread_id}`;
    const run = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    await page.clock.install();
    const failed = failures(page);
    const streamed = page.waitForResponse((response) => response.url().endsWith("/stream"));
    await visit(`#/${screen}/${thread_id}`);
    await streamed;
    await page.getByText("busy").first().waitFor();
    // New checkpoints of the run ask the page to read the thread again: leave it before it does.
    const ended = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/stream"));
    gateOf(name).open();
    await Promise.all([run, ended]);
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Threads" }).click();
    await page.locator("[data-list] tr").first().waitFor();
    await page.clock.runFor(SOON_MS);
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Graphs" }).click();
    await page.getByRole("heading", { level: 1, name: "Graphs" }).waitFor();
    await page.clock.runFor(SOON_MS);
    expect(failed).toEqual([]);
  });
});

/** Responses with an error status, which the browser logs in the console. */
function failures(page: Page): string[] {
  const failed: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
  });
  return failed;
}
