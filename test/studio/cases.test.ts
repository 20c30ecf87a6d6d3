/** Saving a run as a case file from the Studio of `dev`, as `graph-serve test --from-run` does. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, echoGraph } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { httpGraph, type ModelServer, startModelServer } from "../testing/model-server.js";
import { askHelper, OWN, ran, useDev } from "./dev.js";
import { argumentsOf, expectCopied, held, useBrowser, violationsOf } from "./open.js";

const dev = useDev(() => ({ "graph.ts": echoGraph() }));

const SECRET = "sk-abcdefghijklmnopqrstuv";

const said = (content: string) => ({ messages: [{ role: "user", content }] });

const inProject = (path: string): Promise<string> => readFile(join(dev.project.dir, path), "utf8");

/** Opens the dialog of the newest run of a thread. */
async function dialogOf(opening: ReturnType<ReturnType<typeof useBrowser>>, token: string, thread: string) {
  const { page, visit } = await opening;
  await visit(`#token=${token}`);
  await visit(`#/threads/${thread}`);
  await page.getByRole("button", { name: "Runs" }).click();
  await page
    .getByRole("button", { name: /^Case file/ })
    .first()
    .click();
  return { page, dialog: page.getByRole("dialog", { name: "Save this run as a test" }) };
}

describeWithChromium("the case file of a run", () => {
  const open = useBrowser();

  it("is previewed, written and opened in the editor, and passes", async () => {
    const { project } = dev;
    const editor = await project.put("editor.sh", `#!/bin/sh\necho "$@" > "${project.dir}/opened"\n`);
    await chmod(editor, 0o755);
    const { url, token } = await dev.start({ env: { LAUNCH_EDITOR: editor } });
    const { thread_id, run_id } = await ran(url, said(`my key is ${SECRET}`));
    const { page, dialog } = await dialogOf(open(url), token, thread_id);
    const usual = `agent-${run_id.slice(-8)}.graph.yaml`;
    await expect.poll(() => dialog.getByLabel("File").inputValue()).toBe(usual);
    await dialog.getByText(`# Generated from run ${run_id}`).waitFor();
    await dialog.getByText(/secrets? removed/).waitFor();
    expect(await dialog.textContent()).not.toContain(SECRET);
    expect(await readdir(project.dir)).not.toContain(usual);
    expect(await violationsOf(page)).toEqual([]);
    const others = dialog.getByRole("group", { name: "Copy as" });
    const command = await expectCopied(others, "graph-serve", new RegExp(`test --from-run ${run_id} --out`));
    const copied = await cli(await argumentsOf(command, project.dir), { cwd: project.dir });
    expect(copied).toMatchObject({ code: 0, stdout: `${usual}\n` });
    expect(await inProject(usual)).toBe(await dialog.getByLabel("Preview").textContent());
    // The path to the graph is relative to the folder of the case file.
    await dialog.getByLabel("File").fill("cases/kept.graph.yaml");
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByText("graph: ../graph.ts").waitFor();
    await dialog.getByRole("button", { name: "Write" }).click();
    await dialog.getByText(join(project.dir, "cases/kept.graph.yaml")).waitFor();
    expect(await inProject("cases/kept.graph.yaml")).toContain("graph: ../graph.ts");
    await dialog.getByRole("button", { name: "Open in the editor" }).click();
    await expect
      .poll(() => readFile(join(project.dir, "opened"), "utf8").catch(() => ""))
      .toContain("cases/kept.graph.yaml");
    expect(await cli(["test", "cases/kept.graph.yaml", "--ci"], { cwd: project.dir })).toMatchObject({
      code: 0,
    });
  });

  it("offers the path of the file if no editor starts", async () => {
    const { url, token } = await dev.start({ env: { LAUNCH_EDITOR: "no-such-editor" } });
    const { thread_id } = await ran(url, said("hello"));
    const { dialog } = await dialogOf(open(url), token, thread_id);
    await dialog.getByLabel("File").fill("kept.graph.yaml");
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByRole("button", { name: "Write" }).click();
    await dialog.getByRole("button", { name: "Open in the editor" }).click();
    await dialog.getByText("the editor no-such-editor failed to start").waitFor();
    await expectCopied(dialog, "Copy path", /kept\.graph\.yaml$/);
  });

  it("overwrites an existing file only after confirmation", async () => {
    const { project } = dev;
    await project.put("mine.graph.yaml", "mine");
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said("hello"));
    const { page, dialog } = await dialogOf(open(url, { width: 320 }), token, thread_id);
    await dialog.getByLabel("File").fill("mine.graph.yaml");
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByText("Already exists: mine.graph.yaml.").waitFor();
    expect(await dialog.getByRole("button", { name: "Write" }).isDisabled()).toBe(true);
    expect(await dialog.getByRole("group", { name: /^Copy/ }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByLabel("Overwrite").check();
    await dialog.getByRole("button", { name: "Write" }).click();
    await dialog.getByText("Written:").waitFor();
    expect(await inProject("mine.graph.yaml")).toContain("content: hello");
  });

  it("asks again before it overwrites another file", async () => {
    const { project } = dev;
    for (const name of ["mine", "other"]) await project.put(`${name}.graph.yaml`, name);
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said("hello"));
    const { dialog } = await dialogOf(open(url), token, thread_id);
    await dialog.getByLabel("File").fill("mine.graph.yaml");
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByLabel("Overwrite").check();
    await dialog.getByLabel("File").fill("other.graph.yaml");
    await dialog.getByLabel("File").press("Enter");
    await dialog.getByText("Already exists: other.graph.yaml.").waitFor();
    expect(await inProject("other.graph.yaml")).toBe("other");
  });

  it("is written by a press that leaves the field of its name", async () => {
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said("hello"));
    const { page, dialog } = await dialogOf(open(url), token, thread_id);
    await dialog.getByLabel("File").fill("pressed.graph.yaml");
    const preview = await held(page, "**/studio/api/cases");
    await dialog.getByRole("button", { name: "Write" }).hover();
    await page.mouse.down();
    await preview.asked;
    await page.mouse.up();
    preview.release();
    await dialog.getByText("Written:").waitFor();
    expect(await inProject("pressed.graph.yaml")).toContain("content: hello");
  });
});

describeWithChromium("a value of the state", () => {
  const open = useBrowser();
  const FILE = "kept.graph.yaml";

  it("becomes a line of a case file, of a new one or one that exists", async () => {
    const { project } = dev;
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said(`my key is ${SECRET}`));
    const { page, visit } = await open(url);
    const dialog = page.getByRole("dialog", { name: "Save this run as a test" });
    const expecting = async (path: string) => {
      await visit(`#/threads/${thread_id}?tab=state&path=${encodeURIComponent(path)}`);
      await page.reload();
      await page.getByRole("button", { name: "Expect in a case file" }).click();
    };
    await visit(`#/threads/${thread_id}?tab=state&path=${encodeURIComponent('["messages",1,"type"]')}`);
    await page.getByText("messages[1].type").waitFor();
    expect(await page.getByRole("button", { name: "Expect in a case file" }).count()).toBe(0);
    await visit(`#token=${token}`);
    await expecting('["messages",1,"type"]');
    await dialog.getByText("expects messages[1].type as it is at the end of the run").waitFor();
    await dialog.getByLabel("File").fill(FILE);
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByRole("button", { name: "Write" }).click();
    await dialog.getByText("Written:").waitFor();
    const first = await inProject(FILE);
    expect(first).toMatch(/ {4}expect:\n {6}status: success\n {6}values:\n {8}messages\[1\]\.type: ai\n$/);
    await project.put(FILE, `# Mine\n${first}`);
    await dialog.getByRole("button", { name: "Close" }).click();

    await expecting('["messages"]');
    await dialog.getByLabel("File").fill(FILE);
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByText("The file exists: only this value is added to it.").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByText("Written:").waitFor();
    const both = await inProject(FILE);
    expect(both.startsWith(`# Mine\n${first.trimEnd()}`)).toBe(true);
    expect(both).toMatch(/messages:\n {10}length: 2\n/);
    expect(both).not.toContain(SECRET);
    expect(await cli(["test", FILE, "--ci"], { cwd: project.dir })).toMatchObject({ code: 0 });
    await project.put(FILE, both.replace("type: ai", "type: tool"));
    expect(await cli(["test", FILE, "--ci"], { cwd: project.dir })).toMatchObject({ code: 1 });
    await dialog.getByRole("button", { name: "Close" }).click();

    // Not possible: a secret, and a file without that case.
    await expecting('["messages",0,"content"]');
    await dialog.getByText("messages[0].content is a secret or differs in every run").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await project.put(FILE, "cases: 7");
    await expecting('["messages",1,"type"]');
    await dialog.getByLabel("File").fill(FILE);
    await dialog.getByLabel("File").press("Tab");
    await dialog.getByText(`${FILE} is not a YAML case file with the case`).waitFor();
    expect(await inProject(FILE)).toBe("cases: 7");
  });
});

describeWithChromium("the case file of a run with model calls", () => {
  const open = useBrowser();
  let model: ModelServer;
  beforeEach(async () => {
    model = await startModelServer();
    process.env.MODEL_URL = model.url;
    await dev.project.put("graph.ts", httpGraph);
  });
  afterEach(async () => {
    delete process.env.MODEL_URL;
    await model.close();
  });

  it("is saved with the recorded answers and passes without the model", async () => {
    const { dir } = dev.project;
    const started = await dev.start({ flags: ["--record"] });
    const { thread_id, run_id } = await ran(started.url, said("what is the weather"));
    await model.close();
    const { dialog } = await dialogOf(open(started.url), started.token, thread_id);
    const name = `agent-${run_id.slice(-8)}`;
    await dialog
      .getByText(`Answers of models and tools are saved to fixtures/${name}.jsonl: 3 calls`)
      .waitFor();
    expect(await readdir(dir)).not.toContain("fixtures");
    await dialog.getByRole("button", { name: "Write" }).click();
    await dialog.getByText("Written:").waitFor();
    expect(await inProject(`fixtures/${name}.jsonl`)).toContain("sunny");
    const place = dialog.locator(".command");
    const command = await expectCopied(
      place,
      "Copy",
      new RegExp(`^graph-serve test ${name}\\.graph\\.yaml$`),
    );
    const passed = await cli([...command.split(" ").slice(1), "--ci"], { cwd: dir });
    expect([passed.code, passed.stdout]).toEqual([0, expect.stringContaining("what is the weather")]);
  });

  it("reports a missing recording, and why a run cannot become a case", async () => {
    const started = await dev.start();
    const { thread_id } = await ran(started.url, said("hello"));
    const { dialog } = await dialogOf(open(started.url), started.token, thread_id);
    await dialog.getByText("the run called a model without a recording").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    const write = { values: { messages: [{ role: "user", content: "edited" }] } };
    await fetch(`${started.url}/threads/${thread_id}/state`, { method: "POST", body: JSON.stringify(write) });
    await ran(started.url, null, { threadId: thread_id });
    const { dialog: refused } = await dialogOf(open(started.url), started.token, thread_id);
    await refused
      .getByRole("alert")
      .getByText("the thread has a state that was not created by one of its runs")
      .waitFor();
    expect(await refused.getByRole("button", { name: "Write" }).count()).toBe(0);
  });
});

describe("POST /studio/api/cases", () => {
  it("writes only case files inside the project", async () => {
    const { project } = dev;
    const { url, token } = await dev.start();
    const run = await ran(url, said("hello"));
    const outside = await mkdtemp(join(tmpdir(), "outside-"));
    try {
      await symlink(outside, join(project.dir, "away"));
      await symlink(join(outside, "x.graph.yaml"), join(project.dir, "link.graph.yaml"));
      await symlink(join(outside, "gone"), join(project.dir, "dangling"));
      await mkdir(join(project.dir, ".git"));
      const own = { ...OWN, "x-studio-token": token };
      const ask = (more: object) =>
        askHelper(url, "/studio/api/cases", own, JSON.stringify({ ...run, write: true, ...more }));
      const refused = [
        ["../a.graph.yaml", /must be in the project folder/],
        ["/tmp/a.graph.yaml", /must be in the project folder/],
        ["cases/../../a.graph.yaml", /must be in the project folder/],
        ["graph.ts", /must end in \.graph\.yaml/],
        ["package.json", /must end in \.graph\.yaml/],
        [".git/a.graph.yaml", /must not be in \.git/],
        ["node_modules/a/a.graph.yaml", /must not be in node_modules/],
        ["away/deeper/a.graph.yaml", /a symbolic link leads outside/],
        ["link.graph.yaml", /is a symbolic link/],
        ["dangling/a.graph.yaml", /dangling is a broken symbolic link/],
        ["a\0b.graph.yaml", /NUL character/],
      ] as const;
      for (const [file, why] of refused) {
        const { status, body } = await ask({ file, replace: true });
        expect([file, status]).toEqual([file, 422]);
        expect(JSON.stringify(body)).toMatch(why);
      }
      expect(await readdir(outside)).toEqual([]);
      expect(await ask({ file: "deep/er/a.graph.json" })).toMatchObject({
        status: 200,
        body: { path: "deep/er/a.graph.json", written: true, taken: [] },
      });
      const again = await ask({ file: "deep/er/a.graph.json" });
      expect(JSON.stringify(again.body)).toContain("already exists: deep/er/a.graph.json");
      expect(again.status).toBe(422);
      const unknown = await ask({ run_id: "00000000-0000-4000-8000-000000000000" });
      expect(unknown.status).toBe(404);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it("returns a preview without writing by default", async () => {
    const { project } = dev;
    const { url, token } = await dev.start();
    const run = await ran(url, said("hello"));
    const own = { ...OWN, "x-studio-token": token };
    const { body } = await askHelper(url, "/studio/api/cases", own, JSON.stringify(run));
    expect(body).toMatchObject({ written: false, taken: [], mock: null, notes: [] });
    expect((await readdir(project.dir)).some((name) => name.endsWith(".graph.yaml"))).toBe(false);
  });
});
