/** The HTML page of a single thread: it opens without a server and sends no requests. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answererOf } from "../../studio/components/answers.js";
import type { PageData } from "../../src/view/replay-data.js";
import { createThreadProject, type ThreadProject } from "../cli/thread-fixture.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { useBrowser, violationsOf } from "./open.js";

const HOSTILE =
  "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned=2'> ${alert(1)} \u001b[2J\u202eevil";

interface Item {
  values: unknown;
  checkpoint: { checkpoint_id: string };
}

let project: ThreadProject;
let html: string;
beforeAll(async () => {
  project = await createThreadProject(HOSTILE);
  html = (await project.run(["replay", project.threadId, "--format", "html"])).stdout;
});
afterAll(() => project.remove());

async function written(text: string): Promise<string> {
  const file = join(project.dir, "page.html");
  await writeFile(file, text);
  return pathToFileURL(file).href;
}

const dataOf = (text: string): PageData =>
  JSON.parse(
    /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text)?.[1] ?? "{}",
  ) as PageData;

const stored = async (...argv: string[]): Promise<Item[]> =>
  (await project.json<{ items: Item[] }>(["replay", project.threadId, ...argv])).document.items;

describe("the style of an HTML page", () => {
  it("is the only style sheet of the Studio", async () => {
    const assets = new URL("../../dist/studio/assets/", import.meta.url);
    const [sheet, ...others] = (await readdir(assets)).filter((file) => file.endsWith(".css"));
    expect(others).toEqual([]);
    const style = /<style>(.*?)<\/style>/s.exec(html)?.[1];
    expect(style).toBe((await readFile(new URL(String(sheet), assets), "utf8")).trim());
  });
});

describe("the data of an HTML page", () => {
  const statesOf = (data: PageData, items: readonly Item[]) => {
    const answer = answererOf(data);
    return items.map(({ checkpoint: { checkpoint_id } }) => {
      const body = { checkpoint: { checkpoint_id } };
      return (answer("/threads/x/state/checkpoint", body) as { values: unknown }).values;
    });
  };

  it("contains each state as stored, including pages of a partial history", async () => {
    for (const argv of [[], ["--checkpoint", "1"]]) {
      const items = await stored(...argv);
      const { stdout } = await project.run(["replay", project.threadId, ...argv, "--format", "html"]);
      const values = statesOf(dataOf(stdout), items);
      expect(items.length).toBeGreaterThan(0);
      expect(values.map((each) => JSON.stringify(each).replaceAll("\\\\u202e", "\u202e"))).toEqual(
        items.map((each) => JSON.stringify(each.values)),
      );
    }
  });

  it("has no raw control characters, no hidden keys, and cannot close its script element", () => {
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    expect(html).not.toContain("internal");
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script/g)).toHaveLength(2);
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+';/);
    expect(policy).not.toMatch(/unsafe|connect-src/);
  });
});

describe("secrets in an HTML page", () => {
  const SECRET = "sk-0123456789abcdef0123";
  const written = async (...argv: string[]) => {
    const { threadId } = secretive;
    return secretive.run(["replay", threadId, ...argv], { env: { BILLING_KEY: "twelve-times-nine" } });
  };
  let secretive: ThreadProject;
  beforeAll(async () => {
    secretive = await createThreadProject(`use ${SECRET} and twelve-times-nine`);
  });
  afterAll(() => secretive.remove());

  it("are redacted unless --keep-secrets is set", async () => {
    const { stdout } = await written("--format", "html");
    expect(stdout).toContain("use [redacted] and [redacted]");
    expect(stdout).not.toMatch(/sk-0123456789|twelve-times-nine/);
    const { stdout: whole } = await written("--format", "html", "--keep-secrets");
    expect(whole).toContain(`use ${SECRET} and twelve-times-nine`);
  });

  it("are kept only with --format html: --keep-secrets alone is rejected", async () => {
    expect(await written("--keep-secrets")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--keep-secrets requires --format html") as unknown,
    });
  });
});

describeWithChromium("the HTML page of a thread", () => {
  const open = useBrowser();
  const stepsOf = (page: Page) => page.getByRole("listbox", { name: "Steps" }).getByRole("option");

  it("shows branches, changes, messages, the drawing and the open question", async () => {
    const address = await written(html);
    const { page } = await open(address);
    await page.goto(address);
    const items = await stored();
    await expect.poll(() => stepsOf(page).count()).toBe(items.length);
    expect(await stepsOf(page).first().textContent()).toContain("waiting");
    expect(await page.locator(".step .visually-hidden").allTextContents()).toContain("branch");
    await page.getByRole("tab", { name: "Run" }).click();
    await page.getByText("how much?").waitFor();
    await page.getByRole("tab", { name: "Messages" }).click();
    await page.locator(".message").getByText("echo: pay 5").waitFor();
    const panel = page.getByRole("tabpanel");
    await page.getByRole("tab", { name: "Run" }).click();
    await page.getByRole("tab", { name: "Raw", exact: true }).click();
    await expect.poll(() => panel.textContent()).toContain("echo: pay 5");
    await page.getByRole("tab", { name: "Metadata" }).click();
    await expect.poll(() => panel.textContent()).toContain(items.at(-1)?.checkpoint.checkpoint_id);
    await page.getByRole("tab", { name: "State" }).click();
    await page.getByRole("tree").getByText("count", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Run" }).click();
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByText("The graph is not loaded here").waitFor();
    await page.getByRole("tab", { name: "Changes" }).click();
    await stepsOf(page).nth(-2).click();
    await page
      .locator(".inspector")
      .getByText("</script><script>window.pwned = 1</script><img src=x")
      .first()
      .waitFor();
    expect(await page.locator("img, iframe, object, embed").count()).toBe(0);
    expect(await page.evaluate("'pwned' in window")).toBe(false);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "Compare with the newest" }).click();
    await page.getByText(/Common steps: \d/).waitFor();
    expect(await page.getByRole("group", { name: /^Copy/ }).count()).toBe(0);
    // The file has no data about runs.
    expect(await page.locator(".compared-totals tr").last().locator("td").last().textContent()).toBe("–");
    await page.goBack();
    await page.getByRole("tab", { name: "Changes" }).waitFor();
    const place = page.url();
    expect(place).toMatch(/page\.html#\/threads\/.+\/at\/.+/);
    await page.reload();
    await expect.poll(() => stepsOf(page).nth(-2).getAttribute("aria-selected")).toBe("true");
    for (const name of ["Fork (f)", "Graphs", "Timeline", "Runs", "Conversation", "Refresh (r)"])
      expect(await page.getByText(name).count()).toBe(0);
    await page.evaluate(`location.hash += "?fork=1"`);
    await expect.poll(() => page.url()).toContain("fork=1");
    expect(await page.getByRole("region", { name: "Fork" }).count()).toBe(0);
  });

  it("contains nothing that needs a server", async () => {
    for (const path of ["/usage/nodes", "/runs/wait", "/studio/api/node-runs", "/crons"])
      expect(html).not.toContain(path);
    const address = await written(html);
    const { page } = await open(address);
    for (const screen of ["graphs", "usage", "run"]) {
      await page.goto(`${address}#/${screen}`);
      await page.getByText("Page not found").waitFor();
    }
    await page.getByRole("main").getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Threads" }).waitFor();
  });

  it("without steps shows an empty state", async () => {
    const { document } = await project.json<{ thread_id: string }>(["threads", "create"]);
    const { stdout } = await project.run(["replay", document.thread_id, "--format", "html"]);
    const address = await written(stdout);
    const { page } = await open(address, { width: 320, scheme: "dark" });
    await page.goto(address);
    await page.getByText("No runs on this thread yet").waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});
