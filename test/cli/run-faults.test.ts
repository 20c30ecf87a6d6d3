/** The source location of a failed run, in commands that run it and in commands that read it later. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunFault } from "../../src/support/run-fault.js";
import { client } from "../helpers/app.js";
import { cli, createProject, startCli, type CliResult, type Project } from "./harness.js";
import { describeSqlite, itSqlite } from "../helpers/with-sqlite.js";

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
/** The error as printed in the project's folder. */
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

const CASES = `graph: ./graph.ts:graph
cases:
  - name: bills
    input: { id: "7" }
    expect: { status: success }
`;

async function failedRun(): Promise<{ thread_id: string; run_id: string }> {
  const { stdout } = await run("run", "--json", ...INPUT);
  return JSON.parse(stdout) as { thread_id: string; run_id: string };
}

describeSqlite("a stored failed run", () => {
  it("inspect run shows the location, even if the graph does not load", async () => {
    const { run_id } = await failedRun();
    await project.put("helper.ts", "this does not parse(");
    const { code, stdout } = await run("inspect", "run", run_id);
    expect(code).toBe(0);
    expect(stdout).toContain(FAULT);
    expect(stdout).toMatch(CAUSE);
    const { fault } = JSON.parse((await run("inspect", "run", run_id, "--json")).stdout) as {
      fault: RunFault;
    };
    expect(fault).toMatchObject({
      name: "Error",
      node: "bill",
      location: { file: join(project.dir, "graph.ts"), line: 10, column: 13 },
      stack: [{ line: 10 }],
      cause: { name: "TypeError", location: { line: 3 }, stack: [{ function: "totalOf" }, { line: 8 }] },
    });
  });

  it("inspect thread shows the location only if the last run failed", async () => {
    const { thread_id } = await failedRun();
    expect((await run("inspect", "thread", thread_id)).stdout).toContain(FAULT);
    const shown = JSON.parse((await run("inspect", "thread", thread_id, "--json")).stdout) as {
      fault?: RunFault;
    };
    expect(shown.fault?.message).toBe("could not bill");
    await project.put("helper.ts", "export const totalOf = () => 7;");
    expect((await run("run", "--thread", thread_id, ...INPUT)).code).toBe(0);
    expect((await run("inspect", "thread", thread_id)).stdout).not.toContain("graph.ts:10");
  });

  it("history and replay show the location next to the message", async () => {
    const { thread_id } = await failedRun();
    const line = "failed at graph.ts:10:13: Error: could not bill";
    expect((await run("history", thread_id, "--oneline")).stdout).toContain(line);
    expect((await run("history", thread_id)).stdout).toContain(line);
    expect((await run("replay", thread_id)).stdout).toContain(line);
  });

  it("history and replay name the node of an error if others were next", async () => {
    await project.put(
      "graph.ts",
      `import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ id: Annotation<string>() });
export const graph = new StateGraph(State)
  .addNode("shop", () => { throw new Error("no stock"); })
  .addNode("ship", (_state, { signal }) => new Promise((_, reject) => {
    signal!.addEventListener("abort", () => reject(new Error("stopped")));
  }))
  .addEdge(START, "shop").addEdge(START, "ship").compile();
`,
    );
    const { thread_id } = await failedRun();
    for (const command of ["history", "replay"]) {
      const { stdout } = await run(command, thread_id);
      expect(stdout).toMatch(/next (shop, ship|ship, shop)/);
      expect(stdout).toContain("shop failed at graph.ts:4:34: Error: no stock");
    }
  });

  it("history shows two failures from one checkpoint, each with its own location", async () => {
    const { thread_id } = await failedRun();
    await project.put("helper.ts", 'export const totalOf = () => { throw new Error("other"); };');
    await project.put("graph.ts", GRAPH.replace('"could not bill", { cause }', '"still not"'));
    expect((await run("run", "--thread", thread_id, "--goto", "shop")).code).toBe(1);
    const { stdout } = await run("history", thread_id, "--oneline");
    expect(stdout).toContain("failed at graph.ts:10:13: Error: still not");
    expect(stdout).toContain("failed at graph.ts:10:13: Error: could not bill");
  });

  it("a server does not expose the location", async () => {
    const { run_id } = await failedRun();
    const dev = startCli(["dev", "-p", "0"], { cwd: project.dir });
    try {
      const [, url = ""] = await dev.stderr.until(/at (http:\S+)/);
      const { code, stdout } = await run("inspect", "run", run_id, "--url", url);
      expect(code).toBe(0);
      expect(stdout).toContain("could not bill");
      expect(stdout).not.toContain("graph.ts");
      expect(
        JSON.parse((await run("inspect", "run", run_id, "--url", url, "--json")).stdout),
      ).not.toHaveProperty("fault");
    } finally {
      dev.stop();
      await dev.exit;
    }
  });
});

describe("a test case with a failing run", () => {
  beforeEach(() => project.put("shop.graph.yaml", CASES));

  it.each(["list", "junit"])("the %s report has the location", async (reporter) => {
    const { code, stdout } = await run("test", "--reporter", reporter);
    expect(code).toBe(1);
    const text = stdout.replaceAll("&quot;", '"').replaceAll("&#10;", "\n").replaceAll("&gt;", ">");
    for (const line of FAULT.trimEnd().split("\n")) expect(text).toContain(line);
    expect(text).toContain("helper.ts:3:83");
  });

  it("the JSON report has the location in the field fault", async () => {
    const { stdout } = await run("test", "--reporter", "json");
    const { cases } = JSON.parse(stdout) as { cases: { failures: { fault?: RunFault }[] }[] };
    expect(cases[0]?.failures[0]?.fault).toMatchObject({ node: "bill", location: { line: 10 } });
  });
});

describe("a failing run", () => {
  it("run prints the location on stderr, with and without --json", async () => {
    const { code, stderr } = await run("run", ...INPUT);
    expect(code).toBe(1);
    expect(stderr).toContain(FAULT);
    expect(stderr).toMatch(CAUSE);
    expect(stderr).toMatch(/\n {7}and \d+ library frames\n/);
    const json = await run("run", "--json", ...INPUT);
    expect(json.stderr).toContain(FAULT);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { message: "Error: could not bill" } });
  });

  itSqlite("run ends with the commands that find the cause, which work as printed", async () => {
    const { stderr } = await run("run", ...INPUT, "--db", "./threads.db");
    const [, thread = ""] = /thread ([0-9a-f-]{36})\n {2}next/.exec(stderr) ?? [];
    const next = stderr.slice(stderr.indexOf("  next"));
    expect(next).toBe(
      [
        `  next    graph-serve inspect thread ${thread} --db ./threads.db`,
        `          graph-serve replay ${thread}@0 --db ./threads.db --execute --compare`,
        "",
      ].join("\n"),
    );
    await project.put("helper.ts", "export const totalOf = () => 7;");
    const [inspect = [], replay = []] = Array.from(next.matchAll(/graph-serve (.+)/g), ([, line = ""]) =>
      line.split(" "),
    );
    expect((await run(...inspect)).stdout).toContain(FAULT);
    expect(await run(...replay)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("step 1  shop") as string,
    });
  });

  it("run on a server ends with commands for the server", async () => {
    const dev = startCli(["dev", "-p", "0", "--db", "memory"], { cwd: project.dir });
    try {
      const [, url = ""] = await dev.stderr.until(/at (http:\S+)/);
      const { stderr } = await run("run", ...INPUT, "--url", url);
      expect(stderr).toMatch(new RegExp(`next +graph-serve inspect thread \\S+ --url ${url}\n`));
      expect(stderr).not.toContain("--message");
    } finally {
      dev.stop();
      await dev.exit;
    }
  });

  itSqlite("dev prints the commands that find the cause, except for a stateless run", async () => {
    const dev = startCli(["dev", "-p", "0", "--db", "./threads.db"], { cwd: project.dir });
    try {
      const [, url = ""] = await dev.stderr.until(/at (http:\S+)/);
      const { request } = client(url);
      const body = { assistant_id: "agent", input: { id: "7" } };
      await request("POST", "/runs/wait", body);
      const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
      await request("POST", `/threads/${thread_id}/runs`, body);
      await dev.stderr.until(new RegExp(`next  graph-serve inspect thread ${thread_id} --db ./threads.db\n`));
      await dev.stderr.until(/graph-serve replay \S+@0 --db \.\/threads\.db --execute --compare\n/);
      expect(dev.stderr.text.match(/graph-serve inspect/g)).toHaveLength(1);
    } finally {
      dev.stop();
      await dev.exit;
    }
  });

  it("dev prints the location with the run and its graph", async () => {
    const dev = startCli(["dev", "-p", "0"], { cwd: project.dir });
    try {
      const [, url = ""] = await dev.stderr.until(/at (http:\S+)/);
      await client(url).request("POST", "/runs/wait", { assistant_id: "agent", input: { id: "7" } });
      await dev.stderr.until(/cause .*\n.*\n(.*\n)+ *and \d+ library frames/);
      expect(dev.stderr.text.replace(/ of graph agent, run [0-9a-f-]{36}\n/, "\n")).toContain(FAULT);
      expect(dev.stderr.text).toMatch(CAUSE);
    } finally {
      dev.stop();
      await dev.exit;
    }
  });

  it("start logs the node, the location and the stack trace", async () => {
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
