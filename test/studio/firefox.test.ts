/** A first visit of the Studio of `dev` in Firefox, from a run to a fork. All other tests use Chromium. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { describeWithFirefox, type FirefoxPage, KEYS, useFirefox } from "../helpers/firefox.js";
import { useDev } from "./dev.js";
import { isForeign } from "./open.js";

const MODEL = pathToFileURL(join(import.meta.dirname, "gated-model.ts")).href;
const dev = useDev(() => ({ "graph.ts": `export { gatedChat as graph } from ${JSON.stringify(MODEL)};\n` }));

const allOf = (page: FirefoxPage, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText)`);
const focusSteps = (page: FirefoxPage) =>
  page.evaluate(`document.querySelector("[aria-label=Steps]").focus()`);
const stepsOf = (page: FirefoxPage) => allOf(page, "[aria-label=Steps] [role=option]");

/** The height of the horizontal scrollbar of an element. */
const barOf = (page: FirefoxPage, selector: string): Promise<number> =>
  page.evaluate(
    `((each) => each.offsetHeight - each.clientHeight)(document.querySelector(${JSON.stringify(selector)}))`,
  );

describeWithFirefox("the Studio in Firefox", () => {
  const firefox = useFirefox();

  it("streams a run, shows its steps and states, forks a step, and restores its location after a reload", async () => {
    const { url, token } = await dev.start();
    const page = firefox();
    const seen = (what: string | RegExp, where = "main") =>
      expect.poll(() => page.text(where), { message: String(what) }).toMatch(what);
    await page.goto(`${url}/studio/#token=${token}`);
    await page.click("link", "Run");
    await page.click("textbox", "Message to the graph");
    await page.type(..."gate firefox", KEYS.enter);
    await gateOf("firefox").entered;
    await seen("first words");
    expect(await page.text("main")).not.toContain("an answer");
    gateOf("firefox").open();
    await expect.poll(() => allOf(page, ".said strong")).toContain("an answer");
    await seen(/^done/m);

    const [, id = ""] = /#\/run\/([\w-]+)/.exec(await page.evaluate<string>("location.href")) ?? [];
    await page.goto(`${url}/studio/#/threads/${id}`);
    await expect.poll(() => stepsOf(page)).toHaveLength(4);
    await focusSteps(page);
    await page.type(KEYS.down);
    await seen("by write");
    await seen("first words of an answer to gate firefox");
    await page.click("tab", "State");
    await expect.poll(() => page.text("[role=tree]")).toContain("messages");
    const address = await page.evaluate<string>("location.href");
    expect(address).toMatch(/\/at\/[\w-]+\?tab=state$/);
    await page.reload();
    await expect.poll(() => page.text("[role=tree]")).toContain("messages");
    expect(await page.evaluate("location.href")).toBe(address);

    await page.evaluate(`document.querySelector("details.more").open = true`);
    await page.click("button", "Copy");
    await seen("Copied");

    await focusSteps(page);
    await page.type("f");
    await page.click("button", "Run unchanged");
    await expect.poll(() => stepsOf(page)).toHaveLength(6);

    // Scrollbars in Firefox take up space, which narrow screens lack.
    await page.resize(390);
    expect(await barOf(page, ".tabs")).toBeLessThanOrEqual(1);
    const screens = { threads: "Threads", runs: "Runs", inbox: "Inbox", store: "Memory", graphs: "Graphs" };
    for (const [screen, title] of Object.entries(screens)) {
      await page.goto(`${url}/studio/#/${screen}`);
      await page.reload();
      await expect.poll(() => allOf(page, "main h1")).toEqual([title]);
      await expect.poll(() => allOf(page, "main .waiting")).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    }
    expect(page.faults).toEqual([]);
    expect(page.requests.filter((each) => isForeign(each, url))).toEqual([]);
    expect(page.requests.length).toBeGreaterThan(10);
  }, 240_000);
});
