/** A thread whose graph has changed since it ran. */
import { expect, it, onTestFinished } from "vitest";
import { release } from "../fixtures/graphs/releases.js";
import { startServer } from "../../src/http/server.js";
import { keptStorage, MEMORY } from "../helpers/backends.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { deploy, stopped } from "../helpers/deploys.js";
import { migrationsFile, versionOf } from "../helpers/migrations.js";
import { useBrowser, violationsOf } from "./open.js";

const before = release("interrupt", "none");

describeWithChromium("a thread of another version of its graph", () => {
  const open = useBrowser();

  async function visited(
    change: "none" | "renamed" | "added",
    look?: object,
    migrations?: string,
    view: "threads" | "run" = "threads",
  ) {
    const storage = await keptStorage(MEMORY);
    const id = await stopped(await deploy(storage, before), "interrupt");
    const next = release("interrupt", change);
    const { service } = await deploy(storage, next, { ...(migrations && { migrations }) });
    const server = await startServer(service, { host: "127.0.0.1", port: 0, studio: true });
    onTestFinished(() => server.close(0));
    const { page, visit, settled } = await open(server.url, look);
    await visit(`#/${view}/${id}`);
    return {
      page,
      settled,
      note: page.locator(".version-note"),
      versions: [await versionOf(before), await versionOf(next)],
    };
  }

  it.each([
    { scheme: "light", width: 1440 },
    { scheme: "dark", width: 1440 },
    { scheme: "light", width: 390 },
    { scheme: "dark", width: 390 },
  ] as const)("says which node is gone: %j", async (look) => {
    const { page, note, versions } = await visited("renamed", look);
    await note.getByText('waits in node "ask", which is gone').waitFor();
    for (const version of [...versions, "graph-serve versions check"])
      await expect.poll(() => note.textContent()).toContain(version);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const folder = process.env.GRAPH_SERVE_SHOTS;
    if (folder) await page.screenshot({ path: `${folder}/versions-${look.scheme}-${look.width}.png` });
  });

  it("says that the thread can continue, or what converts it", async () => {
    const added = await visited("added");
    await added.note.locator("summary").click();
    await added.note.getByText("The thread can continue on the graph that is served.").waitFor();
    const list = `[{ from: "${added.versions[0]}", nodes: { ask: "question" } }]`;
    const { note, versions } = await visited("renamed", undefined, await migrationsFile(list));
    await note.locator("summary").click();
    await note.getByText(`Migrations convert it when it is next used: ${versions[0]}`).waitFor();
  });

  it.each([1440, 390])("the conversation says it too, at a width of %s pixels", async (width) => {
    const { page, note, versions } = await visited("renamed", { width }, undefined, "run");
    await note.getByText('waits in node "ask", which is gone').waitFor();
    for (const version of versions) await expect.poll(() => note.textContent()).toContain(version);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const folder = process.env.GRAPH_SERVE_SHOTS;
    if (folder) await page.screenshot({ path: `${folder}/versions-run-${width}.png` });
  });

  it("is not mentioned if the graph is the same", async () => {
    const { settled, note } = await visited("none");
    await settled();
    expect(await note.count()).toBe(0);
  });
});
