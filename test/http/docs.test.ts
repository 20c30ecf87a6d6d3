import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { serve, startTestServer } from "../helpers/app.js";
import { Browser, describeWithChromium, type Tab } from "../helpers/chromium.js";
import { fakeService } from "../helpers/fake-service.js";

describe("documentation", () => {
  it("is a page of local files alone", async () => {
    const { request } = await serve(fakeService());
    const { headers, text } = await request("GET", "/docs/");
    expect(headers.get("content-type")).toContain("text/html");
    const sources = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) expect((await request("GET", `/docs/${source}`)).status, source).toBe(200);
  });

  it("runs no script and no style of the page itself, and lets nobody frame it", async () => {
    const { request } = await serve(fakeService());
    const policy = (await request("GET", "/docs/")).headers.get("content-security-policy");
    const directives = new Map(
      policy?.split("; ").map((part): [string, string] => {
        const [name = "", ...sources] = part.split(" ");
        return [name, sources.join(" ")];
      }),
    );
    expect(Object.fromEntries(directives)).toMatchObject({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "connect-src": "'self'",
      "base-uri": "'none'",
      "frame-ancestors": "'none'",
    });
    expect(policy).not.toContain("unsafe");
  });

  it("shows our document and asks no validator", async () => {
    const { request } = await serve(fakeService());
    const { text } = await request("GET", "/docs/page.js");
    expect(text).toContain('url: "../openapi.json"');
    expect(text).toContain("validatorUrl: null");
  });

  it.each([
    "/docs/index.html",
    "/docs/swagger-initializer.js",
    "/docs/package.json",
    "/docs/swagger-ui-bundle.js.map",
    "/docs/nope.js",
    "/docs/..%2fpackage.json",
  ])("has no %s", async (path) => {
    const { request } = await serve(fakeService());
    const { status, text } = await request("GET", path);
    expect(status).toBe(404);
    expect(text).not.toContain("petstore");
  });

  it("redirects to its folder", async () => {
    const { request } = await serve(fakeService());
    expect((await request("GET", "/docs")).text).toContain("swagger-ui");
  });
});

describe("install telemetry", () => {
  it("does not come with the package", async () => {
    const lock = JSON.parse(await readFile("package-lock.json", "utf8")) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
    };
    const installed = Object.entries(lock.packages).filter(([, { dev }]) => !dev);
    const names = installed.map(([path]) => path.replace(/^.*node_modules\//, ""));
    expect(names).toContain("express");
    expect(names.filter((name) => /scarf|swagger-ui/.test(name))).toEqual([]);
    const runOnInstall = installed.filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript);
    expect(runOnInstall.map(([path]) => path)).toEqual(["node_modules/better-sqlite3"]);
  });

  it("is off while this project itself is installed", async () => {
    const { scarfSettings } = JSON.parse(await readFile("package.json", "utf8")) as { scarfSettings: object };
    expect(scarfSettings).toEqual({ enabled: false });
  });
});

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

describeWithChromium("documentation in Chromium", () => {
  // The page is long, and every colour on it is looked at.
  vi.setConfig({ testTimeout: 120_000 });
  let browser: Browser;
  let axe: string;
  beforeAll(async () => {
    browser = await Browser.open();
    axe = await readFile("node_modules/axe-core/axe.min.js", "utf8");
  });
  afterAll(() => browser.close());

  const shows = (tab: Tab, selector: string): Promise<void> =>
    expect.poll(async () => (await tab.texts(selector)).length, { timeout: 20_000 }).toBeGreaterThan(0);

  async function open(settings = {}): Promise<Tab> {
    const open_routes = ["/docs" as const, "/openapi.json" as const];
    const { url } = await startTestServer({ graphs: { chat }, settings: { open_routes, ...settings } });
    const tab = await browser.show(`${url}/docs/`);
    await shows(tab, ".opblock");
    // Colours are then what they are, not on their way there.
    const features = [{ name: "prefers-reduced-motion", value: "reduce" }];
    await tab.send("Emulation.setEmulatedMedia", { features });
    await tab.evaluate(`${axe}; 0`);
    return tab;
  }

  /** Neither a fault of accessibility, nor anything that the policy or the console complains of. */
  async function expectSound(tab: Tab): Promise<void> {
    const violations = await tab.evaluate<Violation[]>("axe.run().then(({ violations }) => violations)");
    const found = violations.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary]);
    expect(found).toEqual([]);
    expect(tab.faults).toEqual([]);
  }

  it("has no fault of accessibility, and nothing that its policy refuses", async () => {
    await expectSound(await open());
  });

  it("has none where routes are open and tried out", async () => {
    const tab = await open();
    const opened = [
      "GET /ok",
      "POST /threads",
      "GET /threads/{thread_id}/state",
      "PATCH /threads/{thread_id}",
    ];
    const count = await tab.evaluate<number>(`(() => {
      const opened = new Set(${JSON.stringify(opened)});
      const buttons = [...document.querySelectorAll(".opblock-summary-control")].filter((button) =>
        opened.has([".opblock-summary-method", ".opblock-summary-path"]
          .map((part) => button.querySelector(part).textContent.replaceAll("\\u200b", "").trim()).join(" ")));
      for (const button of buttons) button.click();
      return buttons.length;
    })()`);
    expect(count).toBe(opened.length);
    await shows(tab, ".body-param__text");
    await tab.evaluate('document.querySelector(".execute").click()');
    await shows(tab, ".live-responses-table .response-col_description .highlight-code");
    expect((await tab.texts(".live-responses-table .response-col_status")).join()).toContain("200");
    await expectSound(tab);
  });

  it("has none where a key is asked for", async () => {
    const tab = await open({ api_keys: ["key-of-a-reader"] });
    await tab.click(".auth-wrapper .authorize");
    await shows(tab, ".dialog-ux input");
    await expectSound(tab);
  });
});
