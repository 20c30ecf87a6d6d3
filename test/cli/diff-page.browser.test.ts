/** The HTML page of `diff` in a real browser, opened from a file. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithChromium, type Look, type Tab, useChromium } from "../helpers/chromium.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const HOSTILE =
  "</script><script>document.title = 'owned'</script><img src=http://127.0.0.1:9/x onerror='alert(1)'>";

describeWithChromium("the diff page in Chromium", () => {
  let project: ThreadProject;
  const show = useChromium();
  beforeAll(async () => {
    project = await createThreadProject(HOSTILE);
  });
  afterAll(() => project.remove());

  async function open(look?: Look): Promise<Tab> {
    const { threadId } = project;
    const { code, stdout } = await project.run(["diff", `${threadId}@0`, threadId, "--format", "html"]);
    expect(code).toBe(0);
    const tab = await show(look);
    await tab.page.goto(pathToFileURL(await project.put("page.html", stdout)).href);
    return tab;
  }

  const texts = (page: Page, selector: string) => page.locator(selector).allTextContents();

  /** Expects no errors, no requests except for the page itself, and no elements injected by the data. */
  async function expectQuiet({ page, faults, requests }: Tab): Promise<void> {
    expect(faults).toEqual([]);
    expect(requests).toEqual([pathToFileURL(join(project.dir, "page.html")).href]);
    expect(await page.title()).not.toBe("owned");
    expect(await texts(page, "img, iframe, object, embed")).toEqual([]);
  }

  it.each([1280, 360])("the page fits %i pixels in light and dark mode", async (width) => {
    const tab = await open({ width });
    const colours = new Set<string>();
    for (const colorScheme of ["light", "dark"] as const) {
      await tab.page.emulateMedia({ colorScheme });
      await tab.page.keyboard.press("End");
      expect(await tab.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      colours.add(await tab.page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    expect(colours.size).toBe(2);
    await expectQuiet(tab);
  });

  it("the page works without JavaScript", async () => {
    const tab = await open();
    expect((await texts(tab.page, "td:nth-child(3)")).join()).toContain("echo: pay 5");
    expect(await texts(tab.page, "script")).toEqual([]);
    await expectQuiet(tab);
  });

  it("the page cannot send requests: the CSP blocks them", async () => {
    const { page, faults } = await open();
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.1:9/x>')");
    await expect.poll(() => faults.join()).toContain("Content Security Policy");
  });
});
