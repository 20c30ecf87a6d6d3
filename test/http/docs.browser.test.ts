/** The API documentation in a browser, and browser requests from pages of other origins. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { startTestServer } from "../helpers/app.js";
import { describeWithChromium, type Tab, useChromium, violationsOf } from "../helpers/chromium.js";

describeWithChromium("documentation in Chromium", () => {
  const show = useChromium();

  async function open(settings = {}): Promise<Tab> {
    const open_routes = ["/docs" as const, "/openapi.json" as const];
    const { url } = await startTestServer({ graphs: { chat }, settings: { open_routes, ...settings } });
    const tab = await show();
    // Skips color transitions, so that contrast is measured on the final colors.
    await tab.page.emulateMedia({ reducedMotion: "reduce" });
    await tab.page.goto(`${url}/docs/`);
    await tab.page.locator(".opblock").first().waitFor();
    return tab;
  }

  /** Fails on accessibility violations, CSP violations and console errors. */
  async function expectSound({ page, faults }: Tab): Promise<void> {
    expect(await violationsOf(page)).toEqual([]);
    expect(faults).toEqual([]);
  }

  /** Expands the documentation of a route. */
  async function unfold(page: Page, route: string): Promise<void> {
    const [method = "", path = ""] = route.split(" ");
    const block = `.opblock-${method.toLowerCase()}:has([data-path="${path}"])`;
    await page.locator(`${block} .opblock-summary-control`).click();
  }

  it("the page has no accessibility or CSP violations", async () => {
    await expectSound(await open());
  });

  it("the page has no violations with routes expanded and tried out", async () => {
    const tab = await open();
    for (const route of [
      "GET /ok",
      "POST /threads",
      "GET /threads/{thread_id}/state",
      "PATCH /threads/{thread_id}",
    ])
      await unfold(tab.page, route);
    await tab.page.locator(".body-param__text").first().waitFor();
    await tab.page.locator(".execute").first().click();
    await tab.page
      .locator(".live-responses-table .response-col_description .highlight-code")
      .first()
      .waitFor();
    const statuses = await tab.page.locator(".live-responses-table .response-col_status").allTextContents();
    expect(statuses.join()).toContain("200");
    await expectSound(tab);
  });

  it("the page has no violations when an API key is required", async () => {
    const tab = await open({ api_keys: ["key-of-a-reader"] });
    await tab.page.locator(".auth-wrapper .authorize").click();
    await tab.page.locator(".dialog-ux input").first().waitFor();
    await expectSound(tab);
  });
});

describeWithChromium("a web page in Chromium", () => {
  const open = useChromium();

  /** Opens a page that reads the threads and then creates one. */
  async function attempt(address: string) {
    const server = await startTestServer({ graphs: { chat } });
    await server.service.threads.create({ metadata: { note: "of this machine" } });
    const { page } = await open();
    await page.goto(address);
    const read = `fetch("${server.url}/threads/search", { method: "POST", body: "{}" }).then((answer) => answer.text())`;
    const write = `fetch("${server.url}/threads", { method: "POST", body: "{}", mode: "no-cors" })`;
    const seen = await page.evaluate<string>(`${read}.catch(String)`);
    await page.evaluate(`${write}.then(() => 0, () => 0)`);
    return { seen, threads: await server.service.threads.count({}) };
  }

  it("a page of a foreign origin can neither read nor create threads", async () => {
    const { seen, threads } = await attempt("data:text/html,<p>somewhere else");
    expect(seen).toContain("TypeError");
    expect(threads).toBe(1);
  });

  it("a page on another local port can read and create threads", async () => {
    const page = createServer((_req, res) => res.setHeader("content-type", "text/html").end("<p>here"));
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void page.close());
    const { port } = page.address() as AddressInfo;
    const { seen, threads } = await attempt(`http://127.0.0.1:${port}/`);
    expect(seen).toContain("of this machine");
    expect(threads).toBe(2);
  });
});
