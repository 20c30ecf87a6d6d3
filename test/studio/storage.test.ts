/** `graph-serve studio` in a browser, for databases whose graphs fail to load or are missing. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { cli, createProject, echoGraph, type Project, startCli } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { menuButton, useBrowser, violationsOf } from "./open.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
  const argv = ["run", "./graph.ts", "--message", "hello", "--db", "./kept.db"];
  expect(await cli(argv, { cwd: project.dir })).toMatchObject({ code: 0 });
});
afterEach(() => project.remove());

/** The URL that the terminal prints, and its key. */
async function studio(): Promise<{ url: string; key: string }> {
  const started = startCli(["studio", "-p", "0", "--db", "./kept.db"], { cwd: project.dir });
  onTestFinished(async () => {
    started.stop();
    expect(await started.exit).toBe(0);
  });
  const [, url = "", key = ""] = await started.stderr.until(/studio (http:\S+)\/studio\/#key=(\w{32})\n/);
  return { url, key };
}

const panelOf = (page: Page) => page.getByRole("tabpanel");

describeWithChromium("graph-serve studio", () => {
  const open = useBrowser();

  it("browses, compares and saves threads of a graph that throws, and shows why it cannot run", async () => {
    await project.put("graph.ts", "throw new Error('no key in the environment');\n");
    await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts" } });
    const { url, key } = await studio();
    const { page, visit } = await open(url);
    await visit(`#key=${key}`);
    await page.getByText("Shows all values").waitFor();
    await page.getByRole("link", { name: /echo: hello/ }).click();
    const steps = page.getByRole("listbox", { name: "Steps" }).getByRole("option");
    await expect
      .poll(() => steps.allTextContents())
      .toEqual([
        expect.stringMatching(/^1reply.*\+1 AI message/),
        expect.stringMatching(/^0start/),
        expect.stringMatching(/^-1input/),
      ]);
    await panelOf(page).getByText("echo: hello").waitFor();
    for (const tab of ["State", "Messages", "Run", "Raw"]) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      await expect.poll(() => panelOf(page).textContent()).toContain("echo: hello");
    }
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByText("The graph is not loaded here").waitFor();
    await page.getByRole("img", { name: /start → reply/ }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const saving = page.waitForEvent("download");
    await (await menuButton(page, "Save as a file")).click();
    await (await saving).saveAs(join(project.dir, "saved.html"));
    expect(await readFile(join(project.dir, "saved.html"), "utf8")).toContain("echo: hello");
    const saved = pathToFileURL(join(project.dir, "saved.html")).href;
    const { page: alone } = await open(saved);
    await alone.goto(saved);
    await alone.getByRole("listbox", { name: "Steps" }).getByText("+1 AI message", { exact: true }).waitFor();
    await steps.last().click();
    await page.getByRole("link", { name: "Compare with the newest" }).click();
    await page.getByText("Common steps: 1").waitFor();
    await visit("#/graphs/agent");
    await page.getByRole("alert").getByText("no key in the environment").waitFor();
  });

  it("shows threads without a project, but no client view of them", async () => {
    const { url, key } = await studio();
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit(`#key=${key}`);
    await page.getByRole("link", { name: /echo: hello/ }).click();
    await panelOf(page).getByText("echo: hello").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // Without the graph, its output schema is unknown, so the client view is empty.
    await (await menuButton(page, "Visible to clients")).click();
    await expect.poll(() => panelOf(page).textContent()).not.toContain("echo: hello");
  });
});
