/** Firefox driven by a built-in WebDriver BiDi client. Records the faults of every page. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { WebSocket } from "ws";
import { browserAt } from "./browser-place.js";

const { describe, path } = browserAt("Firefox", "GRAPH_SERVE_TEST_FIREFOX", [
  "/usr/bin/firefox-esr",
  "/usr/bin/firefox",
]);

/** Tests that need Firefox. They fail without it if GRAPH_SERVE_REQUIRE_BACKENDS lists firefox. */
export const describeWithFirefox = describe;

/** A profile without network requests at startup and without a start page. */
const PROFILE = [
  ["app.update.enabled", false],
  ["browser.aboutwelcome.enabled", false],
  ["browser.shell.checkDefaultBrowser", false],
  ["browser.startup.page", 0],
  ["datareporting.policy.dataSubmissionEnabled", false],
  ["extensions.getAddons.cache.enabled", false],
  ["network.captive-portal-service.enabled", false],
  ["network.connectivity-service.enabled", false],
  ["toolkit.telemetry.enabled", false],
] as const;

type Params = Record<string, unknown>;
interface Message {
  id?: number;
  method?: string;
  params?: Params;
  result?: Params;
  error?: string;
  message?: string;
}

/** WebDriver BiDi over a WebSocket: https://w3c.github.io/webdriver-bidi */
class Connection {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<
    number,
    { resolve: (result: Params) => void; reject: (error: Error) => void }
  >();
  #count = 0;
  #gone: Error | undefined;

  private constructor(socket: WebSocket, onEvent: (method: string, params: Params) => void) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const {
        id,
        method = "",
        params = {},
        result = {},
        error,
        message,
      } = JSON.parse(String(data)) as Message;
      if (id === undefined) return onEvent(method, params);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(`${error}: ${message}`));
    });
    socket.on("close", () => {
      this.#gone = new Error("Firefox has exited");
      for (const { reject } of this.#waiting.values()) reject(this.#gone);
    });
  }

  static async open(url: string, onEvent: (method: string, params: Params) => void): Promise<Connection> {
    const socket = new WebSocket(url);
    await once(socket, "open");
    return new Connection(socket, onEvent);
  }

  send(method: string, params: Params): Promise<Params> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

interface Browser {
  connection: Connection;
  process: ChildProcess;
  profile: string;
}

async function launch(onEvent: (method: string, params: Params) => void): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "graph-serve-firefox-"));
  const lines = PROFILE.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});\n`);
  await writeFile(join(profile, "user.js"), lines.join(""));
  const flags = ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile];
  const firefox = spawn(path ?? "", flags, { stdio: ["ignore", "ignore", "pipe"] });
  process.once("exit", () => firefox.kill());
  const address = await new Promise<string>((resolve, reject) => {
    let printed = "";
    firefox.stderr.on("data", (chunk: Buffer) => {
      printed += String(chunk);
      const [, found] = /WebDriver BiDi listening on (ws:\S+)/.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    });
    firefox.once("error", reject);
    firefox.once("exit", (code) => reject(new Error(`Firefox exited with code ${code}: ${printed}`)));
  });
  const connection = await Connection.open(`${address}/session`, onEvent);
  await connection.send("session.new", { capabilities: {} });
  return { connection, process: firefox, profile };
}

const EVENTS = [
  "log.entryAdded",
  "network.beforeRequestSent",
  "browsingContext.userPromptOpened",
  "script.message",
];

const NOTE_VIOLATIONS = `(note) => addEventListener("securitypolicyviolation", (event) =>
  note(event.violatedDirective + " " + event.blockedURI))`;

/** The first start creates a profile, which can take most of a minute on a busy machine. */
const START_LIMIT_MS = 240_000;

/** One page in a separate Firefox for the tests of a file. */
export function useFirefox(): () => FirefoxPage {
  let browser: Browser | undefined;
  let page: FirefoxPage | undefined;
  beforeAll(async () => {
    const [requests, faults]: [string[], string[]] = [[], []];
    browser = await launch((method, params) => note(method, params, requests, faults));
    const { connection } = browser;
    await connection.send("session.subscribe", { events: EVENTS });
    const channel = { type: "channel", value: { channel: "policy" } };
    await connection.send("script.addPreloadScript", {
      functionDeclaration: NOTE_VIOLATIONS,
      arguments: [channel],
    });
    const { contexts } = (await connection.send("browsingContext.getTree", {})) as {
      contexts: [{ context: string }];
    };
    page = new FirefoxPage(connection, contexts[0].context, requests, faults);
    await page.resize(1280);
  }, START_LIMIT_MS);
  afterAll(async () => {
    if (!browser) return;
    const { connection, process, profile } = browser;
    if (process.exitCode === null && process.signalCode === null) {
      const gone = once(process, "exit");
      await connection.send("browser.close", {});
      await gone;
    }
    await rm(profile, { recursive: true, force: true });
  });
  return () => {
    if (!page) throw new Error("Firefox has not started");
    return page;
  };
}

function note(method: string, params: Params, requests: string[], faults: string[]): void {
  if (method === "network.beforeRequestSent") requests.push((params.request as { url: string }).url);
  else if (method === "log.entryAdded") faults.push(`console: ${String(params.text)}`);
  else if (method === "script.message") faults.push(`policy: ${(params.data as { value: string }).value}`);
  else if (method === "browsingContext.userPromptOpened") faults.push(`dialog: ${String(params.message)}`);
}

export class FirefoxPage {
  /** Requested addresses. */
  readonly requests: string[];
  /** Console messages, uncaught errors, CSP violations and dialogs. */
  readonly faults: string[];
  readonly #connection: Connection;
  readonly #context: string;

  constructor(connection: Connection, context: string, requests: string[], faults: string[]) {
    this.#connection = connection;
    this.#context = context;
    this.requests = requests;
    this.faults = faults;
  }

  #send(method: string, params: Params): Promise<Params> {
    return this.#connection.send(method, { context: this.#context, ...params });
  }

  async goto(url: string): Promise<void> {
    await this.#send("browsingContext.navigate", { url, wait: "complete" });
  }

  async reload(): Promise<void> {
    await this.#send("browsingContext.reload", { wait: "complete" });
  }

  async resize(width: number): Promise<void> {
    await this.#send("browsingContext.setViewport", { viewport: { width, height: 800 } });
  }

  /** The value of an expression as JSON. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.#connection.send("script.evaluate", {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      target: { context: this.#context },
      awaitPromise: true,
    })) as { result?: { value?: string }; exceptionDetails?: { text: string } };
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result?.value ?? "null") as T;
  }

  /** The visible text. */
  text(selector = "body"): Promise<string> {
    return this.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
  }

  /** Waits for the element with the role and name, then clicks it. */
  async click(role: string, name: string): Promise<void> {
    const node = await this.#find(role, name);
    await this.#connection.send("script.callFunction", {
      functionDeclaration: `(node) => node.scrollIntoView({ block: "center" })`,
      arguments: [node],
      target: { context: this.#context },
      awaitPromise: false,
    });
    const actions = [
      { type: "pointerMove", x: 0, y: 0, origin: { type: "element", element: node } },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    await this.#send("input.performActions", { actions: [{ type: "pointer", id: "mouse", actions }] });
  }

  /** Presses keys one after another on the focused element. */
  async type(...keys: string[]): Promise<void> {
    const actions = keys.flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await this.#send("input.performActions", { actions: [{ type: "key", id: "keys", actions }] });
  }

  async #find(role: string, name: string): Promise<Params> {
    const locator = { type: "accessibility", value: { role, name } };
    const find = async () =>
      (await this.#send("browsingContext.locateNodes", { locator })).nodes as { sharedId: string }[];
    await expect.poll(async () => (await find()).length, { message: `${role} ${name}` }).toBeGreaterThan(0);
    const [node] = await find();
    return { sharedId: node?.sharedId };
  }
}

/** Key codes of WebDriver. */
export const KEYS = { enter: "\uE007", down: "\uE015" } as const;
