/** Graphs without a configuration: `dev` finds them, and `test` takes a graph file or the remembered graphs. */
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { cli, createProject, echoGraph, type Project, startCli } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "src/agent.ts": `${echoGraph("two")}\nexport default graph;\nexport const other = 5;\n`,
    "src/pricing/graph.ts": echoGraph("price"),
    "src/chart/graph.ts": "// langgraph\nexport const graph = { nodes: [] };",
    "src/side/graph.ts": "throw new Error('evaluated');",
  });
});
afterEach(() => project.remove());

const call = (line: string) => cli(line.split(" "), { cwd: project.dir });
const config = () => join(project.dir, "graph-server.config.json");

it("dev lists and serves the compiled graphs of the project", async () => {
  const dev = startCli(["dev", "--db", "memory", "-p", "0"], { cwd: project.dir });
  const [, url = ""] = await dev.stderr.until(/at (http:\S+)[\s\S]*--yes/);
  expect(dev.stderr.text).toContain(
    "found agent (./graph.ts:graph), agent-2 (./src/agent.ts:graph), pricing (./src/pricing/graph.ts:graph)\n",
  );
  expect(dev.stderr.text).toContain(
    "graph-serve dev --yes writes these graphs to graph-server.config.json\n",
  );
  const { status } = await fetch(`${url}/assistants/pricing/schemas`);
  expect(status).toBe(200);
  dev.stop();
  expect(await dev.exit).toBe(0);
  await expect(access(config())).rejects.toThrow("ENOENT");
  const tested = await call("test");
  expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining("pricing")]);
});

it("the w key writes the configuration, and does not change an existing one", async () => {
  const dev = startCli(["dev", "--db", "memory", "-p", "0"], {
    cwd: project.dir,
    isTTY: true,
    env: { NO_COLOR: "1" },
  });
  await dev.stderr.until(
    /try {3}graph-serve run \.\/graph\.ts:graph [\s\S]*w write configuration {3}q quit\n/,
  );
  dev.stdin.push("w");
  await dev.stderr.until(/wrote graph-server\.config\.json\n/);
  const written = JSON.parse(await readFile(config(), "utf8")) as object;
  expect(written).toMatchObject({
    graphs: { agent: "./graph.ts:graph", pricing: "./src/pricing/graph.ts:graph" },
  });
  await writeFile(config(), "{}");
  dev.stdin.push("w");
  await dev.stderr.until(/already exists and was not changed\n/);
  expect(await readFile(config(), "utf8")).toBe("{}");
  dev.stdin.push("q");
  expect(await dev.exit).toBe(0);
});

it("test takes a graph file, and refuses what cannot be combined with it", async () => {
  const passed = await call("test ./graph.ts:graph");
  expect([passed.code, passed.stdout]).toEqual([0, expect.stringContaining("agent")]);
  expect((await call("test ./gone.ts")).code).toBe(2);
  for (const line of [
    "./graph.ts cases",
    "./graph.ts --url http://127.0.0.1:1",
    "./graph.ts --fault disconnect",
  ])
    expect(await call(`test ${line}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("fix") as string,
    });
});
