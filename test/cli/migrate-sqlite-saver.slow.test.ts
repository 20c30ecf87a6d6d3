/**
 * `migrate copy --from sqlite-saver://`: threads of an application that uses LangGraph's official SqliteSaver. Slow, because
 * its driver is built for one version of Node.js, and the quick tests run on two.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, type StateSnapshot } from "@langchain/langgraph";
import type { ThreadState } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { app, graph } from "../fixtures/graphs/sqlite-saver-app.js";
import { openClient } from "../clients/open.js";
import { Database } from "../helpers/sqlite-database.js";
import { type OfficialSaver, type OfficialSaverClass, withSqliteSaver } from "../helpers/sqlite-saver.js";
import { cli, createProject, type Project } from "./harness.js";

const GRAPH = join(import.meta.dirname, "../fixtures/graphs/sqlite-saver-app.ts:graph");
const IDS = {
  done: "11111111-1111-4111-8111-111111111111",
  asks: "22222222-2222-4222-8222-222222222222",
  failed: "33333333-3333-4333-8333-333333333333",
  stopped: "AAAAAAAA-4444-4444-8444-444444444444",
  sends: "55555555-5555-4555-8555-555555555555",
  named: "user-42",
};
/** The id that every copy gives to the thread `user-42`. */
const NAMED = "15abb2dd-1b16-55f2-aa7f-e7b261ac6659";

let project: Project;
let SqliteSaver: OfficialSaverClass;
const file = () => join(project.dir, "app.db");
const on = (thread_id: string) => ({ configurable: { thread_id } });
const input = (log: string) => ({ log: [log], messages: [{ role: "user", content: "häl\u2028lo" }] });

/** Calls the application's graph on its file. */
async function inApp<T>(work: (compiled: ReturnType<typeof compile>) => Promise<T>): Promise<T> {
  const saver = SqliteSaver.fromConnString(file());
  try {
    return await work(compile(saver));
  } finally {
    saver.db.close();
  }
}
const compile = (checkpointer: OfficialSaver) => app.compile({ checkpointer });

beforeEach(async () => {
  project = await createProject();
  await project.put("graph-server.config.json", JSON.stringify({ graphs: { agent: GRAPH } }));
  await inApp(async (compiled) => {
    await compiled.invoke(input("hello"), on(IDS.done));
    await compiled.invoke(input("again"), on(IDS.done));
    await compiled.invoke(input("ask"), on(IDS.asks));
    await expect(compiled.invoke(input("fail"), on(IDS.failed))).rejects.toThrow("kaboom");
    await compiled.invoke(input("hello"), { ...on(IDS.stopped), interruptBefore: ["reply"] });
    await compiled.invoke(input("send"), { ...on(IDS.sends), interruptBefore: ["part"] });
    await compiled.invoke(input("hello"), on(IDS.named));
  });
});
afterEach(() => project.remove());

const run = (...argv: string[]) => cli(argv, { cwd: project.dir });
const migrate = (...argv: string[]) => run("migrate", "copy", ...argv);

async function copied(...argv: string[]) {
  const { code, stdout, stderr } = await migrate(
    "--from",
    "sqlite-saver://./app.db",
    "--to",
    "./threads.db",
    "--json",
    ...argv,
  );
  expect([code, stdout]).toMatchObject([0, expect.any(String)]);
  return { report: JSON.parse(stdout) as Record<string, unknown>, stderr };
}

const hashes = () =>
  readdirSync(project.dir)
    .filter((name) => name.startsWith("app.db"))
    .map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(project.dir, name)))
        .digest("hex"),
    ]);

/** What LangGraph shows of a state in the application, and what a client gets from the server. */
const inFile = (states: StateSnapshot[]) =>
  states.map(({ config, parentConfig, metadata, next, tasks, values }) => ({
    id: config.configurable?.checkpoint_id as string,
    parent: parentConfig?.configurable?.checkpoint_id as string | undefined,
    step: metadata?.step,
    source: metadata?.source,
    next,
    log: (values as { log?: string[] }).log,
    tasks: tasks.map(({ id, name, interrupts, error }) => [id, name, interrupts, error !== undefined]),
  }));
const onServer = (states: ThreadState[]) =>
  states.map(({ checkpoint, parent_checkpoint, metadata, next, tasks, values }) => ({
    id: checkpoint.checkpoint_id,
    parent: parent_checkpoint?.checkpoint_id ?? undefined,
    step: metadata?.step,
    source: metadata?.source,
    next,
    log: (values as { log?: string[] }).log,
    tasks: tasks.map(({ id, name, interrupts, error }) => [id, name, interrupts, error != null]),
  }));

const served = () =>
  openClient({
    graphs: { agent: graph },
    settings: {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: join(project.dir, "threads.db"),
      compat: "langgraph",
    },
  });

await withSqliteSaver("migrate copy --from sqlite-saver://", (official) => {
  SqliteSaver = official;

  it("copies threads with their history and leaves the file unchanged", async () => {
    const before = hashes();
    const { report, stderr } = await copied();
    expect(report).toMatchObject({
      from: { scheme: "sqlite-saver", location: file() },
      threads: { total: 6, copied: 6, current: 0 },
      runs: { total: 0 },
      left: [],
    });
    expect(hashes()).toEqual(before);
    expect(stderr).toContain("1 thread id is not a UUID and was replaced");
    expect((await copied()).report).toMatchObject({
      threads: { copied: 0, current: 6 },
      checkpoints: { copied: 0 },
    });
    const { client } = await served();
    await inApp(async (compiled) => {
      for (const [name, id] of Object.entries(IDS)) {
        const thread = name === "named" ? NAMED : id.toLowerCase();
        const states: StateSnapshot[] = [];
        for await (const state of compiled.getStateHistory(on(id))) states.push(state);
        expect(onServer(await client.threads.getHistory(thread, { limit: 100 }))).toEqual(inFile(states));
      }
      const [task] = (await compiled.getState(on(IDS.asks), { subgraphs: true })).tasks;
      const { tasks } = await client.threads.getState(IDS.asks, undefined, { subgraphs: true });
      expect(onServer([tasks[0]?.state as ThreadState])).toEqual(inFile([task?.state as StateSnapshot]));
    });
  });

  it("shows the threads in commands, with their status and graph", async () => {
    await copied();
    const { stdout } = await run("threads", "list", "--db", "./threads.db", "--json");
    const { items } = JSON.parse(stdout) as { items: Record<string, unknown>[] };
    expect(items.map(({ thread_id, status }) => [thread_id, status]).sort()).toEqual(
      [
        [IDS.done, "idle"],
        [IDS.asks, "interrupted"],
        [IDS.failed, "error"],
        [IDS.stopped.toLowerCase(), "interrupted"],
        [IDS.sends, "interrupted"],
        [NAMED, "idle"],
      ].sort(),
    );
    expect(items.find(({ thread_id }) => thread_id === NAMED)).toMatchObject({
      metadata: { graph_id: "agent", original_thread_id: "user-42" },
    });
    const inspected = await run("inspect", "thread", IDS.failed, "--db", "./threads.db");
    expect([inspected.code, inspected.stdout]).toEqual([0, expect.stringContaining("kaboom")]);
    const history = await run("history", IDS.done, "--db", "./threads.db");
    expect([history.code, history.stdout]).toEqual([0, expect.stringContaining("reply")]);
  });

  it("threads continue on the server: an answer, a breakpoint, sends, a failed step, a new turn", async () => {
    await copied();
    const { client } = await served();
    const wait = async (id: string, payload: object) =>
      ((await client.runs.wait(id, "agent", payload)) as { log: string[] }).log;
    expect((await client.threads.get(IDS.asks)).status).toBe("interrupted");
    expect(await wait(IDS.asks, { command: { resume: "yes" } })).toEqual(["ask", "ask", "answer yes"]);
    expect((await client.threads.get(IDS.asks)).status).toBe("idle");
    expect(await wait(IDS.stopped.toLowerCase(), { input: null })).toEqual(["hello", "hello", "approved"]);
    expect(await wait(IDS.sends, { input: null })).toEqual(["send", "part a", "part b"]);
    expect(await wait(NAMED, { input: input("hi") })).toEqual([
      ...["hello", "hello", "approved", "hi"],
      ...["hello", "hello", "approved", "hi", "approved"],
    ]);
    await expect(client.runs.wait(IDS.failed, "agent", { input: null })).rejects.toThrow("kaboom");
  });

  it("sends of checkpoints from before format 4 are kept", async () => {
    const db = new Database(file());
    const of = [IDS.sends, ""] as const;
    // Their tasks were only writes of the parent checkpoint.
    const { changes } = db
      .prepare(
        `UPDATE checkpoints SET checkpoint = CAST(json_remove(json_set(CAST(checkpoint AS TEXT), '$.v', 3),
           '$.channel_values.__pregel_tasks') AS BLOB) WHERE thread_id = ? AND checkpoint_ns = ?`,
      )
      .run(...of);
    expect(changes).toBeGreaterThan(2);
    db.close();
    await copied();
    const { client } = await served();
    expect((await client.threads.get(IDS.sends)).status).toBe("interrupted");
    const { next } = await client.threads.getState(IDS.sends);
    expect(next).toEqual(["part", "part"]);
    const values = await client.runs.wait(IDS.sends, "agent", { input: null });
    expect(values).toMatchObject({ log: ["send", "part a", "part b"] });
  });

  it("a second copy transfers what the application has written since, even while it is open", async () => {
    await copied();
    await inApp(async (compiled) => {
      await compiled.invoke(new Command({ resume: "later" }), on(IDS.asks));
      const before = hashes();
      expect(before.map(([name]) => name)).toContain("app.db-wal");
      expect((await copied()).report).toMatchObject({ threads: { copied: 1, current: 5 }, left: [] });
      expect(hashes().filter(([name]) => !name?.endsWith("-shm"))).toEqual(
        before.filter(([name]) => !name?.endsWith("-shm")),
      );
    });
    const { client } = await served();
    const { values } = await client.threads.getState<{ log: string[] }>(IDS.asks);
    expect(values.log).toEqual(["ask", "ask", "answer later"]);
  });

  it("a graph that is missing or unknown is rejected", async () => {
    const from = ["--from", "sqlite-saver://./app.db", "--to", "./threads.db"];
    const graphs = { agent: GRAPH, other: GRAPH };
    await project.put("graph-server.config.json", JSON.stringify({ graphs }));
    const missing = await migrate(...from);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("--graph is required");
    expect(missing.stderr).toContain("the graphs are: agent, other");
    const unknown = await migrate(...from, "--graph", "agnt");
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('graph "agnt" is not configured');
    expect(unknown.stderr).toContain("agent");
    const needless = await migrate("--from", "./a.db", "--to", "./b.db", "--graph", "agent");
    expect(needless.stderr).toContain("--graph is only for --from sqlite-saver://FILE");
    await copied("--graph", "other");
    const { stdout } = await run("threads", "list", "--db", "./threads.db", "--json");
    expect(stdout).toContain('"graph_id": "other"');
  });

  it("a file that SqliteSaver of LangGraph.js did not write is rejected", async () => {
    await copied();
    await project.put("text.db", "no database, but text that is long enough to have a header of a page");
    for (const [name, sql] of [
      ["other.db", "CREATE TABLE checkpoints (id)"],
      [
        "python.db",
        `ATTACH '${file()}' AS app; ${["checkpoints", "writes"].map((table) => `CREATE TABLE ${table} AS SELECT * FROM app.${table};`).join("")} UPDATE checkpoints SET type = 'msgpack'`,
      ],
      [
        "broken.db",
        `ATTACH '${file()}' AS app; ${["checkpoints", "writes"].map((table) => `CREATE TABLE ${table} AS SELECT * FROM app.${table};`).join("")} UPDATE checkpoints SET metadata = '{'`,
      ],
    ] as const) {
      const db = new Database(join(project.dir, name));
      db.exec(sql);
      db.close();
    }
    const refusal = async (from: string, to = "./to.db") => {
      const { code, stderr } = await migrate("--from", from, "--to", to);
      expect(code).not.toBe(0);
      return stderr;
    };
    expect(await refusal("sqlite-saver://./none.db")).toContain(`there is no file ${project.dir}`);
    expect(await refusal("sqlite-saver://./text.db")).toContain("the file is not a SQLite database");
    expect(await refusal("sqlite-saver://./other.db")).toContain("holds no checkpoints of SqliteSaver");
    expect(await refusal("sqlite-saver://./threads.db")).toContain(
      "it is a database of graph-serve: use --from",
    );
    expect(await refusal("sqlite-saver://./python.db")).toContain("LangGraph for Python wrote checkpoint");
    expect(await refusal("sqlite-saver://./broken.db")).toContain("a value cannot be read: checkpoint");
    expect(await refusal("sqlite-saver://")).toContain("sqlite-saver needs the path of a file");
    expect(await refusal("./app.db")).toContain("migrate copy --from sqlite-saver://");
    expect(await refusal("./threads.db", "sqlite-saver://./app.db")).toContain("can only be copied from");
  });
});
