/** Two branches, of one thread, of two, or of files, side by side. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createThreadProject, type ThreadProject } from "../cli/thread-fixture.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const HOSTILE = '"><iframe srcdoc="x"></iframe><img src=x onerror=alert(1)>';

describeWithChromium("two branches", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent } });

  it("of one thread are compared from where they part", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const [tip, , forked] = await service.state.history(id, { limit: 3 });
    const checkpoint = { checkpoint_id: forked?.checkpoint?.checkpoint_id ?? "" };
    const message = { role: "tool", tool_call_id: "call_add", content: "seven", name: "add" };
    const written = await service.state.update(id, {
      values: { messages: [message] },
      as_node: "tools",
      checkpoint,
    });
    const { checkpoint_id } = written.checkpoint;
    await service.runs.create(id, { assistant_id: "agent", input: null, checkpoint: { checkpoint_id } });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}/at/${tip?.checkpoint?.checkpoint_id}`);
    await page.getByRole("link", { name: "Compare with the newest" }).click();
    await page.getByText("Steps in common: 3").waitFor();
    await visit("#/compare");
    await page.getByText("Which two?").waitFor();
    await page.getByLabel("first").fill(`${id}@${tip?.checkpoint?.checkpoint_id}`);
    await page.getByLabel("second").fill(`${id}@-1`);
    await page.keyboard.press("Enter");
    await page.getByText("Steps in common: 3").waitFor();
    const pairs = page.locator(".pair");
    await expect.poll(() => pairs.count()).toBe(2);
    await page.locator(".pair .change").getByText("seven").first().waitFor();
    await page.locator(".pair").last().getByText("The sum is 5").first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("table").getByRole("link").last().click();
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
  });

  it("of two threads are compared by what ran, and those that are none are told", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "agent", ask("two and three"));
    const other = await ranThread(service, "agent", ask("four and five"));
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit(`#/compare/${one}@-1/${other}@3`);
    await page.getByText("They have no step in common.").waitFor();
    const badges = page.locator(".pair .badge");
    await expect
      .poll(() => badges.allTextContents())
      .toEqual(["same values", "differs", "differs", "differs", "differs"]);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    await visit(`#/compare/${one}@99/${other}@-1`);
    await page.getByRole("alert").getByText(`thread "${one}" has no step "99"`).waitFor();
    await visit(`#/compare/${encodeURIComponent(HOSTILE)}/${other}@-1`);
    await page.getByRole("alert").waitFor();
    expect(await page.locator("main :is(img, iframe)").count()).toBe(0);
  });
});

describeWithChromium("files", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent } });
  let project: ThreadProject;
  beforeAll(async () => {
    project = await createThreadProject(`hello ${HOSTILE}`);
  });
  afterAll(() => project.remove());

  it("that were saved or exported are compared with each other, and with threads of the server", async () => {
    const { threadId } = project;
    const html = (await project.run(["replay", threadId, "--format", "html"])).stdout;
    const json = (await project.run(["export", threadId])).stdout;
    const { service, url } = server();
    const thread = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await visit("#/compare");
    const choose = async (label: string, name: string, text: string) => {
      const asking = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: label }).click();
      await (
        await asking
      ).setFiles({
        name,
        mimeType: "application/octet-stream",
        buffer: Buffer.from(text),
      });
    };
    await choose("Open a file as the first", "old@home.html", html);
    await expect
      .poll(() => page.getByLabel("first", { exact: true }).inputValue())
      .toBe("file:old@home.html@-1");
    await choose("Open a file as the second", "new.json", json);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("They are the same.").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel("first", { exact: true }).fill("file:old@home.html@0");
    await page.getByLabel("second", { exact: true }).fill(`${thread}@-1`);
    await page.keyboard.press("Enter");
    await page.getByText("They have no step in common.").waitFor();
    await page.locator(".pair .badge", { hasText: "differs" }).first().waitFor();
    expect(await page.locator("main :is(img, iframe)").count()).toBe(0);
    await page.reload();
    await page.getByRole("alert").getByText('The file "old@home.html" is not open in this tab').waitFor();
  });

  it("that hold no thread are told, with what would", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/compare");
    for (const [text, why] of [
      ["{}", "it holds no exported thread"],
      ["<p>page</p>", "it holds no exported thread"],
      ['{"format":"graph-serve/thread","version":99}', "it is of version 99"],
    ] as const) {
      await page
        .locator("input[type=file]")
        .first()
        .setInputFiles({
          name: "x.json",
          mimeType: "application/json",
          buffer: Buffer.from(text),
        });
      await page.getByRole("alert").getByText(`x.json is no thread: ${why}`).waitFor();
    }
    expect(await violationsOf(page)).toEqual([]);
  });
});
