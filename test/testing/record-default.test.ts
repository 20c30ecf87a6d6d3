/** `--record` without `mock`, `--ci` without a recording, and cases of failed runs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createProject, failingGraph, type Project } from "../cli/harness.js";
import { describeSqlite } from "../helpers/with-sqlite.js";

/** A model that counts its calls in a file, as a provider would bill them. */
const GRAPH = `
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

class PaidModel extends BaseChatModel {
  _llmType() { return "paid"; }
  async _generate(messages) {
    appendFileSync(new URL("./calls", import.meta.url), "x");
    const text = "you said " + messages.at(-1).content;
    return { generations: [{ text, message: new AIMessage(text) }] };
  }
}
const model = new PaidModel({});
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("reply", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile();
`;
const YAML = `# our cases
graph: ./graph.ts

cases:
  - name: greets   # with a comment
    input: { messages: [{ role: user, content: hi }] }
    expect:
      status: success
      values: { "messages[-1].content": you said hi }
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({ "graph.ts": GRAPH, "chat.graph.yaml": YAML });
});
afterEach(() => project.remove());

const test = (...argv: string[]) => cli(["test", ...argv], { cwd: project.dir });
const read = (file: string) => readFile(join(project.dir, file), "utf8");
const calls = async () => (await read("calls").catch(() => "")).length;

describe("--record without mock", () => {
  it("records next to the case file, names the recording in it, and --ci replays it", async () => {
    const { code, stderr } = await test("--record");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "wrote fixtures/chat.jsonl\nwrote chat.graph.yaml\n",
    });
    expect(await read("chat.graph.yaml")).toBe(YAML.replace("cases:", "mock: fixtures/chat.jsonl\ncases:"));
    expect(await calls()).toBe(1);
    expect(await test("--ci")).toMatchObject({ code: 0 });
    expect(await calls()).toBe(1);
  });

  it("writes the key into a JSON file", async () => {
    const content = { graph: "./graph.ts", cases: [{ name: "a", input: { messages: "hi" } }] };
    await project.put("chat.graph.yaml", "graph: ./graph.ts\ncases: []\n");
    await project.put("more.graph.json", content);
    expect(await test("more.graph.json", "--record")).toMatchObject({ code: 0 });
    expect(JSON.parse(await read("more.graph.json"))).toEqual({ ...content, mock: "fixtures/more.jsonl" });
  });

  it("asks for the key in a module", async () => {
    await project.put(
      "typed.graph.ts",
      'export default { graph: "./graph.ts", cases: [{ name: "a", input: { messages: "hi" } }] };\n',
    );
    const { stderr } = await test("typed.graph.ts", "--record");
    expect(stderr).toContain("add to typed.graph.ts: mock: fixtures/typed.jsonl");
  });

  it("does not overwrite a file of this name", async () => {
    await project.put("fixtures/chat.jsonl", "mine\n");
    const { code, stderr } = await test("--record");
    expect(code).toBe(2);
    expect(stderr).toContain("fixtures/chat.jsonl exists already, and chat.graph.yaml does not name it");
    expect(await read("fixtures/chat.jsonl")).toBe("mine\n");
    expect(await calls()).toBe(0);
  });

  it("needs a case file", async () => {
    await project.put("empty/graph-server.config.json", { graphs: { agent: "../graph.ts" } });
    const { code, stderr } = await test("--record", "--cwd", "empty");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--record needs a case file") as string,
    });
  });
});

describe("--ci", () => {
  it.each([
    ["a case", []],
    ["a smoke test", ["--cwd", "empty"]],
  ])("does not call the model for %s without a recording; --live does", async (_, flags) => {
    await project.put("empty/graph-server.config.json", { graphs: { agent: "../graph.ts" } });
    const { code, stdout } = await test("--ci", ...flags);
    expect(code).toBe(1);
    expect(stdout).toContain("model call 1 (PaidModel) is not recorded");
    expect(await calls()).toBe(0);
    expect(await test("--ci", "--live", ...flags)).toMatchObject({ code: 0 });
    expect(await calls()).toBe(1);
  });

  it("an unrecorded call is the only failure of its case, and says how to record it", async () => {
    await test("--record");
    await project.put("chat.graph.yaml", (await read("chat.graph.yaml")).replaceAll("hi", "ho"));
    const { stdout } = await test("--ci", "--json");
    const { cases } = JSON.parse(stdout) as {
      cases: { failures: { expectation: string; message: string }[] }[];
    };
    expect(cases[0]?.failures).toMatchObject([{ expectation: "mock" }]);
    expect(cases[0]?.failures[0]?.message).toMatch(
      /^model call 1 \(PaidModel\) differs from .*; record again: graph-serve test --record -t "greets"$/,
    );
  });

  it("fake models are called", async () => {
    await project.put("graph.ts", GRAPH.replace('"paid"', '"fake"'));
    expect(await test("--ci")).toMatchObject({ code: 0 });
  });
});

describeSqlite("--from-run of a failed run", () => {
  beforeEach(async () => {
    await project.put("graph.ts", failingGraph);
    await cli(["run", "./graph.ts", "--input", '{"n":1}'], { cwd: project.dir });
  });

  it("says that the case expects the failure", async () => {
    const { code, stderr } = await test("--from-run", "@last", "--out", "failed.graph.yaml");
    expect(code).toBe(0);
    expect(stderr).toContain("the run failed, so the case expects this failure");
    expect(await read("failed.graph.yaml")).toMatch(
      /# The run failed: the case expects this failure\.[^]*status: error/,
    );
    expect(await test("failed.graph.yaml")).toMatchObject({ code: 0 });
  });

  it("--fixed expects success", async () => {
    const { stderr } = await test("--from-run", "@last", "--fixed", "--out", "fixed.graph.yaml");
    expect(stderr).not.toContain("expects this failure");
    expect(await read("fixed.graph.yaml")).toMatch(/expect:\n +status: success\n$/);
    expect(await test("fixed.graph.yaml")).toMatchObject({ code: 1 });
    await project.put("graph.ts", failingGraph.replace('throw new RangeError("kaboom");', "return {};"));
    expect(await test("fixed.graph.yaml")).toMatchObject({ code: 0 });
  });

  it("--fixed without a failed run is an error", async () => {
    expect(await test("--fixed")).toMatchObject({ code: 2 });
    await project.put("graph.ts", failingGraph.replace('throw new RangeError("kaboom");', "return {};"));
    await cli(["run", "./graph.ts", "--input", '{"n":1}'], { cwd: project.dir });
    const { code, stderr } = await test("--from-run", "@last", "--fixed");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did not fail") as string,
    });
  });
});
