/** The list of all runs in the Studio. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { newId } from "../../src/support/ids.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { expectCopied, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const rows = (page: Page) => page.locator("[data-list] tbody tr");

describeWithChromium("the list of runs", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps, fail, gate }, settings: { list_all_assistants: true } });

  it("is sorted newest first, can be filtered, and opens a thread at the last step of the run", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", {});
    const first = (await service.state.get(id)).checkpoint?.checkpoint_id ?? "";
    await service.runs.create(id, { assistant_id: "steps", input: {}, metadata: { team: "blue" } });
    await ranThread(service, "fail", {});
    const { page, visit } = await open(url);
    await visit("#/runs");
    await expect.poll(() => rows(page).count()).toBe(3);
    expect(
      (await rows(page).allTextContents()).map((text) => /(failed|done)\s*(\w+)/.exec(text)?.[0]),
    ).toEqual([
      expect.stringMatching(/failed.*fail/),
      expect.stringMatching(/done.*steps/),
      expect.stringMatching(/done.*steps/),
    ]);
    expect(await rows(page).first().textContent()).toContain("kaboom");
    await page.getByRole("link", { name: "failed", exact: true }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(page.url()).toContain("status=error");
    await page.getByRole("link", { name: "all", exact: true }).click();
    await page.getByLabel("Metadata").fill("team=blue");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByLabel("Metadata").fill("");
    await page.keyboard.press("Enter");
    await page.getByLabel("Graph").fill("steps");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByLabel("Started").selectOption("in the last hour");
    await expect.poll(() => page.url()).toContain("since=hour");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`#/threads/${id}/at/${first}`);
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await visit("#/runs?status=timeout");
    await page.getByText("No matching runs").waitFor();
  });

  it("cancels runs in flight", async () => {
    const { service, url } = server();
    const name = newId();
    const { thread_id } = await service.threads.create({});
    await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { page, visit } = await open(url);
    await visit("#/runs?status=running");
    await expectCopied(page.getByRole("group", { name: "Copy as" }), "SDK call", /client\.runs\.cancel\(/);
    await page.getByRole("button", { name: /^Cancel/ }).click();
    await page.getByText("No matching runs").waitFor();
    await page.getByRole("link", { name: "interrupted", exact: true }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  it("loads more runs when its end is scrolled into view", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const tag = newId();
    for (let index = 0; index < 55; index += 1)
      await service.runs.create(thread_id, { assistant_id: "steps", input: {}, metadata: { tag } });
    const { page, visit } = await open(url);
    await visit(`#/runs?meta=tag=${tag}`);
    await expect.poll(() => rows(page).count()).toBeGreaterThanOrEqual(50);
    await page.mouse.wheel(0, 20_000);
    await expect.poll(() => rows(page).count()).toBe(55);
    await page.getByText("End of the list.").waitFor();
  });

  it.each([{ scheme: "light" }, { scheme: "dark" }, { scheme: "dark", width: 320 }] as const)(
    "has no WCAG 2.2 AA violations: %j",
    async (look) => {
      const { service, url } = server();
      await ranThread(service, "steps", {}, { note: "<img src=x onerror=alert(1)>" });
      const name = newId();
      const { thread_id } = await service.threads.create({});
      const run = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
      await gateOf(name).entered;
      const { page, visit } = await open(url, look);
      await visit("#/runs");
      await rows(page).first().waitFor();
      await page
        .getByRole("button", { name: /^Cancel/ })
        .first()
        .waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      gateOf(name).open();
      await service.runs.join(thread_id, run.run_id);
    },
  );
});
