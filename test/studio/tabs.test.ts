/** Tabs of one browser share the token and one event stream of `dev`. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { echoGraph } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { askHelper, OWN, useDev } from "./dev.js";
import { held, useBrowser } from "./open.js";

const dev = useDev(() => ({ "graph.ts": echoGraph() }));

const problemsOf = (page: Page) => page.getByRole("complementary", { name: "Graphs that failed to load" });

/** Opens a tab without a reference to its opener. */
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

  it("share the token and one connection, which another tab takes over when a tab is closed", async () => {
    const { url, token } = await dev.start();
    const { page: first, visit } = await open(url);
    const readers: Page[] = [];
    first.context().on("request", (request) => {
      if (request.url().endsWith("/studio/api/events")) readers.push(request.frame().page());
    });
    await visit(`#token=${token}`);
    await expect.poll(() => readers).toEqual([first]);
    // Neither URL contains the token.
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

  it("ask the server again that did not answer at first", async () => {
    const { url, token } = await dev.start();
    const { page, visit } = await open(url);
    let count = 0;
    await page.route("**/studio/api/hello", (route) => {
      count += 1;
      if (count === 1) return route.abort();
      return count === 2 ? route.fulfill({ status: 503 }) : route.continue();
    });
    const events = page.waitForRequest("**/studio/api/events");
    await visit(`#token=${token}`);
    await events;
    await dev.project.put("graph.ts", `${echoGraph()}\nexport const more = ;\n`);
    await problemsOf(page).getByText("agent failed to load").waitFor();
    expect(await page.evaluate(`sessionStorage.getItem("graph-serve.token")`)).toBe(token);
  });

  it("report a file that was saved while the connection was being made", async () => {
    const { url, token } = await dev.start();
    const { page, visit } = await open(url);
    const events = await held(page, "**/studio/api/events");
    await visit(`#token=${token}`);
    await events.asked;
    await dev.project.put("graph.ts", echoGraph("mended"));
    const own = { ...OWN, "x-studio-token": token };
    await expect
      .poll(async () => (await askHelper(url, "/studio/api/hello", own)).body.loads)
      .toBeGreaterThan(0);
    events.release();
    await page.getByText(/^reloaded/).waitFor();
  });
});
