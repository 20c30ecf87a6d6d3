/** Flags of `graph-serve test`: selection, retries, timeouts, reports and exit codes. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import { cli, createProject, failingGraph, startCli, type CliResult, type Project } from "../cli/harness.js";

/** Fails `fails` times across all threads. `stays` waits for the abort signal. One branch is never taken. */
const GRAPH = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
let failed = 0;
const State = Annotation.Root({ fails: Annotation<number>, stays: Annotation<boolean>, done: Annotation<string> });
export const graph = new StateGraph(State)
  .addNode("work", async (state, config) => {
    if (state.stays) {
      await new Promise((resolve) => config.signal.addEventListener("abort", resolve));
    }
    if (failed < state.fails) { failed += 1; throw new Error("not yet"); }
    return { done: "yes" };
  })
  .addNode("rare", () => ({}))
  .addEdge(START, "work")
  .addConditionalEdges("work", (state) => (state.fails > 99 ? "rare" : END), ["rare", END])
  .addEdge("rare", END)
  .compile();
`;
const FILE = `graph: agent
cases:
  - { name: one, input: { fails: 0 }, expect: { values: { done: "yes" } } }
  - { name: two, input: { fails: 0 }, expect: { values: { done: "no" } } }
  - { name: three, input: { fails: 0 } }
  - { name: four, skip: true, input: { fails: 0 } }
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "fail.ts": failingGraph,
    "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
    "a.graph.yaml": FILE,
  });
});
afterEach(() => project.remove());

const test = (...argv: string[]): Promise<CliResult> => cli(["test", ...argv], { cwd: project.dir });

interface Report {
  summary: Record<string, unknown>;
  cases: { name: string; status: string; attempts: number; note?: string; failures: { message: string }[] }[];
  coverage: { nodePercent: number; graphs: { nodes: object; edges: object }[] };
  faults: string[];
}
async function statuses(...argv: string[]): Promise<string[]> {
  const { cases } = JSON.parse((await test("--json", ...argv)).stdout) as Report;
  return cases.map(({ name, status }) => `${name} ${status}`);
}

describe("case selection", () => {
  it("by -t accepts a substring or a regular expression", async () => {
    expect(await statuses("-t", "one")).toEqual(["one passed"]);
    expect(await statuses("-t", "/^T(wo|hree)$/i")).toEqual(["two failed", "three passed"]);
  });

  it("by --shard assigns every case to exactly one shard", async () => {
    expect(await statuses("--shard", "1/3")).toEqual(["one passed", "four skipped"]);
    expect(await statuses("--shard", "2/3")).toEqual(["two failed"]);
    expect(await statuses("--shard", "3/3")).toEqual(["three passed"]);
  });

  it("without a match exits with code 2 unless --pass-with-no-tests is set", async () => {
    expect(await test("-t", "unknown")).toMatchObject({ code: 2 });
    expect((await test("-t", "unknown")).stderr).toContain('no case matches "unknown"');
    expect(await test("-t", "unknown", "--pass-with-no-tests")).toMatchObject({ code: 0 });
  });

  it("with --bail skips the cases after a failure", async () => {
    expect(await statuses("--bail")).toEqual(["one passed", "two failed", "three skipped", "four skipped"]);
  });

  it("with --concurrency returns the same results", async () => {
    expect(await statuses("--concurrency", "3")).toEqual(await statuses());
  });
});

describe("retries and timeouts", () => {
  it("--retries runs a failed case again", async () => {
    await project.put("a.graph.yaml", "graph: agent\ncases: [{ name: flaky, input: { fails: 2 } }]");
    expect((await test("--retries", "1")).code).toBe(1);
    const { code, stdout } = await test("--retries", "2", "--json");
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Report).cases[0]).toMatchObject({
      attempts: 3,
      note: "passed at attempt 3",
    });
  });

  it("--timeout stops a case that hangs and reports its node", async () => {
    await project.put(
      "a.graph.yaml",
      "graph: agent\ncases: [{ name: hangs, input: { fails: 0, stays: true } }]",
    );
    for (const flags of [[], ["--server"]]) {
      const { code, stdout } = await test("--timeout", "1", ...flags);
      expect(code).toBe(1);
      expect(stdout).toContain("the case did not finish within 1 s: node work was running");
    }
  });

  it.each(["SIGINT", "SIGTERM"])("%s prints the results so far", async (signal) => {
    await project.put(
      "a.graph.yaml",
      "graph: agent\ncases:\n  - { name: one, input: { fails: 0 } }\n  - { name: hangs, input: { fails: 0, stays: true } }\n  - { name: last, input: { fails: 0 } }",
    );
    const running = startCli(["test"], { cwd: project.dir });
    await running.stdout.until(/ok {4}one/);
    running.stop(signal);
    expect(await running.exit).toBe(signal === "SIGINT" ? 130 : 143);
    expect(running.stdout.text).toContain("stop  hangs");
    expect(running.stdout.text).toContain(`stopped by ${signal}: these are the results so far`);
    expect(running.stdout.text).toMatch(/1 passed, 1 skipped, 1 stopped in \d+ ms/);
  });
});

describe("snapshots", () => {
  const SNAPSHOT = (fails: string) =>
    `graph: agent\ncases: [{ name: one, input: { fails: ${fails} }, expect: { snapshot: true } }]`;

  it("are written once, compared, and updated with -u", async () => {
    await project.put("a.graph.yaml", SNAPSHOT("0"));
    expect(await test("--ci")).toMatchObject({ code: 1 });
    await expect(access(join(project.dir, "a.graph.yaml.snap"))).rejects.toThrow();
    expect((await test()).stderr).toContain("wrote a.graph.yaml.snap");
    expect(await test("--ci")).toMatchObject({ code: 0, stderr: "" });
    await project.put("a.graph.yaml", SNAPSHOT("-1"));
    const { code, stdout } = await test();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /the snapshot differs at values\.fails; -u accepts it\n.*expected {2}0\n.*actual {4}-1/,
    );
    expect((await test("-u")).code).toBe(0);
    expect((await test("--ci")).code).toBe(0);
  });
});

describe("coverage", () => {
  it("reports nodes and edges that were never reached", async () => {
    const { code, stdout } = await test("-t", "one", "--coverage");
    expect(code).toBe(0);
    expect(stdout).toContain("nodes 1/2, conditional edges 1/2");
    expect(stdout).toContain("never reached  rare");
    expect(stdout).toContain("never taken    work -> rare");
  });

  it("fails below --min-node-coverage", async () => {
    expect((await test("-t", "one", "--min-node-coverage", "50")).code).toBe(0);
    const { code, stdout } = await test("-t", "one", "--min-node-coverage", "51");
    expect(code).toBe(1);
    expect(stdout).toContain("node coverage is 50 %, --min-node-coverage asks for 51 %: never reached rare");
  });
});

describe("schema locks", () => {
  it("are written once, compared, and updated with -u", async () => {
    const lock = ["-t", "one", "--schema-lock"];
    expect((await test(...lock, "--ci")).stdout).toContain("graph-schemas.lock.json has no schemas of");
    expect((await test(...lock)).stderr).toContain("wrote graph-schemas.lock.json");
    expect((await test(...lock, "--ci")).code).toBe(0);
    await project.put("graph.ts", GRAPH.replace("stays: Annotation<boolean>, ", ""));
    expect((await test(...lock)).stdout).toContain("changed (breaking): stays: key removed");
    expect((await test(...lock, "-u")).code).toBe(0);
    expect((await test(...lock, "--ci")).code).toBe(0);
  });
});

describe("without a case file", () => {
  beforeEach(async () => {
    const { rm } = await import("node:fs/promises");
    await rm(join(project.dir, "a.graph.yaml"));
  });

  it("every graph is loaded, drawn and run once", async () => {
    await project.put("typed.ts", TYPED);
    await project.put("graph-server.config.json", { graphs: { typed: "./typed.ts", agent: "./graph.ts" } });
    const { code, stdout } = await test();
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^typed\n {2}ok {4}load.*\n {2}ok {4}draw.*1 nodes\n {2}ok {4}schemas.*\n {2}ok {4}run/,
    );
    expect(stdout).toMatch(
      /skip {2}run {2}cannot derive an input: the type of input\.fails is unknown at run time/,
    );
    expect(stdout).toContain("write a case file such as agent.graph.yaml");
  });

  it("a graph that throws fails its run", async () => {
    await project.put("typed.ts", TYPED.replace("({ size: text.length })", "{ throw new Error('kaboom'); }"));
    await project.put("graph-server.config.json", { graphs: { agent: "./typed.ts" } });
    const { code, stdout } = await test();
    expect(code).toBe(1);
    expect(stdout).toContain("kaboom");
  });

  it("a graph that fails to load exits with code 2", async () => {
    await project.put("graph-server.config.json", { graphs: { lost: "./lost.ts", agent: "./graph.ts" } });
    const { code, stdout } = await test();
    expect(code).toBe(2);
    expect(stdout).toContain("FAIL  load");
    expect(stdout).toMatch(/agent\n {2}ok {4}load/);
  });

  it("a project without graphs is a usage error unless --pass-with-no-tests is set", async () => {
    await project.put("graph-server.config.json", {});
    expect(await test()).toMatchObject({ code: 2 });
    expect(await test("--pass-with-no-tests")).toMatchObject({ code: 0 });
  });
});

const TYPED = `
import { END, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";
export const graph = new StateGraph(z.object({ text: z.string(), size: z.number().default(0) }))
  .addNode("work", ({ text }) => ({ size: text.length }))
  .addEdge(START, "work").addEdge("work", END).compile();
`;

describe("--url", () => {
  it("returns the results of an in-process run", async () => {
    const service = await openService({ cwd: project.dir, graphs: { agent: "./graph.ts" } });
    const server = await startServer(service, { host: "127.0.0.1", port: 0 });
    try {
      expect(await statuses("--url", server.url)).toEqual(await statuses());
      expect(await statuses("--url", server.url)).toContain("two failed");
    } finally {
      await server.close(0);
    }
    expect((await test("--url", server.url)).code).toBe(3);
  });
});

describe("the test command", () => {
  it.each([
    [["--server", "--url", "http://127.0.0.1:1"], "--server and --url cannot be combined"],
    [["--record", "--url", "http://127.0.0.1:1"], "--record works only in this process"],
    [["--reporter", "juni"], 'did you mean "junit"?'],
    [["--shard", "4/3"], "--shard must have the form i/n"],
    [["--timeout", "0"], "--timeout must be a whole number"],
    [["-u", "--ci"], "--update and --ci cannot be combined"],
  ])("rejects %j as a usage error", async (argv, message) => {
    const { code, stdout, stderr } = await test(...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("has the alias smoke", async () => {
    expect((await cli(["smoke", "-t", "one"], { cwd: project.dir })).code).toBe(0);
  });
});

describe("--watch", () => {
  it("reruns the cases when a graph or a case file changes", async () => {
    const running = startCli(["test", "--watch", "-t", "one"], { cwd: project.dir });
    await running.stderr.until(/watching for changes/);
    let [out, err] = [running.stdout.text.length, running.stderr.text.length];
    await project.put("graph.ts", GRAPH.replace('"yes"', '"changed"'));
    await running.stdout.until(/FAIL {2}one/, out);
    await running.stderr.until(/watching for changes/, err);
    [out, err] = [running.stdout.text.length, running.stderr.text.length];
    await project.put("a.graph.yaml", FILE.replace('"yes"', "changed"));
    await running.stdout.until(/ok {4}one/, out);
    await running.stderr.until(/watching for changes/, err);
    err = running.stderr.text.length;
    await project.put("a.graph.yaml", "cases: [");
    await running.stderr.until(/invalid YAML/, err);
    running.stop("SIGINT");
    expect(await running.exit).toBe(130);
  });
});
