/** What is shown of a graph's input: a message where it takes messages, its own keys where it does not. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inputFlag } from "../../src/cli/graph-keys.js";
import { askingGraph, cli, createProject, echoGraph, type Project, startCli } from "./harness.js";

let project: Project;
const run = (...argv: string[]) => cli(argv, { cwd: project.dir });

beforeAll(async () => {
  project = await createProject({
    "ask.ts": askingGraph,
    "chat.ts": echoGraph(),
    "typed.ts": `
      import { START, StateGraph } from "@langchain/langgraph";
      import { z } from "zod";
      const State = z.object({ topic: z.string(), count: z.number(), style: z.enum(["short", "long"]) });
      export const graph = new StateGraph(State).addNode("one", () => ({})).addEdge(START, "one").compile();`,
  });
});
afterAll(() => project.remove());

describe("a graph without messages", () => {
  it("refuses a message with its own keys", async () => {
    const { code, stderr } = await run("run", "./typed.ts", "--message", "hello");
    expect([code, stderr]).toEqual([2, expect.stringContaining("has no messages")]);
    expect(stderr).toContain("its keys are: topic, count, style");
    const [, input = ""] = /--input '(.+)'/.exec(stderr) ?? [];
    expect(await run("run", "./typed.ts", "--input", input)).toMatchObject({ code: 0 });
  });

  it("is asked by its keys in what comes next", async () => {
    const ended = await run("run", "./typed.ts", "--input", '{"topic":"cats"}');
    expect(ended.stderr).toContain(`--input '{"topic":"...","count":1,"style":"short"}'`);
    const { thread_id } = JSON.parse(
      (await run("run", "./typed.ts", "--input", '{"topic":"cats"}', "--json")).stdout,
    ) as { thread_id: string };
    expect((await run("fork", thread_id)).stderr).toContain(`--input '{"topic":"...",`);
  });

  it("is tried by its keys in the banner of dev", async () => {
    const dev = startCli(["dev", "./ask.ts", "-p", "0"], { cwd: project.dir, isTTY: true });
    await dev.stderr.until(/try.*--input '\{"topic":"\.\.\.","answer":"\.\.\."\}'/);
    dev.stop();
    await dev.exit;
  });
});

it("a graph with messages is asked by one", async () => {
  expect((await run("run", "./chat.ts", "--message", "hi")).stderr).toContain('--message "..."');
});

it.each([
  [null, '--message "..."'],
  [{ properties: {} }, '--message "..."'],
  [{ properties: { messages: {} } }, '--message "..."'],
  [
    { properties: { chat: { langgraph_type: "messages" } } },
    `--input '{"chat":[{"role":"user","content":"..."}]}'`,
  ],
  [{ properties: { a: {}, b: { type: "object" } }, required: ["b"] }, `--input '{"b":{}}'`],
  [{ properties: { a: { default: "it's" } } }, `--input '{"a":"it'\\''s"}'`],
])("%j is asked by %s", (schema, flag) => {
  expect(inputFlag(schema)).toBe(flag);
});
