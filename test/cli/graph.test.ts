import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { textWidth } from "../../src/view/text.js";
import { cli, createProject, type Project } from "./harness.js";
import { traceDrawing } from "./draw/trace.js";

const loopGraph = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("plan", () => ({ n: 1 }))
  .addNode("ask", () => ({ n: interrupt("how many?") }))
  .addNode("work", () => ({ n: 2 }))
  .addEdge(START, "plan")
  .addEdge("plan", "ask")
  .addEdge("ask", "work")
  .addConditionalEdges("work", () => "enough", { enough: END, more: "plan" })
  .compile();
`;
const nestedGraph = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ n: Annotation<number> });
const child = new StateGraph(State)
  .addNode("inner", () => ({ n: 1 }))
  .addNode("second", () => ({ n: 1 }))
  .addEdge(START, "inner")
  .addEdge("inner", "second")
  .addEdge("second", END)
  .compile();
export const graph = new StateGraph(State).addNode("child", child).addEdge(START, "child").addEdge("child", END).compile();
`;

/** Each input takes a different path; the path of input 2 interrupts first. */
const waysGraph = `
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("one", () => ({}))
  .addNode("two", () => void interrupt("sure?"))
  .addNode("three", () => ({}))
  .addConditionalEdges(START, ({ n }) => ["one", "two", "three"][n - 1], ["one", "two", "three"])
  .compile();
`;

let project: Project;
const run = (...argv: string[]) => cli(argv, { cwd: project.dir });
const STORAGE = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"];

beforeAll(async () => {
  project = await createProject({
    "graph.ts": loopGraph,
    "nested.ts": nestedGraph,
    "ways.ts": waysGraph,
    "graph-server.config.json": {
      graphs: { agent: "./graph.ts:graph", nested: "./nested.ts:graph", ways: "./ways.ts" },
    },
  });
});
afterAll(() => project.remove());

const IDS = ["__start__", "plan", "ask", "work", "__end__"];

describe("graph in ASCII", () => {
  it("the drawing shows the nodes and edges", async () => {
    const { code, stdout } = await run("graph");
    expect(code).toBe(0);
    expect(traceDrawing(stdout.split("\n\n")[0] ?? "", IDS)).toEqual([
      "__start__ > plan",
      "ask > work",
      "plan > ask",
      "work ? __end__",
      "work ↺ plan",
    ]);
    expect(stdout).toContain("work ╌▶ plan   on more");
  });

  it("--xray expands subgraphs", async () => {
    expect((await run("graph", "nested")).stdout).not.toContain("child:inner");
    expect((await run("graph", "nested", "--xray")).stdout).toContain("│ child:inner │");
  });

  it("the drawing fits the terminal and is uncoloured with NO_COLOR", async () => {
    const { stdout } = await cli(["graph"], { cwd: project.dir, isTTY: true, env: { NO_COLOR: "1" } });
    expect(Math.max(...stdout.split("\n").map(textWidth))).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("other formats", () => {
  it("mermaid output quotes names and labels", async () => {
    expect((await run("graph", "--format", "mermaid")).stdout.split("\n")).toEqual([
      "flowchart TD",
      '  n0(["__start__"])',
      '  n1["plan"]',
      '  n2["ask"]',
      '  n3["work"]',
      '  n4(["__end__"])',
      "  n0 --> n1",
      "  n2 --> n3",
      "  n1 --> n2",
      '  n3 -.->|"enough"| n4',
      '  n3 -.->|"more"| n1',
      "",
    ]);
  });

  it("dot output is a digraph", async () => {
    const { stdout } = await run("graph", "--format", "dot");
    expect(stdout).toMatch(/^digraph \{\n/);
    expect(stdout).toContain('  "work" -> "__end__" [style=dashed, label="enough"];');
  });

  it("json output has the nodes and edges of the API", async () => {
    const { stdout } = await run("graph", "--format", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      nodes: IDS.map((id) => ({ id })),
      edges: expect.arrayContaining([{ source: "plan", target: "ask", conditional: false }]) as unknown,
    });
    const document = JSON.parse((await run("graph", "--json")).stdout) as Record<string, unknown>;
    expect(document).toMatchObject({ graph_id: "agent", ...(JSON.parse(stdout) as object) });
    expect(JSON.parse((await run("graph", "--format", "dot", "--json")).stdout)).toMatchObject({
      format: "dot",
    });
  });
});

describe("progress of a thread", () => {
  itSqlite("done and next nodes are marked", async () => {
    const id = "0198c0de-0000-7000-8000-000000000001";
    const started = await run("run", ...STORAGE, "--thread", "new", "-i", '{"n":0}', "--json");
    const { thread_id } = JSON.parse(started.stdout) as { thread_id: string };
    const marked = await run("graph", ...STORAGE, "--thread", thread_id);
    expect(marked.stdout).toContain("│ ✓ plan  │");
    expect(marked.stdout).toContain("│ ▸ ask │");
    expect(marked.stdout).toContain("✓ done   ▸ next");
    const { stdout } = await run("graph", ...STORAGE, "--thread", thread_id, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      thread: { thread_id, done: ["plan", "__start__"], next: ["ask"] },
    });
    const missing = await run("graph", ...STORAGE, "--thread", id, "--json");
    expect([missing.code, JSON.parse(missing.stdout)]).toMatchObject([
      4,
      { error: { code: "thread_not_found" } },
    ]);

    await run("run", ...STORAGE, "--thread", thread_id, "--resume", "3");
    const done = JSON.parse(
      (await run("graph", ...STORAGE, "--thread", thread_id, "--json")).stdout,
    ) as object;
    expect(done).toMatchObject({ thread: { next: [] } });
    expect((await run("graph", ...STORAGE, "--thread", thread_id)).stdout).toContain("✓ __end__");
  });
});

describe("a thread with several runs", () => {
  itSqlite("nodes of all runs are marked, except those skipped by new input", async () => {
    const first = await run("run", "ways", ...STORAGE, "-i", '{"n":1}', "--json");
    const { thread_id } = JSON.parse(first.stdout) as { thread_id: string };
    for (const n of [2, 3]) await run("run", ...STORAGE, "--thread", thread_id, "-i", `{"n":${n}}`, "--json");
    const { stdout } = await run("graph", ...STORAGE, "--thread", thread_id, "--json");
    const { thread } = JSON.parse(stdout) as { thread: { done: string[]; next: string[] } };
    expect(thread.done.sort()).toEqual(["__end__", "__start__", "one", "three"]);
    expect(thread.next).toEqual([]);
  });
});

describe("graph --check", () => {
  it.each(["graph.mmd", "graph.dot", "graph.json", "graph.txt"])(
    "%s is compared in its format",
    async (file) => {
      const format = { mmd: "mermaid", dot: "dot", json: "json", txt: "ascii" }[file.slice(6)] ?? "";
      await project.put(file, (await run("graph", "--format", format)).stdout);
      const same = await run("graph", "--check", file);
      expect([same.code, same.stdout]).toEqual([0, `${file} is up to date\n`]);
      await project.put("graph.ts", loopGraph.replaceAll('"work"', '"labour"'));
      const other = await run("graph", "--check", file);
      expect(other.code).toBe(1);
      expect(other.stdout).toMatch(/^\+ .*labour/m);
      expect(other.stdout).toMatch(/^- .*work/m);
      const document = JSON.parse((await run("graph", "--check", file, "--json")).stdout) as object;
      expect(document).toMatchObject({ graph_id: "agent", matches: false, format });
      await project.put("graph.ts", loopGraph);
    },
  );

  it.each([
    [["graph", "--check", "none.mmd"], 2, "create it: "],
    [["graph", "--format", "svg"], 2, "graph-serve graph --help"],
    [["graph", "agnt"], 2, 'did you mean "agent"?'],
  ])("%j is rejected with a hint", async (argv, exit, hint) => {
    const { code, stdout } = await run(...argv, "--json");
    expect(code).toBe(exit);
    expect((JSON.parse(stdout) as { error: { hint: string } }).error.hint).toContain(hint);
  });
});
