/** Recordings of the @langchain/openai model against a server on loopback, replayed without the server. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StreamMode } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import { readCaseFile } from "../../src/testing/cases/case-files.js";
import { createRedaction } from "../../src/testing/cases/redact.js";
import { normalized } from "../../src/testing/cases/normalized.js";
import { localClient } from "../../src/client/local.js";
import { Recordings, type RecordingMode } from "../../src/testing/recording/recorder.js";
import { cli, createProject, type CliResult, type Project } from "../cli/harness.js";
import { openAiAgent, openAiGraph, startModelServer, type ModelServer } from "./model-server.js";

const SECRET = "not-for-your-eyes-42";
const MODES: StreamMode[] = ["values", "updates", "messages", "messages-tuple", "custom", "tasks"];
const CASES = (graph: string, question = "what is the weather") => `graph: ./${graph}.ts:graph
mock: fixtures/${graph}.jsonl
cases:
  - name: says hello
    input: { messages: [{ role: user, content: hello }] }
    expect: { status: success, stream: { count: { messages: { gt: 3 } } }, tokens: { min: 10, max: 10 }, snapshot: true }
  - name: asks for the weather
    input: { messages: [{ role: user, content: ${question} }] }
    expect:
      stream: { count: { custom: 1 } }
      tokens: { min: 20, max: 20, input: { min: 14, max: 14 } }
      values: { "messages[-1].content": { contains: "sunny, says" } }
      snapshot: true
`;

let project: Project;
let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
  process.env.MODEL_URL = server.url;
  process.env.MODEL_API_KEY = SECRET;
  project = await createProject({
    "graph.ts": openAiGraph,
    "agent.ts": openAiAgent,
    "graph.graph.yaml": CASES("graph"),
    "agent.graph.yaml": CASES("agent"),
  });
});
afterEach(async () => {
  await server.close();
  delete process.env.MODEL_URL;
  delete process.env.MODEL_API_KEY;
  await project.remove();
});

const test = (...flags: string[]): Promise<CliResult> =>
  cli(["test", ...flags], { cwd: project.dir, env: { MODEL_API_KEY: SECRET } });
const read = (name: string) => readFile(join(project.dir, name), "utf8");

interface Report {
  cases: { name: string; status: string; tokens: number; failures: object[] }[];
}

/** All events of the weather case that a client receives, without ids and times. */
async function events(graph: string, mode: RecordingMode, modes: StreamMode[]): Promise<unknown[]> {
  const file = await readCaseFile(join(project.dir, `${graph}.graph.yaml`));
  const service = await openService({ cwd: project.dir, graphs: { agent: `./${graph}.ts:graph` } });
  const recordings = await Recordings.open([file], mode, createRedaction({}));
  try {
    await recordings.prepare();
    const threadId = newId();
    const recording = recordings.begin(file, "asks for the weather", threadId);
    const request = {
      assistant_id: "agent",
      if_not_exists: "create" as const,
      input: file.cases[1]?.steps[0]?.input,
      stream_mode: modes,
    };
    const found: unknown[] = [];
    const stream = localClient(service).runs.stream(threadId, request, new AbortController().signal);
    for await (const { event, data } of stream) found.push(normalized({ event, data }));
    expect(recording.end(true)).toEqual([]);
    return found;
  } finally {
    await recordings.close();
    await service.close(0);
  }
}

describe.each(["graph", "agent"])("the recorded @langchain/openai model in the %s", (graph) => {
  it("replays ten runs identically without the server", async () => {
    expect(await test("--record", `${graph}.graph.yaml`)).toMatchObject({ code: 0 });
    const [recording, snapshots, asked] = [
      await read(`fixtures/${graph}.jsonl`),
      await read(`${graph}.graph.yaml.snap`),
      server.requests.length,
    ];
    expect(asked).toBe(4);
    await server.close();
    for (let round = 0; round < 10; round += 1) {
      const flags = ["--ci", "--json", ...(round % 3 === 2 ? ["--server"] : [])];
      const { code, stdout } = await test(`${graph}.graph.yaml`, ...flags);
      expect({ code, stdout }).toMatchObject({ code: 0 });
      expect((JSON.parse(stdout) as Report).cases.map(({ tokens }) => tokens)).toEqual([10, 20]);
    }
    expect(await read(`${graph}.graph.yaml.snap`)).toBe(snapshots);
    // The snapshots that -u would write must not change.
    expect(await test(`${graph}.graph.yaml`, "-u")).toMatchObject({ code: 0 });
    expect(await read(`${graph}.graph.yaml.snap`)).toBe(snapshots);
    expect(await read(`fixtures/${graph}.jsonl`)).toBe(recording);
    expect(server.requests).toHaveLength(asked);
    expect(recording).not.toContain(SECRET);
  }, 120_000);

  it("streams the same events as when it was recorded", async () => {
    const recorded = await events(graph, "record", MODES);
    await server.close();
    expect(recorded.length).toBeGreaterThan(20);
    expect(await events(graph, "strict", MODES)).toEqual(recorded);
  }, 60_000);

  it("reports the position of a call that differs from the recording", async () => {
    expect(await test("--record", `${graph}.graph.yaml`)).toMatchObject({ code: 0 });
    await server.close();
    await project.put(`${graph}.graph.yaml`, CASES(graph, "is the weather fine"));
    const { code, stdout } = await test(`${graph}.graph.yaml`, "--json");
    expect(code).toBe(1);
    const [hello, weather] = (JSON.parse(stdout) as Report).cases;
    expect(hello?.status).toBe("passed");
    expect(weather?.failures[0]).toMatchObject({
      expectation: "mock",
      message: expect.stringMatching(
        /^model call 1 \(ChatOpenAI\w*\) differs from the recorded request at messages\.\d\.content, \w+\.jsonl:3; record again: /,
      ) as string,
      expected: "what is the weather",
      actual: "is the weather fine",
    });
  }, 60_000);
});

// The langchain agent has an output schema, which stream mode events does not support.
it("a replay invokes the same callbacks as the recorded run", async () => {
  const recorded = await events("graph", "record", ["events"]);
  await server.close();
  expect(recorded.length).toBeGreaterThan(20);
  expect(await events("graph", "strict", ["events"])).toEqual(recorded);
}, 60_000);
