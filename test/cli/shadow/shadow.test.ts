/** What a deploy would do to stored runs is shown before it is made, and the storage is not changed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { JudgedResult as ShadowResult } from "../../../src/cli/shadow/report.js";
import { withOwnSchema } from "../../helpers/postgres.js";
import { cli, createProject, startCli, type Project } from "../harness.js";
import { describeSqlite as describe, itSqlite as it } from "../../helpers/with-sqlite.js";

/** Source of a graph: asks if the order is large, ships it, and greets. `changes` replaces parts of the text. */
function graphOf(changes: Record<string, string> = {}): string {
  const text = `
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import { randomUUID } from "node:crypto";
const State = Annotation.Root({
  name: Annotation, amount: Annotation, at: Annotation, dice: Annotation,
  log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
export const graph = new StateGraph(State)
  .addNode("plan", ({ amount }) => ({ log: ["planned " + amount], at: new Date().toISOString(), dice: 0 }))
  .addNode("ask", ({ amount }) => ({ log: ["answer " + interrupt("pay " + amount + "?")] }))
  .addNode("ship", ({ name }) => ({ log: ["shipped to " + name + " as " + randomUUID()] }))
  .addNode("gift", () => ({ log: ["wrapped"] }))
  .addNode("done", ({ name }) => ({ log: ["Thanks, " + name] }))
  .addEdge(START, "plan")
  .addConditionalEdges("plan", ({ amount }) => (amount > 10 ? "ask" : "ship"), ["ask", "ship", "gift"])
  .addEdge("ask", "ship")
  .addEdge("gift", "ship")
  .addEdge("ship", "done")
  .compile();
`;
  return Object.entries(changes).reduce((source, [from, to]) => source.replace(from, to), text);
}

let project: Project;
const run = (...argv: string[]) => cli(argv, { cwd: project.dir });

async function started(input: object, ...argv: string[]): Promise<string> {
  const { stdout, stderr } = await run("run", ...argv, "--input", JSON.stringify(input), "--json");
  const { thread_id } = JSON.parse(stdout) as { thread_id?: string };
  expect(thread_id, stdout + stderr).toBeDefined();
  return thread_id ?? "";
}

const answered = (thread: string, answer: unknown) =>
  run("run", "--thread", thread, "--resume", JSON.stringify(answer), "--json");

async function shadowed(...argv: string[]) {
  const { code, stdout, stderr } = await run("shadow", "--json", ...argv);
  expect(stdout, stderr).not.toBe("");
  const { items } = JSON.parse(stdout) as { items: ShadowResult[] };
  return { code, stderr, items, of: (id: string) => items.find(({ thread_id }) => thread_id === id) };
}

beforeEach(async () => {
  project = await createProject({
    "graph.ts": graphOf(),
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
});
afterEach(() => project.remove());

describe("shadow", () => {
  it("all runs of an unchanged graph are the same, twice, and the storage is not changed", async () => {
    await started({ name: "Ada", amount: 1 });
    const asked = await started({ name: "Ben", amount: 20 });
    await answered(asked, "yes");
    await started({ name: "Cem", amount: 30 });
    const again = await started({ name: "Dan", amount: 2 });
    await started({ name: "Dan", amount: 40 }, "--thread", again);
    await answered(again, "no");
    const database = join(project.dir, ".graph-serve/dev.db");
    const before = await readFile(database);
    for (let time = 1; time <= 2; time += 1) {
      const { items, code, stderr } = await shadowed("--ci");
      expect(items.map(({ outcome, reason, difference }) => [outcome, reason, difference])).toEqual(
        items.map(() => ["same", null, null]),
      );
      expect(items).toHaveLength(5);
      expect(stderr).toContain("5 same");
      expect(code).toBe(0);
    }
    expect((await readFile(database)).equals(before)).toBe(true);
  });

  it("differences in words, path and status are distinguished", async () => {
    const small = await started({ name: "Ada", amount: 1 });
    const large = await started({ name: "Ben", amount: 20 });
    await answered(large, "yes");
    const two = await started({ name: "Cem", amount: 7 });
    await project.put(
      "new.ts",
      graphOf({ '"Thanks, " + name': 'name === "Cem" ? "Bye" : "Thanks, " + name' }),
    );
    const words = await shadowed("--against", "./new.ts:graph");
    expect(words.of(small)?.outcome).toBe("same");
    expect(words.of(two)).toMatchObject({
      outcome: "words",
      difference: { place: "log", before: '"Thanks, Cem"', now: '"Bye"' },
    });
    await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
    const path = await shadowed("--against", "./new.ts:graph", "--ci");
    expect(path.items.filter(({ outcome }) => outcome !== "same")).toMatchObject([
      { thread_id: large, outcome: "path", difference: { place: "after plan", before: "ask", now: "gift" } },
    ]);
    expect(path.code).toBe(1);
    expect(path.stderr).toContain("2 same, 1 takes another path");
    const failing =
      '.addNode("ship", ({ name }) => { if (name === "Ada") throw new Error("no stock"); return ({';
    await project.put(
      "new.ts",
      graphOf({ '.addNode("ship", ({ name }) => ({': failing, "randomUUID()] }))": "randomUUID()] }); })" }),
    );
    const status = await shadowed("--against", "./new.ts:graph");
    expect(status.of(small)).toMatchObject({ outcome: "status", stored_status: "success", status: "error" });
    expect(status.of(small)?.difference?.now).toContain("no stock");
    expect(status.stderr).toContain("2 same, 1 fails");
    expect(status.code).toBe(0);
  });

  it("a result that the unchanged graph does not reproduce either is not a difference", async () => {
    const random = { "dice: 0": "dice: crypto.getRandomValues(new Uint32Array(1))[0]" };
    await project.put("graph.ts", graphOf(random));
    await started({ name: "Ada", amount: 1 });
    await project.put("new.ts", graphOf(random));
    expect((await shadowed("--against", "./new.ts:graph", "--ci")).items).toMatchObject([
      { outcome: "unstable" },
    ]);
    expect((await shadowed("--ci")).items).toMatchObject([{ outcome: "unstable" }]);
    await project.put("graph.ts", graphOf({ "dice: 0": "dice: Math.random()" }));
    await project.put("new.ts", graphOf({ "dice: 0": "dice: Math.random()", wrapped: "packed" }));
    const { items } = await shadowed("--against", "./new.ts:graph", "--ci");
    expect(items).toMatchObject([{ outcome: "same", compared_with: "unchanged" }]);
  });

  it("accepted differences are not counted, others of the same run are", async () => {
    await started({ name: "Ada", amount: 20 });
    await started({ name: "Ben", amount: 30 });
    await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
    const written = await shadowed("--against", "./new.ts:graph", "--ci", "--accept", "base.json");
    expect(written.code).toBe(1);
    expect(written.stderr).toContain("wrote base.json: 1 difference to accept");
    expect(JSON.parse(await readFile(join(project.dir, "base.json"), "utf8"))).toMatchObject({
      differences: [{ graph: "agent", outcome: "path", place: "after plan", before: "ask", now: "gift" }],
    });
    await started({ name: "Cem", amount: 40 });
    const again = await shadowed("--against", "./new.ts:graph", "--ci", "--baseline", "base.json");
    expect(again.items.map(({ outcome, accepted }) => [outcome, accepted])).toEqual(
      again.items.map(() => ["path", true]),
    );
    expect(again.stderr).toContain("3 accepted");
    expect(again.code).toBe(0);
    await project.put(
      "new.ts",
      graphOf({ '? "ask"': '? "done"', '["ask", "ship", "gift"]': '["ask", "ship", "gift", "done"]' }),
    );
    const other = await shadowed("--against", "./new.ts:graph", "--ci", "--baseline", "base.json");
    expect(other.stderr).toContain("3 take another path");
    expect(other.code).toBe(1);
    await project.put("base.json", "{}");
    const broken = await run("shadow", "--baseline", "base.json");
    expect(broken).toMatchObject({ code: 2, stdout: "" });
    expect(broken.stderr).toContain("not a baseline of this version");
  });

  it("a sample is the same in each call", async () => {
    for (const amount of [1, 2, 3, 4]) await started({ name: "Ada", amount });
    const ids = (items: ShadowResult[]) => items.map(({ thread_id }) => thread_id);
    const first = ids((await shadowed("--sample", "2")).items);
    expect(first).toHaveLength(2);
    expect(ids((await shadowed("--sample", "2")).items)).toEqual(first);
    expect((await shadowed("--since", "1h")).items).toHaveLength(4);
    const none = await run("shadow", "--since", "2100-01-01");
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toContain("no runs found");
  });

  it("answers by interrupt id reach the nodes that asked", async () => {
    const both = `
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const asks = (name) => () => ({ log: [name + "=" + interrupt(name)] });
export const graph = new StateGraph(State).addNode("left", asks("left")).addNode("right", asks("right"))
  .addEdge(START, "left").addEdge(START, "right").compile();
`;
    await project.put("graph.ts", both);
    const { stdout } = await run("run", "--input", '{"log":["in"]}', "--json");
    const asked = JSON.parse(stdout) as { thread_id: string; interrupts: { id: string; value: string }[] };
    const answers = Object.fromEntries(asked.interrupts.map(({ id, value }) => [id, `to ${value}`]));
    await answered(asked.thread_id, answers);
    expect((await shadowed()).items).toMatchObject([{ outcome: "same", stored_status: "success" }]);
  });

  it("runs of a server are repeated in this process", async () => {
    const dev = startCli(["dev", "--no-reload", "-p", "0", "--db", "memory"], { cwd: project.dir });
    try {
      const [, url = ""] = await dev.stderr.until(/(http:\/\/127\.0\.0\.1:\d+)/);
      const thread = await started({ name: "Ada", amount: 20 }, "--url", url);
      await run("run", "--url", url, "--thread", thread, "--resume", '"yes"');
      await started({ name: "Ada", amount: 2 }, "--url", url, "--thread", thread);
      const { items } = await shadowed("--url", url, "--ci");
      expect(items).toMatchObject([
        { outcome: "same", run_ids: [expect.any(String), expect.any(String)] },
        { outcome: "same", run_ids: [expect.any(String)] },
      ]);
      await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
      const changed = await shadowed("--url", url, "--against", "./new.ts:graph");
      expect(changed.items.map(({ outcome }) => outcome)).toEqual(["path", "same"]);
    } finally {
      dev.stop();
      await dev.exit;
    }
  });

  it("a JUnit report has a failure for each difference", async () => {
    const small = await started({ name: "Ada", amount: 1 });
    await started({ name: "Ben", amount: 20 });
    await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
    await run("shadow", "--against", "./new.ts:graph", "--junit", "shadow.xml");
    const xml = await readFile(join(project.dir, "shadow.xml"), "utf8");
    expect(xml).toContain('<testsuites tests="2" failures="1" skipped="0">');
    expect(xml).toContain(small);
    expect(xml).toContain('type="path"');
  });

  it.each(["--junit", "--html"])(
    "a file of %s that cannot be written is refused before any run",
    async (flag) => {
      await started({ name: "Ada", amount: 1 });
      await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
      const shadow = await run("shadow", "--against", "./new.ts:graph", flag, ".");
      expect(shadow).toMatchObject({ code: 2, stdout: "" });
      expect(shadow.stderr).toContain("fix  name a file, not a folder");
      await run("shadow", "--against", "./new.ts:graph", flag, "new folder/report");
      expect(await readFile(join(project.dir, "new folder/report"), "utf8")).toMatch(/^<(\?xml|!doctype)/);
    },
  );

  it("exported threads are a source, and a page shows all results", async () => {
    const small = await started({ name: "Ada", amount: 1 });
    const large = await started({ name: "<Ben>", amount: 20 });
    await answered(large, "yes");
    for (const id of [small, large]) await run("export", id, "--out", `${id}.json`);
    await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
    const elsewhere = await createProject({
      "new.ts": await readFile(join(project.dir, "new.ts"), "utf8"),
      [`${small}.json`]: await readFile(join(project.dir, `${small}.json`), "utf8"),
      [`${large}.json`]: await readFile(join(project.dir, `${large}.json`), "utf8"),
    });
    try {
      const files = [small, large].flatMap((id) => ["--file", `${id}.json`]);
      const { stdout, code, stderr } = await cli(
        [
          "shadow",
          ...files,
          "--against",
          "./new.ts:graph",
          "--graph",
          "agent",
          "--json",
          "--ci",
          "--html",
          "shadow.html",
        ],
        { cwd: elsewhere.dir },
      );
      const { items } = JSON.parse(stdout) as { items: ShadowResult[] };
      const outcomes = items.map(({ thread_id, outcome }) => [thread_id, outcome]);
      expect(outcomes.sort()).toEqual(
        [
          [small, "same"],
          [large, "path"],
        ].sort(),
      );
      expect(code).toBe(1);
      const page = await readFile(join(elsewhere.dir, "shadow.html"), "utf8");
      expect(stderr).toContain("wrote shadow.html\n");
      expect(stderr).toContain("1 same, 1 takes another path");
      for (const text of ["1 same, 1 takes another path", small, large, "after plan: ask -&#62; gift"])
        expect(page).toContain(text);
      expect(page.indexOf("<b>path</b>")).toBeLessThan(page.indexOf("<b>same</b>"));
      expect(page).not.toMatch(/<script|src=|href=|https?:/);
      const argv = ["shadow", "--file", "new.ts", "--against", "./new.ts:graph", "--graph", "agent"];
      const broken = await cli(argv, { cwd: elsewhere.dir });
      expect(broken.stderr).toContain("new.ts cannot be imported");
    } finally {
      await elsewhere.remove();
    }
  });

  it.each([
    [["--against", "./missing.ts"], "missing.ts"],
    [["--graph", "other"], "--graph other is not a configured graph"],
    [["--sample", "none"], "--sample"],
  ])("%j is refused", async (argv, text) => {
    await started({ name: "Ada", amount: 1 });
    const { code, stderr } = await run("shadow", ...argv);
    expect(code).toBeGreaterThanOrEqual(2);
    expect(stderr).toContain(text);
  });
});

describe("runs rerun", () => {
  it("failed runs are repeated on the graph of now", async () => {
    const broken = graphOf({ 'log: ["planned " + amount]': "log: [amount.toFixed(0)]" });
    await project.put("graph.ts", broken);
    const text = await started({ name: "Ada", amount: "one" });
    const missing = await started({ name: "Ben" });
    await started({ name: "Cem", amount: 1 });
    await project.put(
      "graph.ts",
      broken.replace("amount.toFixed(0)", '["one"].includes(amount) ? "1" : amount.toFixed(0)'),
    );
    const database = join(project.dir, ".graph-serve/dev.db");
    const before = await readFile(database);
    const { code, stdout, stderr } = await run("runs", "rerun", "--status", "error", "--json");
    const { items } = JSON.parse(stdout) as { items: ShadowResult[] };
    expect(items).toHaveLength(2);
    expect(items.find(({ thread_id }) => thread_id === text)).toMatchObject({
      ...{ outcome: "status", stored_status: "error", status: "success" },
    });
    expect(items.find(({ thread_id }) => thread_id === missing)).toMatchObject({
      outcome: "same",
      status: "error",
    });
    expect(stderr).toContain("1 now succeeds, 1 still fails");
    expect(code).toBe(1);
    expect((await readFile(database)).equals(before)).toBe(true);
    await project.put("graph.ts", graphOf());
    const fixed = await run("runs", "rerun", "--since", "1h");
    expect(fixed.stderr).toContain("2 now succeed");
    expect(fixed.code).toBe(0);
  });

  it.each(["pending", "running", "timeout"])(
    "the status %s, of runs it cannot repeat, is refused",
    async (status) => {
      const { code, stderr } = await run("runs", "rerun", "--status", status);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/success, error,? (or )?interrupted/)]);
    },
  );
});

withOwnSchema("shadow on postgres", (postgres) => {
  it("runs of an unchanged graph are the same, and one changed edge affects exactly its threads", async () => {
    const { max_queued_runs: _, ...settings } = postgres.options();
    await project.put("graph-server.config.json", { ...settings, graphs: { agent: "./graph.ts:graph" } });
    const small = await started({ name: "Ada", amount: 1 });
    const large = await started({ name: "Ben", amount: 20 });
    await answered(large, "yes");
    const rows = () =>
      postgres.sql(`SELECT * FROM ${postgres.schema}.checkpoints ORDER BY checkpoint_id`, []);
    const before = await rows();
    expect(before).not.toEqual([]);
    expect((await shadowed("--ci")).items.map(({ outcome }) => outcome)).toEqual(["same", "same"]);
    await project.put("new.ts", graphOf({ '? "ask"': '? "gift"' }));
    const { of } = await shadowed("--against", "./new.ts:graph");
    expect([of(small)?.outcome, of(large)?.outcome]).toEqual(["same", "path"]);
    expect(await rows()).toEqual(before);
  });
});
