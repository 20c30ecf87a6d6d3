/** Runs the help examples of the commands that create, check and serve a project, each in a new project. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readHelp } from "../../helpers/cli-help.js";
import { cli, createProject, startCli, type Project } from "../harness.js";
import { itSqlite } from "../../helpers/with-sqlite.js";

let project: Project;
beforeEach(async () => {
  project = await createProject();
  await cp(join(import.meta.dirname, "../../../templates/chat"), project.dir, { recursive: true });
  await project.put("input.json", { messages: [{ role: "user", content: "hello" }] });
  await cli(["run", "--message", "hello"], { cwd: project.dir });
});
afterEach(() => project.remove());

const examplesOf = async (name: string): Promise<string[]> => (await readHelp(name.split(" ")))[0]!.examples;

/** The arguments of a shell line: quotes removed, redirection dropped. */
const wordsOf = (line: string): string[] =>
  [...line.split(" > ")[0]!.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    .map(([, double, single, plain]) => double ?? single ?? plain ?? "")
    .slice(1);

it.each([
  "validate",
  "init",
  "config print",
  "config path",
  "config schema",
  "openapi",
  "migrate status",
  "migrate up",
])("the examples of %s work", async (name) => {
  const examples = await examplesOf(name);
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) {
    const argv = wordsOf(example);
    // `init` rejects a name that is already used.
    if (name === "init") argv[1] = `${argv[1]}-${examples.indexOf(example)}`;
    const { code, stderr } = await cli(argv, { cwd: project.dir });
    expect({ example, code, stderr: code === 0 ? "" : stderr }).toEqual({ example, code: 0, stderr: "" });
  }
});

it("the examples of run work, except --resume and --url", async () => {
  const examples = (await examplesOf("run")).filter((example) => !/--resume|--url/.test(example));
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples) {
    const { code } = await cli(wordsOf(example), { cwd: project.dir });
    expect({ example, code }).toEqual({ example, code: 0 });
  }
});

itSqlite.each(["dev", "start"])("the examples of %s work on a free port", async (name) => {
  // Several processes need a database: test/processes/primary.test.ts.
  for (const example of (await examplesOf(name)).filter((each) => !each.includes("postgresql:"))) {
    const argv = wordsOf(example).filter((word, place, words) => word !== "-p" && words[place - 1] !== "-p");
    const running = startCli([...argv, "-p", "0"], { cwd: project.dir });
    const listening = /http:\/\/[\w.]+:\d+/;
    await Promise.race([running.stderr.until(listening), running.stdout.until(listening)]);
    running.stop();
    expect({ example, code: await running.exit }).toEqual({ example, code: 0 });
  }
});

it("docs/commands has a page for each command, with its examples", async () => {
  const named = (await readHelp()).filter(({ name, commands }) => name !== "" && commands.length === 0);
  for (const { name, examples } of named) {
    const [file = ""] = name.split(" ");
    const page = await readFile(join(import.meta.dirname, `../../../docs/commands/${file}.md`), "utf8");
    expect(page).toContain(name === file ? `# graph-serve ${name}` : `## \`${name}\``);
    for (const example of examples) expect(page).toContain(example);
  }
});
