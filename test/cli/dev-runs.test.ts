/** Runs as `dev` shows them on its terminal. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { askingGraph, cli, createProject, startCli, type Project, type RunningCli } from "./harness.js";

const AGENT = join(process.cwd(), "test/fixtures/graphs/agent.ts");

/** A graph with a tool-calling agent as a node. */
const teamGraph = `
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { graph as agent } from ${JSON.stringify(AGENT)};
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("plan", () => ({}))
  .addNode("sums", agent.graph)
  .addEdge(START, "plan").addEdge("plan", "sums").compile();
`;

const failingTool = `
import { tool } from "@langchain/core/tools";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const look = tool(() => { throw new RangeError("no\\u001b[2J page"); }, {
  name: "look", description: "", schema: { type: "object", properties: { where: { type: "string" } } },
});
export const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("read", (_, config) => look.invoke({ where: "x".repeat(500) }, config))
  .addEdge(START, "read").compile();
`;

let project: Project;
let dev: RunningCli | undefined;
beforeEach(async () => {
  project = await createProject({
    "team.ts": teamGraph,
    "ask.ts": askingGraph,
    "look.ts": failingTool,
    "graph-server.config.json": { graphs: { team: "./team.ts", ask: "./ask.ts", look: "./look.ts" } },
  });
});
afterEach(async () => {
  dev?.stop();
  await dev?.exit;
  dev = undefined;
  await project.remove();
});

interface Dev extends RunningCli {
  post: (path: string, body: unknown) => Promise<Record<string, string>>;
}

async function startDev(...flags: string[]): Promise<Dev> {
  return startDevWith({}, ...flags);
}

async function startDevWith(options: { isTTY?: boolean }, ...flags: string[]): Promise<Dev> {
  const env: Record<string, string> = options.isTTY ? { FORCE_COLOR: "1" } : {};
  const running = startCli(["dev", "--db", "memory", "-p", "0", ...flags], {
    cwd: project.dir,
    env,
    ...options,
  });
  dev = running;
  const [, url = ""] = await running.stderr.until(/(http:\/\/127\.0\.0\.1:\d+)[\s\S]*(storage|Storage)/);
  const post: Dev["post"] = async (path, body) => {
    const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, string>;
  };
  return Object.assign(running, { post });
}

const sum = { messages: [{ role: "user", content: "2 + 3" }] };

it("a run prints a line per node and tool, indented for subgraphs, and a final line", async () => {
  const { post, stderr } = await startDev();
  const { thread_id } = await post("/threads", {});
  const { run_id } = await post(`/threads/${thread_id}/runs`, { assistant_id: "team", input: sum });
  await stderr.until(/success in/);
  const lines = stderr.text
    .split("\n")
    .filter((line) => line.includes(String(run_id)))
    .map((line) => line.replace(`  ${run_id}`, "").replace(/\d+ ms/g, "N ms"));
  expect(lines).toEqual([
    `  team  thread ${thread_id}`,
    "    plan  N ms",
    "      sums › model_request  N ms  3 tokens",
    '        sums › tools › add({"a":2,"b":3})  N ms  -> 5',
    "      sums › tools  N ms",
    "      sums › model_request  N ms  8 tokens",
    "    sums  N ms",
    "  success in N ms, 11 tokens",
  ]);
});

it("an interrupted run prints the question and the command that answers it", async () => {
  const { post, stderr } = await startDev();
  const { thread_id } = await post("/threads", {});
  await post(`/threads/${thread_id}/runs`, { assistant_id: "ask", input: { topic: "cats" } });
  const [, command = ""] = await stderr.until(/answer {2}graph-serve (run .+)\n/);
  expect(stderr.text).toMatch(/ {4}ask {2}\d+ ms {2}interrupted\n/);
  expect(stderr.text).toContain('  waiting for an answer: {"question":"about cats?"}\n');
  expect(stderr.text).toMatch(/interrupted in \d+ ms, 0 tokens\n/);
  const { stdout } = await cli([...command.split(" "), "--json"], { cwd: project.dir });
  expect(JSON.parse(stdout)).toMatchObject({ thread_id, status: "success", values: { answer: "true" } });
  await stderr.until(/success in/);
});

it("a stateless run is marked and prints no answer command", async () => {
  const { post, stderr } = await startDev();
  await post("/runs/wait", { assistant_id: "ask", input: { topic: "dogs" } });
  await stderr.until(/interrupted in/);
  expect(stderr.text).toContain("  ask  stateless\n");
  expect(stderr.text).toContain('waiting for an answer: {"question":"about dogs?"}');
  expect(stderr.text).not.toContain("graph-serve run --url");
});

it("a failing tool is shown with its error, truncated arguments and escaped control characters", async () => {
  const { post, stderr } = await startDev();
  const { thread_id } = await post("/threads", {});
  await post(`/threads/${thread_id}/runs`, { assistant_id: "look", input: { n: 1 } });
  await stderr.until(/error in \d+ ms, 0 tokens\n/);
  expect(stderr.text).toMatch(
    / {6}read › look\(\{"where":"x{40,60}…\) {2}\d+ ms {2}RangeError: no\\u001b\[2J page\n/,
  );
  expect(stderr.text).toMatch(/ {4}read {2}\d+ ms {2}failed\n/);
  expect(stderr.text.split("\n").filter((line) => /^error .*RangeError/.test(line))).toHaveLength(1);
});

it("a terminal shows short run ids, with a colour per run", async () => {
  const { post, stderr } = await startDevWith({ isTTY: true });
  const ids: string[] = [];
  for (const _ of [1, 2]) {
    const { thread_id } = await post("/threads", {});
    const { run_id } = await post(`/threads/${thread_id}/runs`, { assistant_id: "team", input: sum });
    ids.push(String(run_id));
    await stderr.until(new RegExp(`${run_id?.slice(0, 13)}.*success`));
  }
  const [first = "", second = ""] = ids.map((id) => id.slice(0, 13));
  expect(stderr.text).toContain(`\u001b[36m${first}\u001b[39m`);
  expect(stderr.text).toContain(`\u001b[35m${second}\u001b[39m`);
  expect(stderr.text).not.toContain(ids[0]);
});

it.each([[["--log-level", "warn"]], [["--quiet"]]])("runs are not shown with %j", async (flags) => {
  const running = startCli(["dev", "--db", "memory", "-p", "0", "--json", ...flags], { cwd: project.dir });
  dev = running;
  const [, url = ""] = await running.stdout.until(/"url": "(http.+?)"[\s\S]*\}\n$/);
  const wait = { assistant_id: "team", input: sum };
  const response = await fetch(`${url}/runs/wait`, { method: "POST", body: JSON.stringify(wait) });
  expect(await response.json()).toMatchObject({ messages: { length: 4 } });
  expect(running.stderr.text).not.toContain("sums");
});
