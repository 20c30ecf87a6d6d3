import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import { gateGraphSource } from "./gate-graph.js";
import {
  askingGraph,
  cli,
  createProject,
  echoGraph,
  failingGraph,
  startCli,
  type CliOptions,
  type Project,
} from "./harness.js";
import { itSqlite } from "../helpers/with-sqlite.js";

/** Two nodes interrupt in parallel, one of them twice. */
const severalQuestions = `
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }) });
export const graph = new StateGraph(State)
  .addNode("left", () => ({ log: [interrupt("one")] }))
  .addNode("right", () => ({ log: [interrupt("two") + "/" + interrupt("three")] }))
  .addEdge(START, "left").addEdge(START, "right").compile();
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "ask.ts": askingGraph,
    "fail.ts": failingGraph,
    "graph-server.config.json": { graphs: { agent: "./graph.ts", ask: "./ask.ts", fail: "./fail.ts" } },
  });
});
afterEach(() => project.remove());

const run = (argv: string[], options: CliOptions = {}) =>
  cli(["run", ...argv], { cwd: project.dir, ...options });

interface Outcome {
  thread_id: string;
  run_id: string;
  status: string;
  values: { messages: { content: string }[] };
  interrupts: { id: string; value: unknown }[];
  usage: object;
  error: { message: string } | null;
}
const outcomeOf = (stdout: string): Outcome => JSON.parse(stdout) as Outcome;
const contents = ({ values }: Outcome): string[] => values.messages.map(({ content }) => content);

describe("run in this process", () => {
  it("results go to stdout and progress to stderr", async () => {
    const { code, stdout, stderr } = await run(["--message", "hello"]);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Outcome["values"]).messages.at(-1)?.content).toBe("echo: hello");
    expect(stderr).toMatch(/^echo: hello\n {2}reply {2}\d+ ms$/m);
    expect(stderr).toMatch(/success in \d+ ms, 0 tokens, thread [0-9a-f-]{36}/);
  });

  itSqlite("the printed next command continues the thread", async () => {
    const { stderr } = await run(["--message", "one"]);
    const [, thread = ""] =
      /next +graph-serve run --thread ([0-9a-f-]{36}) --message "\.\.\."/.exec(stderr) ?? [];
    const { stdout } = await run(["--thread", thread, "--message", "two", "--json"]);
    expect(contents(outcomeOf(stdout))).toEqual(["one", "echo: one", "two", "echo: two"]);
    const short = await run(["--thread", `${thread.slice(0, 30)}…`, "--message", "three", "--json"]);
    expect(contents(outcomeOf(short.stdout))).toHaveLength(6);
    expect((await run(["--thread", "ffffffff", "--message", "four"])).code).toBe(4);
  });

  itSqlite("a thread continues with its own graph", async () => {
    const asked = await run(["ask", "-i", '{"topic":"cats"}', "--json"]);
    const { thread_id, interrupts } = outcomeOf(asked.stdout);
    expect(interrupts).toHaveLength(1);
    const { stdout } = await run(["--thread", thread_id, "--resume", '"yes"', "--json"]);
    expect(outcomeOf(stdout)).toMatchObject({ status: "success", interrupts: [] });
  });

  itSqlite("--json prints one document", async () => {
    const { code, stdout, stderr } = await run(["--message", "hello", "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(outcomeOf(stdout)).toMatchObject({ status: "success", interrupts: [], error: null });
  });

  it("--jsonl prints the stream events", async () => {
    const { stdout } = await run(["--message", "hello", "--jsonl", "--stream", "values,updates"]);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; event: string; data: unknown });
    expect(events.map(({ event }) => event)).toEqual(["metadata", "values", "updates", "values", "end"]);
    expect(events.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
    expect(events.at(-1)?.data).toMatchObject({ status: "success" });
  });

  it("input is read from a flag, a file and stdin", async () => {
    const input = { messages: [{ role: "user", content: "from json" }] };
    await project.put("input.json", input);
    for (const argv of [
      ["-i", JSON.stringify(input)],
      ["-i", "@input.json"],
      ["-i", "-"],
    ]) {
      const { stdout } = await run([...argv, "--json"], { stdin: JSON.stringify(input) });
      expect(contents(outcomeOf(stdout))).toEqual(["from json", "echo: from json"]);
    }
  });

  it("a graph file runs without a configuration", async () => {
    const { stdout } = await run(["./graph.ts:graph", "--message", "hi", "--json"]);
    expect(outcomeOf(stdout).status).toBe("success");
  });

  it("an error in the graph exits with code 1", async () => {
    const { code, stderr } = await run(["fail", "-i", '{"n":1}']);
    expect(code).toBe(1);
    expect(stderr).toContain("RangeError: kaboom");
    const json = await run(["fail", "-i", '{"n":1}', "--json"]);
    expect(json.code).toBe(1);
    expect(outcomeOf(json.stdout)).toMatchObject({
      status: "error",
      error: { message: "RangeError: kaboom" },
    });
  });

  itSqlite("an interrupt prints the command that answers it", async () => {
    const first = await run(["ask", "-i", '{"topic":"cats"}']);
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('{"question":"about cats?"}');
    const [, line = ""] = /next +graph-serve run (.*--resume true)$/m.exec(first.stderr) ?? [];
    const { stdout } = await run([...line.split(" "), "--json"]);
    expect(outcomeOf(stdout)).toMatchObject({ status: "success", values: { topic: "cats", answer: "true" } });
  });

  itSqlite("all questions of a run are shown, and each can be answered", async () => {
    await project.put("several.ts", severalQuestions);
    const first = outcomeOf((await run(["./several.ts", "-i", '{"log":[]}', "--json"])).stdout);
    expect(first.interrupts.map(({ value }) => value).sort()).toEqual(["one", "two"]);
    const answers = Object.fromEntries(first.interrupts.map(({ id, value }) => [id, value]));
    const thread = ["./several.ts", "--thread", first.thread_id, "--json"];
    const second = outcomeOf((await run([...thread, "--resume", JSON.stringify(answers)])).stdout);
    expect(second.interrupts.map(({ value }) => value)).toEqual(["three"]);
    const last = outcomeOf((await run([...thread, "--resume", '"three"'])).stdout);
    expect(last).toMatchObject({ status: "success" });
    expect((last.values as unknown as { log: string[] }).log.sort()).toEqual(["one", "two/three"]);
  });

  it("--interactive reads messages and answers", async () => {
    const { code, stderr, stdout } = await run(["ask", "--interactive", "-i", '{"topic":"dogs"}', "--json"], {
      stdin: "yes please\n",
    });
    expect(code).toBe(0);
    expect(stderr).toContain("answer> ");
    const documents = stdout.split("\n}\n").filter(Boolean);
    expect(outcomeOf(`${documents[1]}\n}`)).toMatchObject({ values: { answer: "yes please" } });
  });

  it("SIGINT interrupts the run and exits with code 130", async () => {
    await project.put("gate.ts", gateGraphSource);
    const running = startCli(["run", "./gate.ts", "-i", '{"n":1}', "--stream", "custom"], {
      cwd: project.dir,
    });
    await running.stderr.until(/custom {2}"inside"/);
    running.stop("SIGINT");
    expect(await running.exit).toBe(130);
    expect(running.stderr.text).toContain("interrupted in");
  });

  it("SIGINT ends a conversation that waits for input", async () => {
    const running = startCli(["run", "--interactive"], { cwd: project.dir });
    await running.stderr.until(/message> /);
    running.stop("SIGINT");
    expect(await running.exit).toBe(130);
  });

  it("control characters from the graph are escaped", async () => {
    const { stdout, stderr } = await run(["--message", "a\u001b[2Jb\u009b"]);
    expect(stdout + stderr).not.toMatch(/[\u001b\u009b]/);
    expect(stderr).toContain("a\\u001b[2Jb");
  });

  it("scheme memory prints no next command", async () => {
    const { stderr } = await run(["--message", "hi", "--checkpointer-scheme", "memory"]);
    expect(stderr).toContain("the thread is discarded when this command exits");
    expect(stderr).not.toContain("next ");
  });
});

describe("run flags", () => {
  it.each([
    [[], "no input to run"],
    [["--message", "a", "-i", "{}"], "--input and --message cannot be combined"],
    [["--message", "a", "--resume", "1"], "--resume and --goto cannot be combined with an input"],
    [["--resume", "1"], "--resume requires a thread"],
    [["-i", "{"], "--input is not valid JSON"],
    [["-i", "@nowhere.json"], "nowhere.json cannot be read"],
    [["--message", "a", "--context", "[1]"], "--context must be a JSON object"],
    [["--message", "a", "--stream", "valus"], 'invalid value "valus" for --stream'],
    [["--message", "a", "--url", "ftp://x"], "--url must be an HTTP address"],
  ])("%j is a usage error", async (argv, message) => {
    const { code, stdout, stderr } = await run(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("an unknown thread exits with code 4", async () => {
    const { code, stderr } = await run([
      "--thread",
      "0198c0de-0000-7000-8000-000000000000",
      "--message",
      "a",
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain("does not exist");
  });
});

describe("run on a server", () => {
  let server: RunningServer;
  beforeEach(async () => {
    const service = await openService({
      cwd: project.dir,
      graphs: { agent: "./graph.ts", ask: "./ask.ts", fail: "./fail.ts" },
    });
    server = await startServer(service, { host: "127.0.0.1", port: 0 });
  });
  afterEach(() => server.close(0));

  it("the server's default assistant answers", async () => {
    const { code, stdout } = await run(["--url", server.url, "--message", "hello", "--json"]);
    expect(code).toBe(0);
    expect(contents(outcomeOf(stdout))).toEqual(["hello", "echo: hello"]);
  });

  it("the next command names the selected assistant", async () => {
    const { stderr } = await run(["ask", "--url", server.url, "-i", '{"topic":"cats"}']);
    expect(stderr).toContain(`graph-serve run ask --url ${server.url} --thread`);
  });

  it("a thread continues with its own graph", async () => {
    const asked = await run(["ask", "--url", server.url, "-i", '{"topic":"cats"}', "--json"]);
    const { thread_id, interrupts } = outcomeOf(asked.stdout);
    expect(interrupts).toHaveLength(1);
    const answer = ["--url", server.url, "--thread", thread_id, "--resume", '"yes"', "--json"];
    expect(outcomeOf((await run(answer)).stdout)).toMatchObject({ status: "success", interrupts: [] });
  });

  it("an error in the graph exits with code 1", async () => {
    expect((await run(["fail", "--url", server.url, "-i", "{}"])).code).toBe(1);
  });

  it.each([
    [["--thread", "0198c0de-0000-7000-8000-000000000000", "--message", "a"], 4, "thread_not_found"],
    [["missing", "--message", "a"], 4, "assistant_not_found"],
    [["--thread", "no-uuid", "--message", "a"], 2, "invalid_request"],
  ])("an error response for %j keeps its code", async (argv, code, errorCode) => {
    const result = await run([...argv, "--url", server.url, "--json"]);
    expect(result.code).toBe(code);
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: errorCode } });
  });

  it("an unreachable server exits with code 3", async () => {
    await server.close(0);
    const { code, stderr } = await run(["--url", server.url, "--message", "a"]);
    expect(code).toBe(3);
    expect(stderr).toContain("cannot be reached");
  });

  it("scheme memory uses the running dev server", async () => {
    await project.put(".graph-serve/dev.json", { url: server.url, pid: process.pid });
    const { stdout, stderr } = await run(["--checkpointer-scheme", "memory", "--message", "hi"]);
    expect(stderr).toContain(`using the dev server at ${server.url}`);
    expect(stdout).toContain("echo: hi");
  });
});
