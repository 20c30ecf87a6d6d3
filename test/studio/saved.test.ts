/** Saving a thread as one HTML file, without hidden values and secrets. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { cli } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { hidingGraph, useDev } from "./dev.js";
import { argumentsOf, expectCopied, menuButton, useBrowser } from "./open.js";

const dev = useDev(() => ({ "graph.ts": hidingGraph("42 sk-0123456789abcdef0123") }));

describeWithChromium("a thread saved as an HTML file", () => {
  const open = useBrowser();

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

  /** Runs a copied command that writes `file`, and returns its output. */
  async function copied(command: string, file: string): Promise<string> {
    const { dir } = dev.project;
    await rm(join(dir, file), { force: true });
    const argv = await argumentsOf(command, dir);
    expect(await readdir(dir)).toContain(file);
    return (await cli(argv, { cwd: dir })).stdout;
  }

  it("contains no hidden values and no secrets, and opens without a server", async () => {
    const { url, token, id } = await ranHiding();
    const { page, visit, settled } = await open(url);
    await visit(`#token=${token}`);
    await page.goto(`${url}/studio/#/threads/${id}`);
    // The token loads the thread again, with all values, and its menu with it.
    await settled();
    const saving = page.waitForEvent("download");
    await (await menuButton(page, "Save as a file")).press("Enter");
    const download = await saving;
    expect(download.suggestedFilename()).toBe(`thread-agent-${id.slice(0, 8)}.html`);
    const file = `${dev.project.dir}/saved.html`;
    await download.saveAs(file);
    const html = await readFile(file, "utf8");
    expect(html).not.toMatch(/in secret|sk-0123456789/);
    expect(html).toContain("42 [redacted]");
    const { page: alone } = await open(pathToFileURL(file).href);
    await alone.goto(pathToFileURL(file).href);
    await alone.getByRole("listbox", { name: "Steps" }).getByText("inner", { exact: true }).waitFor();
    const others = page.getByRole("group", { name: "Copy saved page as" });
    const command = await expectCopied(others, "graph-serve", new RegExp(`replay ${id} --format html`));
    expect(await copied(command, `thread-agent-${id.slice(0, 8)}.html`)).toContain("42 [redacted]");
    const shown = page.getByText(/^(Copy saved page as|without secrets)$/).filter({ visible: true });
    expect(await shown.count()).toBe(2);
    await page.emulateMedia({ media: "print" });
    expect(await shown.count()).toBe(0);
    await page.emulateMedia({ media: "screen" });
    await page.getByLabel("without secrets").uncheck();
    const kept = await expectCopied(others, "graph-serve", /--keep-secrets/);
    expect(await copied(kept, `thread-agent-${id.slice(0, 8)}.html`)).toContain("42 sk-0123456789abcdef0123");
    const again = page.waitForEvent("download");
    await (await menuButton(page, "Save as a file")).press("Enter");
    await (await again).saveAs(file);
    const whole = await readFile(file, "utf8");
    expect(whole).toContain("42 sk-0123456789abcdef0123");
    expect(whole).not.toMatch(/in secret/);
    // The page must not learn of the deletion before the press, so its reads of the thread are left pending.
    await page.route(`${url}/threads/search`, () => undefined);
    await fetch(`${url}/threads/${id}`, { method: "DELETE" });
    await (await menuButton(page, "Save as a file")).click();
    await page.getByRole("alert").getByText("does not exist").waitFor();
  });
});
