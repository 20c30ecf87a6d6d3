/** The editor of JSON texts, and the plain field without it. */
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { deferred } from "../helpers/deferred.js";
import { fillJson, jsonIn, useBrowser, useServer, violationsOf } from "./open.js";

const NEW_ITEM = "#/store?edit=new";
const json = (page: Page) => page.getByLabel("Value as JSON");
const colorOf = (page: Page, of: string): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(${of}).color`);
/** The color of a variable of the page's style sheet. */
const named = async (page: Page, name: string): Promise<string> => {
  await page.evaluate(`document.querySelector("h1").style.color = "var(${name})"`);
  return colorOf(page, `document.querySelector("h1")`);
};

describeWithChromium("an editor of JSON", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps } });

  it("shows line numbers, colors of the theme, matching brackets and the place of an error", async () => {
    for (const scheme of ["light", "dark"] as const) {
      const { page, visit } = await open(server().url, { scheme });
      await visit(NEW_ITEM);
      await fillJson(json(page), '{\n  "n": 12,\n  "list": ["a", null]\n}');
      await expect.poll(() => page.locator(".json-key").allTextContents()).toEqual(['"n"', '"list"']);
      expect(await page.locator(".json-string").allTextContents()).toEqual(['"a"']);
      expect(await page.locator(".json-word").allTextContents()).toEqual(["null"]);
      expect(await page.locator(".json-number").allTextContents()).toEqual(["12"]);
      expect(await page.locator(".cm-lineNumbers").textContent()).toMatch(/1234$/);
      expect(await page.locator(".json-pair").allTextContents()).toEqual(["{", "}"]);
      expect(await colorOf(page, `document.querySelector(".json-string")`)).toBe(await named(page, "--good"));
      expect(await violationsOf(page)).toEqual([]);

      await fillJson(json(page), '{\n  "tone": dry }');
      await page.getByText("Invalid JSON: line 2, column 11").waitFor();
      await expect.poll(() => page.locator(".json-fault").allTextContents()).toEqual(["d"]);
      expect(await page.locator(".json-fault-line").textContent()).toBe('  "tone": dry }');
      expect(await json(page).getAttribute("aria-invalid")).toBe("true");
      const fault = `document.getElementById(document.querySelector(".cm-content").getAttribute("aria-describedby"))`;
      expect(await page.evaluate(`${fault}.textContent`)).toBe("Invalid JSON: line 2, column 11");
      expect(await violationsOf(page)).toEqual([]);
    }
  });

  it("is written and left with the keyboard", async () => {
    const { page, visit } = await open(server().url);
    await visit(NEW_ITEM);
    await fillJson(json(page), "");
    await page.keyboard.type('{\n"a": [\n1');
    expect(await jsonIn(json(page))).toBe('{\n  "a": [\n    1');
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+y");
    await page.keyboard.type("]}");
    expect(await jsonIn(json(page))).toBe('{\n  "a": [\n    1]}');
    await page.keyboard.press("Home");
    await page.keyboard.press("Backspace");
    expect(await jsonIn(json(page))).toBe('{\n  "a": [    1]}');
    await page.keyboard.press("Control+Backspace");
    expect(await jsonIn(json(page))).toBe('{\n  "a":     1]}');
    await page.keyboard.press("Tab");
    await page
      .getByLabel(/Minutes to live/)
      .and(page.locator(":focus"))
      .waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".cm-focused").count()).toBe(0);
  });

  it("selects and deletes more lines than are in sight", async () => {
    const { page, visit } = await open(server().url);
    await visit(NEW_ITEM);
    const long = JSON.stringify(
      Array.from({ length: 5000 }, (_, index) => index),
      null,
      1,
    );
    await fillJson(json(page), long);
    expect(await json(page).locator(".cm-line").count()).toBeLessThan(1000);
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Control+Shift+End");
    await page.keyboard.press("Delete");
    expect(await jsonIn(json(page))).toBe("");
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Backspace");
    expect(await jsonIn(json(page))).toBe("");
  });

  it("is a plain field until it is loaded, which keeps the text, the focus and the cursor", async () => {
    const { page, visit } = await open(server().url);
    const allowed = deferred();
    await page.route("**/code-editor-*.js", async (route) => {
      await allowed.promise;
      await route.continue();
    });
    await visit(NEW_ITEM);
    const plain = json(page).and(page.locator("textarea"));
    await plain.fill('{"a": 1}');
    await page.keyboard.press("ArrowLeft");
    allowed.resolve();
    await expect.poll(() => jsonIn(json(page))).toBe('{"a": 1}');
    await page.keyboard.type("2");
    expect(await jsonIn(json(page))).toBe('{"a": 12}');
  });

  it("stays a plain field if it cannot be loaded", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const tried = deferred();
    await page.route("**/code-editor-*.js", async (route) => {
      await route.abort();
      tried.resolve();
    });
    await visit("#/store/plain?edit=new");
    await tried.promise;
    const plain = json(page).and(page.locator("textarea"));
    await plain.fill('{ "a" }');
    await page.getByText("Invalid JSON: line 1, column 7").waitFor();
    await plain.fill('{ "a": 1 }');
    await page.getByLabel("Key", { exact: true }).fill("k");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => service.store.get(["plain"], "k")).toMatchObject({ value: { a: 1 } });
  });

  it("cannot be changed in a read-only Studio", async () => {
    const service = await openService({ graphs: { steps } });
    await service.store.put({ namespace: ["kept"], key: "k", value: { a: 1 } });
    const host = { host: "127.0.0.1", port: 0, studio: true, readOnly: true };
    const running = await startServer(service, host);
    onTestFinished(() => running.close(0));
    const { page, visit } = await open(running.url);
    await visit("#/store/kept?key=k");
    const before = JSON.stringify({ a: 1 }, null, 2);
    await expect.poll(() => jsonIn(json(page))).toBe(before);
    expect(await json(page).getAttribute("aria-readonly")).toBe("true");
    await json(page).click();
    await page.keyboard.type("x");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    expect(await jsonIn(json(page))).toBe(before);
  });
});
