/** Commands show the steps of subgraphs under the node that ran them, and `--ns` takes the name of that node. */
import { afterAll, beforeAll, expect } from "vitest";
import { openService } from "../../src/service/open.js";
import { serve } from "../helpers/app.js";
import { cli, createProject, type CliOptions, type Project } from "./harness.js";
import { itSqlite as it } from "../helpers/with-sqlite.js";

/** `pricing` runs `lookup`, and then the subgraph `tax`, which asks a question above 100 and fails above 1000. */
const GRAPH = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ total: Annotation<number>, rate: Annotation<number> });
const tax = new StateGraph(State)
  .addNode("apply", ({ total }) => {
    if (total > 1000) throw new RangeError("no rate above 1000");
    return { rate: total > 100 ? Number(interrupt("which rate?")) : 19 };
  })
  .addEdge(START, "apply")
  .addEdge("apply", END)
  .compile();
const pricing = new StateGraph(State)
  .addNode("lookup", ({ total }) => ({ total: total + 1 }))
  .addNode("tax", tax)
  .addEdge(START, "lookup")
  .addEdge("lookup", "tax")
  .addEdge("tax", END)
  .compile();
export const graph = new StateGraph(State)
  .addNode("pricing", pricing)
  .addNode("done", () => ({}))
  .addEdge(START, "pricing")
  .addEdge("pricing", "done")
  .addEdge("done", END)
  .compile();
`;

let project: Project;
let thread: string;
let asking: string;
let failed: string;
let runId: string;

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: project.dir, ...options });
const plain = (text: string) => text.replace(/\d+ ms/g, "N ms").replace(/[\da-f]{8}-[-\da-f]{27}/g, "ID");

beforeAll(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
  const start = async (total: number) =>
    JSON.parse((await run(["run", "--input", `{"total":${total}}`, "--json"])).stdout) as {
      thread_id: string;
      run_id: string;
    };
  ({ thread_id: thread, run_id: runId } = await start(1));
  ({ thread_id: asking } = await start(500));
  ({ thread_id: failed } = await start(5000));
});
afterAll(() => project.remove());

it("history indents the steps of subgraphs under the step of their node", async () => {
  const { stdout } = await run(["history", thread, "--oneline"]);
  expect(plain(stdout).split("\n")).toEqual([
    "ID step 2  loop  ran done  N ms",
    "ID step 1  loop  ran pricing  changed total, rate  N ms  next done",
    "  pricing:ID",
    "    step 2  ran tax  changed rate  N ms",
    "    tax:ID",
    "      step 1  ran apply  changed rate  N ms",
    "  pricing:ID",
    "    step 1  ran lookup  changed total  N ms  next tax",
    "ID step 0  loop  changed total  N ms  next pricing",
    "ID step -1  input",
    "",
  ]);
});

it("history --reverse shows them in the order of execution", async () => {
  const { stdout } = await run(["history", thread, "--reverse", "--oneline"]);
  const nodes = [...stdout.matchAll(/^ *.*ran (\w+)/gm)].map(([, node]) => node);
  expect(nodes).toEqual(["pricing", "lookup", "tax", "apply", "done"]);
});

it("history draws the branches beside them on a terminal", async () => {
  const { stdout } = await run(["history", thread], { isTTY: true, env: { NO_COLOR: "1" } });
  expect(stdout).toMatch(/^[|│] {3}pricing:[\da-f]{8}-[\da-f]{4}\n[|│] {5}step 2 {2}ran tax/m);
});

it("the steps of an interrupted subgraph are shown under the checkpoint that it started from", async () => {
  const { stdout } = await run(["history", asking, "--oneline"]);
  expect(plain(stdout)).toMatch(
    /step 0 {2}loop.*next pricing {2}asked a question\n {2}pricing:ID\n {4}step 1 {2}ran lookup.*asked a question\n {4}tax:ID\n {6}step 0 .*next apply {2}asked a question\n/,
  );
  const replayed = await run(["replay", asking]);
  expect(plain(replayed.stdout)).toMatch(/ {2}step 1 {2}pricing › lookup[^]*waiting for "which rate\?"/);
});

it("inspect run shows them under the node, and --json with their namespaces", async () => {
  const { stdout } = await run(["inspect", "run", runId, "--thread", thread]);
  const rows = plain(stdout.slice(stdout.indexOf("STEP"))).split("\n");
  const nodes = rows.slice(1).map((row) => row.replace(/ N ms.*|\s{2,}\d+ .*$/g, "").trimEnd());
  expect(nodes.map((row) => row.replace(/\s+\d.*$/, ""))).toEqual(
    expect.arrayContaining([
      "1     pricing",
      "1       pricing › lookup",
      "2       pricing › tax",
      "1         pricing › tax › apply",
    ]),
  );
  const { supersteps } = JSON.parse((await run(["inspect", "run", runId, "--json"])).stdout) as {
    supersteps: { nodes: string[]; subgraphs?: { path: string[]; namespace: string; nodes: string[] }[] }[];
  };
  const inner = supersteps.find(({ nodes }) => nodes.includes("pricing"))?.subgraphs ?? [];
  expect(inner.map(({ path, nodes }) => [...path, ...nodes].join("/"))).toEqual([
    "pricing/lookup",
    "pricing/tax",
    "pricing/tax/apply",
  ]);
  expect(inner[0]?.namespace).toMatch(/^pricing:[\da-f-]{36}$/);
});

it("replay shows their changes, and --json lists them", async () => {
  const { stdout } = await run(["replay", thread]);
  expect(plain(stdout)).toMatch(
    /^step 1 {2}pricing [^]*\n {2}step 1 {2}pricing › lookup[^\n]*\n {4}~ total: 1 -> 2\n[^]*\n {4}step 1 {2}pricing › tax › apply[^\n]*\n {6}\+ rate: 19\nstep 2 {2}done/m,
  );
  const { items } = JSON.parse((await run(["replay", thread, "--json"])).stdout) as {
    items: { nodes: string[]; subgraphs?: { nodes: string[] }[] }[];
  };
  expect(items[2]?.subgraphs?.map(({ nodes }) => nodes)).toEqual([["lookup"], ["tax"], ["apply"]]);
  const executed = await run(["replay", thread, "--execute"]);
  expect(executed.stdout).toContain("pricing › tax › apply");
});

it.each(["pricing", "tax", "pricing|tax"])("--ns %s names a subgraph by its node", async (name) => {
  const { stdout, code } = await run(["history", thread, "--ns", name, "--oneline"]);
  expect({ code, stdout: plain(stdout) }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(name === "pricing" ? "ran lookup" : "ran apply") as string,
  });
});

it("--ns takes a namespace as history prints it on a terminal", async () => {
  const { stdout } = await run(["history", thread], { isTTY: true, env: { NO_COLOR: "1" } });
  const [, namespace = ""] = /(tax:[\da-f-]+)/.exec(stdout) ?? [];
  const state = await run(["inspect", "state", thread, "--ns", namespace, "--path", "rate"]);
  expect(state).toMatchObject({ code: 0, stdout: "19\n" });
});

it.each([["history"], ["inspect", "state"], ["inspect", "checkpoint"]])(
  "%s %s --ns of an unknown subgraph lists the namespaces",
  async (...command) => {
    const { code, stderr } = await run([...command.filter(Boolean), thread, "--ns", "nothing"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`has no checkpoints in the namespace "nothing"`);
    expect(plain(stderr)).toContain(
      "use a node, such as --ns pricing, or one of its namespaces: pricing:ID,",
    );
  },
);

it("inspect checkpoint names the namespace of each task", async () => {
  const { stdout } = await run(["inspect", "checkpoint", asking]);
  expect(stdout).toMatch(/^ {2}pricing {2}\S+ {2}--ns pricing:[\da-f-]{36}/m);
});

it("run and the reading commands show the same of a server", async () => {
  const { url } = await serve(await openService({ cwd: project.dir, graphs: { agent: "./graph.ts:graph" } }));
  const { stderr, stdout } = await run(["run", "--url", url, "--input", '{"total":1}']);
  expect(stderr).toMatch(
    / {4}pricing › lookup {2}\d+ ms\n {6}pricing › tax › apply[^]*\n {2}pricing {2}\d+ ms\n/,
  );
  expect(JSON.parse(stdout)).toEqual({ total: 2, rate: 19 });
  const [, remote = ""] = /thread (\S+)/.exec(stderr) ?? [];
  const history = await run(["history", remote, "--url", url, "--oneline"]);
  expect(history.stdout).toMatch(/ {4}tax:\S+\n {6}step 1 {2}ran apply/);
  expect(await run(["history", remote, "--url", url, "--ns", "tax"])).toMatchObject({ code: 0 });
});

it("a subgraph that failed is shown with its error, and --ns reads it", async () => {
  const { stdout } = await run(["history", failed, "--oneline"]);
  const lines = plain(stdout).split("\n");
  expect(lines.slice(0, 5)).toEqual([
    expect.stringMatching(/^ID step 0 {2}loop .* next pricing {2}failed .*no rate above 1000/),
    "  pricing:ID",
    expect.stringMatching(/^ {4}step 1 {2}ran lookup .* next tax {2}failed .*no rate above 1000/),
    "    tax:ID",
    expect.stringMatching(/^ {6}step 0 .* next apply {2}failed .*no rate above 1000/),
  ]);
  const inner = await run(["history", failed, "--ns", "tax", "--oneline"]);
  expect(inner.code).toBe(0);
  expect(inner.stdout).toContain("next apply");
});
