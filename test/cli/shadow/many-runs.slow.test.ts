/** Shadow runs of an unchanged graph are equal on every storage, and one changed edge affects exactly its threads. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itSqlite } from "../../helpers/with-sqlite.js";
import type { JudgedResult as ShadowResult } from "../../../src/cli/shadow/report.js";
import { withMongodb } from "../../helpers/mongodb.js";
import { withOwnSchema } from "../../helpers/postgres.js";
import { cli, createProject, type Project, startCli } from "../harness.js";

/** `GRAPH_SERVE_TEST_RUNS=1000` takes minutes. */
const RUNS = Number(process.env.GRAPH_SERVE_TEST_RUNS ?? 24);
const PARALLEL = 8;
const LONG = { timeout: 1_200_000 };
/** Every seventh order leads over the edge that the second release changes. */
const isLarge = (index: number): boolean => index % 7 === 3;

/** Five nodes on each path, with a time and a random value in the state. */
const graphOf = (large: "check" | "gift") => `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { randomUUID } from "node:crypto";
const State = Annotation.Root({
  amount: Annotation, at: Annotation, id: Annotation,
  log: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
});
const step = (name) => ({ amount }) => ({ log: [name + " " + amount] });
export const graph = new StateGraph(State)
  .addNode("plan", () => ({ log: ["plan"], at: new Date().toISOString() }))
  .addNode("small", step("small"))
  .addNode("check", step("check"))
  .addNode("gift", step("gift"))
  .addNode("pack", () => ({ log: ["pack"], id: randomUUID() }))
  .addNode("ship", step("ship"))
  .addNode("done", step("done"))
  .addEdge(START, "plan")
  .addConditionalEdges("plan", ({ amount }) => (amount % 7 === 3 ? "${large}" : "small"), ["small", "check", "gift"])
  .addEdge("small", "pack").addEdge("check", "pack").addEdge("gift", "pack")
  .addEdge("pack", "ship").addEdge("ship", "done")
  .compile();
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({ "graph.ts": graphOf("check"), "new.ts": graphOf("gift") });
});
afterEach(() => project.remove());

/** Starts a server on the storage, and runs each order on its own thread. Returns their ids by amount. */
async function served(
  settings: object,
  before: (url: string, ids: string[]) => Promise<void> = async () => undefined,
) {
  await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts:graph" }, ...settings });
  const server = startCli(["start", "-p", "0"], { cwd: project.dir });
  try {
    await server.stderr.until(/"msg":"listening"\}\n/);
    const [, url = ""] = /"url":"(http:[^"]+)"/.exec(server.stderr.text) ?? [];
    const ids = await parallel(RUNS, async (amount) => {
      const thread = crypto.randomUUID();
      const body = JSON.stringify({ assistant_id: "agent", input: { amount }, if_not_exists: "create" });
      const answer = await fetch(`${url}/threads/${thread}/runs/wait`, { method: "POST", body });
      expect(await answer.json()).toMatchObject({ log: { length: 5 } });
      return thread;
    });
    await before(url, ids);
    return ids;
  } finally {
    server.stop();
    await server.exit;
  }
}

/** Calls `make` for each number from 0, a few at once. */
async function parallel<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) made[index] = await make(index);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return made;
}

async function shadowed(...argv: string[]) {
  const { code, stdout, stderr } = await cli(["shadow", "--json", "--ci", ...argv], { cwd: project.dir });
  expect(stdout, stderr).not.toBe("");
  return { code, stderr, items: (JSON.parse(stdout) as { items: ShadowResult[] }).items };
}

/** Two executions of the same code, and one of the changed one, without a trace in the source. */
async function check(ids: readonly string[], content: () => Promise<string>, ...source: string[]) {
  const before = await content();
  for (let round = 0; round < 2; round += 1) {
    const { code, stderr, items } = await shadowed(...source);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${RUNS} same`) as string]);
    expect(items.map(({ thread_id }) => thread_id).sort()).toEqual([...ids].sort());
    expect(items.filter(({ outcome }) => outcome !== "same")).toEqual([]);
  }
  const { code, items } = await shadowed("--against", "./new.ts:graph", ...source);
  const different = items.filter(({ outcome }) => outcome !== "same");
  expect(code).toBe(1);
  expect(different.map(({ thread_id }) => thread_id).sort()).toEqual(
    ids.filter((_, at) => isLarge(at)).sort(),
  );
  for (const { outcome, difference } of different)
    expect([outcome, difference?.before, difference?.now]).toEqual(["path", "check", "gift"]);
  expect(await content()).toBe(before);
}

const hash = (content: unknown): string =>
  createHash("sha256")
    .update(content instanceof Uint8Array ? content : JSON.stringify(content))
    .digest("hex");

describe(`shadow of ${RUNS} threads with 5 steps`, () => {
  itSqlite("on sqlite", LONG, async () => {
    const ids = await served({ checkpointer_scheme: "sqlite", checkpointer_uri: "threads.db" });
    await check(ids, async () => hash(await readFile(join(project.dir, "threads.db"))));
  });

  it("of exported files", LONG, async () => {
    const ids = await served({ checkpointer_scheme: "memory" }, async (url, all) => {
      await parallel(all.length, async (at) => {
        const argv = ["export", all[at] ?? "", "--url", url, "--out", `${at}.json`];
        expect((await cli(argv, { cwd: project.dir })).code).toBe(0);
      });
    });
    const names = ids.map((_, at) => `${at}.json`);
    const content = async () =>
      hash(await Promise.all(names.map((name) => readFile(join(project.dir, name), "utf8"))));
    await check(ids, content, ...names.flatMap((name) => ["--file", name]));
  });

  withOwnSchema("on postgres", (postgres) => {
    it("in a schema", LONG, async () => {
      const { max_queued_runs: _, ...settings } = postgres.options();
      const ids = await served(settings);
      await check(ids, async () => {
        const tables = await postgres.sql<{ tablename: string }>(
          `SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1`,
          [postgres.schema],
        );
        const rows: unknown[] = [];
        for (const { tablename } of tables)
          rows.push(
            await postgres.sql(
              `SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM ${postgres.schema}.${tablename} t`,
            ),
          );
        return hash([tables, rows]);
      });
    });
  });

  withMongodb("on mongodb", (mongodb) => {
    it("in a database", LONG, async () => {
      const { max_queued_runs: _, ...settings } = mongodb().options();
      const ids = await served(settings);
      await check(ids, async () => {
        const collections = await mongodb().db.listCollections().toArray();
        const names = collections.map(({ name }) => name).sort();
        const found: unknown[] = [];
        for (const name of names) found.push([name, await mongodb().db.collection(name).find({}).toArray()]);
        return hash(found);
      });
    });
  });
});
