import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useBrowser } from "./open.js";
import { askHelper, failingGraph, OWN, ran, useDev } from "./dev.js";

describe("a failed run", () => {
  const dev = useDev(() => ({ "graph.ts": failingGraph }));
  const open = useBrowser();

  it("shows the node and the line of code, and runs the node again after a fix", async () => {
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, {});
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/run/${thread_id}`);
    const card = page.getByRole("alert").filter({ hasText: "add_up failed" });
    await card.locator(".fault-file", { hasText: "graph.ts:5:" }).waitFor();
    expect(await card.locator(".code-line.is-marked").first().innerText()).toContain("order.lines.length");
    expect(await page.locator(".graph-node.is-failed title").allTextContents()).toEqual(["add_up"]);
    expect(await page.locator(".graph-node.is-ran title").allTextContents()).toEqual(["read"]);

    const fixed = failingGraph.replace("order.lines.length", "(order.lines ?? []).length");
    await writeFile(join(dev.project.dir, "graph.ts"), fixed);
    await page.getByText(/^reloaded /).waitFor();
    await card.getByRole("button", { name: "Run this node again" }).click();
    const attempts = card.getByRole("region", { name: "Both attempts" });
    await attempts.getByText("No model or tool was called.").waitFor();
    expect(await attempts.locator(".is-changed").innerText()).toMatch(/total\s+0/);
    const { status } = (await (await fetch(`${url}/threads/${thread_id}`)).json()) as { status: string };
    expect(status).toBe("error");

    await attempts.getByRole("button", { name: "Continue from here" }).click();
    await page.getByText(/^done/).waitFor();
    await expect.poll(() => page.locator(".graph-node.is-ran title").allTextContents()).toContain("add_up");
  });

  it("has a row of its own in the steps, with the state at that moment", async () => {
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, {});
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}?tab=state`);
    await page.getByRole("link", { name: "add_up failed" }).waitFor();
    await page.locator(".fault-file", { hasText: "graph.ts:5:" }).waitFor();
    await page.getByText("4711").first().waitFor();
  });

  it("shows its stack only to the Studio opened from the terminal", async () => {
    const { url, token } = await dev.start();
    const { thread_id, run_id } = await ran(url, {});
    const path = `/studio/api/threads/${thread_id}/runs/${run_id}/fault`;
    expect((await askHelper(url, path, OWN)).status).toBe(403);
    const told = await askHelper(url, path, { ...OWN, "x-studio-token": token });
    expect(told.body).toMatchObject({ name: "TypeError", node: "add_up", location: { line: 5 } });
    const run = await (await fetch(`${url}/threads/${thread_id}/runs/${run_id}`)).text();
    expect(run).not.toContain("graph.ts");
  });
});

describe("a click on a node", () => {
  const dev = useDev(() => ({ "graph.ts": failingGraph }));
  const open = useBrowser();

  it("shows what the node did, and Escape closes it", async () => {
    const { url } = await dev.start();
    const { thread_id } = await ran(url, {});
    const { page, visit } = await open(url);
    await visit(`#/run/${thread_id}`);
    await page.getByRole("button", { name: /^read .*, ran$/ }).click();
    const panel = page.getByRole("complementary", { name: "Node read" });
    await panel.getByText('"id": 4711').waitFor();
    await panel.getByText("once").waitFor();
    await panel.getByRole("button", { name: /^Breakpoint/ }).click();
    expect(await page.getByRole("button", { name: "Stop before read" }).getAttribute("aria-pressed")).toBe(
      "true",
    );
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^add_up .*, failed$/ }).press("b");
    expect(await page.getByRole("button", { name: "Stop before add_up" }).getAttribute("aria-pressed")).toBe(
      "true",
    );
  });
});
