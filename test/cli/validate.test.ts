import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createProject, echoGraph, type Project } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "broken.ts": "export const graph = 5;\n",
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph", broken: "./broken.ts:graph" } },
  });
});
afterEach(() => project.remove());

describe("validate", () => {
  it("each graph is checked separately", async () => {
    const { code, stdout, stderr } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stdout).toMatch(/ok +config +graph-server\.config\.json/);
    expect(stdout).toMatch(/ok +graph agent +\.\/graph\.ts:graph +1 node, input \{messages\}/);
    expect(stdout).toMatch(/fail +graph broken/);
    expect(stderr).toMatch(/error {2}.*broken\.ts/);
  });

  it("a valid graph file exits with code 0", async () => {
    expect(await cli(["validate", "./graph.ts"], { cwd: project.dir })).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  it("the auth function is loaded, because a server does not start without it", async () => {
    const of = (auth: string) => ({ graphs: { agent: "./graph.ts:graph" }, auth });
    await project.put("graph-server.config.json", of("./auth.mjs:authenticat"));
    expect((await cli(["validate"], { cwd: project.dir })).stdout).toMatch(
      /fail +auth +auth: file \.\/auth\.mjs not found/,
    );
    await project.put("auth.mjs", "export const authenticate = () => ({ identity: 'ada' });\n");
    const misspelt = await cli(["validate"], { cwd: project.dir });
    expect(misspelt.code).toBe(2);
    expect(misspelt.stdout).toMatch(/fail +auth +auth: \.\/auth\.mjs has no function "authenticat"/);
    await project.put("graph-server.config.json", of("./auth.mjs:authenticate"));
    const valid = await cli(["validate"], { cwd: project.dir });
    expect(valid.stdout).toMatch(/ok +auth +\.\/auth\.mjs:authenticate/);
    expect(valid.code).toBe(0);
  });

  it("--json prints a list with the errors", async () => {
    const { code, stdout } = await cli(["validate", "--json"], { cwd: project.dir });
    expect(code).toBe(2);
    const { items } = JSON.parse(stdout) as {
      items: { check: string; status: string; error?: { code: string } }[];
    };
    const graphs = items.filter(({ check }) => check.startsWith("graph"));
    expect(graphs).toMatchObject([
      { check: "graph agent", status: "ok" },
      { check: "graph broken", status: "fail", error: { code: "graph_load_failed" } },
    ]);
  });

  it("the checks are those of doctor that need no network", async () => {
    const names = async (...argv: string[]) => {
      const { stdout } = await cli([...argv, "--json"], { cwd: project.dir });
      return (JSON.parse(stdout) as { items: { check: string }[] }).items.map(({ check }) => check);
    };
    const all = await names("doctor", "--db", "postgres://nobody@127.0.0.1:1/none");
    expect(all.at(-1)).toBe("storage");
    expect(await names("validate")).toEqual(all.slice(0, -1));
    expect(await names("validate", "--config-only")).toEqual(["config", "compat", "graphs"]);
  });

  it.each([
    [{ role: "api" }, "role api needs a queue"],
    [{ metrics_port: 9464 }, "metrics_port needs metrics"],
    [{ health_port: 2024 }, "health_port and port are both 2024"],
  ])("settings that contradict each other fail: %j", async (settings, message) => {
    await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts:graph" }, ...settings });
    for (const argv of [["validate"], ["validate", "--config-only"], ["doctor"]]) {
      const { code, stdout } = await cli(argv, { cwd: project.dir });
      expect(code).not.toBe(0);
      expect(stdout).toMatch(new RegExp(`fail +settings +${message}`));
    }
  });

  it("a configuration without graphs is an error", async () => {
    await project.put("graph-server.config.json", {});
    const { code, stdout } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stdout).toContain("no graphs are configured");
  });

  it("the storage is not opened", async () => {
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts" },
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "/nowhere/at/all/threads.db",
    });
    expect(await cli(["validate"], { cwd: project.dir })).toMatchObject({ code: 0 });
  });
});
