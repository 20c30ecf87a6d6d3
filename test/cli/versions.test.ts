/** A deploy that would lose what threads wait for is found before it is made. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { GraphVersion, ThreadCheck, ThreadMigration } from "../../src/models/version.js";
import { cli, createProject, type Project } from "./harness.js";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";

interface Shape {
  ask?: string;
  keys?: string;
  result?: string;
}

const graphOf = ({ ask = "ask", keys = "name: z.string(), age: z.number()", result = "{}" }: Shape = {}) => `
import { END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";

export const graph = new StateGraph(z.object({ ${keys} }))
  .addNode("${ask}", (state) => {
    if (state.name === "waits") interrupt("continue?");
    return ${result};
  })
  .addEdge(START, "${ask}")
  .addEdge("${ask}", END)
  .compile();
`;

let project: Project;
const run = (...argv: string[]) => cli(argv, { cwd: project.dir });

async function start(name: string): Promise<string> {
  const input = JSON.stringify({ name, age: 3 });
  const { stdout, stderr } = await run("run", "./graph.ts", "--input", input, "--json");
  expect(stderr).not.toContain("error");
  return (JSON.parse(stdout) as { thread_id: string }).thread_id;
}

async function check(...argv: string[]) {
  const { code, stdout, stderr } = await run("versions", "check", "--json", ...argv);
  return { code, stderr, items: (JSON.parse(stdout) as { items: ThreadCheck[] }).items };
}

const messagesOf = (items: readonly ThreadCheck[], id: string) =>
  items.find(({ thread_id }) => thread_id === id)?.problems.map(({ kind, message }) => `${kind}: ${message}`);

beforeEach(async () => {
  project = await createProject({ "graph.ts": graphOf() });
});
afterEach(() => project.remove());

describe("versions", () => {
  it("inspect shows the version of a thread", async () => {
    const id = await start("waits");
    const { items } = JSON.parse((await run("versions", "list", "--json")).stdout) as {
      items: GraphVersion[];
    };
    const { stdout } = await run("inspect", "thread", id);
    expect(stdout).toMatch(new RegExp(`^version +${String(items[0]?.version)}$`, "m"));
  });

  it("list counts the threads of each version", async () => {
    await start("waits");
    await start("ends");
    await project.put("graph.ts", graphOf({ ask: "question" }));
    await start("ends");
    const { stdout, code } = await run("versions", "list", "--json");
    const { items } = JSON.parse(stdout) as { items: GraphVersion[] };
    expect(code).toBe(0);
    expect(
      items.map(({ graph_id, is_current, threads, interrupted, open_runs }) => [
        ...[graph_id, is_current, threads, interrupted, open_runs],
      ]),
    ).toEqual([
      ["agent", true, 1, 0, 0],
      ["agent", false, 2, 1, 0],
    ]);
    expect(items[0]?.version).not.toBe(items[1]?.version);
    const table = (await run("versions", "list")).stdout;
    for (const { version } of items) expect(table).toContain(version);
  });

  it("check names the node that a thread waits in and that is gone, and changes nothing", async () => {
    const [waits, ends] = [await start("waits"), await start("ends")];
    expect(await check()).toMatchObject({ code: 0, items: [{ problems: [] }, { problems: [] }] });
    await project.put("graph.ts", graphOf({ ask: "question" }));
    const database = join(project.dir, ".graph-serve/dev.db");
    const before = await readFile(database);
    const { code, items } = await check();
    expect(code).toBe(1);
    expect(messagesOf(items, ends)).toEqual([]);
    expect(messagesOf(items, waits)).toEqual([
      'node: waits in node "ask", which is gone; the nodes are question',
    ]);
    const text = await run("versions", "check");
    expect(text.stdout).toContain(waits);
    expect(text.stdout).not.toContain(ends);
    expect(text.stderr).toContain("2 threads checked: 1 can continue, 1 cannot");
    expect(await readFile(database)).toEqual(before);
    const refused = await run("run", "--thread", waits, "--resume", "yes");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('it waits in node "ask", which is gone');
    expect(refused.stderr).toContain("graph-serve versions check");
  });

  it("migrate converts every thread that a migration applies to, once", async () => {
    const [waits, ends] = [await start("waits"), await start("ends")];
    const [first] = (await check()).items;
    await project.put("graph.ts", graphOf({ ask: "question" }));
    const flags = ["--db", ".graph-serve/dev.db"];
    const migrate = async (...more: string[]) => {
      const { code, stdout, stderr } = await run("versions", "migrate", "--json", ...flags, ...more);
      return { code, stderr, items: (JSON.parse(stdout) as { items?: ThreadMigration[] }).items };
    };
    const config = { graphs: { agent: "./graph.ts" } };
    await project.put("graph-server.config.json", config);
    expect(await migrate()).toMatchObject({ code: 2, items: undefined });
    await project.put("graph-server.config.json", { ...config, migrations: "./migrations.ts" });
    const file = (rest: string) => `export default [{ from: "${first?.version}", ${rest} }];`;

    await project.put(
      "migrations.ts",
      file('nodes: { ask: "question" }, state: () => { throw new Error("no name") }'),
    );
    const failed = await migrate();
    expect(failed.code).toBe(1);
    expect(failed.items?.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
    expect(failed.items?.[0]?.error).toMatch(
      /"agent" .* migration ".*" \(\.\/migrations\.ts:1\): `state` failed .*no name/,
    );

    await project.put("migrations.ts", file('nodes: { ask: "question" }'));
    const database = join(project.dir, ".graph-serve/dev.db");
    const before = await readFile(database);
    const outcomes = (items?: ThreadMigration[]) =>
      items?.map(({ thread_id, from, outcome }) => [thread_id, from, outcome]);
    const dry = await migrate("--dry-run");
    expect(outcomes(dry.items)).toEqual([
      [ends, first?.version, "pending"],
      [waits, first?.version, "pending"],
    ]);
    expect(await readFile(database)).toEqual(before);

    const text = await run("versions", "migrate", ...flags);
    expect(text).toMatchObject({ code: 0, stderr: expect.stringContaining("2 threads migrated") as string });
    expect(text.stdout).toContain(waits);
    expect(await migrate()).toMatchObject({ code: 0, items: [] });
    expect(await check(...flags)).toMatchObject({
      code: 0,
      items: [
        { thread_id: ends, problems: [], migrations: [] },
        { thread_id: waits, problems: [], migrations: [] },
      ],
    });
    const versions = JSON.parse((await run("versions", "list", "--json", ...flags)).stdout) as {
      items: GraphVersion[];
    };
    expect(versions.items).toMatchObject([{ is_current: true, threads: 2, interrupted: 1 }]);
    const resumed = await run("run", "--thread", waits, "--resume", "yes", "--json", ...flags);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ status: "success" });
    for (const command of ["history", "replay"]) {
      const { stdout } = await run(command, waits, ...flags);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(`migrated from ${first?.version}`);
    }
  });

  it("check names the migrations that convert a thread, and what is left after them", async () => {
    const thread = await start("waits");
    const [first] = (await check()).items;
    await project.put("graph.ts", graphOf({ ask: "question" }));
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts" },
      migrations: "./migrations.ts",
    });
    const migrate = (node: string) =>
      project.put(
        "migrations.ts",
        `export default [{ from: "${first?.version}", nodes: { ask: "${node}" } }];`,
      );
    const flags = ["--db", ".graph-serve/dev.db"];
    await migrate("question");
    expect(await check(...flags)).toMatchObject({
      code: 0,
      items: [{ thread_id: thread, migrations: [first?.version], problems: [] }],
    });
    await migrate("asked");
    const { code, items } = await check(...flags);
    expect([code, messagesOf(items, thread)]).toEqual([
      1,
      ['node: waits in node "asked", which is gone; the nodes are question'],
    ]);
  });

  it("check --against compares with a file that is not served", async () => {
    const thread = await start("waits");
    await project.put("next.ts", graphOf({ ask: "question" }));
    expect((await check("--against", "./next.ts", "--graph", "agent")).code).toBe(1);
    expect((await check("--against", "./next.ts")).items).toMatchObject([
      { thread_id: thread, graph_id: "agent" },
    ]);
    expect((await check("--against", "./graph.ts")).code).toBe(0);
    const missing = await run("versions", "check", "--against", "./gone.ts");
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("gone.ts") as string]);
  });

  it("check names keys that are gone and values that the schema rejects", async () => {
    const thread = await start("ends");
    await project.put(
      "graph.ts",
      graphOf({ keys: "full_name: z.string(), age: z.string()" }).replace("state.name", "state.full_name"),
    );
    const { code, items } = await check();
    expect(code).toBe(1);
    expect(messagesOf(items, thread)).toEqual([
      'key: holds state key "name", which is gone; the graph has the keys full_name, age',
      'schema: state "age" must be string',
    ]);
    expect((await check("--since", "2999-01-01")).items).toEqual([]);
  });

  it("check names values of a subgraph that a thread waits in", async () => {
    const nested = (keys: string) => `
import { interrupt, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";
const child = new StateGraph(z.object({ name: z.string(), ${keys} }))
  .addNode("write", () => ({ note: "five" }))
  .addNode("ask", () => { interrupt("continue?"); return {}; })
  .addEdge(START, "write").addEdge("write", "ask").compile();
export const graph = new StateGraph(z.object({ name: z.string(), age: z.number() }))
  .addNode("child", child).addEdge(START, "child").compile();
`;
    await project.put("graph.ts", nested("note: z.string()"));
    const thread = await start("waits");
    expect(await check()).toMatchObject({ code: 0, items: [{ thread_id: thread, problems: [] }] });
    await project.put("graph.ts", nested("note: z.number()"));
    const changed = await check();
    expect([changed.code, messagesOf(changed.items, thread)]).toEqual([
      1,
      ['schema: state "child|note" must be number'],
    ]);
    await project.put("graph.ts", nested("memo: z.string()").replace('note: "five"', 'memo: "five"'));
    expect(messagesOf((await check()).items, thread)).toEqual([
      'key: holds state key "child|note", which is gone; the graph has the keys name, memo',
    ]);
  });

  it("check --ci fails if a thread's graph is not configured; without it, the thread is not checked", async () => {
    await start("ends");
    await project.put("graph-server.config.json", { graphs: { other: "./graph.ts:graph" } });
    await project.put(".graph-serve/graphs.json", {});
    const flags = ["--db", ".graph-serve/dev.db"];
    expect((await run("versions", "check", ...flags)).stderr).toContain("1 thread not checked");
    expect((await run("versions", "check", ...flags)).code).toBe(0);
    const strict = await run("versions", "check", "--ci", ...flags);
    expect([strict.code, strict.stdout]).toEqual([
      1,
      expect.stringContaining("the graph agent is not configured") as string,
    ]);
    const unknown = await run("versions", "check", "--graph", "othr", ...flags);
    expect(unknown.stderr).toContain("othr is not a configured graph");
    expect(unknown.stderr).toContain("other");
  });

  it("check --junit writes a suite for each graph and a case for each thread", async () => {
    const [waits, ends] = [await start("waits"), await start("ends")];
    await project.put("graph.ts", graphOf({ ask: "question" }));
    await run("versions", "check", "--junit", "report.xml");
    const xml = await readFile(join(project.dir, "report.xml"), "utf8");
    expect(xml).toContain('<testsuite name="agent" tests="2" failures="1" skipped="0">');
    expect(xml).toContain(`<testcase name="${ends}" classname="agent" time="0.000"/>`);
    expect(xml).toMatch(new RegExp(`name="${waits}"[^>]*><failure type="node" message="waits in node`));
  });

  it("without a durable storage, both commands refuse", async () => {
    for (const command of ["list", "check"]) {
      const { code, stderr } = await run("versions", command, "--db", "memory");
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("scheme memory has no stored threads") as string,
      ]);
    }
  });
});
