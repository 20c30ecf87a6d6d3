import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askingGraph, cli, createProject, echoGraph, failingGraph, type Project } from "./harness.js";

const zodGraph = (input: string, extra = "") => `
import { END, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

const State = z.object({ question: z.string(), answer: z.string(), ${extra} });
export const graph = new StateGraph({
  state: State,
  input: z.object({ ${input} }),
  output: State.pick({ answer: true }),
})
  .addNode("reply", () => ({ answer: "42" }))
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile();
`;

let project: Project;
const run = (...argv: string[]) => cli(argv, { cwd: project.dir });
const json = async (...argv: string[]) => {
  const result = await run(...argv, "--json");
  return { ...result, document: JSON.parse(result.stdout) as Record<string, unknown> };
};

beforeAll(async () => {
  project = await createProject({
    "graph.ts": zodGraph("question: z.string()"),
    "annotation.ts": echoGraph(),
    "numbers.ts": failingGraph,
    "broken.ts": "export const graph = ;",
    "graph-server.config.json": {
      graphs: { agent: "./graph.ts:graph", notes: "./annotation.ts:graph", broken: "./broken.ts" },
    },
  });
});
afterAll(() => project.remove());

describe("schema output", () => {
  it("all schemas are printed as one document", async () => {
    const { code, document } = await json("schemas");
    expect(code).toBe(0);
    expect(Object.keys(document)).toEqual([
      "graph_id",
      "input_schema",
      "output_schema",
      "state_schema",
      "config_schema",
      "context_schema",
    ]);
    expect(document.input_schema).toMatchObject({ properties: { question: { type: "string" } } });
    expect(document.context_schema).toBeNull();
  });

  it("--kind prints a single schema", async () => {
    const { stdout, stderr } = await run("schemas", "agent", "--kind", "output");
    expect(JSON.parse(stdout)).toMatchObject({ type: "object", required: ["answer"] });
    expect(stderr).toBe("");
  });

  it("a broken graph does not affect the schemas of another", async () => {
    expect((await run("schemas", "agent")).code).toBe(0);
    const broken = await json("schemas", "broken");
    expect([broken.code, broken.document]).toMatchObject([2, { error: { code: "graph_load_failed" } }]);
  });

  it("--format ts prints TypeScript types", async () => {
    const { stdout } = await run("schemas", "--format", "ts", "--kind", "input,output");
    expect(stdout).toContain("export type AgentInput = {\n  question?: string;\n};");
    expect(stdout).toContain("export type AgentOutput = ");
    const { document } = await json("schemas", "--format", "ts", "--kind", "input");
    expect(document.typescript).toContain("export type AgentInput");
  });

  it("missing types of an Annotation are reported", async () => {
    const { code, stdout, stderr } = await run("schemas", "notes", "--kind", "state");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ "x-source": "channels" });
    expect(stderr).toContain("an Annotation has no types at run time");
    expect(stderr).toContain("declare the state with zod or StateSchema");
    const quiet = await run("schemas", "notes", "--quiet");
    expect(quiet.stderr).toBe("");
  });
});

describe("unknown types", () => {
  const dated = (input: string) => zodGraph(`at: z.date(), ${input}`);

  it("unknown types are reported with the reason", async () => {
    await project.put("dated.ts", dated("n: z.number()"));
    const { stdout, stderr } = await run("schemas", "./dated.ts:graph", "--kind", "input,output");
    expect(JSON.parse(stdout)).toMatchObject({ input_schema: { properties: { n: { type: "number" } } } });
    expect(stderr).toBe("note  input: at: z.date() has no JSON schema, so its type is unknown\n");
  });

  it("a breaking change of another key is still reported", async () => {
    await project.put("dated.ts", dated("n: z.number()"));
    await run("schemas", "./dated.ts:graph", "--out", "dated");
    await project.put("dated.ts", dated("n: z.string()"));
    const { code, stdout } = await run("schemas", "./dated.ts:graph", "--out", "dated", "--check");
    expect(code).toBe(1);
    expect(stdout).toContain("  breaking    n: number changed to string\n");
    expect(stdout).toContain("  unknown     at: z.date() has no JSON schema\n");
  });

  it("unknown types fail only a strict check", async () => {
    await project.put("dated.ts", dated("n: z.number()"));
    await run("schemas", "./dated.ts:graph", "--out", "dated");
    const check = ["schemas", "./dated.ts:graph", "--out", "dated", "--check"];
    const { code, document } = await json(...check, "--kind", "input");
    expect([code, document.kinds]).toMatchObject([
      0,
      [{ result: "same", unknown: [{ path: "at", message: "z.date() has no JSON schema" }] }],
    ]);
    expect((await run(...check, "--strict")).code).toBe(1);
    expect((await run(...check, "--strict", "--kind", "output")).code).toBe(0);
  });

  it("unknown types of an Annotation fail a strict check", async () => {
    await project.put("asking.ts", askingGraph);
    await run("schemas", "./asking.ts", "--out", "notes");
    const { code, stdout } = await run("schemas", "./asking.ts", "--out", "notes", "--check", "--strict");
    expect(stdout).toContain("  unknown     topic: an Annotation has no types at run time\n");
    expect(code).toBe(1);
  });

  it("losing a known type is a breaking change", async () => {
    await project.put("dated.ts", zodGraph("at: z.string()"));
    await run("schemas", "./dated.ts:graph", "--out", "dated", "--kind", "input");
    await project.put("dated.ts", zodGraph("at: z.date()"));
    const { code, stdout } = await run(
      ...["schemas", "./dated.ts:graph", "--out", "dated", "--kind", "input", "--check"],
    );
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining("at: type is no longer known; it was string"),
    ]);
  });
});

describe("bad input", () => {
  it.each([
    [["schemas", "--kind", "inptu"], 'did you mean "input"?'],
    [["schemas", "--format", "xml"], "see graph-serve schemas --help"],
    [["schemas", "--check"], "add --out DIR"],
    [["schemas", "--strict"], "add --check, or remove --strict"],
    [["schemas", "--check", "--out", "schemas", "--format", "ts"], "remove --format ts"],
    [["schemas", "nowhere"], "the graphs: agent, notes, broken"],
    [["schemas", "--check", "--out", "nothing-here"], "write and commit them first"],
  ])("%j is rejected with a hint", async (argv, hint) => {
    const { code, document } = await json(...argv);
    expect(code).toBe(2);
    expect((document.error as { hint: string }).hint).toContain(hint);
  });
});

describe("schema files", () => {
  it("--check passes until a change would break clients", async () => {
    const written = await json("schemas", "--out", "schemas");
    expect(written.document.files).toEqual([
      "schemas/agent.input.schema.json",
      "schemas/agent.output.schema.json",
      "schemas/agent.state.schema.json",
    ]);
    const same = await json("schemas", "--out", "schemas", "--check");
    expect([same.code, same.document.result]).toEqual([0, "same"]);

    await project.put("graph.ts", zodGraph("question: z.string(), tone: z.string().optional()"));
    const compatible = await run("schemas", "--out", "schemas", "--check");
    expect(compatible.code).toBe(0);
    expect(compatible.stdout).toContain("input   compatible\n  compatible  tone: key added\noutput  same\n");

    await project.put("graph.ts", zodGraph("question: z.enum(['a'])"));
    const breaking = await run("schemas", "--out", "schemas", "--check");
    expect(breaking.code).toBe(1);
    expect(breaking.stdout).toContain(
      'input   breaking\n  breaking    question: string changed to "a" (narrower)\n',
    );
    expect(breaking.stderr).toContain("graph-serve schemas agent --out schemas");
    const document = (await json("schemas", "--out", "schemas", "--check", "--kind", "input")).document;
    expect(document).toEqual({
      graph_id: "agent",
      result: "breaking",
      kinds: [
        {
          kind: "input",
          result: "breaking",
          changes: [{ level: "breaking", path: "question", message: 'string changed to "a" (narrower)' }],
          unknown: [],
        },
      ],
    });
    await project.put("graph.ts", zodGraph("question: z.string()"));
  });

  it("types are written to one file", async () => {
    expect((await run("schemas", "--format", "ts", "--out", "types")).stderr).toBe(
      "wrote types/agent.types.ts\n",
    );
    expect(await readdir(join(project.dir, "types"))).toEqual(["agent.types.ts"]);
    expect(await readFile(join(project.dir, "types/agent.types.ts"), "utf8")).toContain("AgentState");
  });

  it("a file that is not a schema is rejected with its path", async () => {
    await project.put("odd/agent.input.schema.json", "[1]");
    const { code, document } = await json("schemas", "--out", "odd", "--check");
    expect([code, document]).toMatchObject([
      2,
      { error: { message: expect.stringContaining("odd") as string } },
    ]);
  });
});

describe("static schemas", () => {
  it("--static without the parser prints an install command", async () => {
    const { code, document } = await json("schemas", "./numbers.ts", "--static");
    expect(code).toBe(2);
    expect(document.error).toMatchObject({
      message: "--static requires @langchain/langgraph-api in the graph's project",
      hint: expect.stringContaining("npm install -D @langchain/langgraph-api typescript") as string,
    });
  });

  it("an installed parser is called for the export", async () => {
    const parser = "apart/node_modules/@langchain/langgraph-api";
    await project.put("apart/numbers.ts", failingGraph);
    await project.put(`${parser}/package.json`, {
      name: "x",
      type: "module",
      exports: { "./schema": "./s.js" },
    });
    await project.put(
      `${parser}/s.js`,
      `export const getStaticGraphSchema = async ({ sourceFile, exportSymbol }) => ({
        "graph|child": { state: {} },
        [exportSymbol]: { state: { type: "object", title: sourceFile, required: ["n"] }, input: undefined },
      });`,
    );
    const { stdout } = await run("--cwd", "apart", "schemas", "./numbers.ts", "--static", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      graph_id: "numbers",
      state_schema: { required: ["n"], title: join(project.dir, "apart/numbers.ts") },
      input_schema: null,
    });
  });
});
