/** Safety of the Studio: hostile content, access control, accessibility and bundle size. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../../src/http/app.js";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { itSqlite } from "../helpers/with-sqlite.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

/** Markup, scripts, links, foreign origins, prototype names and bidirectional control characters. */
const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "</script><svg onload=alert(1)>",
  "javascript:alert(1)",
  "[a](javascript:alert(1)) ![b](http://127.0.0.1:9/pixel.png)",
  "{{constructor.constructor('alert(1)')()}}",
  "__proto__",
  "constructor",
  "\u202Edesrever\u2066",
  "\u001b[31mred\u0007",
  '"><iframe srcdoc="<script>parent.alert(1)</script>">',
  "a/../../b?c=d#e%2F%00",
];
const ALL = HOSTILE.join("\n");
const NODE = "<img src=x onerror=alert(2)>";

const State = Annotation.Root({ ...MessagesAnnotation.spec, "<b>key</b>": Annotation<unknown> });
const hostile = new StateGraph(State)
  .addNode(NODE, () => ({
    "<b>key</b>": Object.fromEntries(HOSTILE.map((text) => [text, { [text]: text, list: [text, null] }])),
    messages: [
      { role: "assistant", content: ALL, tool_calls: [{ name: HOSTILE[0], args: { q: ALL }, id: "c" }] },
      { role: "tool", content: ALL, tool_call_id: "c", name: HOSTILE[1], status: "error" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1:9/pixel.png" } }] },
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: "data:image/svg+xml,<svg onload='alert(1)'/>" } }],
      },
    ],
  }))
  .addNode("ask", () => ({ messages: [{ role: "user", content: String(interrupt({ [ALL]: ALL })) }] }))
  .addEdge(START, NODE)
  .addEdge(NODE, "ask")
  .addEdge("ask", END)
  .compile({ name: "hostile" });

const TABS = ["changes", "state", "tasks", "messages", "drawing", "times", "meta", "raw"];

describeWithChromium("hostile values", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { hostile } });

  it("are shown as text on every screen", { timeout: 240_000 }, async () => {
    const { service, url } = server();
    const metadata = { title: ALL, [HOSTILE[0] ?? ""]: HOSTILE };
    const id = await ranThread(service, "hostile", { messages: [{ role: "user", content: ALL }] }, metadata);
    const { page, visit, settled } = await open(url);
    const places = [
      "#/run?graph=hostile",
      "#/inbox",
      `#/run/${id}`,
      `#/run/${encodeURIComponent(ALL)}`,
      "#/threads",
      ...TABS.map((tab) => `#/threads/${id}?tab=${tab}`),
      `#/threads/${id}?fork=1`,
      "#/graphs",
      "#/graphs/hostile",
      `#/threads/${encodeURIComponent(ALL)}`,
      `#/graphs/${encodeURIComponent(ALL)}`,
      `#/threads?q=${encodeURIComponent(ALL)}&meta=${encodeURIComponent(`a=${ALL}`)}`,
      "#/runs",
      `#/runs?graph=${encodeURIComponent(ALL)}&meta=${encodeURIComponent(`a=${ALL}`)}`,
      `#/compare/${id}@0/${id}@-1`,
      `#/compare/${encodeURIComponent(`${ALL}@1`)}/${encodeURIComponent(`file:${ALL}@-1`)}`,
      `#/store/${encodeURIComponent(ALL)}?q=${encodeURIComponent(ALL)}&key=${encodeURIComponent(ALL)}`,
    ];
    for (const place of places) {
      await visit(place);
      await settled();
      const made = "main :is(img, iframe, script, object, embed, b, [onerror], [onload], [srcdoc])";
      expect(await page.locator(made).count(), place).toBe(0);
      for (const link of await page.locator("a").all())
        expect(await link.getAttribute("href"), place).toMatch(/^(#|http:\/\/127\.0\.0\.1:9\/pixel\.png$)/);
      const text = await page.locator("body").innerText();
      expect(text, place).not.toMatch(/[\u202e\u2066\u0007\u001b]/);
    }
    await visit(`#/threads/${id}?tab=messages`);
    await expect.poll(() => page.locator(".message").allTextContents()).toHaveLength(5);
    const answer = () => page.locator(".message").nth(1).innerText();
    for (const text of HOSTILE.slice(0, 5)) await expect.poll(answer).toContain(text);
    expect(await answer()).toContain("\\u202edesrever\\u2066");
    await visit(`#/threads/${id}?tab=state`);
    await page.getByRole("tree").press("End");
    for (const key of ["ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
    await page.getByLabel("Selected value").waitFor();
  });
});

describeWithChromium("every screen", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, hitl, subgraph }, settings: { list_all_assistants: true } });

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [320, "light"],
    [320, "dark"],
  ] as const)(
    "has no WCAG violations and fits %i pixels, %s",
    { timeout: 240_000 },
    async (width, scheme) => {
      const { service, url } = server();
      const ask = { messages: [{ role: "user", content: "two and three" }] };
      const ran = await ranThread(service, "agent", ask);
      const waits = await ranThread(service, "hitl", { topic: "tea" });
      const { thread_id: empty } = await service.threads.create({});
      const { page, visit, settled } = await open(url, { width, scheme });
      const places = [
        "#/run",
        "#/inbox",
        `#/run/${ran}`,
        `#/run/${waits}`,
        "#/threads",
        "#/threads?q=nothing+has+this",
        ...TABS.map((tab) => `#/threads/${ran}?tab=${tab}`),
        `#/threads/${waits}?tab=tasks`,
        `#/threads/${waits}?fork=1`,
        `#/threads/${empty}`,
        "#/graphs",
        "#/graphs/agent",
        "#/graphs/nope",
        `#/compare/${ran}@0/${waits}@-1`,
        "#/compare/nope/file:gone.html",
      ];
      for (const place of places) {
        await visit(place);
        await settled();
        expect(await violationsOf(page), place).toEqual([]);
        const wide = await page.evaluate("document.documentElement.scrollWidth");
        expect(wide, place).toBeLessThanOrEqual(width);
      }
      await visit("#/threads");
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      expect(await violationsOf(page), "keys").toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor();
      expect(await violationsOf(page), "palette").toEqual([]);
    },
  );
});

describeWithChromium("a server that requires an API key", () => {
  const open = useBrowser();
  const KEY = "a-key-of-sixteen-characters";
  const server = useServer({ graphs: { agent }, settings: { api_keys: [KEY] } });

  it("is shown after the key was entered, which is kept only for this tab", async () => {
    const { url } = server();
    const { page, visit } = await open(url);
    await visit("#/threads");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("API key required").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByLabel("API key").fill("wrong");
    await page.keyboard.press("Enter");
    await dialog.getByText("Invalid API key.").waitFor();
    await dialog.getByLabel("API key").fill(KEY);
    await page.keyboard.press("Enter");
    await page.getByText("No threads yet").waitFor();
    await page.reload();
    await page.getByText("No threads yet").waitFor();
    expect(page.url()).not.toContain(KEY);
    const stored = "[JSON.stringify(localStorage), document.cookie].join()";
    expect(await page.evaluate<string>(stored)).not.toContain(KEY);
  });

  it("is shown by a URL with the key, which is removed from the URL, even in an open tab", async () => {
    const { url } = server();
    const { page, visit } = await open(url);
    await visit(`#key=${KEY}`);
    await page.getByText("Send the graph a message").waitFor();
    await expect.poll(() => page.url()).toBe(`${url}/studio/`);
    await visit("#/threads");
    await page.getByText("No threads yet").waitFor();
    const waiting = await open(url);
    await waiting.visit("#/threads");
    await waiting.page.getByRole("dialog").getByText("open that address").waitFor();
    await waiting.visit(`#key=${KEY}`);
    await waiting.page.getByText("Send the graph a message").waitFor();
    expect(waiting.page.url()).not.toContain(KEY);
  });
});

describeWithChromium("a server that becomes unreachable", () => {
  const open = useBrowser();
  const LOCAL = { host: "127.0.0.1", port: 0, studio: true };

  /** A page whose server is closed. A page that sends nothing says so too. */
  async function lose() {
    const service = await openService({ graphs: { agent } });
    const first = await startServer(service, LOCAL);
    const { page, visit } = await open(first.url);
    await visit("#/threads");
    await page.getByText("No threads yet").waitFor();
    await first.close(0);
    const lost = page.getByRole("status").getByText("The server is not reachable.");
    await lost.waitFor();
    return { page, lost, port: first.port };
  }

  it("is reported, and the page recovers when the server is back", async () => {
    const { page, lost, port } = await lose();
    await page.keyboard.press("g");
    await page.keyboard.press("g");
    await page.getByRole("alert").getByText("The server is not reachable.").waitFor();
    const again = await openService({ graphs: { agent } });
    const second = await startServer(again, { ...LOCAL, port });
    onTestFinished(() => second.close(0));
    await page.getByRole("link", { name: /agent/ }).waitFor();
    await lost.waitFor({ state: "detached" });
  });

  it("is not reported any more when the server is back with a key", async () => {
    const { lost, port } = await lose();
    const again = await openService({ graphs: { agent }, settings: { api_keys: ["a-key-of-this-server"] } });
    const second = await startServer(again, { ...LOCAL, port });
    onTestFinished(() => second.close(0));
    await lost.waitFor({ state: "detached" });
  });
});

describeWithChromium("a read-only Studio without loadable graphs", () => {
  const open = useBrowser();

  itSqlite("shows all stored values, with the API key from its URL", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "graph-serve-studio-"));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    const stored = { checkpointer_scheme: "sqlite", checkpointer_uri: "kept.db" };
    const before = await openService({ graphs: { hitl }, settings: stored, cwd });
    const id = await ranThread(before, "hitl", { topic: "tea" });
    await before.close(0);
    const key = "only-the-page-has-this-one";
    const settings = { ...stored, graphs: { hitl: "./gone.ts" }, api_keys: [key], list_all_assistants: true };
    const service = await openService({ settings, cwd, mode: "read", unfiltered: true });
    const studio = { key, note: "All <b>values</b> are shown." };
    const server = await startServer(service, { host: "127.0.0.1", port: 0, studio, readOnly: true });
    onTestFinished(() => server.close(0));
    const { page, visit } = await open(server.url);
    await visit(`#key=${key}`);
    await visit(`#/threads/${id}`);
    await page.getByText("All <b>values</b> are shown.").waitFor();
    // The output schema hides this value.
    await page.getByText("plan for tea").waitFor();
    await expect
      .poll(() => page.getByRole("listbox").getByRole("option").allTextContents())
      .toEqual([
        expect.stringMatching(/plan.*changed log, secret.*waiting/),
        expect.stringContaining("changed topic"),
        expect.stringContaining("input"),
      ]);
    expect(await violationsOf(page)).toEqual([]);
    await visit(`#/threads/${id}?tab=drawing`);
    await page.getByText("The graph is not loaded here").waitFor();
    const drawn = page.getByRole("img", { name: "start → plan, plan → ask. waiting: ask" });
    await expect.poll(() => drawn.locator(".graph-node").count()).toBe(3);
    await visit("#/graphs/hitl");
    await page.getByRole("alert").getByText("gone.ts").waitFor();
  });
});

describeWithChromium("the Studio in another application", () => {
  const open = useBrowser();

  it("works under any URL prefix", async () => {
    const service = await openService({ graphs: { agent } });
    onTestFinished(() => service.close(0));
    const app = express().use("/tools/agents", createApp(service, { studio: true }));
    const server = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content: "hi" }] });
    const { page } = await open(`http://127.0.0.1:${port}`);
    await page.goto(`http://127.0.0.1:${port}/tools/agents/studio`);
    await page.getByRole("link", { name: "Threads" }).click();
    await page.getByText("ai: The sum is 5").click();
    await page.getByText("by model_request").waitFor();
    expect(page.url()).toBe(`http://127.0.0.1:${port}/tools/agents/studio/#/threads/${id}`);
  });
});

describe("the bundle size of the Studio", () => {
  const folder = join(import.meta.dirname, "../../dist/studio");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const gzipped = (file: string) => gzipSync(readFileSync(file), { level: 9 }).length;
  const sum = (of: readonly string[]) => of.reduce((all, file) => all + gzipped(file), 0);

  it("is at most 120 kB gzipped for the first load, 80 kB for the editor, and 200 kB for all else", () => {
    const page = readFileSync(join(folder, "index.html"), "utf8");
    const first = files.filter(
      (file) => page.includes(file.slice(folder.length + 1)) || file.endsWith("index.html"),
    );
    expect(first.length).toBeGreaterThanOrEqual(3);
    expect(sum(first)).toBeLessThanOrEqual(120_000);
    const editor = files.filter((file) => basename(file).startsWith("code-editor-"));
    expect(editor).toHaveLength(1);
    expect(sum(editor)).toBeLessThanOrEqual(80_000);
    expect(sum(files) - sum(editor)).toBeLessThanOrEqual(200_000);
    expect(readFileSync(join(folder, "../pages/studio.js"), "utf8")).not.toContain("cm-content");
  });
});
