/** Lists and counts move by the stream of changes, without a reload; the navigation. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { heldResponse, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const rows = (page: Page) => page.locator("[data-list] tbody tr");
const rowOf = (page: Page, id: string) => rows(page).filter({ has: page.locator(`[href*="${id}"]`) });

describeWithChromium("lists that are open", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, gate, hitl }, settings: { list_all_assistants: true } });

  it("the list of threads shows new threads, their runs and deletions", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/threads");
    await page.getByText("Live").waitFor();
    const { thread_id: id } = await service.threads.create({});
    await rowOf(page, id).getByText("no runs yet").waitFor();
    const name = newId();
    const run = await service.runs.background(id, { assistant_id: "gate", input: { gate: name } });
    await rowOf(page, id).getByText("busy").waitFor();
    gateOf(name).open();
    await service.runs.join(id, run.run_id);
    await rowOf(page, id).getByText("idle").waitFor();
    await service.threads.delete(id);
    await rowOf(page, id).waitFor({ state: "detached" });
  });

  it("the list of threads is sorted by a column, also after a change and a reload", async () => {
    const { service, url } = server();
    const idle = await ranThread(service, "agent", {
      messages: [{ role: "user", content: "two and three" }],
    });
    const waits = await ranThread(service, "hitl", { topic: "tea" });
    const { page, visit } = await open(url);
    await visit("#/threads");
    const first = (id: string) =>
      rows(page)
        .first()
        .filter({ has: page.locator(`[href*="${id}"]`) });
    await first(waits).waitFor();
    const header = (name: string) => page.getByRole("columnheader", { name, exact: true });
    expect(await header("Updated").getAttribute("aria-sort")).toBe("descending");
    await header("Updated").getByRole("button").press("Enter");
    await expect.poll(() => header("Updated").getAttribute("aria-sort")).toBe("ascending");
    await rows(page)
      .last()
      .filter({ has: page.locator(`[href*="${waits}"]`) })
      .waitFor();
    await header("Status").getByRole("button").click();
    await expect.poll(() => page.url()).toContain("sort=status");
    await first(idle).waitFor();
    await service.threads.update(waits, { metadata: { a: 1 } });
    await page.reload();
    await first(idle).waitFor();
    await header("Status").getByRole("button").click();
    await first(waits).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await service.threads.delete(idle);
    await service.threads.delete(waits);
  });

  it("the list of runs shows a run from its start to its end", async () => {
    const { service, url } = server();
    const { thread_id: id } = await service.threads.create({});
    const { page, visit } = await open(url);
    await visit("#/runs");
    await page.getByText("Live").waitFor();
    const name = newId();
    const run = await service.runs.background(id, { assistant_id: "gate", input: { gate: name } });
    await rowOf(page, id).getByText("running").waitFor();
    gateOf(name).open();
    await service.runs.join(id, run.run_id);
    await rowOf(page, id).getByText("done").waitFor();
  });

  it.each([
    { screen: "threads", search: "**/threads/search", status: "busy" },
    { screen: "runs", search: "**/runs/search", status: "running" },
  ])("the list of $screen shows a change that came while it was loading", async (each) => {
    const { service, url } = server();
    const { thread_id: id } = await service.threads.create({});
    const { page, visit } = await open(url, { width: 1440 });
    await page.clock.install();
    // The navigation searches without a sort order.
    const late = await heldResponse(page, each.search, "sort_by");
    await visit(`#/${each.screen}`);
    await late.asked;
    const recent = page.getByRole("region", { name: "Recent threads" });
    await page.getByText("Live").waitFor();
    const { thread_id: other } = await service.threads.create({});
    await recent.locator(`[href*="${other}"]`).waitFor();
    // The next change is not delayed.
    await page.clock.runFor(5000);
    const name = newId();
    const run = await service.runs.background(id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    await recent.locator(`[href*="${id}"]`).filter({ hasText: "busy" }).waitFor();
    late.release();
    await rowOf(page, id).getByText(each.status).waitFor();
    gateOf(name).open();
    await service.runs.join(id, run.run_id);
    for (const each of [id, other]) await service.threads.delete(each);
  });

  it("the inbox and the count of waiting threads follow, also in the title of the page", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/inbox");
    await page.getByText("No pending questions").waitFor();
    const id = await ranThread(service, "hitl", { topic: "tea" });
    await page.getByText("Approve?").first().waitFor();
    await page.getByRole("link", { name: "Inbox 1 waiting" }).waitFor();
    await expect.poll(() => page.title()).toBe("(1) Inbox · Studio");
    await service.runs.create(id, { assistant_id: "hitl", command: { resume: "yes" } });
    await page.getByText("No pending questions").waitFor();
    await expect.poll(() => page.title()).toBe("Inbox · Studio");
  });

  it("requests nothing while nothing changes", async () => {
    const { service, url } = server();
    await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit, settled } = await open(url);
    await page.clock.install();
    await visit("#/threads");
    await page.getByText("Live").waitFor();
    await page.clock.runFor(5000);
    await settled();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.clock.runFor(60_000);
    await settled();
    expect(requests).toEqual([]);
  });
});

describeWithChromium("the sidebar", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, hitl }, settings: { list_all_assistants: true } });

  it("lists recent threads by title, is resized and folded by keyboard, and keeps both after a reload", async () => {
    const { service, url } = server();
    const ask = { messages: [{ role: "user", content: "Where is my order?" }] };
    const id = await ranThread(service, "agent", ask);
    const { page, visit } = await open(url, { width: 1440 });
    await visit("#/run");
    const recent = page.getByRole("region", { name: "Recent threads" });
    await recent.getByRole("link", { name: "idle Where is my order?" }).click();
    await expect.poll(() => page.url()).toContain(`#/run/${id}`);
    await expect.poll(() => page.title()).toBe("Where is my order? · Studio");
    await ranThread(service, "hitl", { topic: "jam" });
    await recent.getByRole("link", { name: "interrupted jam" }).waitFor();
    const grip = page.getByRole("separator", { name: "Width of the sidebar" });
    await grip.press("ArrowRight");
    await expect.poll(() => grip.getAttribute("aria-valuenow")).toBe("264");
    expect(await violationsOf(page)).toEqual([]);
    await page.reload();
    await recent.waitFor();
    expect(await grip.getAttribute("aria-valuenow")).toBe("264");
    await page.locator("h1").click();
    await page.keyboard.press("[");
    await recent.waitFor({ state: "detached" });
    expect(await violationsOf(page)).toEqual([]);
    await page.reload();
    await page.getByRole("button", { name: "Sidebar", expanded: false }).click();
    await recent.waitFor();
    await grip.dblclick();
    await expect.poll(() => grip.getAttribute("aria-valuenow")).toBe("248");
  });
});
