/** The HTML pages as a real browser shows them, opened from a file. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, describeWithChromium, type Tab } from "../helpers/chromium.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const HOSTILE =
  "</script><script>document.title = 'owned'</script><img src=http://127.0.0.1:9/x onerror='alert(1)'>";

describeWithChromium("in Chromium", () => {
  let project: ThreadProject;
  let browser: Browser;
  beforeAll(async () => {
    project = await createThreadProject(HOSTILE);
    browser = await Browser.open();
  });
  afterAll(async () => {
    await browser.close();
    await project.remove();
  });

  /** Show what a command prints as a page. */
  async function open(...argv: string[]): Promise<Tab> {
    const { code, stdout } = await project.run([...argv, "--format", "html"]);
    expect(code).toBe(0);
    return browser.show(pathToFileURL(await project.put("page.html", stdout)).href);
  }

  /** Neither complaints nor requests, but for the page itself, and nothing that the data brought along. */
  async function expectQuiet(tab: Tab): Promise<void> {
    expect(tab.faults).toEqual([]);
    expect(tab.requests).toEqual([pathToFileURL(join(project.dir, "page.html")).href]);
    expect(await tab.evaluate("document.title")).not.toBe("owned");
    expect(await tab.texts("img, iframe, object, embed")).toEqual([]);
  }

  it("keys and clicks step through branches and a question", async () => {
    const tab = await open("replay", project.threadId);
    const steps = (await tab.texts("#timeline button")).length;
    const place = async () => (await tab.texts("#place"))[0];
    expect(await place()).toBe(`1 of ${steps}`);
    await tab.key("ArrowRight");
    expect(await place()).toBe(`2 of ${steps}`);
    await tab.click("#next");
    expect(await tab.texts("#step h2")).toEqual(["step 1  reply"]);
    expect((await tab.texts("#step .message .text")).join()).toContain(HOSTILE);
    await tab.key("End");
    expect(await place()).toBe(`${steps} of ${steps}`);
    expect(await tab.texts("#step .waits")).toEqual(['waits for {"question":"how much?"}']);
    await tab.click("#timeline li:first-child button");
    expect(await tab.texts("#step h2")).toEqual(["step -1  input"]);
    await tab.click("#timeline li:last-child button");
    while ((await tab.texts("#step .origin")).length === 0) await tab.key("ArrowLeft");
    await tab.click("#step .origin");
    expect(await tab.texts("#step h2")).toEqual(["step 1  reply"]);
    await tab.click("#step summary");
    expect(await tab.evaluate("document.querySelector('#step pre').checkVisibility()")).toBe(true);
    await expectQuiet(tab);
  });

  it.each([1280, 360])("nothing is cut off at %i pixels, light or dark", async (width) => {
    for (const argv of [
      ["replay", project.threadId],
      ["diff", `${project.threadId}@0`, project.threadId],
    ]) {
      const tab = await open(...argv);
      const colours = new Set<string>();
      for (const scheme of ["light", "dark"] as const) {
        await tab.as(width, scheme);
        await tab.key("End");
        expect(await tab.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        colours.add(await tab.evaluate("getComputedStyle(document.body).backgroundColor"));
      }
      expect(colours.size).toBe(2);
      await expectQuiet(tab);
    }
  });

  it("a difference is read without a script", async () => {
    const tab = await open("diff", `${project.threadId}@0`, project.threadId);
    expect((await tab.texts("td:nth-child(3)")).join()).toContain("echo: pay 5");
    expect(await tab.texts("script")).toEqual([]);
    await expectQuiet(tab);
  });

  it("what a page may not do is told to the console", async () => {
    const tab = await open("replay", project.threadId);
    await tab.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.1:9/x>')");
    await expect.poll(() => tab.faults.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(tab.faults.join()).toContain("Content Security Policy");
  });
});
