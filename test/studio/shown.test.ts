/** State values outside the output schema are visible only with the token from the terminal. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import { cli, startCli } from "../cli/harness.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { askHelper, hidingGraph, OWN, useDev } from "./dev.js";
import { held, menuButton, useBrowser, violationsOf } from "./open.js";

const dev = useDev(() => ({ "graph.ts": hidingGraph("42") }));

const HIDDEN = [
  ["GET", "/studio/api/states/threads/x/state"],
  ["POST", "/studio/api/states/threads/x/state/checkpoint"],
  ["POST", "/studio/api/states/threads/x/history"],
  ["GET", "/studio/api/threads/x/page"],
] as const;

async function ranHiding() {
  const { url, token } = await dev.start();
  const ask = async (path: string, body: object) =>
    (
      await fetch(url + path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      })
    ).json() as Promise<{ thread_id: string }>;
  const { thread_id: id } = await ask("/threads", {});
  await ask(`/threads/${id}/runs/wait`, { assistant_id: "agent", input: { question: "why?" } });
  return { url, token, id };
}

describeWithChromium("hidden state values", () => {
  const open = useBrowser();
  const panel = (page: Page) => page.getByRole("tabpanel");

  it("are shown only with the token, in every tab and in subgraphs, with a banner", async () => {
    const { url, token, id } = await ranHiding();
    const { page, visit, settled } = await open(url);
    await visit(`#/threads/${id}?tab=raw`);
    await panel(page).getByText('"answer": "42"').waitFor();
    expect(await panel(page).textContent()).not.toContain("secret");
    expect(await (await menuButton(page, "Save as a file")).count()).toBe(0);
    expect(await page.getByRole("group", { name: "Visible state" }).count()).toBe(0);

    await visit(`#token=${token}`);
    await page.goto(`${url}/studio/#/threads/${id}?tab=raw`);
    await expect.poll(() => panel(page).textContent()).toContain("plan in secret");
    expect(await (await menuButton(page, "All values")).getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("tab", { name: "State" }).click();
    await expect.poll(() => panel(page).textContent()).toContain("sk-0123456789abcdef0123");
    // Developers see all values, and which of them clients do not see.
    const marked = () => page.locator(".row:has(.hidden-key) .name").allTextContents();
    await expect.poll(marked).toEqual(["question", "plan", "api_key"]);
    expect(await violationsOf(page)).toEqual([]);
    const steps = page.getByRole("listbox", { name: "Steps" });
    // A reload knows the token: it does not read what clients see first.
    const reads: string[] = [];
    page.on("request", (request) => {
      const [path] = /\/(history|state\/checkpoint)$/.exec(request.url()) ?? [];
      if (path) reads.push(path);
    });
    const live = page.waitForResponse((response) => response.url().endsWith("/changes"));
    await page.reload();
    await Promise.all([live, steps.getByRole("option").first().waitFor()]);
    await expect.poll(() => panel(page).textContent()).toContain("sk-0123456789abcdef0123");
    await settled();
    expect(reads).toEqual(["/history", "/state/checkpoint", "/state/checkpoint"]);
    await steps.getByRole("option").nth(1).click();
    await page.getByRole("tab", { name: "Changes" }).click();
    await expect.poll(() => panel(page).textContent()).toContain("plan in secret");
    await page.getByRole("tab", { name: "Run" }).click();
    await page.getByRole("link", { name: "Open its steps" }).click();
    await steps
      .getByText(/^changed .*plan/)
      .first()
      .waitFor();
    await page.getByRole("tab", { name: "State" }).click();
    await expect.poll(() => panel(page).textContent()).toContain("think in secret");
    await (await menuButton(page, "Visible to clients")).click();
    await expect.poll(() => panel(page).textContent()).not.toContain("secret");
    await expect.poll(() => panel(page).textContent()).toContain("answer");
    expect(await steps.textContent()).not.toContain("plan");
    await (await menuButton(page, "All values")).click();
    await expect.poll(() => panel(page).textContent()).toContain("think in secret");
    await (await menuButton(page, "Visible to clients")).click();
    await page.getByText("Only state values that clients can see").waitFor();
    // After a reload, the page shows all values again.
    await page.reload();
    await expect.poll(() => panel(page).textContent()).toContain("think in secret");
    await expect.poll(marked).toContain("plan");
  });

  it("keep the focus on the button of the menu when others are shown", async () => {
    const { url, token, id } = await ranHiding();
    const { page, visit } = await open(url);
    const hello = await held(page, "**/studio/api/hello");
    await visit(`#token=${token}`);
    await page.goto(`${url}/studio/#/threads/${id}?tab=raw`);
    await hello.asked;
    await panel(page).getByText('"answer": "42"').waitFor();
    const isFocused = (name: string) =>
      page.evaluate<boolean>(`document.activeElement.textContent.startsWith(${JSON.stringify(name)})`);
    await (await menuButton(page, "Refresh (r)")).focus();
    // The values of the developer arrive while the menu is open.
    hello.release();
    await expect.poll(() => panel(page).textContent()).toContain("plan in secret");
    expect(await isFocused("Refresh")).toBe(true);
    await (await menuButton(page, "Visible to clients")).press("Enter");
    await expect.poll(() => panel(page).textContent()).not.toContain("secret");
    expect(await isFocused("Visible to clients")).toBe(true);
    expect(await page.locator("details.more").getAttribute("open")).not.toBe(null);
  });

  it("are shown by the studio command and can be turned off, and saved files contain no secrets", async () => {
    const ran = await cli(["run", "./graph.ts", "--input", "{}", "--db", "./kept.db"], {
      cwd: dev.project.dir,
    });
    expect(ran.code).toBe(0);
    await dev.project.put("graph-server.config.json", { graphs: { agent: "./graph.ts" } });
    const started = startCli(["studio", "-p", "0", "--db", "./kept.db"], { cwd: dev.project.dir });
    onTestFinished(async () => {
      started.stop();
      expect(await started.exit).toBe(0);
    });
    const [, url = "", key = ""] = await started.stderr.until(/studio (http:\S+)\/studio\/#key=(\w{32})\n/);
    const { page, visit } = await open(url);
    await visit(`#key=${key}`);
    await page.locator("[data-list] a").first().click();
    await page.getByRole("tab", { name: "State" }).click();
    await expect.poll(() => panel(page).textContent()).toContain("plan in secret");
    const saving = page.waitForEvent("download");
    await (await menuButton(page, "Save as a file")).click();
    await (await saving).saveAs(`${dev.project.dir}/saved.html`);
    const html = await readFile(`${dev.project.dir}/saved.html`, "utf8");
    expect(html).toContain("plan in secret");
    expect(html).not.toContain("sk-0123456789");
    await (await menuButton(page, "Visible to clients")).click();
    await expect.poll(() => panel(page).textContent()).not.toContain("secret");
    await page.getByText("Only state values that clients can see").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // Actions that write are disabled with a reason, for mouse, keyboard and URL.
    const fork = page.getByRole("button", { name: "Fork (f)" });
    expect(await fork.getAttribute("title")).toContain("This page is read-only");
    await fork.click({ force: true });
    await page.locator("main").press("f");
    await page.evaluate(`location.hash = location.hash.replace("?", "?fork=1&")`);
    await expect.poll(() => page.url()).toContain("fork=1");
    expect(await page.getByRole("region", { name: "Fork" }).count()).toBe(0);
  });
});

describe("the API for hidden state values", () => {
  const statusOf = async (...asked: Parameters<typeof askHelper>) => (await askHelper(...asked)).status;

  it("returns states with hidden values only for requests with the token", async () => {
    const { url, token, id } = await ranHiding();
    const own = { ...OWN, "x-studio-token": token };
    const path = `/threads/${id}`;
    const body = JSON.stringify({ select: ["checkpoint", "changed_keys", "values"] });
    const told = async (asked: string, headers: Record<string, string>, body?: string) => {
      const { status, body: states } = await askHelper(url, asked, headers, body);
      expect(status).toBe(200);
      return JSON.stringify(states);
    };
    const json = { ...OWN, "content-type": "application/json" };
    expect(await told(`${path}/history`, json, body)).not.toMatch(/secret|plan/);
    expect(await told(`/studio/api/states${path}/history`, own, body)).toMatch(/plan in secret/);
    expect(await told(`/studio/api/states${path}/state`, own)).toMatch(/plan in secret/);
    expect(await told(`/studio/api/states${path}/state/checkpoint`, own, "{}")).toMatch(/plan in secret/);
    for (const headers of [OWN, { ...own, "sec-fetch-site": "cross-site" }, { "x-studio-token": token }])
      for (const [method, hidden] of HIDDEN) {
        const asked = hidden.replace("/x/", `/${id}/`);
        const answer = await askHelper(url, asked, headers, method === "POST" ? "{}" : undefined);
        expect(answer.status).toBe(403);
        expect(JSON.stringify(answer.body)).not.toContain("secret");
      }
  });

  it("does not exist in start, and accepts no writes in dev", async () => {
    const service = await openService({ graphs: { agent } });
    const server = await startServer(service, { host: "127.0.0.1", port: 0, studio: true });
    onTestFinished(() => server.close(0));
    const own = { ...OWN, "x-studio-token": "0".repeat(32) };
    for (const [method, path] of HIDDEN)
      expect(await statusOf(server.url, path, own, method === "POST" ? "{}" : undefined)).toBe(404);
    const { url, token } = await dev.start();
    const write = JSON.stringify({ values: {} });
    const headers = { ...OWN, "x-studio-token": token };
    expect(await statusOf(url, "/studio/api/states/threads/x/state", headers, write)).toBe(404);
    expect(await statusOf(url, "/studio/api/states/threads/x/runs", headers, write)).toBe(404);
  });
});
