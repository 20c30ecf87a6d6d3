/** Printing a thread: the complete current step without controls. */
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer } from "./open.js";

const LINES = 200;

describeWithChromium("a printed thread", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent } });

  it("is complete and on a light background, without navigation and buttons", async () => {
    const { service, url } = server();
    const content = Array.from({ length: LINES }, (_, line) => `line ${line}`).join("\n\n");
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content }] });
    const { page, visit } = await open(url, { scheme: "dark" });
    await visit(`#/threads/${id}?tab=messages`);
    const last = page.getByText(`line ${LINES - 1}`, { exact: false }).first();
    await last.waitFor();
    const panel = page.getByRole("tabpanel");
    const hidden = () =>
      panel.evaluate((element) => {
        const { scrollHeight, clientHeight } = element as unknown as Record<string, number>;
        return (scrollHeight ?? 0) - (clientHeight ?? 0);
      });
    expect(await hidden()).toBeGreaterThan(100);
    await page.emulateMedia({ media: "print" });
    await expect.poll(hidden).toBeLessThanOrEqual(1);
    expect(await page.getByRole("navigation", { name: "Screens" }).isVisible()).toBe(false);
    expect(await page.getByRole("button").filter({ visible: true }).count()).toBe(0);
    const ground = await page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
    expect(ground).toMatch(/^rgb\(25\d, 25\d, 25\d\)$/);
    const pages = (await page.pdf()).toString("latin1").match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(1);
  });
});
