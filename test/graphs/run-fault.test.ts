/** The stored error details of a run, from real runs of graph files. */
import { join } from "node:path";
import fc from "fast-check";
import ts from "typescript";
import { afterEach, describe, expect, it } from "vitest";
import { runFault } from "../../src/graphs/run-fault.js";
import type { Settings } from "../../src/config/settings.js";
import type { RunFault } from "../../src/support/run-fault.js";
import { nodePath } from "../../src/support/run-fault.js";
import { createProject, type Project } from "../cli/harness.js";
import { thrownValues } from "../helpers/odd-values.js";
import { openTestService, recordingLogger } from "../helpers/service.js";

let project: Project | undefined;
afterEach(() => project?.remove());

const HELPER = `interface Order { id: string; total?: { amount: number } }

export function totalOf(order: Order): number {
      const value: number = (order as Required<Order>).total.amount;
  return value;
}
`;

/** A graph with one node whose function has this body; `state.does` selects the behaviour. */
const graphOf = (body: string, imports = "") => `${imports}
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ does: Annotation<string> });
const work = async (state: typeof State.State): Promise<object> => {
${body}
};
export const graph = new StateGraph(State).addNode("work", work).addEdge(START, "work").compile();
`;

interface Failing {
  files: Record<string, string>;
  graph?: string;
  input?: object;
  settings?: Partial<Settings>;
}

/** The stored error of a run of a graph in a project with these files. */
async function faultOf({
  files,
  graph = "./graph.ts:graph",
  input = {},
  settings,
}: Failing): Promise<RunFault> {
  project = await createProject(files);
  const logger = recordingLogger();
  const service = await openTestService({
    graphs: { agent: join(project.dir, graph) },
    logger,
    settings: settings ?? {},
  });
  const { thread_id } = await service.threads.create({});
  await service.runs.create(thread_id, { assistant_id: "agent", input });
  const line = logger.lines.find(({ message }) => message === "the run failed");
  return (line?.fields as { fault: RunFault }).fault;
}

const placeOf = ({ location }: RunFault) =>
  location && `${location.file.slice((project?.dir.length ?? 0) + 1)}:${location.line}:${location.column}`;

describe("the error location", () => {
  it("is the first line of the user's code, with its column in the file", async () => {
    const graph = graphOf(
      "  return { does: String(totalOf({ id: state.does })) };",
      'import { totalOf } from "./helper.js";',
    );
    const fault = await faultOf({ files: { "graph.ts": graph, "helper.ts": HELPER } });
    expect(fault.name).toBe("TypeError");
    expect(fault.message).toContain("reading 'amount'");
    const line = HELPER.split("\n")[3] ?? "";
    expect(placeOf(fault)).toBe(`helper.ts:4:${line.indexOf("amount") + 1}`);
    expect(fault.location?.frame).toBe(
      `  3 | export function totalOf(order: Order): number {\n> 4 | ${line}\n    | ${" ".repeat(line.indexOf("amount"))}^\n  5 |   return value;`,
    );
    expect(
      fault.stack.map(({ function: name, file, line }) => [
        name,
        file.slice((project?.dir.length ?? 0) + 1),
        line,
      ]),
    ).toEqual([
      ["totalOf", "helper.ts", 4],
      ["work", "graph.ts", 5],
    ]);
    expect(fault.folded).toBeGreaterThan(3);
  });

  it("is mapped from compiled code to its source", async () => {
    const source = graphOf('  if (state.does === "fail") throw new RangeError("too much");\n  return {};');
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, sourceMap: true };
    const built = ts.transpileModule(source, { compilerOptions: options, fileName: "graph.ts" });
    const map = { ...(JSON.parse(built.sourceMapText ?? "") as object), sources: ["../src/graph.ts"] };
    const files = {
      "package.json": '{"type":"module"}',
      "src/graph.ts": source,
      "dist/graph.js": built.outputText,
      "dist/graph.js.map": JSON.stringify(map),
    };
    const fault = await faultOf({ files, graph: "./dist/graph.js:graph", input: { does: "fail" } });
    expect(placeOf(fault)).toBe("src/graph.ts:5:36");
    expect(fault.location?.frame).toContain('> 5 |   if (state.does === "fail") throw');
  });

  it("is found behind library wrappers, and the cause has its own", async () => {
    const body = `  try { JSON.parse("nonsense"); }
  catch (cause) {
    throw new Error("the order is unreadable", { cause });
  }
  return {};`;
    const fault = await faultOf({ files: { "graph.ts": graphOf(body) } });
    expect(placeOf(fault)).toBe("graph.ts:7:11");
    expect(fault.cause).toMatchObject({ name: "SyntaxError", location: { line: 5 } });
    expect(fault.cause?.cause).toBeUndefined();
  });

  it("is omitted if the stack contains no code of the user", async () => {
    const fault = await faultOf({ files: { "graph.ts": graphOf('  throw "only a text";') } });
    expect(fault.message).toContain("only a text");
    expect(fault.location).toBeUndefined();
    expect(fault.stack.length).toBeGreaterThan(0);
    expect(fault.node).toBe("work");
  });

  it("has no code frame if the file has changed since", async () => {
    const body = `  const { appendFile } = await import("node:fs/promises");
  await appendFile(new URL("graph.ts", import.meta.url), "// changed\\n");
  throw new Error("boom");`;
    const fault = await faultOf({ files: { "graph.ts": graphOf(body) } });
    expect(fault.location?.line).toBe(7);
    expect(fault.location?.frame).toBeUndefined();
  });
});

describe("the error node", () => {
  const nested = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ does: Annotation<string> });
const inner = new StateGraph(State)
  .addNode("work", async () => { throw new Error("boom"); })
  .addEdge(START, "work").compile();
const middle = new StateGraph(State).addNode("sub", inner).addEdge(START, "sub").compile();
export const graph = new StateGraph(State).addNode("outer", middle).addEdge(START, "outer").compile();
`;

  it("is the node of the subgraph that threw, with its namespace", async () => {
    const fault = await faultOf({ files: { "graph.ts": nested } });
    expect(fault.node).toBe("work");
    expect(fault.namespace).toMatch(/^outer:[0-9a-f-]{36}\|sub:[0-9a-f-]{36}$/);
    expect(nodePath(fault)).toBe("outer > sub > work");
  });

  it("is recorded for each of several concurrent errors", async () => {
    const graph = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ does: Annotation<string> });
let arrived = 0;
let open = () => {};
const both = new Promise<void>((resolve) => (open = resolve));
const fail = (name: string) => async () => {
  if (++arrived === 2) open();
  await both;
  throw new Error(name + " failed");
};
export const graph = new StateGraph(State).addNode("one", fail("one")).addNode("two", fail("two"))
  .addEdge(START, "one").addEdge(START, "two").compile();
`;
    const fault = await faultOf({ files: { "graph.ts": graph } });
    expect(fault.node).toBeUndefined();
    expect(fault.errors?.map(({ node, message }) => [node, message]).sort()).toEqual([
      ["one", "one failed"],
      ["two", "two failed"],
    ]);
    expect(fault.errors?.every(({ location }) => location?.line === 10)).toBe(true);
  });

  it("is the active node of a run that timed out", async () => {
    const files = { "graph.ts": graphOf("  await new Promise(() => {});\n  return {};") };
    const fault = await faultOf({ files, settings: { run_timeout_seconds: 0.05 } });
    expect(fault).toMatchObject({ name: "TimeoutError", node: "work" });
    expect(fault.location).toBeUndefined();
  });
});

describe("the stored error of any thrown value", () => {
  it("has a limited size", async () => {
    await fc.assert(
      fc.asyncProperty(thrownValues, async ({ make }) => {
        const fault = await runFault(make());
        expect(fault.message).toMatch(/\S/);
        expect(JSON.stringify(fault).length).toBeLessThan(60_000);
      }),
      { numRuns: 300 },
    );
  });

  it("follows up to ten causes, each once", async () => {
    const [one, two] = [new Error("one"), new Error("two")];
    one.cause = two;
    two.cause = one;
    const fault = await runFault(one);
    expect(fault.cause?.message).toBe("two");
    expect(fault.cause?.cause).toBeUndefined();
    let chain = new Error("0");
    for (let level = 1; level < 50; level++) chain = new Error(String(level), { cause: chain });
    let depth = 0;
    for (let at: RunFault | undefined = await runFault(chain); at; at = at.cause) depth += 1;
    expect(depth).toBe(10);
  });

  it("has a stack that the message cannot forge", async () => {
    const fault = await runFault(
      new Error("look\n    at evil (/etc/passwd:1:1)\n    at more (/etc/hosts:1:1)"),
    );
    expect(JSON.stringify(fault.stack)).not.toContain("/etc/");
    expect(fault.location?.file).toBe(import.meta.filename);
  });

  it("contains no state values", async () => {
    const cause = new Error('Invalid update for channel "a" with values ["hidden"]: only one value');
    const fault = await runFault(new Error("outer", { cause }));
    expect(fault.cause?.message).toBe('Invalid update for channel "a": only one value');
  });
});
