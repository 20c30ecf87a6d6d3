/** The same times, random numbers and UUIDs in every execution, only inside nodes and only if it is asked for. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createProject, type Project } from "../cli/harness.js";
import { graph as custom } from "../fixtures/graphs/custom.js";
import { serve } from "../helpers/app.js";
import { openTestService } from "../helpers/service.js";
import { itSqlite } from "../helpers/with-sqlite.js";

const graphOf = (extra = "") => `
import { randomUUID } from "node:crypto";
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";

const draw = (state) => ({
  drawn: [[Date.now(), new Date().toISOString(), new Date(5).getTime(), new Date() instanceof Date,
    Math.random(), crypto.randomUUID(), randomUUID()]],
});
export const graph = new StateGraph(Annotation.Root({
  drawn: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
}))
  .addNode("first", ${extra === "" ? "draw" : `async () => { ${extra} return draw(); }`})
  .addNode("item", draw)
  .addEdge(START, "first")
  .addConditionalEdges("first", () => [new Send("item", {}), new Send("item", {})])
  .addEdge("item", END)
  .compile();
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({ "graph.ts": graphOf() });
});
afterEach(() => project.remove());

type Drawn = [number, string, number, boolean, number, string, string];

async function drawn(...flags: string[]): Promise<Drawn[]> {
  const { stdout, stderr } = await cli(
    ["run", "./graph.ts", "-i", "{}", "--db", "memory", "--json", ...flags],
    {
      cwd: project.dir,
    },
  );
  expect(stderr).not.toContain("error");
  return (JSON.parse(stdout) as { values: { drawn: Drawn[] } }).values.drawn;
}

describe("deterministic mode", () => {
  it("gives nodes the same values in every execution with the same seed, and parallel nodes different ones", async () => {
    const [random, randomUUID, date] = [Math.random, crypto.randomUUID.bind(crypto), Date];
    const once = await drawn("--deterministic");
    expect(await drawn("--deterministic")).toEqual(once);
    expect(once).toHaveLength(3);
    for (const [now, text, five, isDate, number, ...ids] of once) {
      expect([now, text, five, isDate]).toEqual([Date.UTC(2025, 0, 1), "2025-01-01T00:00:00.000Z", 5, true]);
      expect(number).toBeGreaterThanOrEqual(0);
      expect(number).toBeLessThan(1);
      for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    }
    expect(new Set(once.flatMap((each) => each.slice(4))).size).toBe(9);
    expect(await drawn("--deterministic", "other")).not.toEqual(once);
    expect([Math.random, Date]).toEqual([random, date]);
    expect(randomUUID()).not.toBe(crypto.randomUUID());
  });

  itSqlite("is off by default, and does not change the times of the server", async () => {
    const started = Date.now();
    const [first] = await drawn();
    expect(first?.[0]).toBeGreaterThanOrEqual(started);
    const { stdout } = await cli(["run", "./graph.ts", "-i", "{}", "--deterministic", "--json"], {
      cwd: project.dir,
    });
    const { thread_id } = JSON.parse(stdout) as { thread_id: string };
    const shown = await cli(["inspect", "thread", thread_id, "--json"], { cwd: project.dir });
    const { thread, runs } = JSON.parse(shown.stdout) as {
      thread: { updated_at: string };
      runs: { created_at: string; updated_at: string }[];
    };
    expect(runs).toHaveLength(1);
    for (const time of [thread.updated_at, ...runs.flatMap((run) => [run.created_at, run.updated_at])])
      expect(Date.parse(time)).toBeGreaterThanOrEqual(started);
  });

  it("lets a loop that waits for a time end", async () => {
    await project.put("graph.ts", graphOf("const end = Date.now() + 20; while (Date.now() < end);"));
    expect(await drawn("--deterministic")).toHaveLength(3);
  });

  it("is refused for runs of a server", async () => {
    const { code, stderr } = await cli(
      ["run", "--url", "http://127.0.0.1:9", "--thread", crypto.randomUUID(), "-i", "{}", "--deterministic"],
      { cwd: project.dir },
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining("--deterministic works only") as string]);
  });

  it("is an option of cases, so that their snapshots can contain random values", async () => {
    const cases = (flag: string) =>
      `graph: ./graph.ts\ncases:\n  - name: draws\n${flag}    input: {}\n    expect: { snapshot: true }\n`;
    const test = () => cli(["test", "--concurrency", "2"], { cwd: project.dir });
    await project.put("a.graph.yaml", cases("    deterministic: true\n"));
    expect((await test()).code).toBe(0);
    const snapshot = await readFile(join(project.dir, "a.graph.yaml.snap"), "utf8");
    expect(await test()).toMatchObject({ code: 0 });
    await project.put("a.graph.yaml", cases(""));
    expect((await test()).code).toBe(1);
    expect(snapshot).toContain("0.");
  });

  it("is ignored with a warning for the graphs of a server", async () => {
    const one = "graph: agent\ncases:\n  - name: draws\n    deterministic: true\n    input: {}\n";
    await project.put("b.graph.yaml", one);
    const { url } = await serve(await openTestService({ graphs: { agent: custom } }));
    const { stderr } = await cli(["test", "b.graph.yaml", "--url", url], { cwd: project.dir });
    expect(stderr).toContain(
      "deterministic is ignored: the clock and the random numbers are those of the server",
    );
  });
});
