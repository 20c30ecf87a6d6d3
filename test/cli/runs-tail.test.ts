/** `runs tail` follows the runs of a server, of this project's dev server, and of a storage. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { freePort } from "../helpers/free-port.js";
import {
  askingGraph,
  cli,
  createProject,
  echoGraph,
  failingGraph,
  type Project,
  type RunningCli,
  startCli,
} from "./harness.js";

const AGENT = join(process.cwd(), "test/fixtures/graphs/agent.ts");

const teamGraph = `
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { graph as agent } from ${JSON.stringify(AGENT)};
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("sums", agent.graph).addEdge(START, "sums").compile();
`;

/** Runs until it is cancelled. */
const stayingGraph = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("stay", (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)))
  .addEdge(START, "stay").compile();
`;

/** Two steps: the subgraph of the second has a node of its own. */
const stepsGraph = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ n: Annotation() });
const inner = new StateGraph(State).addNode("deep", () => ({})).addEdge(START, "deep").compile();
export const graph = new StateGraph(State)
  .addNode("one", () => ({})).addNode("two", inner).addEdge(START, "one").addEdge("one", "two").compile();
`;

let project: Project;
const running = new Set<RunningCli>();
beforeEach(async () => {
  project = await createProject({
    "echo.ts": echoGraph(),
    "ask.ts": askingGraph,
    "fail.ts": failingGraph,
    "team.ts": teamGraph,
    "stay.ts": stayingGraph,
    "steps.ts": stepsGraph,
    "graph-server.config.json": {
      graphs: {
        ...{ echo: "./echo.ts", ask: "./ask.ts", fail: "./fail.ts", team: "./team.ts", stay: "./stay.ts" },
        steps: "./steps.ts",
      },
    },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const one of [...running]) await stop(one);
  await project.remove();
});

function start(argv: string[], options: { isTTY?: boolean; cwd?: string } = {}): RunningCli {
  const env: Record<string, string> = options.isTTY ? { FORCE_COLOR: "1" } : {};
  const one = startCli(argv, { cwd: project.dir, env, ...options });
  running.add(one);
  return one;
}

async function stop(one: RunningCli, signal?: string): Promise<number> {
  running.delete(one);
  one.stop(signal);
  return one.exit;
}

async function startDev(...flags: string[]) {
  const dev = start(["dev", "--no-studio", "--json", ...flags]);
  const [, url = ""] = await dev.stdout.until(/"url": "(http.+?)"[\s\S]*\}\n$/);
  return { dev, url };
}

async function startTail(...flags: string[]): Promise<RunningCli> {
  const tail = start(["runs", "tail", ...flags]);
  await tail.stderr.until(/following the runs of/);
  return tail;
}

async function runOn(url: string, assistant_id: string, input: unknown) {
  const post = async (path: string, body: unknown) => {
    const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as { thread_id: string; run_id: string };
  };
  const { thread_id } = await post("/threads", {});
  return post(`/threads/${thread_id}/runs`, { assistant_id, input });
}

const message = (content: string) => ({ messages: [{ role: "user", content }] });

/** The lines of a run, without its id and times. */
const linesOf = ({ stdout }: RunningCli, runId: string): string[] =>
  stdout.text
    .split("\n")
    .filter((line) => line.startsWith(`  ${runId}`))
    .map((line) => line.replace(`  ${runId}`, "").replace(/\d+ ms/g, "N ms"));

it("a run of a server is shown with its nodes, tools and end; earlier runs are not", async () => {
  const { url } = await startDev("-p", "0", "--db", "memory");
  const before = await runOn(url, "echo", message("before"));
  const tail = await startTail("--url", url);
  const run = await runOn(url, "team", message("2 + 3"));
  await tail.stdout.until(/success in/);
  expect(linesOf(tail, run.run_id)).toEqual([
    `  team  thread ${run.thread_id}`,
    "      sums › model_request  N ms  3 tokens",
    "        sums › tools › add  N ms",
    "      sums › tools  N ms",
    "      sums › model_request  N ms  8 tokens",
    "    sums  N ms",
    "  success in N ms, 11 tokens",
  ]);
  expect(tail.stdout.text).not.toContain(before.run_id);
  expect(await stop(tail, "SIGINT")).toBe(0);
});

it("while a server reports no changes, tail does not search its runs, and a change wakes it", async () => {
  const { dev, url } = await startDev("-p", "0", "--db", "memory", "-v");
  const searches = () => dev.stderr.text.split("/runs/search").length - 1;
  const tail = await startTail("--url", url);
  // The first look, and one after the first event of the stream; each searches three times.
  await expect.poll(searches).toBeGreaterThanOrEqual(6);
  const before = searches();
  const lines = (await fetch(`${url}/changes`)).body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(": heartbeat")) text += (await lines.read()).value;
  await lines.cancel();
  // 5 s later. Two looks a second would have searched 30 times.
  expect(searches() - before).toBeLessThanOrEqual(6);
  const run = await runOn(url, "echo", message("now"));
  await tail.stdout.until(/success in/);
  expect(tail.stdout.text).toContain(run.run_id);
});

it("runs of one millisecond are shown in the order in which they were accepted", async () => {
  const { url } = await startDev("-p", "0", "--db", "memory");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const accepted: { run_id: string; thread_id: string }[] = [];
  for (const n of [1, 2, 3]) {
    const body = { assistant_id: "stay", input: { n } };
    const response = await fetch(`${url}/runs`, { method: "POST", body: JSON.stringify(body) });
    accepted.push((await response.json()) as (typeof accepted)[number]);
  }
  vi.useRealTimers();
  const tail = await startTail("--url", url);
  await tail.stdout.until(/(stay  thread[^]+){3}/);
  const shown = [...tail.stdout.text.matchAll(/^ {2}(\S+) {2}stay {2}thread/gm)].map(([, id]) => id);
  expect(shown).toEqual(accepted.map(({ run_id }) => run_id));
  // A server that is stopped waits ten seconds for its runs.
  for (const { run_id, thread_id } of accepted) {
    const cancelled = await fetch(`${url}/threads/${thread_id}/runs/${run_id}/cancel?wait=1`, {
      method: "POST",
    });
    expect(cancelled.ok).toBe(true);
  }
});

it("nodes of one millisecond are shown in the order of their steps", async () => {
  const { url } = await startDev("-p", "0", "--db", "memory");
  const tail = await startTail("--url", url);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const run = await runOn(url, "steps", { n: 1 });
  await tail.stdout.until(/success in/);
  vi.useRealTimers();
  expect(linesOf(tail, run.run_id).slice(1, -1)).toEqual([
    "    one  N ms",
    "      two › deep  N ms",
    "    two  N ms",
  ]);
});

it("a failed run ends with its error and the next commands, an interrupted one with its question", async () => {
  const { url } = await startDev("-p", "0", "--db", "memory");
  const tail = await startTail("--url", url);
  const failed = await runOn(url, "fail", { n: 1 });
  await tail.stdout.until(/replay .+ --execute --compare/);
  expect(tail.stdout.text).toMatch(new RegExp(`${failed.run_id} {4}kaboom\n`));
  expect(tail.stdout.text).toContain(`graph-serve inspect thread ${failed.thread_id} --url ${url}`);
  await runOn(url, "ask", { topic: "cats" });
  const [, command = ""] = await tail.stdout.until(/answer {2}graph-serve (run .+)\n/);
  expect(tail.stdout.text).toContain('waiting for an answer: {"question":"about cats?"}');
  expect(await cli([...command.split(" "), "--json"], { cwd: project.dir })).toMatchObject({ code: 0 });
  await tail.stdout.until(/success in/);
});

it("--json prints one line per event", async () => {
  const { url } = await startDev("-p", "0", "--db", "memory");
  const tail = await startTail("--url", url, "--json");
  const { run_id, thread_id } = await runOn(url, "fail", { n: 1 });
  await tail.stdout.until(/"event":"end".+\n/);
  const events = tail.stdout.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  const ids = { run_id, thread_id };
  expect(events).toMatchObject([
    { event: "start", ...ids, graph_id: "fail" },
    { event: "node", ...ids, path: ["burst"], state: "failed", tokens: 0 },
    {
      event: "end",
      ...ids,
      status: "error",
      error: expect.stringContaining("kaboom") as string,
      interrupts: [],
    },
  ]);
});

it("a terminal shows short ids with a colour per run", async () => {
  const { url } = await startDev("-p", "0", "--db", "memory");
  const tail = start(["runs", "tail", "--url", url], { isTTY: true });
  await tail.stderr.until(/following/);
  const { run_id } = await runOn(url, "echo", message("a"));
  await tail.stdout.until(/success/);
  expect(tail.stdout.text).toContain(`\u001b[36m${run_id.slice(0, 13)}\u001b[39m`);
  expect(tail.stdout.text).not.toContain(run_id);
});

it("a stopped server is reported once, and followed again after its restart", async () => {
  const port = String(await freePort());
  const first = await startDev("-p", port);
  const tail = await startTail("--url", first.url);
  await stop(first.dev);
  await tail.stderr.until(/cannot be reached: .+; retrying/);
  const { url } = await startDev("-p", port);
  await tail.stderr.until(/reconnected to/);
  const { run_id } = await runOn(url, "echo", message("again"));
  await tail.stdout.until(new RegExp(`${run_id} {2}success`));
  expect(tail.stderr.text.match(/retrying/g)).toHaveLength(1);
});

itSqlite("without --url, this project's dev server is followed, and its storage when none runs", async () => {
  const { dev, url } = await startDev("-p", "0");
  const tail = await startTail();
  expect(tail.stderr.text).toContain(`following the runs of ${url}`);
  const { run_id } = await runOn(url, "echo", message("one"));
  await tail.stdout.until(new RegExp(`${run_id} {2}success`));
  await stop(dev);
  await tail.stderr.until(/reconnected to sqlite/);
  const offline = await startTail();
  const { stdout } = await cli(["run", "echo", "--message", "two", "--json"], { cwd: project.dir });
  const run = JSON.parse(stdout) as { run_id: string };
  for (const one of [tail, offline]) {
    await one.stdout.until(new RegExp(`${run.run_id} {2}success`));
    expect(linesOf(one, run.run_id)).toContain("    reply  N ms");
  }
});

it("an address that nothing answers is an error with exit code 3", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await cli(["runs", "tail", "--url", url], { cwd: project.dir });
  expect(code).toBe(3);
  expect(stderr).toContain(`error  the server at ${url} cannot be reached`);
  expect(stderr).toContain("fix  start it with graph-serve dev");
  const memory = await cli(["runs", "tail", "--db", "memory"], { cwd: project.dir });
  expect(memory.code).toBe(3);
  expect(memory.stderr).toContain("no dev server is running");
});
