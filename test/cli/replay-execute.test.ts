/** `replay --execute` starts where the original run started, with the answer it received. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { cli, createProject, startCli, type Project } from "./harness.js";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";

const GRAPH = `
import { Annotation, Command, DeltaChannel, interrupt, START, StateGraph } from "@langchain/langgraph";
import { existsSync } from "node:fs";
const State = Annotation.Root({
  topic: Annotation<string>,
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const says = (name) => () => ({ log: [name] });
const asks = (question) => () => ({ log: [question + "=" + interrupt(question)] });
const built = (middle) => middle(new StateGraph(State)
  .addNode("plan", says("planned")).addNode("done", says("done")).addEdge(START, "plan")).compile();

export const one = built((graph) => graph.addNode("ask", asks("colour")).addEdge("plan", "ask").addEdge("ask", "done"));
export const two = built((graph) => graph
  .addNode("ask", () => ({ log: [interrupt("first") + "/" + interrupt("second")] }))
  .addEdge("plan", "ask").addEdge("ask", "done"));
export const both = built((graph) => graph.addNode("left", asks("left")).addNode("right", asks("right"))
  .addEdge("plan", "left").addEdge("plan", "right").addEdge(["left", "right"], "done"));
const inner = new StateGraph(State).addNode("ask", asks("inside")).addNode("then", asks("again"))
  .addEdge(START, "ask").addEdge("ask", "then").compile();
export const nested = built((graph) => graph.addNode("sub", inner).addEdge("plan", "sub").addEdge("sub", "done"));
export const shaky = built((graph) => graph
  .addNode("work", () => {
    if (!existsSync(new URL("mended", import.meta.url))) throw new Error("not mended");
    return { log: ["worked"] };
  })
  .addEdge("plan", "work").addEdge("work", "done"));
export const brittle = built((graph) => graph
  .addNode("ask", () => {
    const answer = interrupt("colour");
    if (!existsSync(new URL("mended", import.meta.url))) throw new Error("not mended");
    return { log: ["colour=" + answer] };
  })
  .addEdge("plan", "ask").addEdge("ask", "done"));
export const steered = built((graph) => graph.addNode("ask", asks("colour")).addNode("side", says("side"))
  .addConditionalEdges("plan", () => "ask", ["ask", "side"]).addEdge("ask", "done"));
export const counts = built((graph) => graph
  .addNode("count", async (_, { store }) => {
    const { value } = (await store.get(["visits"], "all")) ?? { value: { count: 0 } };
    await store.put(["visits"], "all", { count: value.count + 1 });
    return { log: ["visit " + (value.count + 1)] };
  })
  .addEdge("plan", "count").addEdge("count", "done"));
const Deltas = Annotation.Root({
  topic: Annotation<string>,
  log: () => new DeltaChannel((all, writes) => all.concat(...writes), { initialValueFactory: () => [] }),
});
export const delta = new StateGraph(Deltas)
  .addNode("plan", says("planned")).addNode("ask", asks("colour")).addNode("done", says("done"))
  .addEdge(START, "plan").addEdge("plan", "ask").addEdge("ask", "done").compile();
`;
const KEYS = ["counts", "one", "two", "both", "nested", "shaky", "brittle", "steered", "delta"];

interface Values {
  log: string[];
}
interface Outcome {
  thread_id: string;
  status: string;
  values: Values;
  interrupts: { id: string; value: unknown }[];
}
interface Executed {
  thread_id: string;
  from_checkpoint_id: string;
  run: Outcome;
  items: { metadata: { step: number } }[];
  equal?: boolean;
}

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "graph-server.config.json": { graphs: Object.fromEntries(KEYS.map((key) => [key, `./graph.ts:${key}`])) },
  });
});
afterEach(() => project.remove());

async function json<T>(...argv: string[]): Promise<T> {
  const { stdout, stderr } = await cli([...argv, "--json"], { cwd: project.dir });
  const document = JSON.parse(stdout) as T & { error?: unknown; thread_id?: string };
  // A failed run has a thread, a rejected command does not.
  expect(document.thread_id, stdout + stderr).toBeDefined();
  return document;
}

const started = (graph: string) => json<Outcome>("run", graph, "-i", '{"topic":"x"}');
const answered = (thread: string, answer: unknown) =>
  json<Outcome>("run", "--thread", thread, "--resume", JSON.stringify(answer));
const executed = (thread: string, ...argv: string[]) =>
  json<Executed>("replay", thread, "--execute", ...argv);

/** What each command writes is in the file, because it closes the database. */
const database = () => readFile(join(project.dir, ".graph-serve/dev.db"));

describe("the copy", () => {
  const threads = async () => {
    const { stdout } = await cli(["threads", "list", "--json"], { cwd: project.dir });
    return (JSON.parse(stdout) as { items: { thread_id: string }[] }).items.map(({ thread_id }) => thread_id);
  };

  it("is in memory: the storage is not changed, and the run sees its long-term memory", async () => {
    const { thread_id } = await started("counts");
    expect((await started("counts")).values.log).toContain("visit 2");
    const before = await database();
    expect((await executed(thread_id)).run.values.log).toEqual(["planned", "visit 3", "done"]);
    expect((await executed(thread_id, "--compare", "--values", '{"topic":"y"}')).run).toMatchObject({
      values: { topic: "y", log: ["planned", "visit 3", "done"] },
    });
    expect((await database()).equals(before)).toBe(true);
    const { run } = await executed(thread_id, "--keep");
    expect(run.values.log).toContain("visit 3");
    expect((await executed(thread_id)).run.values.log).toContain("visit 4");
  });

  it.each(["one", "shaky"])("is not stored, unless --keep keeps it: %s", async (graph) => {
    const { thread_id } = await started(graph);
    expect(await executed(thread_id)).toMatchObject({ kept: false });
    expect(await threads()).toEqual([thread_id]);
    const { thread_id: copy } = await executed(thread_id, "--keep");
    expect((await threads()).sort()).toEqual([thread_id, copy].sort());
    const { stderr } = await cli(["replay", thread_id, "--execute"], { cwd: project.dir });
    expect(stderr).toContain("not stored (keep it with --keep)");
  });

  it("is not stored if the run cannot start", async () => {
    const { thread_id } = await started("one");
    const argv = ["replay", thread_id, "--execute", "--against", "./graph.ts:none"];
    expect((await cli(argv, { cwd: project.dir })).code).not.toBe(0);
    expect(await threads()).toEqual([thread_id]);
  });
});

describe("a run after an answer", () => {
  it("a delta channel has the writes of earlier checkpoints", async () => {
    const { thread_id } = await started("delta");
    await answered(thread_id, "blue");
    const { run } = await executed(thread_id);
    expect(run.values.log).toEqual(["planned", "colour=blue", "done"]);
  });

  it("the run is repeated from its question with the same answer", async () => {
    const { thread_id } = await started("one");
    await answered(thread_id, "blue");
    const { run, items } = await executed(thread_id);
    expect(run).toMatchObject({ status: "success", values: { log: ["planned", "colour=blue", "done"] } });
    expect(items.map(({ metadata }) => metadata.step)).toEqual([2, 3]);
    expect((await executed(thread_id, "--compare")).equal).toBe(true);
  });

  it("--in-place repeats the run on the same thread", async () => {
    const { thread_id } = await started("one");
    await answered(thread_id, "blue");
    const { run, thread_id: target } = await executed(thread_id, "--in-place");
    expect(target).toBe(thread_id);
    expect(run).toMatchObject({ status: "success", values: { log: ["planned", "colour=blue", "done"] } });
  });

  it("the run from a named checkpoint is repeated with the answer it received", async () => {
    const { thread_id } = await started("one");
    await answered(thread_id, "blue");
    await json("run", "--thread", thread_id, "-i", '{"topic":"y"}');
    await answered(thread_id, "green");
    for (const argv of [[`${thread_id}@1`], [thread_id, "--checkpoint", "1"], [thread_id, "--from", "1"]]) {
      const [thread = "", ...flags] = argv;
      const { run } = await executed(thread, ...flags);
      expect(run.values.log).toEqual(["planned", "colour=blue", "done"]);
    }
    const { run } = await executed(thread_id);
    expect(run.values.log.slice(3)).toEqual(["planned", "colour=green", "done"]);
    const before = await executed(`${thread_id}@0`);
    expect(before.run).toMatchObject({ status: "interrupted", interrupts: [{ value: "colour" }] });
  });

  it("several answers of one node are replayed in order", async () => {
    const { thread_id } = await started("two");
    expect((await answered(thread_id, "a")).status).toBe("interrupted");
    const waiting = await executed(thread_id);
    expect(waiting.run).toMatchObject({ status: "interrupted", interrupts: [{ value: "second" }] });
    await answered(thread_id, "b");
    for (const argv of [[], ["--in-place"]]) {
      const { run } = await executed(thread_id, ...argv);
      expect(run).toMatchObject({ status: "success", values: { log: ["planned", "a/b", "done"] } });
    }
  });

  it("a map of answers reaches each question", async () => {
    const { thread_id, interrupts } = await started("both");
    const answers = Object.fromEntries(interrupts.map(({ id, value }) => [id, `to ${String(value)}`]));
    expect(await answered(thread_id, answers)).toMatchObject({ status: "success" });
    const { run } = await executed(thread_id);
    expect(run).toMatchObject({
      status: "success",
      values: { log: ["planned", "left=to left", "right=to right", "done"] },
    });
  });

  it("questions inside a subgraph are answered again", async () => {
    const { thread_id } = await started("nested");
    await answered(thread_id, "yes");
    await answered(thread_id, "no");
    const { run } = await executed(thread_id);
    expect(run.status).toBe("success");
    expect(run.values.log.slice(-3)).toEqual(["inside=yes", "again=no", "done"]);
  });

  it("an answer received by a failed run is replayed in its retry", async () => {
    const { thread_id } = await started("brittle");
    expect((await answered(thread_id, "blue")).status).toBe("error");
    expect((await json<Outcome>("run", "--thread", thread_id)).status).toBe("error");
    await project.put("mended", "yes");
    expect((await json<Outcome>("run", "--thread", thread_id)).status).toBe("success");
    const { run } = await executed(thread_id);
    expect(run).toMatchObject({ status: "success", values: { log: ["planned", "colour=blue", "done"] } });
  });

  it("a server repeats the run with its answer", async () => {
    const { thread_id } = await started("one");
    await answered(thread_id, "blue");
    const server = startCli(["dev", "-p", "0"], { cwd: project.dir });
    try {
      const [, url = ""] = await server.stderr.until(/at (http:\S+)/);
      const { run } = await executed(thread_id, "--url", url);
      expect(run.values.log).toEqual(["planned", "colour=blue", "done"]);
      const text = await cli(["replay", thread_id, "--execute", "--url", url], { cwd: project.dir });
      expect(text.stderr).toContain("copy deleted (keep it with --keep)");
    } finally {
      server.stop();
      await server.exit;
    }
  });

  it("a server deletes the copy, and keeps the long-term memory that its nodes wrote", async () => {
    const { thread_id } = await started("counts");
    const server = startCli(["dev", "-p", "0"], { cwd: project.dir });
    try {
      const [, url = ""] = await server.stderr.until(/at (http:\S+)/);
      const idsOf = async (path: string) => {
        const answer = await fetch(`${url}${path}`, { method: "POST", body: "{}" });
        return ((await answer.json()) as { thread_id: string }[]).map((one) => one.thread_id);
      };
      expect((await executed(thread_id, "--url", url)).run.values.log).toContain("visit 2");
      expect(await idsOf("/threads/search")).toEqual([thread_id]);
      expect((await executed(thread_id, "--url", url)).run.values.log).toContain("visit 3");
    } finally {
      server.stop();
      await server.exit;
    }
  });
});

describe("a run selected with --run", () => {
  it("the run is repeated with its answer and compared only with its own steps", async () => {
    const { thread_id } = await started("one");
    await answered(thread_id, "blue");
    await json("run", "--thread", thread_id, "-i", '{"topic":"y"}');
    await answered(thread_id, "green");
    const { stdout } = await cli(["runs", "list", thread_id, "--json"], { cwd: project.dir });
    const ids = (JSON.parse(stdout) as { items: { run_id: string }[] }).items.map(({ run_id }) => run_id);
    const again = (id = "") => executed(thread_id, "--run", id, "--compare");
    const [answeredLater, askedLater, answeredFirst, askedFirst] = ids;
    const first = ["planned", "colour=blue", "done"];
    expect(await again(answeredFirst)).toMatchObject({
      equal: true,
      run: { status: "success", values: { log: first } },
    });
    expect(await again(askedFirst)).toMatchObject({ equal: true, run: { values: { log: ["planned"] } } });
    expect(await again(askedLater)).toMatchObject({
      equal: true,
      run: { status: "interrupted", values: { topic: "y", log: [...first, "planned"] } },
    });
    expect((await again(answeredLater)).run.values.log).toEqual([
      ...first,
      "planned",
      "colour=green",
      "done",
    ]);
  });

  it("the run is repeated with its own graph, even if another graph ran on the thread later", async () => {
    const { thread_id } = await started("one");
    const { stdout } = await cli(["runs", "list", thread_id, "--json"], { cwd: project.dir });
    const [run] = (JSON.parse(stdout) as { items: { run_id: string }[] }).items;
    await json("run", "two", "--thread", thread_id, "-i", '{"topic":"y"}');
    expect(await executed(thread_id, "--run", run?.run_id ?? "", "--compare")).toMatchObject({
      equal: true,
      run: { status: "interrupted", interrupts: [{ value: "colour" }] },
    });
  });

  it.each([
    ["--run", "0198c0de"],
    ["--in-place"],
    ["--values", "{}"],
    ["--as-node", "ask"],
    ["--against", "one"],
    ["--compare"],
    ["--exit-code"],
  ])("%s is rejected without --execute", async (...flag) => {
    const refused = await cli(["replay", "0198c0de", ...flag], { cwd: project.dir });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`${flag[0]} requires --execute`);
  });

  it("--run cannot be combined with a checkpoint", async () => {
    const refused = await cli(["replay", "0198c0de@1", "--execute", "--run", "0198c0de"], {
      cwd: project.dir,
    });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--run and a checkpoint cannot be combined");
  });
});

describe("a run without an answer", () => {
  it("a run that continued after a failure is repeated from there", async () => {
    const { thread_id } = await started("shaky");
    await project.put("mended", "yes");
    await json("fork", thread_id, "--branch", "--run");
    const { run, items } = await executed(thread_id);
    expect(run).toMatchObject({ status: "success", values: { log: ["planned", "worked", "done"] } });
    expect(items.map(({ metadata }) => metadata.step)).toEqual([2, 3]);
  });

  it("a run that failed in its first step is repeated from the checkpoint before it", async () => {
    const { thread_id } = await started("shaky");
    await json("fork", thread_id, "--branch", "--run");
    await project.put("mended", "yes");
    const { run, items } = await executed(thread_id);
    expect(run.status).toBe("success");
    expect(items.map(({ metadata }) => metadata.step)).toEqual([2, 3]);
  });

  it("a run that started from written values is repeated from them", async () => {
    const { thread_id } = await started("one");
    await answered(thread_id, "blue");
    await cli(["state", "set", thread_id, "--values", '{"log":["edited"]}', "--as-node", "ask"], {
      cwd: project.dir,
    });
    await json("fork", thread_id, "--branch", "--run");
    const { run, items } = await executed(thread_id);
    expect(run.values.log.slice(-2)).toEqual(["edited", "done"]);
    expect(items).toHaveLength(1);
  });

  it("a run with --goto is repeated", async () => {
    const { thread_id } = await started("steered");
    await json("run", "--thread", thread_id, "--goto", "side");
    const { run } = await executed(thread_id);
    expect(run.values.log).toContain("side");
  });
});
