/** Records against a model server and replays without it. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCases } from "../../src/testing/index.js";
import { cli, createProject, type CliResult, type Project } from "../cli/harness.js";
import { httpGraph, startModelServer, type ModelServer } from "./model-server.js";

const SECRET = "not-for-your-eyes-42";
const cases = (question: string) => `graph: ./graph.ts:graph
mock: fixtures/model.jsonl
cases:
  - name: says hello
    input: { messages: [{ role: user, content: ${question} }] }
    expect:
      status: success
      stream: { count: { messages: { gt: 3 } } }
      tokens: { min: 10, max: 10 }
      snapshot: true
  - name: asks for the weather
    input: { messages: [{ role: user, content: what is the weather }] }
    expect:
      nodes: [model_request, tools, model_request]
      stream: { count: { custom: 1 } }
      tokens: { min: 20, max: 20 }
      snapshot: true
`;

let project: Project;
let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
  process.env.MODEL_URL = server.url;
  process.env.MODEL_API_KEY = SECRET;
  project = await createProject({ "graph.ts": httpGraph, "a.graph.yaml": cases("hello") });
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
  cases: { name: string; status: string; failures: { expectation: string; message: string }[] }[];
}

describe("a recording", () => {
  it("replays ten runs identically without the server", async () => {
    const recorded = await test("--record");
    expect(recorded).toMatchObject({ code: 0 });
    expect(recorded.stderr).toContain("wrote fixtures/model.jsonl");
    const asked = server.requests.length;
    const snapshots = await read("a.graph.yaml.snap");
    await server.close();
    for (let round = 0; round < 10; round += 1) {
      const { code, stdout } = await test("--ci", round % 2 ? "--server" : "--coverage");
      expect({ code, stdout }).toMatchObject({ code: 0 });
      expect(await read("a.graph.yaml.snap")).toBe(snapshots);
    }
    expect(server.requests).toHaveLength(asked);
  });

  it("works for a model whose package bundles its own copy of @langchain/core", async () => {
    const core = join(process.cwd(), "node_modules/@langchain/core");
    await cp(core, join(project.dir, "provider/node_modules/@langchain/core"), {
      recursive: true,
      filter: (path) => !/\.(cjs|map|ts|cts)$/.test(path),
    });
    await project.put("provider/graph.ts", httpGraph);
    await project.put("graph.ts", `export { graph } from "./provider/graph.ts";`);
    expect(await test("--record")).toMatchObject({ code: 0 });
    const asked = server.requests.length;
    expect(asked).toBe(4);
    await server.close();
    expect(await test("--ci")).toMatchObject({ code: 0 });
    expect(server.requests).toHaveLength(asked);
  });

  it("stores chunks, tool calls, usage and tool results", async () => {
    await test("--record");
    const lines = (await read("fixtures/model.jsonl")).trimEnd().split("\n");
    const [head, ...entries] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(head).toEqual({ format: "graph-serve tape", version: 1 });
    expect(entries.map(({ case: name, kind, name: who }) => [name, kind, who])).toEqual([
      ["says hello", "model", "ChatWire"],
      ["asks for the weather", "model", "ChatWire"],
      ["asks for the weather", "tool", "weather"],
      ["asks for the weather", "model", "ChatWire"],
    ]);
    expect(entries[0]).toMatchObject({
      asked: { messages: [{ type: "system" }, { type: "human", content: "hello" }], tools: ["weather"] },
      answer: {
        chunks: [
          { id: "chatcmpl-1", content: "reply " },
          { content: "1: " },
          { content: "hello" },
          { usage_metadata: { total_tokens: 10 } },
        ],
      },
    });
    expect(entries[1]).toMatchObject({
      answer: { chunks: [{ tool_call_chunks: [{ name: "weather", args: '{"city":"Oslo"}' }] }, {}] },
    });
    expect(entries[2]).toMatchObject({
      asked: { args: { city: "Oslo" } },
      answer: { result: "sunny, says chatcmpl-3, key [redacted]", events: [{ asking: "Oslo" }] },
    });
  });

  it("replays to a model instance that outlives the suite that recorded it", async () => {
    // An ES module and its model are loaded only once per process.
    await project.put("graph.mjs", httpGraph);
    await project.put("a.graph.yaml", cases("hello").replace("graph.ts", "graph.mjs"));
    const options = { cwd: project.dir, name: "says hello" };
    // Replies of the server contain a request counter, so a live or recording run needs new snapshots.
    const policy = { live: "update", record: "update", replay: "check" } as const;
    const statuses = async (recordings: "record" | "replay" | "live") =>
      (await runCases({ ...options, recordings, snapshots: policy[recordings] })).cases.map(
        ({ status }) => status,
      );
    expect(await statuses("live")).toEqual(["passed"]);
    expect(await statuses("record")).toEqual(["passed"]);
    await server.close();
    expect(await Promise.all([statuses("replay"), statuses("replay")])).toEqual([["passed"], ["passed"]]);
    expect(await statuses("live")).toEqual(["failed"]);
    expect(server.requests).toHaveLength(2);
  });

  it("contains no secrets", async () => {
    await test("--record");
    expect(await read("fixtures/model.jsonl")).not.toContain(SECRET);
  });

  it("reports the first call that differs", async () => {
    await test("--record");
    await project.put("a.graph.yaml", cases("goodbye"));
    const { code, stdout } = await test("--json");
    expect(code).toBe(1);
    const [hello, weather] = (JSON.parse(stdout) as Report).cases;
    expect(weather?.status).toBe("passed");
    expect(hello?.failures[0]).toMatchObject({
      expectation: "mock",
      message: expect.stringMatching(
        /^model call 1 \(ChatWire\) differs from the recorded request at messages\.1\.content, model\.jsonl:2; record again: /,
      ) as string,
      expected: "hello",
      actual: "goodbye",
    });
  });

  it("that is missing fails with a hint to use --record", async () => {
    const { code, stdout } = await test();
    expect(code).toBe(1);
    expect(stdout).toContain("model.jsonl does not exist; record again: graph-serve test --record -t");
    expect(server.requests).toEqual([]);
  });

  it("keeps the entries of cases that were not recorded again", async () => {
    await test("--record");
    await test("--record", "-t", "weather");
    const names = (await read("fixtures/model.jsonl")).trimEnd().split("\n").slice(1);
    expect(names.filter((line) => line.includes('"case":"says hello"'))).toHaveLength(1);
    expect(names).toHaveLength(4);
  });

  it("with unused calls fails", async () => {
    await test("--record");
    const text = await read("fixtures/model.jsonl");
    await project.put("fixtures/model.jsonl", text + text.split("\n")[1] + "\n");
    const { code, stdout } = await test();
    expect(code).toBe(1);
    expect(stdout).toContain("1 recorded call was not made, the first by ChatWire, model.jsonl:6");
  });

  it("with invalid JSON reports the line", async () => {
    await test("--record");
    await project.put("fixtures/model.jsonl", `${await read("fixtures/model.jsonl")}{broken\n`);
    const { code, stderr } = await test();
    expect(code).toBe(2);
    expect(stderr).toContain("model.jsonl:6");
  });
});

describe("without a recording", () => {
  it("--live calls the model", async () => {
    expect((await test("--live", "-t", "weather")).code).toBe(0);
    expect(server.requests).toHaveLength(3);
  });

  it("--replay rejects every call", async () => {
    await project.put("a.graph.yaml", cases("hello").replace(/mock: .*\n/, ""));
    const { code, stdout } = await test("--replay", "-t", "hello");
    expect(code).toBe(1);
    expect(stdout).toContain("model call 1 (ChatWire) is not recorded: the case file has no mock");
    expect(server.requests).toEqual([]);
  });

  it("models are called normally after a replay", async () => {
    await test("--record");
    await test();
    const before = server.requests.length;
    await project.put("a.graph.yaml", cases("hello").replace(/mock: .*\n/, ""));
    expect((await test("-t", "hello")).code).toBe(1);
    expect(server.requests.length).toBe(before + 1);
  });
});
