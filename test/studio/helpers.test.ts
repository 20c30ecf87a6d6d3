/** The API of the Studio in `dev`: load errors with source positions, reloads, and access control. */
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { editorCall } from "../../src/cli/dev/studio-helpers.js";
import { echoGraph } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { askHelper, OWN, useDev } from "./dev.js";
import { useBrowser, violationsOf } from "./open.js";

const dev = useDev(() => ({ "graph.ts": echoGraph() }));

const statusOf = async (...asked: Parameters<typeof askHelper>): Promise<number> =>
  (await askHelper(...asked)).status;

/** A fake editor that records its arguments. */
async function putEditor(): Promise<string> {
  const { dir } = dev.project;
  const editor = await dev.project.put("bin/code", `#!/bin/sh\necho "$@" > "${dir}/opened"\n`);
  await chmod(editor, 0o755);
  return editor;
}
const opened = () => readFile(join(dev.project.dir, "opened"), "utf8").catch(() => "");

const FAULTY = "export const more = ;";
const BROKEN = `${echoGraph()}\n${FAULTY}\n`;

describeWithChromium("the Studio of dev", () => {
  const open = useBrowser();

  it("shows why a graph failed to load, opens the file in the editor, and reports the reload after a fix", async () => {
    const { project } = dev;
    const { url, token } = await dev.start({ env: { LAUNCH_EDITOR: await putEditor() } });
    const { page, visit } = await open(url);
    await page.clock.install();
    await visit(`#token=${token}`);
    expect(page.url()).toBe(`${url}/studio/`);
    await page.getByRole("textbox", { name: "Message to the graph" }).waitFor();
    await project.put("graph.ts", BROKEN);
    const problems = page.getByRole("complementary", { name: "Graphs that failed to load" });
    await problems.getByText("agent failed to load").waitFor();
    await problems.getByText("The last working version is still served.").waitFor();
    await problems.getByText("export const more = ;").first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const line = BROKEN.split("\n").indexOf(FAULTY) + 1;
    await problems.getByRole("button", { name: `Open graph.ts:${line}`, exact: true }).click();
    await expect.poll(opened).toMatch(new RegExp(`^-g ${project.dir}/graph.ts:${line}:\\d+\n$`));
    // The previous version still answers.
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("hello");
    await page.keyboard.press("Enter");
    await page.getByText("echo: hello").waitFor();
    await project.put("graph.ts", echoGraph("mended"));
    await expect.poll(() => problems.count()).toBe(0);
    await page.getByText(/^reloaded/).waitFor();
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("again");
    await page.keyboard.press("Enter");
    await page.getByText("mended: again").waitFor();
    // The report goes away by itself.
    await page.clock.fastForward(15_000);
    await page.getByText(/^reloaded/).waitFor({ state: "detached" });
  });

  it("shows an error at startup in an imported file, and an editor that fails to start", async () => {
    const { project } = dev;
    await project.put("graph.ts", `import "./key.ts";\n${echoGraph()}`);
    await project.put("key.ts", "const at = 1;\nthrow new Error(`no key ${at}`);\n");
    const { url, token } = await dev.start({ env: { LAUNCH_EDITOR: "no-such-editor-here" } });
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit(`#token=${token}`);
    const problems = page.getByRole("complementary", { name: "Graphs that failed to load" });
    await problems.getByText("agent failed to load").waitFor();
    await problems.getByText("throw new Error(`no key ${at}`);").first().waitFor();
    // No version of the graph has ever loaded.
    expect(await problems.getByText("still served").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await problems.getByRole("button", { name: "Open key.ts:2" }).click();
    await problems
      .getByRole("alert")
      .getByText(/^the editor no-such-editor-here failed to start/)
      .waitFor();
    await page.getByRole("main").getByRole("alert").getByText("fix the error at ./key.ts:2").waitFor();
    await project.put("key.ts", "");
    await expect.poll(() => problems.count()).toBe(0);
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("hello");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("echo: hello").waitFor();
  });

  it("shows invalid settings and keeps serving with the previous ones", async () => {
    const { project } = dev;
    await project.put("graph-server.config.json", { welcome_message: "one" });
    const { url, token } = await dev.start({ env: { LAUNCH_EDITOR: await putEditor() } });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await page.getByRole("textbox", { name: "Message to the graph" }).waitFor();
    await project.put("graph-server.config.json", { prot: 1 });
    const problems = page.getByRole("complementary", { name: "Graphs that failed to load" });
    await problems.getByText("The project failed to load").waitFor();
    await problems.getByRole("button", { name: "Open graph-server.config.json:2" }).click();
    await expect.poll(opened).toMatch(/graph-server\.config\.json:2:\d+\n$/);
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("hello");
    await page.keyboard.press("Enter");
    await page.getByText("echo: hello").waitFor();
  });

  it("shows a file that several graphs share once, folded after the first look, with its line breaks", async () => {
    const { project } = dev;
    const names = ["one", "two", "three", "four", "five"];
    const importing = `import "./shared.ts";\n${echoGraph()}`;
    await project.put("shared.ts", "");
    for (const name of ["graph", ...names]) await project.put(`${name}.ts`, importing);
    const { url, token } = await dev.start({ flags: names.map((name) => `./${name}.ts`) });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await page.getByRole("textbox", { name: "Message to the graph" }).waitFor();
    await project.put("shared.ts", 'throw new Error("first line\\n  second line");\n');
    const problems = page.getByRole("complementary", { name: "Graphs that failed to load" });
    await problems.getByText("agent, one, two, three, four, five failed to load").waitFor();
    expect(await problems.getByRole("group").count()).toBe(1);
    expect(await problems.locator(".code-frame").count()).toBe(1);
    const message = problems.locator("pre.text");
    expect(await message.innerText()).toMatch(/first line\n {2}second line/);
    const whole = (await problems.boundingBox())?.height ?? 0;
    await problems.locator("summary").click();
    await expect.poll(() => message.isVisible()).toBe(false);
    await expect
      .poll(() => problems.locator("summary").innerText())
      .toMatch(/still served\. shared\.ts:1 .*first line$/);
    expect((await problems.boundingBox())?.height ?? 0).toBeLessThan(Math.min(whole / 2, 60));
    const screens = page.getByRole("navigation", { name: "Screens" });
    for (const name of ["Threads", "Graphs"]) {
      await screens.getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await message.isVisible()).toBe(false);
    }
    // The same error after another save stays folded, too.
    await project.put("shared.ts", 'throw new Error("first line\\n  second line"); // same\n');
    await page.getByRole("link", { name: "Runs" }).click();
    expect(await message.isVisible()).toBe(false);
    await project.put("shared.ts", "");
    await expect.poll(() => problems.count()).toBe(0);
  });

  it("lists all graphs, including those that are hidden without list_all_assistants", async () => {
    await dev.project.put("other.ts", echoGraph());
    const { url, token } = await dev.start({ flags: ["./other.ts"] });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await page.goto(`${url}/studio/#/graphs`);
    await expect
      .poll(() => page.locator("[data-list] .preview").allTextContents())
      .toEqual(["agent", "other"]);
    await page.getByRole("link", { name: "other" }).click();
    await page.getByRole("img", { name: /start/ }).waitFor();
  });
});

describe("the Studio API", () => {
  it("accepts only requests of its own page with the token, and no page contains the token", async () => {
    const { url, token } = await dev.start();
    const own = { ...OWN, "x-studio-token": token };
    expect(await (await fetch(`${url}/studio/`)).text()).not.toContain(token);
    expect(await statusOf(url, "/studio/api/hello", own)).toBe(200);
    const refused: Record<string, string>[] = [
      OWN,
      { "x-studio-token": token },
      { ...own, "x-studio-token": token.replace(/./, "x") },
      { ...own, "sec-fetch-site": "cross-site" },
      { ...own, "sec-fetch-site": "same-site" },
      { ...own, "sec-fetch-site": "none" },
      { ...own, host: "evil.example" },
    ];
    for (const headers of refused) {
      expect(await statusOf(url, "/studio/api/hello", headers)).toBe(403);
      expect(await statusOf(url, "/studio/api/events", headers)).toBe(403);
      for (const path of ["open", "cases", "states/threads/x/history", "states/threads/x/state/checkpoint"])
        expect(await statusOf(url, `/studio/api/${path}`, headers, "{}")).toBe(403);
      for (const path of ["states/threads/x/state", "threads/x/page"])
        expect(await statusOf(url, `/studio/api/${path}`, headers)).toBe(403);
    }
  });

  it("opens only files of the project", async () => {
    const { url, token } = await dev.start({ env: { LAUNCH_EDITOR: "no-such-editor-here" } });
    const own = { ...OWN, "x-studio-token": token };
    const { project } = dev;
    const ask = (body: object) => statusOf(url, "/studio/api/open", own, JSON.stringify(body));
    expect(await ask({ file: "/etc/passwd", line: 1 })).toBe(422);
    expect(await ask({ file: `${project.dir}/../graph.ts`, line: 1 })).toBe(422);
    expect(await ask({ file: `${project.dir}/graph.ts`, line: 0 })).toBe(422);
    expect(await ask({ file: `${project.dir}/graph.ts`, line: 1, flags: "-x" })).toBe(422);
    expect(await statusOf(url, "/studio/api/open", own)).toBe(404);
  });

  it.each([
    ["code --wait", "code", ["--wait", "-g", "/a b/$(x).ts:3:4"]],
    ["/opt/cursor", "/opt/cursor", ["-g", "/a b/$(x).ts:3:4"]],
    ["subl", "subl", ["/a b/$(x).ts:3:4"]],
    ["webstorm", "webstorm", ["--line", "3", "/a b/$(x).ts"]],
    ["other", "other", ["/a b/$(x).ts"]],
  ])("starts the editor %s with a list of arguments", (named, command, args) => {
    const place = { file: "/a b/$(x).ts", line: 3, column: 4 };
    expect(editorCall({ LAUNCH_EDITOR: named, EDITOR: "vim" }, place)).toEqual([command, args]);
    expect(() => editorCall({ EDITOR: "vim" }, place)).toThrow(/vim needs a terminal.*LAUNCH_EDITOR=code/);
    expect(editorCall({}, place)[0]).toBe("code");
  });
});
