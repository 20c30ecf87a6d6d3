/** A step of `dev` that runs again after each save, from its stored input, with old and new side by side. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ThreadState } from "../../src/models/state.js";
import { askingGraph, startCli } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { itSqlite } from "../helpers/with-sqlite.js";
import { httpGraph, type ModelServer, startModelServer } from "../testing/model-server.js";
import { askHelper, hidingGraph, OWN, ran, useDev } from "./dev.js";
import { menuButton, useBrowser, violationsOf } from "./open.js";

/** Adds up the prices of an order; `sum` is the expression that does so. */
const orders = (
  sum: string,
): string => `import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ prices: Annotation, total: Annotation, report: Annotation });
export const graph = new StateGraph(State)
  .addNode("read", () => ({ prices: [3, 4] }))
  .addNode("add_up", async ({ prices }) => ({ total: ${sum} }))
  .addNode("print", ({ total }) => ({ report: "total " + total }))
  .addEdge(START, "read").addEdge("read", "add_up").addEdge("add_up", "print").addEdge("print", END)
  .compile();
`;

/** A subgraph of three nodes; `first` and `second` are expressions. */
const nested = (
  first: string,
  second: string,
): string => `import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ log: Annotation({ reducer: (all, more) => [...all, ...more], default: () => [] }) });
const Inner = Annotation.Root({ steps: Annotation({ reducer: (all, more) => [...all, ...more], default: () => [] }), log: Annotation });
const inner = new StateGraph(Inner)
  .addNode("first", () => ({ steps: ["first " + ${first}] }))
  .addNode("second", () => ({ steps: ["second " + ${second}] }))
  .addNode("third", ({ steps }) => ({ log: [...steps, "third"] }))
  .addEdge(START, "first").addEdge("first", "second").addEdge("second", "third").addEdge("third", END)
  .compile();
export const graph = new StateGraph(State)
  .addNode("inner", inner)
  .addEdge(START, "inner").addEdge("inner", END)
  .compile();
`;
const FIRST = orders("prices.length");

const toggle = (page: Page) => page.getByRole("checkbox", { name: "Run again on save" });
const attempts = (page: Page) => page.getByRole("region", { name: "Both attempts" });
const step = (page: Page, name: RegExp) =>
  page.getByRole("listbox", { name: "Steps" }).getByRole("option", { name });
const threadsOf = async (url: string): Promise<number> =>
  (await (await fetch(`${url}/threads/count`, { method: "POST", body: "{}" })).json()) as number;

describeWithChromium("Run again on save", () => {
  const dev = useDev(() => ({ "graph.ts": FIRST }));
  const open = useBrowser();

  async function atStep(flags?: string[]) {
    const { url, token } = await dev.start({ ...(flags && { flags }) });
    const { thread_id } = await ran(url, {});
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await step(page, /add_up/).click();
    return { url, page, thread_id };
  }

  it("runs the node of the selected step after each save, shows load errors, and writes nothing", async () => {
    const { url, page, thread_id } = await atStep();
    const before = await (await fetch(`${url}/threads/${thread_id}/state`)).json();
    await toggle(page).check();
    expect(await attempts(page).count()).toBe(0);
    await dev.project.put("graph.ts", orders("prices[0] + prices[1]"));
    await attempts(page).getByText("Different result.").waitFor();
    await attempts(page).getByText("No model or tool was called.").waitFor();
    const columns = attempts(page).locator(".attempt");
    expect(await columns.allInnerTexts()).toEqual([
      expect.stringMatching(/^Stored\s+total[\s\S]*\n2$/),
      expect.stringMatching(/With the saved code[\s\S]*total[\s\S]*\n7$/),
    ]);
    // Only what the node wrote, not the step after it.
    expect(await attempts(page).getByText("report").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);

    await dev.project.put("graph.ts", "export const broken = ;");
    const fault = page.getByRole("region", { name: "Saved file that failed to load" });
    await fault.getByText("export const broken = ;").first().waitFor();
    expect(await attempts(page).count()).toBe(0);
    expect(await toggle(page).isChecked()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);

    await dev.project.put("graph.ts", orders("prices.none.length"));
    await attempts(page)
      .getByText(/reading 'length'/)
      .waitFor();
    await expect.poll(() => fault.count()).toBe(0);
    await dev.project.put("graph.ts", orders("1 + 1"));
    await attempts(page).getByText("Same result.").waitFor();
    expect(await (await fetch(`${url}/threads/${thread_id}/state`)).json()).toEqual(before);
    await expect.poll(() => threadsOf(url)).toBe(1);
  });

  it("shows the result of the last of two saves, and stops the run of the first", async () => {
    const gate = await startGate();
    const { url, page } = await atStep();
    await toggle(page).check();
    await dev.project.put("graph.ts", orders(`(await (await fetch("${gate.url}")).text()).length`));
    await gate.entered;
    await dev.project.put("graph.ts", orders("1000"));
    await attempts(page).getByText("Different result.").waitFor();
    await attempts(page).getByText("1000").waitFor();
    // The copy of the first run is deleted although its node still waits.
    await expect.poll(() => threadsOf(url)).toBe(1);
    gate.open();
    await attempts(page).getByText("1000").waitFor();
    await gate.close();
  });

  it("is turned off when another step is selected", async () => {
    const { page } = await atStep();
    const runs: string[] = [];
    page.on("request", (request) => request.url().endsWith("/node-runs") && runs.push(request.url()));
    await toggle(page).check();
    await step(page, /print/).click();
    await page.locator(".part", { hasText: "report" }).waitFor();
    await expect.poll(() => toggle(page).isChecked()).toBe(false);
    await step(page, /add_up/).click();
    await page.locator(".part", { hasText: "total" }).waitFor();
    expect(await toggle(page).isChecked()).toBe(false);
    await dev.project.put("graph.ts", orders("5"));
    await page.getByText(/^reloaded /).waitFor();
    expect(runs).toEqual([]);
    // On request it runs at once.
    await page.getByRole("button", { name: "Run this node again" }).click();
    await attempts(page).getByText("Different result.").waitFor();
    expect(runs).toHaveLength(1);
  });

  it("gives the stored answer to a node that asks", async () => {
    await dev.project.put("graph.ts", askingGraph);
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, { topic: "cats" });
    await ran(url, undefined, { threadId: thread_id, command: { resume: "yes" } });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await toggle(page).check();
    await dev.project.put("graph.ts", askingGraph.replace('+ "?"', '+ "!"'));
    await attempts(page).getByText("Same result.").waitFor();
    await dev.project.put("graph.ts", askingGraph.replace("String(", 'String("no " + '));
    await attempts(page).getByText("no yes").waitFor();
    await attempts(page).getByText("Different result.").waitFor();
  });

  it("compares the values that the page shows, and runs again after the settings changed", async () => {
    const hidden = (plan: string) => hidingGraph("an answer").replace("plan in secret", plan);
    await dev.project.put("graph.ts", hidden("one"));
    await dev.project.put("graph-server.config.json", { welcome_message: "one" });
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, { question: "why?" });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await step(page, /prepare/).click();
    await toggle(page).check();
    await dev.project.put("graph.ts", hidden("two"));
    await attempts(page).getByText("Different result.").waitFor();
    await attempts(page).getByText("two").waitFor();
    await (await menuButton(page, "Visible to clients")).click();
    await expect.poll(() => attempts(page).count()).toBe(0);
    await toggle(page).check();
    // The restart closes the connection of the page.
    await dev.project.put("graph-server.config.json", { welcome_message: "two" });
    await attempts(page).getByText("Same result.").waitFor();
    expect(await attempts(page).getByText("two").count()).toBe(0);
  });

  it("runs a subgraph to its end", async () => {
    await dev.project.put("graph.ts", hidingGraph("an answer"));
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, { question: "why?" });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await toggle(page).check();
    await dev.project.put("graph.ts", hidingGraph("an answer").replace("think in secret", "think again"));
    await attempts(page).getByText("Same result.").waitFor();
    await dev.project.put("graph.ts", hidingGraph("another answer"));
    await attempts(page).getByText("another answer").waitFor();
  });

  it("runs a failed node, too", async () => {
    await dev.project.put("graph.ts", orders("prices.none.length"));
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, {});
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/run/${thread_id}`);
    await page.getByRole("alert").filter({ hasText: "add_up failed" }).waitFor();
    await toggle(page).check();
    await dev.project.put("graph.ts", orders("prices.length"));
    await attempts(page).getByRole("button", { name: "Continue from here" }).waitFor();
    expect(await attempts(page).locator(".is-changed").innerText()).toMatch(/total\s+2/);
  });

  it("runs a failed subgraph to its end, from the node that failed", async () => {
    await dev.project.put("graph.ts", nested("1", "missing.length"));
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, {});
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/run/${thread_id}`);
    await page.getByRole("alert").filter({ hasText: "missing is not defined" }).waitFor();
    await dev.project.put("graph.ts", nested("1000", "2"));
    await page.getByText(/^reloaded /).waitFor();
    await page.getByRole("button", { name: "Run this node again" }).click();
    await attempts(page).getByRole("button", { name: "Continue from here" }).waitFor();
    expect(await attempts(page).locator(".is-changed").innerText()).toMatch(
      /log[\s\S]*first 1\b[\s\S]*second 2[\s\S]*third/,
    );
  });

  it("is offered only where saved files are reloaded", async () => {
    const { page } = await atStep(["--no-reload"]);
    await page.getByRole("button", { name: "Run this node again" }).waitFor();
    expect(await toggle(page).count()).toBe(0);
  });
});

/** The answer of the model with a suffix; the prompt is part of the request. */
const answering = (prompt: string, suffix: string): string =>
  `${httpGraph.replace(/export const graph =[\s\S]*$/, "")}
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { HumanMessage } from "@langchain/core/messages";
const State = Annotation.Root({ turn: Annotation, answer: Annotation });
const model = new ChatWire({});
const ask = async () => (await model.invoke([new HumanMessage(${JSON.stringify(prompt)})])).text;
export const graph = new StateGraph(State)
  .addNode("first", async () => ({ turn: 1, answer: await ask() }))
  .addNode("second", async () => ({ turn: 2, answer: (await ask()) + ${JSON.stringify(suffix)} }))
  .addEdge(START, "first").addEdge("first", "second").addEdge("second", END)
  .compile();
`;

/** A model server for each test. */
function useModel(): () => ModelServer {
  let model: ModelServer;
  beforeEach(async () => {
    model = await startModelServer();
    process.env.MODEL_URL = model.url;
  });
  afterEach(async () => {
    delete process.env.MODEL_URL;
    await model.close();
  });
  return () => model;
}

describeWithChromium("Run again on save, with a recording", () => {
  const dev = useDev(() => ({ "graph.ts": answering("hello", "!") }));
  const open = useBrowser();
  const model = useModel();

  it("calls no model whose response was recorded, and says which calls were made", async () => {
    const { url, token } = await dev.start({ flags: ["--record"] });
    const { thread_id } = await ran(url, {});
    expect(model().requests).toHaveLength(2);
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await step(page, /second/).click();
    await toggle(page).check();
    await dev.project.put("graph.ts", answering("hello", "?"));
    await attempts(page).getByText("1 answer from the recording. No model or tool was called.").waitFor();
    // Both steps asked the same: the answer is that of this step.
    await attempts(page).getByText("reply 2: hello?").waitFor();
    expect(model().requests).toHaveLength(2);
    await dev.project.put("graph.ts", answering("good day", "?"));
    await attempts(page).getByText("1 call of models and tools made.").waitFor();
    await attempts(page).getByText("reply 3: good day?").waitFor();
    expect(model().requests).toHaveLength(3);
  });
});

describe("Run this node again, with recordings of the setting recording", () => {
  const dev = useDev(() => ({ "graph.ts": answering("my card is 1234 5678", "!") }));
  const model = useModel();

  itSqlite.each([
    ["a folder", { folder: "./recordings" }],
    ["the storage", { where: "storage" }],
  ])("calls no model whose response start recorded in %s", async (_, place) => {
    await dev.project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts:graph" },
      ...{ checkpointer_scheme: "sqlite", checkpointer_uri: "threads.db" },
      recording: { ...place, redact: ["\\b\\d{4} \\d{4}\\b"] },
    });
    const server = startCli(["start", "-p", "0"], { cwd: dev.project.dir });
    await server.stderr.until(/"msg":"listening"\}\n/);
    const { thread_id } = await ran(/"url":"(http:[^"]+)"/.exec(server.stderr.text)?.[1] ?? "", {});
    server.stop();
    expect(await server.exit).toBe(0);
    await dev.project.put("graph.ts", answering("my card is 1234 5678", "?"));
    const { url, token } = await dev.start();
    const history = await fetch(`${url}/threads/${thread_id}/history`);
    const [step, before] = (await history.json()) as ThreadState[];
    const again = await askHelper(
      url,
      "/studio/api/node-runs",
      { ...OWN, "x-studio-token": token, "content-type": "application/json" },
      JSON.stringify({
        thread_id,
        checkpoint_id: before?.checkpoint?.checkpoint_id,
        step_id: step?.checkpoint?.checkpoint_id,
      }),
    );
    expect(again.body).toMatchObject({
      recorded: 1,
      calls: 0,
      after: { answer: "reply 2: my card is [redacted]?" },
    });
    expect(model().requests).toHaveLength(2);
  });
});

/** A server that responds only after it was opened. */
async function startGate() {
  let enter = () => {};
  let open = () => {};
  const entered = new Promise<void>((resolve) => (enter = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  const server = createServer((_request, response) => {
    enter();
    void opened.then(() => response.end("passed"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    entered,
    open,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
