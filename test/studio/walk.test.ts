/** From a failed run to its case file: the cause, the fix, the repeated node, and a test that holds the fix. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { failingGraph, useDev } from "./dev.js";
import { useBrowser } from "./open.js";

const MAX_ACTIONS = 10;
const MAX_SECONDS = 60;

describeWithChromium("the walk from a failed run to a case file", () => {
  const dev = useDev(() => ({ "graph.ts": failingGraph }));
  const open = useBrowser();

  it(`takes at most ${MAX_ACTIONS} actions`, async () => {
    const { url, token } = await dev.start();
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit("#/run");
    const start = performance.now();
    const actions: string[] = [];
    /** A click, a key or a saved file. */
    const act = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      actions.push(name);
      await work();
    };
    const button = (name: string | RegExp, exact = false) => page.getByRole("button", { name, exact });

    await act("run the graph", () => button("Run", true).click());
    const card = page.getByRole("alert").filter({ hasText: "add_up failed" });
    await card.locator(".fault-file", { hasText: "graph.ts:5:" }).waitFor();
    expect(await card.locator(".code-line.is-marked").first().innerText()).toContain("order.lines.length");

    const fixed = failingGraph.replace("order.lines.length", "(order.lines ?? []).length");
    await act("save the fixed file", () => writeFile(join(dev.project.dir, "graph.ts"), fixed));
    await page.getByText(/^reloaded /).waitFor();
    await act("run this node again", () => button("Run this node again").click());
    await card
      .getByRole("region", { name: "Both attempts" })
      .getByText("No model or tool was called.")
      .waitFor();

    await act("new thread", () => page.locator(".thread-head").getByText("New thread").click());
    await page.getByRole("heading", { level: 1, name: "New thread" }).waitFor();
    await act("run again", () => button("Run", true).click());
    await page.getByText(/^done/).waitFor();
    await act("show the steps", () => page.getByRole("link", { name: "Steps", exact: true }).click());
    await act("show the runs", () => button("Runs", true).click());
    await act("make a case file", () => button(/^Case file/).click());
    const dialog = page.getByRole("dialog", { name: "Save this run as a test" });
    await dialog.getByText("graph: ./graph.ts").waitFor();
    await act("write it", () => dialog.getByRole("button", { name: "Write" }).click());
    await dialog.getByText("Written:").waitFor();
    const seconds = (performance.now() - start) / 1000;

    process.stdout.write(`${actions.length} actions, ${seconds.toFixed(1)} s\n`);
    expect(actions.length).toBeLessThanOrEqual(MAX_ACTIONS);
    expect(seconds).toBeLessThan(MAX_SECONDS);
    const file = await dialog.getByLabel("File").inputValue();
    expect(await readFile(join(dev.project.dir, file), "utf8")).toContain("total: 0");
    expect(await cli(["test", file, "--ci"], { cwd: dev.project.dir })).toMatchObject({ code: 0 });
  });
});
