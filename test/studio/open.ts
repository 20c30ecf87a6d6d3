/** Opens the Studio of a real server in a real browser. Every page is checked for forbidden requests and errors. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Locator, Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import type { ServiceOptions } from "../../src/service/options.js";
import { type Look, useChromium } from "../helpers/chromium.js";
import { deferred } from "../helpers/deferred.js";

export { violationsOf } from "../helpers/chromium.js";

export interface Studio {
  page: Page;
  /** Navigates to a location such as `#/threads`. */
  visit: (place: string) => Promise<void>;
  /** Resolves when all requested data has loaded and is rendered. Do not use it while the page follows a run. */
  settled: () => Promise<void>;
}

/** One browser for all tests of a file. `open` creates a page for each test and checks it at the end. */
export function useBrowser(): (url: string, look?: Look) => Promise<Studio> {
  const open = useChromium();
  return async (url, look) => {
    const { page, requests, faults } = await open(look);
    const { origin } = new URL(url);
    onTestFinished(async () => {
      await page.close();
      expect(requests.filter((address) => isForeign(address, origin))).toEqual([]);
      expect(faults.filter((fault) => !IS_ANSWER.test(fault))).toEqual([]);
    });
    return { page, visit: (place) => visit(page, `${url}/studio/${place}`), settled: settling(page) };
  };
}

/** Chromium logs responses with an error status itself. */
const IS_ANSWER = /^console: Failed to load resource/;

/** Whether the address belongs to another origin. */
export function isForeign(address: string, own: string): boolean {
  const { protocol, origin } = new URL(address);
  return origin !== own && !["data:", "blob:"].includes(protocol);
}

export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole("navigation", { name: "Screens" }).waitFor();
}

const DRAWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))";

/** A change of the URL fragment is not a navigation for the browser, so requests and responses are tracked. */
export function settling(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  const close = (request: Request) => void open.delete(request);
  // The streams of changes and of the events of `dev` stay open.
  const isStream = (request: Request) => /\/(changes|studio\/api\/events)$/.test(request.url());
  page.on("request", (request) => isStream(request) || void open.add(request));
  page.on("requestfinished", close);
  page.on("requestfailed", close);
  return async () => {
    await page.evaluate(DRAWN);
    await expect
      .poll(
        async () => {
          const isQuiet = open.size === 0;
          await page.evaluate(DRAWN);
          return isQuiet && open.size === 0 && (await page.locator("main .waiting").count()) === 0;
        },
        { timeout: 30_000 },
      )
      .toBe(true);
  };
}

/** A server for all tests of a file, in memory by default. */
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

/** A button in the menu of a thread's header, which is opened. */
export async function menuButton(page: Page, name: string): Promise<Locator> {
  const menu = page.locator("details.more");
  await menu.waitFor();
  if ((await menu.getAttribute("open")) === null) await menu.locator("summary").click();
  return menu.getByRole("button", { name, exact: true });
}

/** The lines of a JSON editor, once CodeMirror has replaced its plain field. Only of texts that fit into it. */
export async function jsonIn(field: Locator): Promise<string> {
  await codeOf(field).waitFor();
  return (await codeOf(field).locator(".cm-line").allTextContents()).join("\n");
}

/** Replaces the text of a JSON editor. */
export async function fillJson(field: Locator, text: string): Promise<void> {
  await codeOf(field).press("ControlOrMeta+a");
  await codeOf(field).press("Delete");
  await field.page().keyboard.insertText(text);
}

const codeOf = (field: Locator): Locator => field.and(field.page().locator(".cm-content"));

/** Creates a thread, runs the graph on it and returns its id. */
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

/** Presses a copy button, checks that the clipboard matches `what`, and returns its text. */
export async function expectCopied(place: Locator, name: string, what: RegExp): Promise<string> {
  const page = place.page();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await place.getByRole("button", { name, exact: true }).click();
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  await expect.poll(copied).toMatch(what);
  return copied();
}

/** The arguments of a copied command as a shell parses them. Files that the command writes are created in `cwd`. */
export async function argumentsOf(command: string, cwd: string): Promise<string[]> {
  const prelude = `npx() { shift; printf '%s\\0' "$@" >&2; }`;
  const { stderr } = await promisify(execFile)("sh", ["-c", `${prelude}\n${command}`], { cwd });
  return stderr.split("\0").slice(0, -1);
}

/** Holds the next request until it is released. */
export async function held(page: Page, address: string) {
  const [asked, released] = [deferred(), deferred()];
  await page.route(
    address,
    async (route) => {
      asked.resolve();
      await released.promise;
      await route.continue();
    },
    { times: 1 },
  );
  const answered = page.waitForResponse(address);
  // A test that does not wait for the response may close the page before it.
  answered.catch(() => undefined);
  return { asked: asked.promise, answered, release: () => released.resolve() };
}

/** Holds the response to the first request whose body contains `text` until it is released. */
export async function heldResponse(page: Page, address: string, text: string) {
  const [asked, released] = [deferred(), deferred()];
  let isHeld = false;
  await page.route(address, async (route) => {
    if (isHeld || !route.request().postData()?.includes(text)) return route.continue();
    isHeld = true;
    const response = await route.fetch();
    asked.resolve();
    await released.promise;
    await route.fulfill({ response });
  });
  return { asked: asked.promise, release: () => released.resolve() };
}
