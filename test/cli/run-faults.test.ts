/** A run that fails is shown with its place: by the commands that run it, and by those that read it afterwards. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { client } from "../helpers/app.js";
import { cli, createProject, startCli, type CliResult, type Project } from "./harness.js";

const HELPER = `export interface Order { id: string; total?: { amount: number } }

export const totalOf = (order: Order): number => (order as Required<Order>).total.amount;
`;
const GRAPH = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { totalOf } from "./helper.js";
const State = Annotation.Root({ id: Annotation<string> });
const inner = new StateGraph(State)
  .addNode("bill", (state) => {
    try {
      return { id: String(totalOf(state)) };
    } catch (cause) {
      throw new Error("could not bill", { cause });
    }
  })
  .addEdge(START, "bill").compile();
export const graph = new StateGraph(State).addNode("shop", inner).addEdge(START, "shop").compile();
`;
/** As it is shown beside the graph. */
const FAULT = `error  Error: could not bill
       in node shop > bill
   at  graph.ts:10:13
          9 |     } catch (cause) {
       > 10 |       throw new Error("could not bill", { cause });
            |             ^
         11 |     }
`;
const CAUSE =
  /cause {2}TypeError: Cannot read properties of undefined \(reading 'amount'\)\n {3}at {2}helper\.ts:3:83\n/;
const INPUT = ["-i", '{"id":"7"}'];

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "helper.ts": HELPER,
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
});
afterEach(() => project.remove());

const run = (...argv: string[]): Promise<CliResult> => cli(argv, { cwd: project.dir });

describe("a run that fails", () => {
  it("is shown by run, on stderr, whatever stdout holds", async () => {
    const { code, stderr } = await run("run", ...INPUT);
    expect(code).toBe(1);
    expect(stderr).toContain(FAULT);
    expect(stderr).toMatch(CAUSE);
    expect(stderr).toMatch(/\n {7}and \d+ frames of libraries\n/);
    const json = await run("run", "--json", ...INPUT);
    expect(json.stderr).toContain(FAULT);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { message: "Error: could not bill" } });
  });

  it("is shown by dev, with the run and its graph", async () => {
    const dev = startCli(["dev", "-p", "0"], { cwd: project.dir });
    try {
      const [, url = ""] = await dev.stderr.until(/at (http:\S+)/);
      await client(url).request("POST", "/runs/wait", { assistant_id: "agent", input: { id: "7" } });
      await dev.stderr.until(/cause .*\n.*\n(.*\n)+ *and \d+ frames/);
      expect(dev.stderr.text.replace(/ of graph agent, run [0-9a-f-]{36}\n/, "\n")).toContain(FAULT);
      expect(dev.stderr.text).toMatch(CAUSE);
    } finally {
      dev.stop();
      await dev.exit;
    }
  });

  it("has its node, its place and its stack in the log of start", async () => {
    const server = startCli(["start", "-p", "0"], { cwd: project.dir });
    try {
      const [, url = ""] = await server.stderr.until(/"url":"(http:[^"]+)"/);
      await client(url).request("POST", "/runs/wait", { assistant_id: "agent", input: { id: "7" } });
      const [line] = await server.stderr.until(/^.*"msg":"the run failed"\}$/m);
      expect(JSON.parse(line)).toMatchObject({
        graph_id: "agent",
        fault: { node: "shop > bill", at: "graph.ts:10:13" },
        err: { type: "Error", message: expect.stringMatching(/^could not bill/) as string },
      });
      expect((JSON.parse(line) as { err: { stack: string } }).err.stack).toContain("graph.ts:10");
    } finally {
      server.stop();
      await server.exit;
    }
  });
});
