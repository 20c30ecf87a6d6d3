/** Chromium, driven by playwright-core; a loud skip where there is none. What no page may do is noted of every page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { browserAt } from "./browser-place.js";

const { describe, path: executablePath } = browserAt("Chromium", "GRAPH_SERVE_TEST_CHROMIUM", [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
]);

/** Tests that need a browser. They fail without one when GRAPH_SERVE_REQUIRE_BACKENDS lists chromium. */
export const describeWithChromium = describe;

export interface Look {
  width?: number;
  scheme?: "light" | "dark";
}

export interface Tab {
  page: Page;
  /** Addresses that were asked for. */
  requests: string[];
  /** What the console was told, errors that nobody caught, what the policy refused, dialogs. */
  faults: string[];
}

/** One browser for the tests of a file. What is returned opens a page of its own, with nothing in it yet. */
export function useChromium(): (look?: Look) => Promise<Tab> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());
  return async ({ width = 1280, scheme = "light" } = {}) => {
    if (!browser) throw new Error("there is no browser");
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme });
    page.setDefaultTimeout(15_000);
    return { page, ...(await watch(page)) };
  };
}

async function watch(page: Page): Promise<Pick<Tab, "requests" | "faults">> {
  const [requests, faults]: [string[], string[]] = [[], []];
  await page.exposeFunction("noteViolation", (text: string) => faults.push(`policy: ${text}`));
  await page.addInitScript(() => {
    const scope = globalThis as unknown as {
      addEventListener: (name: string, listen: (event: Record<string, string>) => void) => void;
      noteViolation: (text: string) => void;
    };
    scope.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      scope.noteViolation(`${violatedDirective} ${blockedURI}`),
    );
  });
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { requests, faults };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What WCAG 2.2 AA finds wrong with the page as it is now. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await axe.run({ runOnly });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}
