/** Graphs loaded from a file without a configuration: later commands in the same folder find the file. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { Client } from "@langchain/langgraph-sdk";
import { askingGraph, cli, createProject, echoGraph, type Project, startCli } from "./harness.js";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({ "src/ask.ts": askingGraph });
});
afterEach(() => project.remove());

const call = (line: string, cwd = project.dir) => cli(line.split(" "), { cwd });

/** Starts a run that waits for an answer, and returns its thread id. */
async function asked(...flags: string[]): Promise<string> {
  const argv = ["run", "./src/ask.ts:graph", "--input", '{"topic":"cats"}', "--json", ...flags];
  const { stdout } = await cli(argv, { cwd: project.dir });
  return (JSON.parse(stdout) as { thread_id: string }).thread_id;
}

const answerLine = (stdout: string) => /answer +graph-serve (.+)/.exec(stdout)?.[1] ?? "";

describe("a graph file served by dev", () => {
  it("values are shown while dev runs, and the printed answer command works afterwards", async () => {
    const dev = startCli(["dev", "./src/ask.ts:graph", "-p", "0"], { cwd: project.dir });
    const [, url] = await dev.stderr.until(/at (http:\S+)/);
    const sdk = new Client({ apiUrl: url, apiKey: null });
    const { thread_id } = await sdk.threads.create();
    await sdk.runs.wait(thread_id, "ask", { input: { topic: "cats" } });

    const shown = await call(`inspect thread ${thread_id}`);
    expect(shown.stderr).toBe("");
    expect(shown.stdout).toContain("topic: cats");
    expect((await call(`history ${thread_id}`)).stderr).toBe("");
    const answer = answerLine(shown.stdout);
    expect(answer).toBe(`run ./src/ask.ts:graph --thread ${thread_id} --resume true`);
    dev.stop();
    expect(await dev.exit).toBe(0);

    expect(await call(answer)).toMatchObject({ code: 0 });
    expect((await call(`inspect state ${thread_id} --json`)).stdout).toContain('"answer": "true"');
  });
});

describe("a graph file used by run", () => {
  it("values are shown, and the answer command names the file", async () => {
    const thread = await asked();
    const { stdout, stderr } = await call(`inspect thread ${thread}`);
    expect([stderr, stdout]).toEqual(["", expect.stringContaining("cats")]);
    expect(answerLine(stdout)).toContain("run ./src/ask.ts:graph --thread");
  });

  it("run and fork find the graph of the thread", async () => {
    const thread = await asked();
    expect(await call(`run --thread ${thread} --resume true`)).toMatchObject({ code: 0 });
    const again = await asked();
    expect(await call(`fork ${again} --run`)).toMatchObject({ code: 0 });
    expect((await call("run --message hello")).stderr).toContain("no graphs to serve");
  });

  it("values are hidden if the file no longer loads", async () => {
    const thread = await asked();
    await project.put("src/ask.ts", "export const graph = ;");
    const { code, stdout, stderr } = await call(`inspect thread ${thread}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining("values hidden")]);
    expect(stdout).toContain("values\n  hidden\n");
    await project.put("graph-server.config.json", { graphs: { agent: "./agent.ts" } });
    await project.put("agent.ts", echoGraph());
    expect(await call("run --message hello")).toMatchObject({ code: 0 });
  });

  it("a target that does not load does not replace a remembered graph", async () => {
    const thread = await asked();
    expect(await call("dev ./src/ask.ts:nope -p 0")).toMatchObject({ code: 2 });
    await project.put("broken/ask.ts", "export const graph = ;");
    const dev = startCli(["dev", "./broken/ask.ts", "-p", "0"], { cwd: project.dir });
    await dev.stderr.until(/saving a file reloads it/);
    dev.stop();
    expect(await dev.exit).toBe(0);
    expect(await call(`inspect state ${thread} --path topic`)).toMatchObject({ code: 0, stdout: "cats\n" });
  });

  it("a graph that is fixed while dev runs is remembered", async () => {
    await project.put("later.ts", "export const graph = ;");
    const dev = startCli(["dev", "./later.ts", "-p", "0"], { cwd: project.dir });
    const [, url] = await dev.stderr.until(/at (http:\S+)[\s\S]*saving a file reloads it/);
    await project.put("later.ts", askingGraph);
    await dev.stderr.until(/reloaded later\.ts/);
    const sdk = new Client({ apiUrl: url, apiKey: null });
    const { thread_id } = await sdk.threads.create();
    await sdk.runs.wait(thread_id, "later", { input: { topic: "dogs" } });
    dev.stop();
    expect(await dev.exit).toBe(0);
    expect((await call(`inspect state ${thread_id} --path topic`)).stdout).toBe("dogs\n");
  });

  it("values that are hidden are an error where nothing else is printed", async () => {
    const thread = await asked();
    await project.put("src/ask.ts", "export const graph = ;");
    const lines = [
      `inspect state ${thread}`,
      `inspect thread ${thread} --values`,
      `diff ${thread}@-1 ${thread}`,
      `export ${thread} --out thread.json`,
    ];
    for (const line of lines) {
      const { code, stdout, stderr } = await call(line);
      expect({ line, code, stdout }).toEqual({ line, code: 2, stdout: "" });
      expect(stderr).toMatch(/^error {2}values hidden: the graph does not load \(.+\)\n {2}fix {2}--raw/);
    }
    expect(await readdir(project.dir)).not.toContain("thread.json");
    expect((await call(`inspect state ${thread} --path topic --raw`)).stdout).toBe("cats\n");
    const { thread_id } = JSON.parse((await call("threads create --json")).stdout) as { thread_id: string };
    expect(await call(`inspect state ${thread_id}`)).toMatchObject({ code: 0, stdout: "{}\n" });
  });

  it("a configured graph with the same id takes precedence", async () => {
    const thread = await asked();
    await project.put("graph-server.config.json", { graphs: { ask: "./agent.ts" } });
    await project.put("agent.ts", echoGraph());
    const { stdout } = await call(`inspect thread ${thread}`);
    expect(stdout).not.toContain("cats");
    expect((await call("config print --json")).stdout).not.toContain("src/ask.ts");
  });

  it("nothing is written to the folder with --db memory", async () => {
    await project.put("fresh/.keep", "");
    const argv = ["run", "../src/ask.ts:graph", "--input", '{"topic":"cats"}', "--db", "memory"];
    await cli(argv, { cwd: join(project.dir, "fresh") });
    expect(await readdir(join(project.dir, "fresh"))).toEqual([".keep"]);
  });
});
