/** `test --from-run` turns the run of a thread into a case that passes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { parse } from "yaml";
import type { CaseFileSource, CaseSource } from "../../src/testing/cases/case-model.js";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { cli, createProject, failingGraph, startCli, type CliResult, type Project } from "../cli/harness.js";
import { openAiAgent, startModelServer } from "./model-server.js";

/** Interrupts twice in one node, has a secret and a random id, hides a score, and fails on request. */
const GRAPH = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
const any = () => Annotation();
const State = Annotation.Root({ topic: any(), plan: any(), answers: any(), mode: any(), made: any(), key: any(), score: any() });
const { score: _, ...seen } = State.spec;
export const graph = new StateGraph({ stateSchema: State, output: Annotation.Root(seen) })
  .addNode("draft", ({ topic }) => ({
    plan: { length: topic.length, "due.date": 1, made_at: new Date().toISOString() },
    made: [{ id: crypto.randomUUID(), by: "me" }],
    key: "sk-" + "abcdefghijklmnopqrstuvwxyz",
    score: 0.5,
  }))
  .addNode("ask", () => ({ answers: [interrupt({ match: "first?" }), interrupt({ ask: "second?", at: [1] })] }))
  .addNode("left", () => ({}))
  .addNode("right", (state, { configurable }) => {
    if (state.mode === "fail") throw new RangeError("kaboom at " + configurable.place);
    return {};
  })
  .addEdge(START, "draft").addEdge("draft", "ask")
  .addEdge("ask", "left").addEdge("ask", "right").addEdge("left", END).addEdge("right", END)
  .compile();
`;

/** Streams an event and waits for the abort signal. */
const slowGraph = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("wait", async (_, { signal, writer }) => {
    writer("begun");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return {};
  })
  .addEdge(START, "wait").addEdge("wait", END)
  .compile();
`;
/** Waits once for the gate, asks, and throws the answer. */
const gatedGraph = `
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
const gate = globalThis.openGate ? undefined : new Promise((resolve) => (globalThis.openGate = resolve));
export const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("wait", async () => { await gate; return {}; })
  .addNode("ask", () => { throw new Error(interrupt("sure?")); })
  .addEdge(START, "wait").addEdge("wait", "ask")
  .compile();
`;
declare global {
  var openGate: (() => void) | undefined;
}
const STORAGE = { checkpointer_scheme: "sqlite", checkpointer_uri: "./threads.db" } as const;

let project: Project;
let service: Service;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "fail.ts": failingGraph,
    "graph-server.config.json": {
      graphs: { agent: "./graph.ts", fail: "./fail.ts" },
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "./threads.db",
    },
  });
  service = await openService({
    cwd: project.dir,
    graphs: { agent: "./graph.ts", fail: "./fail.ts" },
    settings: STORAGE,
  });
});
afterEach(async () => {
  await service.close(0);
  await project.remove();
});

const test = (...argv: string[]): Promise<CliResult> => cli(["test", ...argv], { cwd: project.dir });
const config = { configurable: { place: "home" } };

async function run(threadId: string, request: object, graph = "agent"): Promise<string> {
  const body = { assistant_id: graph, if_not_exists: "create" as const, config, ...request };
  const answer = await service.runs.create(threadId, body);
  return answer.run_id;
}

/** The case created from a run, after checking that it passes. */
async function passing(runId: string, ...argv: string[]): Promise<CaseSource> {
  const made = await test("--from-run", runId, "--json", ...argv);
  expect(made).toMatchObject({ code: 0 });
  const { file } = JSON.parse(made.stdout) as { file: string };
  expect(await test(file, "--ci")).toMatchObject({ code: 0, stderr: "" });
  expect(await test(file, "--ci", "--server")).toMatchObject({ code: 0 });
  const [one] = (parse(await readFile(file, "utf8")) as CaseFileSource).cases;
  return one!;
}

describe("--from-run", () => {
  it("repeats the earlier runs of the thread as steps", async () => {
    const threadId = newId();
    await run(threadId, { input: { topic: "cats" } });
    await run(threadId, { command: { resume: "one" } });
    const last = await run(threadId, { command: { resume: "two" } });
    const { steps = [] } = await passing(last);
    expect(steps).toEqual([
      {
        input: { topic: "cats" },
        config,
        // A later run interrupts at the same node, so the question of this one is no longer stored.
        expect: { status: "interrupted", nodes: ["draft", "ask"], interrupt: true },
      },
      {
        resume: "one",
        config,
        expect: { status: "interrupted", nodes: ["ask"], interrupt: { ask: "second?", at: [1] } },
      },
      {
        resume: "two",
        config,
        expect: {
          status: "success",
          nodes: ["ask", "left", "right"],
          values: {
            topic: "cats",
            "plan.length": 4,
            made: { length: 1 },
            "made[0].by": "me",
            answers: ["one", "two"],
          },
        },
      },
    ]);
  });

  it("expects the open interrupt", async () => {
    const threadId = newId();
    await run(threadId, { input: { topic: "cats" } });
    const { steps = [] } = await passing(await run(threadId, { command: { resume: "one" } }));
    expect(steps.at(-1)?.expect).toMatchObject({ interrupt: { ask: "second?", at: [1] } });
    const first = await run(newId(), { input: { topic: "dogs" } });
    expect((await passing(first)).expect).toMatchObject({ interrupt: { equals: { match: "first?" } } });
  });

  it("expects the error of a failed run", async () => {
    expect(await passing(await run(newId(), { input: { n: 1 } }, "fail"))).toMatchObject({
      input: { n: 1 },
      expect: { status: "error", nodes: ["burst"], error: { contains: "kaboom" } },
    });
  });

  it("repeats a run from an earlier checkpoint", async () => {
    const threadId = newId();
    await run(threadId, { input: { topic: "cats" }, interrupt_before: ["ask"] });
    const { checkpoint } = await service.state.get(threadId);
    await run(threadId, { input: null });
    const back = await run(threadId, { input: null, checkpoint_id: checkpoint?.checkpoint_id });
    const { steps = [] } = await passing(back);
    expect(
      steps.map(({ checkpoint: at, interrupt_before, expect: { nodes } = {} }) => [
        at,
        interrupt_before,
        nodes,
      ]),
    ).toEqual([
      [undefined, ["ask"], ["draft"]],
      [undefined, undefined, ["ask"]],
      [1, undefined, ["ask"]],
    ]);
  });

  it("repeats an answer that waited for its turn and failed", async () => {
    await project.put("gated.ts", gatedGraph);
    const gated = await openService({
      ...{ cwd: project.dir, graphs: { gated: "./gated.ts" }, settings: STORAGE },
    });
    const threadId = newId();
    const request = { assistant_id: "gated", if_not_exists: "create" as const };
    await gated.runs.background(threadId, { ...request, input: { n: 1 } });
    const queued = await gated.runs.background(threadId, { ...request, command: { resume: "no" } });
    globalThis.openGate?.();
    await expect.poll(() => gated.runs.get(threadId, queued.run_id)).toMatchObject({ status: "error" });
    await gated.close(0);
    await project.put("graph-server.config.json", {
      ...{ graphs: { gated: "./gated.ts" }, ...STORAGE },
    });
    const { steps = [] } = await passing(queued.run_id);
    expect(steps.map(({ expect: { status, nodes } = {} }) => [status, nodes])).toEqual([
      ["interrupted", ["wait", "ask"]],
      ["error", ["ask"]],
    ]);
  });

  it("redacts secrets and records the source run in a comment", async () => {
    const runId = await run(newId(), { input: { topic: "sk-abcdefghijklmnopqrstuv" }, config: {} });
    await test("--from-run", runId, "--out", "cases/secret.graph.yaml");
    const text = await readFile(join(project.dir, "cases/secret.graph.yaml"), "utf8");
    expect(text).toContain(`# Generated from run ${runId}`);
    expect(text).toContain("[redacted]");
    expect(text).not.toMatch(/sk-abc/);
    const messages = { messages: [{ role: "user", content: "with sk-abcdefghijklmnopqrstuv" }] };
    const named = await run(newId(), { input: { ...messages, topic: "cats" }, config: {} });
    await test("--from-run", named, "--out", "cases/named.graph.yaml");
    expect(await readFile(join(project.dir, "cases/named.graph.yaml"), "utf8")).toContain(
      "name: with [redacted]",
    );
  });

  it("does not overwrite an existing file", async () => {
    const runId = await run(newId(), { input: { topic: "cats" } });
    await project.put("mine.graph.yaml", "mine");
    const { code, stderr } = await test("--from-run", runId, "--out", "mine.graph.yaml");
    expect(code).toBe(2);
    expect(stderr).toContain("already exists: mine.graph.yaml");
    expect(await readFile(join(project.dir, "mine.graph.yaml"), "utf8")).toBe("mine");
  });

  it("references the graph by its file if the config does not contain it", async () => {
    const runId = await run(newId(), { input: { topic: "cats" } });
    await project.put("graph-server.config.json", {
      graphs: {},
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "./threads.db",
    });
    const refused = await test("--from-run", runId);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`graph-serve test ./graph.ts --from-run ${runId}`);
    expect(await test("./graph.ts:graph", "--from-run", runId, "--out", "cases/a.graph.yaml")).toMatchObject({
      code: 0,
    });
    expect(await readFile(join(project.dir, "cases/a.graph.yaml"), "utf8")).toContain(
      "graph: ../graph.ts:graph\n",
    );
    expect(await test("cases")).toMatchObject({ code: 0 });
  });

  it("rejects a thread with a manual state update", async () => {
    const threadId = newId();
    await run(threadId, { input: { topic: "cats" } });
    // The update and the next run in one millisecond, as on a fast machine; it is later than the checkpoints of the run.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5 });
    await service.state.update(threadId, { values: { topic: "dogs" } });
    const { created_at } = await service.state.get(threadId);
    const resumed = run(threadId, { command: { resume: "one" } });
    await expect.poll(() => service.runs.list(threadId, {}), { interval: 5 }).toHaveLength(2);
    vi.useRealTimers();
    const after = await resumed;
    expect(await service.runs.get(threadId, after)).toMatchObject({ created_at });
    const { code, stderr } = await test("--from-run", after);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /the thread has a state that was not created by one of its runs \(step 2, update\)/,
    );
    expect(await test("--from-run", newId())).toMatchObject({ code: 4 });
  });

  it("rejects a cancelled run", async () => {
    const threadId = newId();
    await project.put("slow.ts", slowGraph);
    const slow = await openService({ cwd: project.dir, graphs: { slow: "./slow.ts" }, settings: STORAGE });
    const started = await slow.runs.stream(threadId, {
      assistant_id: "slow",
      if_not_exists: "create",
      stream_mode: "custom",
      input: { n: 1 },
    });
    for await (const frames of started.frames) {
      if (frames.some(({ event }) => event === "custom")) started.disconnect();
    }
    const runsOf = () => slow.runs.list(threadId, {});
    await expect.poll(runsOf).toMatchObject([{ status: "interrupted" }]);
    const [{ run_id = "" } = {}] = await runsOf();
    await slow.close(0);
    const { code, stderr } = await test("./slow.ts", "--from-run", run_id);
    expect(code).toBe(2);
    expect(stderr).toContain(`run ${run_id} was cancelled; a case cannot repeat that`);
  });

  it.each([
    [["--from-run", "x", "--watch"], "remove --watch"],
    [["--transcripts", "x"], "--transcripts requires --from-run"],
  ])("rejects %j as a usage error", async (argv, message) => {
    const { code, stderr } = await test(...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("dev --record", () => {
  it("records the model calls of a run, and the case replays them", async () => {
    const model = await startModelServer();
    const secret = "not-for-your-eyes-42";
    process.env.MODEL_URL = model.url;
    process.env.MODEL_API_KEY = secret;
    const env = { MODEL_API_KEY: secret };
    await project.put("openai.ts", openAiAgent);
    await project.put("graph-server.config.json", { graphs: { agent: "./openai.ts:graph" } });
    const dev = startCli(["dev", "--no-reload", "-p", "0", "--record"], { cwd: project.dir, env });
    try {
      const [, url = ""] = await dev.stderr.until(/(http:\/\/127\.0\.0\.1:\d+)/);
      await dev.stderr.until(/recording models and tools in \.graph-serve\/transcripts/);
      const threadId = newId();
      const ask = async (content: string) => {
        const body = {
          assistant_id: "agent",
          if_not_exists: "create",
          input: { messages: [{ role: "user", content }] },
        };
        const answer = await fetch(`${url}/threads/${threadId}/runs`, {
          method: "POST",
          body: JSON.stringify(body),
        });
        return (await answer.json()) as { run_id: string; status: string };
      };
      const runs = [await ask("hello"), await ask("what is the weather")];
      expect(runs).toMatchObject([{ status: "success" }, { status: "success" }]);
      dev.stop();
      expect(await dev.exit).toBe(0);
      await model.close();
      const folder = join(project.dir, ".graph-serve/transcripts");
      expect((await readdir(folder)).sort()).toEqual(runs.map(({ run_id }) => `${run_id}.jsonl`).sort());
      const runId = runs[1]!.run_id;
      const made = await cli(["test", "--from-run", runId, "--out", "cases/weather.graph.yaml"], {
        cwd: project.dir,
        env,
      });
      expect(made).toMatchObject({
        code: 0,
        stdout: "cases/weather.graph.yaml\ncases/fixtures/weather.jsonl\n",
      });
      const recording = await readFile(join(project.dir, "cases/fixtures/weather.jsonl"), "utf8");
      expect(recording).not.toContain(secret);
      expect(recording.trimEnd().split("\n")).toHaveLength(5);
      const played = await cli(["test", "cases", "--json", "--replay"], { cwd: project.dir, env });
      expect(played).toMatchObject({ code: 0 });
      expect(JSON.parse(played.stdout)).toMatchObject({
        cases: [{ name: "what is the weather", tokens: 30 }],
      });
      const [one] = (
        parse(await readFile(join(project.dir, "cases/weather.graph.yaml"), "utf8")) as CaseFileSource
      ).cases;
      expect(one?.steps?.map(({ expect: { tokens } = {} }) => tokens)).toEqual([{ max: 10 }, { max: 20 }]);
      expect(one?.steps?.at(-1)?.expect?.values).toMatchObject({
        messages: { length: 6 },
        "messages[1].content": "reply 1: hello",
        "messages[3].tool_calls[0].args": { equals: { city: "Oslo" } },
      });
    } finally {
      dev.stop();
      await dev.exit;
      await model.close();
      delete process.env.MODEL_URL;
      delete process.env.MODEL_API_KEY;
    }
  }, 60_000);
});
