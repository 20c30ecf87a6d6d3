/** Leaving a thread whose run continues. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { fillJson, held, ranThread, useBrowser, useServer } from "./open.js";

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

describeWithChromium("a response for a thread that was left", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps }, settings: { list_all_assistants: true } });

  /** Two threads, and a page that shows the steps of the first one. */
  async function opened() {
    const { service, url } = server();
    const other = await ranThread(service, "steps", { n: 9 });
    const left = await ranThread(service, "steps", { n: 8 });
    const { page, visit, settled } = await open(url, { width: 1400 });
    await visit(`#/threads/${left}`);
    await page.getByRole("listbox", { name: "Steps" }).getByRole("option").first().waitFor();
    await settled();
    const leave = async () => {
      await page.locator(`.recent a[href*="${other}"]`).click();
      await page.waitForURL(`**/#/threads/${other}`);
      await page.getByRole("listbox", { name: "Steps" }).getByRole("option").first().waitFor();
    };
    return { service, page, settled, left, other, leave };
  }

  it("does not list its runs", async () => {
    const { service, page, settled, left, other, leave } = await opened();
    const late = await held(page, `**/threads/${left}/runs?limit=20&offset=0*`);
    await page.getByRole("button", { name: "Runs", exact: true }).click();
    await late.asked;
    await leave();
    const [run] = await service.runs.list(other, {});
    const listed = page.locator("ul.runs code");
    await expect.poll(() => listed.allTextContents()).toEqual([run?.run_id.slice(0, 13)]);
    late.release();
    await late.answered;
    await settled();
    expect(await listed.allTextContents()).toEqual([run?.run_id.slice(0, 13)]);
  });

  it("does not select its steps", async () => {
    const { page, settled, left, other, leave } = await opened();
    await page.getByRole("button", { name: "Find step" }).click();
    await page.getByLabel("First step from which on this holds").fill("n = 8");
    const late = await held(page, `**/threads/${left}/history`);
    await page.keyboard.press("Enter");
    await late.asked;
    await leave();
    late.release();
    await late.answered;
    await settled();
    expect(page.url()).toMatch(new RegExp(`#/threads/${other}$`));
  });

  it("does not run another thread when a fork of it is written", async () => {
    const { service, page, left, other, leave } = await opened();
    await page.keyboard.press("f");
    await page.getByRole("button", { name: "Edit n", exact: true }).click();
    await fillJson(page.getByLabel("Value to write to n"), "5");
    const late = await held(page, `**/threads/${left}/state`);
    await page.getByRole("button", { name: "Write and run", exact: true }).click();
    await late.asked;
    await leave();
    late.release();
    await expect.poll(async () => (await service.runs.list(left, {})).length).toBe(2);
    expect(await service.runs.list(other, {})).toHaveLength(1);
    expect(page.url()).toMatch(new RegExp(`#/threads/${other}$`));
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
