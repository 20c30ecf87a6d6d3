/** A headless Chromium, spoken to over its DevTools pipe; a loud skip where there is none. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { describe, it } from "vitest";

const PATH_VARIABLE = "GRAPH_SERVE_TEST_CHROMIUM";
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const path = process.env[PATH_VARIABLE] ?? PLACES.find((place) => existsSync(place));

/** The browser's program; undefined where there is none. */
export const chromiumPath = path;

/** Tests that need a browser. They fail without one when GRAPH_SERVE_REQUIRE_BACKENDS lists chromium. */
export function describeWithChromium(name: string, tests: () => void): void {
  const isRequired = process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("chromium");
  if (path !== undefined) describe(name, tests);
  else if (isRequired)
    throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS asks for chromium: set ${PATH_VARIABLE}`);
  else describe(name, () => it.skip(`needs Chromium: none at ${PLACES.join(", ")}, set ${PATH_VARIABLE}`));
}

interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
}
type Answer = Record<string, unknown>;

export class Browser {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #out: Writable;
  readonly #waiting = new Map<
    number,
    { resolve: (answer: Answer) => void; reject: (error: Error) => void }
  >();
  readonly #listeners = new Set<(message: Message) => void>();
  #last = 0;

  private constructor(child: ChildProcess, profile: string) {
    this.#process = child;
    this.#profile = profile;
    this.#out = child.stdio[3] as Writable;
    let rest = "";
    (child.stdio[4] as Readable).setEncoding("utf8").on("data", (text: string) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop() ?? "";
      for (const message of messages) this.#take(JSON.parse(message) as Message);
    });
    child.once("exit", (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`Chromium ended with ${code}`));
    });
  }

  static async open(): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), "graph-serve-chromium-"));
    const flags = [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
    ];
    const child = spawn(path ?? "", [...flags, `--user-data-dir=${profile}`, "--remote-debugging-pipe"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    return new Browser(child, profile);
  }

  async close(): Promise<void> {
    const exit = once(this.#process, "exit");
    await this.send("Browser.close");
    await exit;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Answer> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#out.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  on(listener: (message: Message) => void): void {
    this.#listeners.add(listener);
  }

  /** A tab that shows the page at `url`, once it has loaded. */
  async show(url: string): Promise<Tab> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    return Tab.open(this, String(sessionId), url);
  }

  #take(message: Message): void {
    if (message.id === undefined) {
      for (const listener of this.#listeners) listener(message);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result ?? {});
  }
}

export class Tab {
  readonly #browser: Browser;
  readonly #session: string;
  /** Addresses that were asked for. */
  readonly requests: string[] = [];
  /** What the console was told, errors that nobody caught, what the policy refused, dialogs. */
  readonly faults: string[] = [];

  private constructor(browser: Browser, session: string) {
    this.#browser = browser;
    this.#session = session;
  }

  static async open(browser: Browser, session: string, url: string): Promise<Tab> {
    const tab = new Tab(browser, session);
    let loaded: () => void = () => undefined;
    const load = new Promise<void>((resolve) => (loaded = resolve));
    browser.on(({ sessionId, method = "", params = {} }) => {
      if (sessionId !== session) return;
      if (method === "Page.loadEventFired") loaded();
      if (method === "Network.requestWillBeSent") tab.requests.push((params.request as { url: string }).url);
      if (
        /^(Runtime\.(consoleAPICalled|exceptionThrown)|Log\.entryAdded|Page\.javascriptDialogOpening)$/.test(
          method,
        )
      )
        tab.faults.push(JSON.stringify(params));
    });
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.send(`${domain}.enable`);
    await tab.send("Page.navigate", { url });
    await load;
    return tab;
  }

  send(method: string, params: object = {}): Promise<Answer> {
    return this.#browser.send(method, params, this.#session);
  }

  /** The value of an expression, or what a promise resolves to, as JSON carries it. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value: T }).value;
  }

  texts(selector: string): Promise<string[]> {
    return this.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`,
    );
  }

  /** Press a key, as a keyboard does. */
  async key(key: string): Promise<void> {
    const code = key === " " ? "Space" : key;
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, code });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code });
  }

  /** Click the middle of the first element that matches, as a mouse does. */
  async click(selector: string): Promise<void> {
    const place = await this.evaluate<{ x: number; y: number }>(
      `(() => { const each = document.querySelector(${JSON.stringify(selector)});
        each.scrollIntoView({ block: "center" });
        const { x, y, width, height } = each.getBoundingClientRect();
        return { x: x + width / 2, y: y + height / 2 }; })()`,
    );
    for (const type of ["mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
  }

  /** Show the page as on a screen of this width, in a light or dark system. */
  async as(width: number, scheme: "light" | "dark"): Promise<void> {
    const size = { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 };
    await this.send("Emulation.setDeviceMetricsOverride", size);
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
  }

  /** A PNG of what is seen. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(String(data), "base64");
  }
}
