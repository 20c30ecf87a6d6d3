/** The examples in docs/testing.md and the CI workflow must work. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { cli, createProject, type Project } from "../cli/harness.js";
import { markedBlocks, ROOT } from "../helpers/markdown.js";

const blocks = markedBlocks("docs/testing.md");
const read = (path: string) => readFile(join(ROOT, path), "utf8");

let project: Project;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

interface Workflow {
  jobs: Record<string, { steps: { run?: string; uses?: string; with?: Record<string, unknown> }[] }>;
}

describe("documented case files", () => {
  it.each([
    ["first.graph.yaml", "chat"],
    ["steps.graph.yaml", "hitl"],
  ])("%s passes with the template %s", async (name, template) => {
    await cli(["init", "made", "-t", template], { cwd: project.dir });
    const text = blocks.find((block) => block.name === name)?.text ?? "";
    await project.put(`made/${name}`, text);
    const { code, stdout } = await cli(["test", name], { cwd: join(project.dir, "made") });
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });
});

it("the documented case with a recording passes after --record", async () => {
  await cli(["init", "made", "-t", "chat"], { cwd: project.dir });
  const cwd = join(project.dir, "made");
  await project.put(
    "made/recorded.graph.yaml",
    blocks.find(({ name }) => name === "recorded.graph.yaml")?.text ?? "",
  );
  expect((await cli(["test", "recorded.graph.yaml"], { cwd })).stdout).toContain(
    "record again: graph-serve test --record",
  );
  expect(await cli(["test", "recorded.graph.yaml", "--record"], { cwd })).toMatchObject({ code: 0 });
  expect(await cli(["test", "recorded.graph.yaml", "--ci"], { cwd })).toMatchObject({ code: 0 });
});

describe("the CI workflow", () => {
  it("is the same in the template and in docs/testing.md", async () => {
    const text = await read("templates/chat/github-workflow.yml");
    expect(blocks.find(({ kind }) => kind === "workflow")?.text).toBe(text);
  });

  it("is created by init, and its commands pass in the new project", async () => {
    await cli(["init", "made", "-t", "chat"], { cwd: project.dir });
    const cwd = join(project.dir, "made");
    const text = await readFile(join(cwd, ".github/workflows/graphs.yml"), "utf8");
    const { jobs } = parse(text) as Workflow;
    expect(parse(text)).toMatchObject({ on: ["push", "pull_request"] });
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run.split(" ")]));
    expect(commands[0]).toEqual(["npm", "ci"]);
    const own = commands.slice(1);
    expect(own).toHaveLength(2);
    for (const [npx, name, ...argv] of own) {
      expect([npx, name]).toEqual(["npx", "graph-serve"]);
      const { code, stdout, stderr } = await cli(argv, { cwd, env: { CI: "true", GITHUB_ACTIONS: "true" } });
      expect({ argv, code, stdout, stderr }).toMatchObject({ code: 0 });
    }
    const upload = steps.find(({ uses }) => uses?.startsWith("actions/upload-artifact"));
    const report = own.at(-1)?.at(-1) ?? "";
    expect(report.startsWith(`${String(upload?.with?.path)}/`)).toBe(true);
    expect(await readFile(join(cwd, report), "utf8")).toContain(
      '<testsuite name="agent.graph.yaml" tests="2"',
    );
  });

  it("uses a Node version that the package supports", async () => {
    const { jobs } = parse(await read("templates/chat/github-workflow.yml")) as Workflow;
    const [node] = Object.values(jobs)
      .flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses?.startsWith("actions/setup-node"));
    expect(Number(node?.with?.["node-version"])).toBeGreaterThanOrEqual(20);
  });
});

describe("docs/testing.md", () => {
  it("mentions only existing flags, and every flag of the test command", async () => {
    const text = await read("docs/testing.md");
    const { stdout: help } = await cli(["test", "--help"]);
    const { stdout: devHelp } = await cli(["dev", "--help"]);
    const { stdout: runHelp } = await cli(["run", "--help"]);
    const flagsIn = (from: string) => new Set(from.match(/--[a-z][a-z-]+/g));
    const known = new Set([...flagsIn(help), ...flagsIn(devHelp), ...flagsIn(runHelp), "--only"]);
    expect([...flagsIn(text)].filter((flag) => !known.has(flag) && flag !== "--test")).toEqual([]);
    const ownFlags = [...help.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = ""]) => flag);
    const general =
      /^--(help|config|cwd|env|json|jsonl|quiet|verbose|log-level|no-color|yes|version|api-key|watch|update|test-name)$/;
    expect(ownFlags.filter((flag) => !general.test(flag) && !text.includes(flag))).toEqual([]);
  });

  it("lists all options of runCases", async () => {
    const source = await read("src/testing/run-cases.ts");
    const [, body = ""] = /interface RunCasesOptions \{([^]*?)\n\}/.exec(source) ?? [];
    const options = [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name = ""]) => name);
    const [, table = ""] = /\n(\| Option [^]*?)\n\n/.exec(await read("docs/testing.md")) ?? [];
    expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(options);
  });
});
