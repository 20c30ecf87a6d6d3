/** Tabs of one browser on one `dev`: the token goes from tab to tab, and one of them reads the events for all. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { echoGraph } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { useDev } from "./dev.js";
import { useBrowser } from "./open.js";

const dev = useDev(() => ({ "graph.ts": echoGraph() }));

const problemsOf = (page: Page) => page.getByRole("complementary", { name: "Graphs that failed to load" });

/** A tab that knows nothing of the one that it is opened from. */
async function anotherTab(page: Page, address: string): Promise<Page> {
  const opened = page.context().waitForEvent("page");
  await page.evaluate(`void open(${JSON.stringify(address)}, "_blank", "noopener")`);
  const tab = await opened;
  tab.setDefaultTimeout(15_000);
  await tab.getByRole("navigation", { name: "Screens" }).waitFor();
  return tab;
}

describeWithChromium("tabs of the Studio of dev", () => {
  const open = useBrowser();

  it("hand the token on, hold one connection between them, and take it over from one that is closed", async () => {
    const { url, token } = await dev.start();
    const { page: first, visit } = await open(url);
    const readers: Page[] = [];
    first.context().on("request", (request) => {
      if (request.url().endsWith("/studio/api/events")) readers.push(request.frame().page());
    });
    await visit(`#token=${token}`);
    await expect.poll(() => readers).toEqual([first]);
    // Neither knows the token by its address.
    const others = [
      await anotherTab(first, `${url}/studio/#/threads`),
      await anotherTab(first, `${url}/studio/#/run`),
    ];
    await dev.project.put("graph.ts", `${echoGraph()}\nexport const more = ;\n`);
    for (const page of [first, ...others]) await problemsOf(page).getByText("agent failed to load").waitFor();
    expect(readers).toEqual([first]);
    await first.goto("about:blank");
    await expect.poll(() => readers.length).toBe(2);
    expect(others).toContain(readers[1]);
    await dev.project.put("graph.ts", echoGraph("mended"));
    for (const page of others) await page.getByText(/^reloaded/).waitFor();
    for (const page of others) expect(await problemsOf(page).count()).toBe(0);
    expect(readers).toHaveLength(2);
  });
});
