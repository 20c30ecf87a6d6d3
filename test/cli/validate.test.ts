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
    expect(stdout).toMatch(/ok +agent +\.\/graph\.ts:graph +1 node, input \{messages\}/);
    expect(stdout).toMatch(/fail +broken/);
    expect(stderr).toMatch(/error {2}.*broken\.ts/);
  });

  it("a valid graph file exits with code 0", async () => {
    expect(await cli(["validate", "./graph.ts"], { cwd: project.dir })).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  it("--json prints a list with the errors", async () => {
    const { code, stdout } = await cli(["validate", "--json"], { cwd: project.dir });
    expect(code).toBe(2);
    const { items } = JSON.parse(stdout) as {
      items: { check: string; status: string; error?: { code: string } }[];
    };
    expect(items.map(({ check, status }) => [check, status])).toEqual([
      ["config", "ok"],
      ["agent", "ok"],
      ["broken", "fail"],
    ]);
    expect(items[2]?.error?.code).toBe("graph_load_failed");
  });

  it("a configuration without graphs is an error", async () => {
    await project.put("graph-server.config.json", {});
    const { code, stdout } = await cli(["validate"], { cwd: project.dir });
    expect(code).toBe(2);
    expect(stdout).toContain("no graphs to load");
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
