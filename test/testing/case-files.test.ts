import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createProject, echoGraph, type CliResult, type Project } from "../cli/harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
  });
});
afterEach(() => project.remove());

const test = (...argv: string[]): Promise<CliResult> => cli(["test", ...argv], { cwd: project.dir });

const CASE = `cases:
  - name: answers
    input: { messages: [{ role: user, content: hi }] }
`;

describe("an invalid case file", () => {
  it.each([
    ["", "the case file is empty", /at {2}a\.graph\.yaml/],
    ["graph: agent\n", "the case file is missing cases", /a\.graph\.yaml:1/],
    [
      `${CASE}    expekt: {}\n`,
      'unknown key "expekt" in cases[0]',
      /a\.graph\.yaml:4[^]*did you mean "expect"\?/,
    ],
    [
      `${CASE}    expect:\n      status: sucess\n`,
      "cases[0].expect.status must be one of pending, running, success",
      /a\.graph\.yaml:5/,
    ],
    [
      `${CASE}    expect:\n      values:\n        a: { matches: x }\n`,
      'unknown matcher "matches"',
      /a\.graph\.yaml:6[^]*did you mean "match"\?/,
    ],
    [
      `${CASE}    expect:\n      values: { a: { match: "(" } }\n`,
      '"(" is not a valid regular expression',
      /a\.graph\.yaml:5/,
    ],
    [`${CASE}    expect:\n      values:\n        "a[": 1\n`, '"a[" is not a valid path', /a\.graph\.yaml:6/],
    [`${CASE}  - name: answers\n    input: {}\n`, 'duplicate case name "answers"', /a\.graph\.yaml:4/],
    [`${CASE}    steps: [{ input: {} }]\n`, "a case cannot have both steps and input", /a\.graph\.yaml:3/],
    ["cases: [\n", "invalid YAML", /a\.graph\.yaml:2/],
    ["graph: agnt\ncases: [{ name: a }]\n", '"agnt" is neither a graph', /did you mean "agent"\?/],
  ])("%j exits with code 2 and reports the position", async (text, message, place) => {
    await project.put("a.graph.yaml", text);
    const { code, stdout, stderr } = await test();
    expect(code).toBe(2);
    expect(stdout + stderr).toContain(message);
    expect(stdout + stderr).toMatch(place);
  });

  it("a path without case files is a usage error", async () => {
    await project.put("notes.yaml", "a: 1");
    for (const path of ["nowhere", "notes.yaml"]) {
      const { code, stderr } = await test(path);
      expect(code).toBe(2);
      expect(stderr).toContain("names of case files must end like chat.graph.yaml");
    }
  });
});

describe("case files", () => {
  it("are found in subfolders, but not in node_modules or hidden folders", async () => {
    await project.put("deep/er/one.graph.yaml", `graph: ../../graph.ts\n${CASE}`);
    await project.put("deep/node_modules/two.graph.yaml", CASE);
    await project.put(".hidden/three.graph.yaml", CASE);
    const { code, stdout } = await test();
    expect(code).toBe(0);
    expect(stdout).toContain("deep/er/one.graph.yaml\n  ok    answers");
    expect(stdout).toContain("1 passed");
  });

  it("can be JSON or TypeScript", async () => {
    const one = {
      name: "one",
      input: { messages: [{ role: "user", content: "hi" }] },
      expect: { nodes: ["reply"] },
    };
    await project.put("a.graph.json", { graph: "agent", cases: [one] });
    await project.put(
      "b.graph.ts",
      `const two: string = "two";\nexport default { cases: [{ name: two, input: {} }] };`,
    );
    await project.put(
      "c.graph.ts",
      `export default {\n  cases: [\n    {\n      name: "three",\n      input: { messages: "hi" },\n      expect: {\n        nodes: ["missing"],\n      },\n    },\n  ],\n};\n`,
    );
    const { stdout } = await test();
    expect(stdout).toContain("ok    one");
    expect(stdout).toMatch(/c\.graph\.ts > three\n {2}nodes equals[^]*at {8}c\.graph\.ts:7/);
  });

  it("have a JSON schema that --print-schema prints", async () => {
    const { code, stdout } = await test("--print-schema");
    expect(code).toBe(0);
    const schema = JSON.parse(stdout) as { properties: object; title: string };
    expect(Object.keys(schema.properties)).toEqual([
      "$schema",
      "graph",
      "mock",
      "config",
      "context",
      "cases",
    ]);
  });

  it("pass context and config to the run", async () => {
    await project.put(
      "config.ts",
      `import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation<string> }))
  .addNode("say", (_, config) => ({ said: config.configurable.tone + " " + config.context.user + " " + config.tags }))
  .addEdge(START, "say").addEdge("say", END).compile();`,
    );
    await project.put(
      "a.graph.yaml",
      `graph: ./config.ts
config: { configurable: { tone: soft } }
cases:
  - name: takes all three
    input: { said: nothing }
    context: { user: ada }
    config: { tags: [x] }
    expect: { status: error }
  - name: takes the file's
    input: { said: nothing }
    context: { user: ada }
    expect: { values: { said: { match: ^soft ada } } }
`,
    );
    const { stdout } = await test();
    expect(stdout).toContain("ok    takes the file's");
  });
});
