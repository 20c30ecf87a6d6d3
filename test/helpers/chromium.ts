/**
 * Chromium driven by playwright-core, skipped with a message if it is not installed. Records the faults of
 * every page.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { browserAt } from "./browser-place.js";

const { describe, path: executablePath } = browserAt("Chromium", "GRAPH_SERVE_TEST_CHROMIUM", [
  // Without windows, a page takes a quarter of the CPU time.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
]);

/** Tests that need Chromium. They fail without it if GRAPH_SERVE_REQUIRE_BACKENDS lists chromium. */
export const describeWithChromium = describe;

export interface Look {
  width?: number;
  height?: number;
  scheme?: "light" | "dark";
}

export interface Tab {
  page: Page;
  /** Requested addresses. */
  requests: string[];
  /** Console messages, uncaught errors, CSP violations and dialogs. */
  faults: string[];
}

/** The browser of this process. Files share it, because it takes a second to start. */
let shared: Promise<Browser> | undefined;

async function theBrowser(): Promise<Browser> {
  const running = await shared?.catch(() => undefined);
  if (running?.isConnected()) return running;
  return (shared = chromium.launch({ executablePath, args: ["--no-sandbox"] }));
}

/** The returned function opens a blank page in a new context. Pages are closed at the end of the file. */
export function useChromium(): (look?: Look) => Promise<Tab> {
  const pages: Page[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await theBrowser();
  });
  afterAll(() => Promise.all(pages.splice(0).map((page) => page.close())));
  return async ({ width = 1280, height = 800, scheme = "light" } = {}) => {
    if (!browser) throw new Error("the browser has not started");
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
    pages.push(page);
    page.setDefaultTimeout(60_000);
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

/** WCAG 2.2 AA violations of the current page. */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    // Details of rules that are kept take a third of the time.
    const { violations } = await axe.run({ runOnly, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}
