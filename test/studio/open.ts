/** The Studio in a real browser, over a real server. What no page may ever do is looked at in every test. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { startServer, type RunningServer } from "../../src/http/server.js";
import { openService, type Service, type ServiceOptions } from "../../src/service.js";
import { chromiumPath } from "../helpers/chromium.js";

export interface Studio {
  page: Page;
  /** Go to a place such as `#/threads`. */
  visit: (place: string) => Promise<void>;
  /** What the page did that none may do. */
  faults: string[];
}

export interface Look {
  width?: number;
  scheme?: "light" | "dark";
}

/** One browser for the tests of a file. `open` gives a page of its own to each test, and checks it at the end. */
export function useBrowser(): (url: string, look?: Look) => Promise<Studio> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());
  return async (url, { width = 1280, scheme = "light" } = {}) => {
    if (!browser) throw new Error("there is no browser");
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme });
    page.setDefaultTimeout(15_000);
    const faults = await watch(page, new URL(url).origin);
    onTestFinished(async () => {
      await page.close();
      expect(faults).toEqual([]);
    });
    return { page, faults, visit: (place) => visit(page, `${url}/studio/${place}`) };
  };
}

async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole("navigation", { name: "Screens" }).waitFor();
}

/** Requests to others, complaints of the console, what the policy refuses, dialogs. */
async function watch(page: Page, origin: string): Promise<string[]> {
  const faults: string[] = [];
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
  page.on("request", (request) => {
    const { protocol, origin: to } = new URL(request.url());
    if (to !== origin && !["data:", "blob:"].includes(protocol)) faults.push(`request: ${request.url()}`);
  });
  page.on("console", (message) => {
    // The browser itself notes answers that are no success.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isAnswer) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return faults;
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

/** A server for all tests of a file; in memory unless the options say otherwise. */
export function useServer(options: ServiceOptions): () => RunningServer & { service: Service } {
  let running: (RunningServer & { service: Service }) | undefined;
  beforeAll(async () => {
    const service = await openService(options);
    running = { ...(await startServer(service, { host: "127.0.0.1", port: 0, studio: true })), service };
  });
  afterAll(() => running?.close(0));
  return () => {
    if (!running) throw new Error("the server has not started");
    return running;
  };
}

/** A new thread on which the graph ran once; its id. */
export async function ranThread(
  { threads, runs }: Service,
  assistant_id: string,
  input: object,
  metadata: object = {},
): Promise<string> {
  const { thread_id } = await threads.create({ metadata: { ...metadata } });
  await runs.create(thread_id, { assistant_id, input: { ...input } });
  return thread_id;
}
