/** The Studio shows the results of `shadow --studio`: by class, with what differs, and a link to each thread. */
import { mkdir } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { cli, createProject, type Project, startCli } from "../cli/harness.js";
import { describeWithChromium, type Look } from "../helpers/chromium.js";
import { useBrowser, violationsOf } from "./open.js";

const graphOf = (greeting: string, large: string, fault = "") => `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ name: Annotation, answer: Annotation });
export const graph = new StateGraph(State)
  .addNode("plan", () => ({}))
  .addNode("small", ({ name }) => { ${fault} return { answer: ${greeting} }; })
  .addNode("check", () => ({}))
  .addNode("gift", () => ({}))
  .addEdge(START, "plan")
  .addConditionalEdges("plan", ({ name }) => (name === "Large" ? "${large}" : name === "Other" ? "gift" : "small"),
    ["small", "check", "gift"])
  .compile();`;
const BEFORE = graphOf('"Hello " + name', "check");
const AFTER = graphOf(
  'name === "<b>Ada\\u202e</b>" ? "Good morning " + name : "Hello " + name',
  "gift",
  'if (name === "Fails") throw new Error("no such customer");',
);
const NAMES = ["<b>Ada\u202e</b>", "Large", "Fails", "Other"];

let project: Project;
const run = (...argv: string[]) => cli(argv, { cwd: project.dir });
beforeEach(async () => {
  project = await createProject({
    ...{ "graph.ts": BEFORE, "next.ts": AFTER },
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
});
afterEach(() => project.remove());

async function served(argv: string[], address: RegExp): Promise<[url: string, fragment: string]> {
  const started = startCli([...argv, "-p", "0"], { cwd: project.dir });
  onTestFinished(async () => {
    started.stop();
    await started.exit;
  });
  const [, url = "", fragment = ""] = await started.stderr.until(address);
  return [url, fragment];
}

describeWithChromium("results of shadow runs", () => {
  const open = useBrowser();

  async function shown(look?: Look) {
    for (const name of NAMES)
      expect((await run("run", "--db", "./kept.db", "--input", JSON.stringify({ name }))).code).toBe(0);
    const argv = ["shadow", "--db", "./kept.db", "--against", "./next.ts:graph", "--studio"];
    const { code, stderr } = await run(...argv);
    expect([code, stderr]).toEqual([0, expect.stringContaining("saved for the Studio") as string]);
    const [url, key] = await served(
      ["studio", "--db", "./kept.db"],
      /studio (http:\S+)\/studio\/#key=(\w{32})\n/,
    );
    const opened = await open(url, look);
    await opened.visit(`#key=${key}`);
    await opened.page.getByRole("link", { name: "Shadow runs" }).click();
    return { ...opened, rows: opened.page.getByRole("list", { name: "Shadow runs" }).getByRole("listitem") };
  }

  it.each([
    { scheme: "light", width: 1440 },
    { scheme: "dark", width: 1440 },
    { scheme: "light", width: 390 },
    { scheme: "dark", width: 390 },
  ] as const)("are listed by class, the worst first: %j", async (look) => {
    const { page, rows } = await shown(look);
    await expect.poll(() => rows.locator("strong").allTextContents()).toEqual(["status", "path", "words"]);
    await page.getByText("1 same, 1 differs in words, 1 takes another path, 1 fails").waitFor();
    const texts = await rows.allTextContents();
    expect(texts[0]).toContain("no such customer");
    expect(texts[1]).toMatch(/after plan.*check.*gift/);
    expect(texts[2]).toMatch(/answer.*Hello <b>Ada\\u202e<\/b>.*Good morning <b>Ada/);
    // Texts are shown as texts, not as JSON.
    expect(texts[2]).not.toContain('"');
    expect(await page.getByText("Live").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const folder = process.env.GRAPH_SERVE_SHOTS;
    if (folder) {
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: `${folder}/shadow-${look.scheme}-${look.width}.png` });
    }
  });

  it("are filtered by class, and lead to their threads", async () => {
    const { page, rows } = await shown();
    await page.getByRole("link", { name: "path 1" }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await rows.getByRole("link").click();
    await page.getByRole("listbox", { name: "Steps" }).getByText("check").first().waitFor();
  });

  it("are also shown by `dev`, which says how to get them", async () => {
    const dev = /studio (http:\S+)\/studio\/#token=([\da-f]{32})\n/;
    expect((await run("run", "--input", '{"name":"Large"}')).code).toBe(0);
    const [url, token] = await served(["dev", "--no-reload"], dev);
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    const link = page.getByRole("link", { name: "Shadow runs" });
    await page.evaluate('location.hash = "#/shadow"');
    await page.getByText("graph-serve shadow --since 24h --against ./next.ts --studio").waitFor();
    expect(await link.count()).toBe(0);
    expect((await run("shadow", "--against", "./next.ts:graph", "--studio")).code).toBe(0);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("1 takes another path with ./next.ts:graph").waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.reload();
    await link.waitFor();
    await expectOneRow(page);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const folder = process.env.GRAPH_SERVE_SHOTS;
    if (folder) await page.screenshot({ path: `${folder}/shadow-dev-390.png` });
  });
});

/** Checks the navigation of a phone: one row of large targets, with the shown screen and the focused link in view. */
async function expectOneRow(page: Page): Promise<void> {
  const links = page.getByRole("navigation", { name: "Screens" }).getByRole("link");
  const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()));
  expect(boxes).toHaveLength(8);
  expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
  expect(boxes.filter((box) => !box || box.width < 44 || box.height < 44)).toEqual([]);
  await expect.poll(() => isInView(links.last())).toBe(true);
  await links.first().focus();
  await expect.poll(() => isInView(links.first())).toBe(true);
  for (const link of (await links.all()).slice(1)) {
    await page.keyboard.press("Tab");
    expect(await link.and(page.locator(":focus")).count()).toBe(1);
    await expect.poll(() => isInView(link)).toBe(true);
  }
}

async function isInView(link: Locator): Promise<boolean> {
  const { x = -1, width = 0 } = (await link.boundingBox()) ?? {};
  return x >= 0 && x + width <= 390;
}
