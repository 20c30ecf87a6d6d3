/** Migrations convert a stored thread when a run next uses it, or leave it exactly as it was. */
import { readFile } from "node:fs/promises";
import { END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { DeadRun } from "../../src/models/dead-run.js";
import { joined, release } from "../fixtures/graphs/releases.js";
import type { TestServer } from "../helpers/app.js";
import { keptStorage, MEMORY, withSqlite } from "../helpers/backends.js";
import { answerOf, crash, deploy, logOf, RUN, stopped, waited } from "../helpers/deploys.js";
import { migrationsFile, versionOf } from "../helpers/migrations.js";
import { command } from "../helpers/thread-events.js";
import { connectHttp } from "../mcp/client.js";

interface State {
  checkpoint: { checkpoint_id: string };
  metadata: { source: string; graph_version?: string; run_id?: string };
  values: Record<string, unknown>;
}

const historyOf = async ({ request }: TestServer, thread: string) =>
  (await request("POST", `/threads/${thread}/history`, { limit: 100 })).body as State[];
const migratedIn = (states: readonly State[]) =>
  states.filter(({ metadata }) => metadata.source === "migrate");

const ANSWER = answerOf("interrupt");
const CHANGED = { status: 409, body: { code: "graph_changed" } };

/** A thread that waits in `ask`, and the next release, which calls the node `question`. */
async function renamed(list: (from: string) => string, settings: object = {}) {
  const storage = await keptStorage(MEMORY);
  const before = release("interrupt", "none");
  const from = await versionOf(before);
  const first = await deploy(storage, before);
  const thread = await stopped(first, "interrupt");
  const migrations = await migrationsFile(list(from));
  const second = await deploy(storage, release("interrupt", "renamed"), { ...settings, migrations });
  return { storage, first, second, thread, from, migrations };
}

const RENAME = (from: string) => `[{ from: "${from}", nodes: { ask: "question" } }]`;

/** `ask` with a state of one key, whose name and type change. */
function keyed(key: "name" | "full_name" | "age") {
  const State = z.object(key === "age" ? { age: z.number() } : { [key]: z.string() });
  return new StateGraph(State)
    .addNode("ask", (state: Record<string, unknown>) => {
      interrupt("sure?");
      return { [key]: key === "age" ? state.age : `${String(state[key])}!` };
    })
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile({ name: "agent" });
}

async function keyedThread(next: "full_name" | "age", state: string) {
  const storage = await keptStorage(MEMORY);
  const first = await deploy(storage, keyed("name"));
  const thread = crypto.randomUUID();
  const body = { assistant_id: "agent", input: { name: "Ada" }, if_not_exists: "create" };
  expect((await waited(first, thread, body)).status).toBe(200);
  const from = await versionOf(keyed("name"));
  const migrations = await migrationsFile(`[\n  {\n    from: "${from}",\n    state: ${state},\n  },\n]`);
  const second = await deploy(storage, keyed(next), { migrations });
  return { first, second, thread, from };
}

describe("a migration that renames a node", () => {
  it("is applied once: later runs do not convert the thread again", async () => {
    const { second, thread } = await renamed(RENAME);
    for (const body of [ANSWER, RUN, ANSWER])
      expect(await waited(second, thread, body)).toMatchObject({ status: 200 });
    const states = await historyOf(second, thread);
    const version = await versionOf(release("interrupt", "renamed"));
    expect(migratedIn(states)).toMatchObject([{ metadata: { graph_version: version } }]);
    expect((await logOf(second, thread)).at(-2)).toBe("question: yes");
  });

  it("leaves the state before it byte for byte, and the earlier release can run from there", async () => {
    const { storage, first, second, thread } = await renamed(RENAME);
    const [head] = await historyOf(first, thread);
    const path = `/threads/${thread}/state/${head?.checkpoint.checkpoint_id}`;
    const before = (await first.request("GET", path)).text;
    expect(await waited(second, thread, ANSWER)).toMatchObject({ status: 200 });
    expect((await first.request("GET", path)).text).toBe(before);
    const undone = await deploy(storage, release("interrupt", "none"));
    const body = { ...ANSWER, checkpoint: head?.checkpoint };
    expect(await waited(undone, thread, body)).toMatchObject({ status: 200 });
    expect(await logOf(undone, thread)).toEqual(["first", "ask: yes", "last"]);
  });

  it("keeps the writer of the checkpoint, so that a rollback of the run deletes both", async () => {
    const { second, thread } = await renamed(RENAME);
    const before = await historyOf(second, thread);
    expect(await waited(second, thread, ANSWER)).toMatchObject({ status: 200 });
    const [migrated] = migratedIn(await historyOf(second, thread));
    expect(migrated?.metadata.run_id).toBe(before[0]?.metadata.run_id);
  });

  it("takes answers to the old id of an interrupt, also with strict_resume", async () => {
    for (const strict_resume of [false, true]) {
      const { first, second, thread } = await renamed(RENAME);
      const { body } = await first.request("GET", `/threads/${thread}/state`);
      const { interrupts } = body as { interrupts: { id: string }[] };
      const resume = { [interrupts[0]?.id ?? ""]: "yes" };
      const answer = { assistant_id: "agent", command: { resume }, strict_resume };
      const answered = await waited(second, thread, answer);
      if (strict_resume) expect(answered.text).toContain("interrupt");
      else expect(await logOf(second, thread)).toEqual(["first", "question: yes", "last"]);
    }
  });

  it("applies to a run from the latest checkpoint, and refuses a run from an older one", async () => {
    const { first, second, thread } = await renamed(RENAME);
    const [head, older] = await historyOf(first, thread);
    const refused = await waited(second, thread, { ...ANSWER, checkpoint: older?.checkpoint });
    expect(refused).toMatchObject(CHANGED);
    expect(refused.text).toContain("is older than the migration of the thread");
    expect(migratedIn(await historyOf(second, thread))).toEqual([]);
    expect(await waited(second, thread, { ...ANSWER, checkpoint: head?.checkpoint })).toMatchObject({
      status: 200,
    });
    expect(await logOf(second, thread)).toEqual(["first", "question: yes", "last"]);
  });

  it("a chain of migrations leads through the versions between", async () => {
    const { second, thread } = await renamed(
      (from) => `[
        { from: "0123", nodes: { asked: "question" } },
        { from: "${from}", to: "0123", nodes: { ask: "asked" } },
      ]`,
    );
    expect(await waited(second, thread, ANSWER)).toMatchObject({ status: 200 });
    const states = await historyOf(second, thread);
    expect(migratedIn(states)).toHaveLength(1);
    expect(await logOf(second, thread)).toEqual(["first", "question: yes", "last"]);
  });

  it.each([
    [
      "ends at another version",
      (from: string) => `[{ from: "${from}", to: "0123" }]`,
      'leads to version \\"0123',
    ],
    [
      "is ambiguous",
      (from: string) => `[{ from: "${from}" },\n{ from: "${from.slice(0, 5)}" }]`,
      "migrations.ts:2) both convert version",
    ],
    [
      "names a node that is gone",
      (from: string) => `[{ from: "${from}", nodes: { ask: "asks" } }]`,
      'leaves the thread in node \\"asks\\", which is gone',
    ],
  ])("if it %s, the run is refused and the thread is unchanged", async (_, list, message) => {
    const { second, thread } = await renamed(list);
    const before = (await second.request("POST", `/threads/${thread}/history`, {})).text;
    const refused = await waited(second, thread, ANSWER);
    expect(refused).toMatchObject(CHANGED);
    expect(refused.text).toContain(message);
    expect(refused.text).toContain("migrations.ts:1");
    expect((await second.request("POST", `/threads/${thread}/history`, {})).text).toBe(before);
  });

  it.each([
    ["another graph", (from: string) => `[{ graph: "other", from: "${from}", nodes: { ask: "question" } }]`],
    ["another version", () => `[{ from: ["0123", "none"], nodes: { ask: "question" } }]`],
  ])("of %s does not apply", async (_, list) => {
    const { second, thread } = await renamed(list);
    const refused = await waited(second, thread, ANSWER);
    expect(refused).toMatchObject(CHANGED);
    expect(refused.text).toContain('waits in node \\"ask\\"');
  });

  it("new input on a thread whose node was removed is accepted", async () => {
    const { second, thread } = await renamed((from) => `[{ from: "${from}", nodes: { ask: "gone" } }]`);
    expect(await waited(second, thread, RUN)).toMatchObject({ status: 200 });
  });

  it("renames the starts and the end of an edge with several starts", async () => {
    const storage = await keptStorage(MEMORY);
    const first = await deploy(storage, joined("none"));
    const thread = await stopped(first, "interrupt");
    const from = await versionOf(joined("none"));
    const nodes = { left: "west", right: "east", join: "meet" };
    const migrations = await migrationsFile(JSON.stringify([{ from, nodes }]));
    const second = await deploy(storage, joined("renamed"), { migrations });
    expect(await waited(second, thread, ANSWER)).toMatchObject({ status: 200 });
    expect(await logOf(second, thread)).toEqual(["east: yes", "third", "left", "meet"]);
  });

  it("answers over the event streaming protocol and the Model Context Protocol reach the renamed node", async () => {
    const one = await renamed(RENAME, { mcp: true });
    const start = await command(one.second, one.thread, "run.start", { assistant_id: "agent", input: "yes" });
    expect(start).toMatchObject({ type: "success" });
    await expect.poll(() => logOf(one.second, one.thread)).toContain("last");
    const two = await renamed(RENAME, { mcp: true });
    const { client } = await connectHttp(two.second.url);
    await client.callTool({ name: "resume_thread", arguments: { thread_id: two.thread, answer: "yes" } });
    for (const { second, thread } of [one, two])
      expect(await logOf(second, thread)).toEqual(["first", "question: yes", "last"]);
  });
});

it("the example of docs/deploys.md renames the node and the key", async () => {
  const example =
    /## Migrations[^]*?```ts\n([^]*?)```/.exec(await readFile("docs/deploys.md", "utf8"))?.[1] ?? "";
  const graph = (ask: string, key: string) =>
    new StateGraph(z.object({ [key]: z.string() }))
      .addNode(ask, (state) => ({ [key]: `${String(interrupt("sure?"))}, ${String(state[key])}` }))
      .addEdge(START, ask as "__start__")
      .addEdge(ask as "__start__", END)
      .compile({ name: "agent" });
  const storage = await keptStorage(MEMORY);
  const first = await deploy(storage, graph("ask", "name"));
  const thread = crypto.randomUUID();
  await waited(first, thread, { assistant_id: "agent", input: { name: "Ada" }, if_not_exists: "create" });
  const list = example
    .replace("ed9be1ce9ea1", await versionOf(graph("ask", "name")))
    .replace("export default", "");
  const migrations = await migrationsFile(list.trim().replace(/;$/, ""));
  const second = await deploy(storage, graph("question", "full_name"), { migrations });
  expect(await waited(second, thread, ANSWER)).toMatchObject({
    status: 200,
    body: { full_name: "yes, Ada" },
  });
});

describe("a migration of the state", () => {
  const RENAMES_KEY = "({ name, ...others }) => ({ ...others, full_name: name })";

  it("converts the state before the run, and before a state edit", async () => {
    const { second, thread } = await keyedThread("full_name", RENAMES_KEY);
    expect(await waited(second, thread, ANSWER)).toMatchObject({ status: 200, body: { full_name: "Ada!" } });
    const other = await keyedThread("full_name", RENAMES_KEY);
    const path = `/threads/${other.thread}/state`;
    expect((await other.second.request("POST", path, { values: {}, as_node: "ask" })).status).toBe(200);
    expect((await other.second.request("GET", path)).body).toMatchObject({ values: { full_name: "Ada" } });
  });

  it.each([
    ["throws", '() => { throw new Error("no idea"); }', "`state` failed at", "migrations.ts:4: no idea"],
    [
      "returns a value that the schema rejects",
      "({ name }) => ({ age: name })",
      '\\"age\\" must be number',
      "",
    ],
    ["keeps a key that is gone", "(values) => values", 'the state key \\"name\\"', ""],
    ["returns no object", "() => 3", "does not return an object", ""],
  ])(
    "if the function %s, the run is refused and the thread is unchanged",
    async (_, state, message, place) => {
      const { second, thread, from } = await keyedThread("age", state);
      const before = (await second.request("POST", `/threads/${thread}/history`, {})).text;
      const refused = await waited(second, thread, ANSWER);
      expect(refused).toMatchObject(CHANGED);
      for (const part of [thread, `migration \\"${from}\\"`, "migrations.ts:3)", message, place])
        expect(refused.text).toContain(part);
      expect((await second.request("POST", `/threads/${thread}/history`, {})).text).toBe(before);
    },
  );

  it("does not convert values inside tasks that a Send has started", async () => {
    const storage = await keptStorage(MEMORY);
    const first = await deploy(storage, release("send", "none"));
    const thread = await stopped(first, "send");
    const from = await versionOf(release("send", "none"));
    const list = `[{ from: "${from}", nodes: { ask: "question" }, state: (values) => values }]`;
    const second = await deploy(storage, release("send", "renamed"), {
      migrations: await migrationsFile(list),
    });
    const refused = await waited(second, thread, ANSWER);
    expect(refused).toMatchObject(CHANGED);
    expect(refused.text).toContain("a Send has started");
  });
});

withSqlite("a run that died because its node was renamed", (backend) => {
  it("can be redriven by a release with a migration", async () => {
    const storage = await keptStorage(backend());
    const before = release("crash", "none");
    const first = await deploy(storage, before);
    const thread = await stopped(first, "crash");
    await first.service.close(0);
    const run = await crash(storage, thread, { status: "running", kwargs: RUN });
    const second = await deploy(storage, release("crash", "renamed"));
    await second.request("GET", `/threads/${thread}/runs/${run}/join`);
    expect((await second.request("GET", "/runs/dead")).body as DeadRun[]).toMatchObject([{ run_id: run }]);
    await second.service.close(0);
    const migrations = await migrationsFile(RENAME(await versionOf(before)));
    const third = await deploy(storage, release("crash", "renamed"), { migrations });
    expect((await third.request("POST", `/threads/${thread}/runs/${run}/redrive`)).status).toBe(200);
    await third.request("GET", `/threads/${thread}/runs/${run}/join`);
    expect(await logOf(third, thread)).toEqual(["first", "question", "last"]);
  });
});

describe("the file of migrations", () => {
  it.each([
    ['{ from: "0123" }', "no list of migrations"],
    ['[{ from: "012" }]', "item 1"],
    ["[{}]", "`from` must be a version"],
    ['[{ from: "0123" }, { from: "none", node: {} }]', "item 2 of"],
    ['[{ from: "0123", nodes: { ask: 3 } }]', "`nodes` must map"],
    ['[{ from: "0123", state: {} }]', "`state` must be a function"],
    ['[{ from: "0123", to: "x" }]', "`to` must be a version"],
  ])("%s is refused at the start of the server", async (list, message) => {
    const migrations = await migrationsFile(list);
    const storage = await keptStorage(MEMORY);
    await expect(deploy(storage, release("interrupt", "none"), { migrations })).rejects.toThrow(message);
  });

  it("is named if it does not exist", async () => {
    const storage = await keptStorage(MEMORY);
    const opened = deploy(storage, release("interrupt", "none"), { migrations: "./gone.ts" });
    await expect(opened).rejects.toThrow("migrations: file ./gone.ts not found");
  });
});
