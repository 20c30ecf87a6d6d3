/** On a terminal, `run` shows a conversation; otherwise it prints the state as data. */
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { askingGraph, cli, createProject, echoGraph, type Project } from "./harness.js";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";

const AGENT = join(process.cwd(), "test/fixtures/graphs/agent.ts");

const teamGraph = `
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { graph as agent } from ${JSON.stringify(AGENT)};
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("plan", () => ({})).addNode("sums", agent.graph)
  .addEdge(START, "plan").addEdge("plan", "sums").compile();
`;

/** Calls a tool that waits for a person's approval. */
const approvalGraph = `
import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", () => ({ messages: [new AIMessage({
    content: "", tool_calls: [{ name: "pay", args: { amount: 5 }, id: "c1" }] })] }))
  .addNode("approve", () => void interrupt("pay?"))
  .addEdge(START, "model").addEdge("model", "approve").compile();
`;

let project: Project;
beforeEach(async () => {
  const graphs = { agent: "./graph.ts", team: "./team.ts", ask: "./ask.ts", approve: "./approve.ts" };
  project = await createProject({
    "graph.ts": echoGraph(),
    "team.ts": teamGraph,
    "ask.ts": askingGraph,
    "approve.ts": approvalGraph,
    "graph-server.config.json": { graphs },
  });
});
afterEach(() => project.remove());

const onTerminal = (...argv: string[]) =>
  cli(["run", ...argv], { cwd: project.dir, isTTY: true, columns: 100, env: { NO_COLOR: "1" } });

const withoutTimes = (text: string): string => text.replace(/\d+ ms/g, "N ms");

describe("run on a terminal", () => {
  it("messages and tool results are shown without the state", async () => {
    const { code, stdout, stderr } = await onTerminal("team", "--message", "2 + 3");
    expect(code).toBe(0);
    expect(stdout).toBe('> 2 + 3\n  add({"a":2,"b":3})  -> 5\nThe sum is 5\n');
    expect(withoutTimes(stderr).split("\n").slice(0, 5)).toEqual([
      "  plan  N ms",
      "    sums › model_request  N ms",
      "    sums › tools  N ms",
      "    sums › model_request  N ms",
      "  sums  N ms",
    ]);
    expect(stderr).toMatch(/success in \d+ ms, 11 tokens/);
  });

  it("--state also prints the state", async () => {
    const { stdout } = await onTerminal("--message", "hello", "--state");
    const [, state = ""] = stdout.split("> hello\necho: hello\n");
    expect(JSON.parse(state)).toMatchObject({ messages: [{ content: "hello" }, { content: "echo: hello" }] });
  });

  it("--json prints one document, as without a terminal", async () => {
    const { stdout, stderr } = await onTerminal("--message", "hello", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ status: "success" });
    expect(stderr).toBe("");
  });

  it("a tool call that waits for approval is shown without a result", async () => {
    const { stdout, stderr } = await onTerminal("approve", "--message", "pay Ada");
    expect(stdout).toBe('> pay Ada\n  pay({"amount":5})\n');
    expect(stderr).toContain('"pay?"');
  });

  it("a graph without messages shows the changed keys", async () => {
    const asked = await onTerminal("ask", "-i", '{"topic":"cats"}');
    expect(asked.stdout).toBe("");
    const thread = /--thread (\S+)/.exec(asked.stderr)?.[1] ?? "";
    const answered = await onTerminal("--thread", thread, "--resume", "soft ones");
    expect(answered.stdout).toBe("  answer: soft ones\n");
    expect(answered.stderr).not.toContain("warn");
  });
});

describe("--resume", () => {
  const askedThread = async (): Promise<string> => {
    const { stdout } = await cli(["run", "ask", "-i", '{"topic":"cats"}', "--json"], { cwd: project.dir });
    return (JSON.parse(stdout) as { thread_id: string }).thread_id;
  };
  const resume = async (text: string) =>
    cli(["run", "--thread", await askedThread(), "--resume", text, "--json"], { cwd: project.dir });

  it.each([
    ["yes, do it", "yes, do it", ""],
    ['"quoted"', "quoted", ""],
    ["12", "12", ""],
    ["True", "True", 'warn  --resume is not valid JSON: using "True" as text\n'],
    ["3 apples", "3 apples", 'warn  --resume is not valid JSON: using "3 apples" as text\n'],
  ])("--resume accepts %s", async (text, answer, said) => {
    const { stdout, stderr } = await resume(text);
    expect(JSON.parse(stdout)).toMatchObject({ status: "success", values: { answer } });
    expect(stderr).toBe(said);
  });

  it.each([
    ['{"a": 1 "b": 2}', '{"a": 1 "b": 2}', 8],
    ["[1, 2", "[1, 2", 5],
    ['{"foo": oops}', '{"foo": oops}', 8],
    ['{"a":\n true,\n  oops}', "  oops}", 2],
  ])("--resume rejects %j and marks the position", async (text, line, column) => {
    const { code, stderr } = await cli(["run", "--thread", await askedThread(), "--resume", text], {
      cwd: project.dir,
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error {2}--resume is not valid JSON: \w/);
    expect(stderr).toContain(`\n       ${line}\n       ${" ".repeat(column)}^\n`);
  });
});
