/** Suggested input for a graph: a message if it takes messages, otherwise its own keys. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inputFlag } from "../../src/cli/session/graph-keys.js";
import { askingGraph, cli, createProject, echoGraph, type Project, startCli } from "./harness.js";
import { itSqlite } from "../helpers/with-sqlite.js";

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
  it("--message is rejected with the keys of the graph", async () => {
    const { code, stderr } = await run("run", "./typed.ts", "--message", "hello");
    expect([code, stderr]).toEqual([2, expect.stringContaining("requires a graph with messages")]);
    expect(stderr).toContain("its keys are: topic, count, style");
    const [, input = ""] = /--input '(.+)'/.exec(stderr) ?? [];
    expect(await run("run", "./typed.ts", "--input", input)).toMatchObject({ code: 0 });
  });

  itSqlite("the next command suggests the keys of the graph", async () => {
    const ended = await run("run", "./typed.ts", "--input", '{"topic":"cats"}');
    expect(ended.stderr).toContain(`--input '{"topic":"...","count":1,"style":"short"}'`);
    const { thread_id } = JSON.parse(
      (await run("run", "./typed.ts", "--input", '{"topic":"cats"}', "--json")).stdout,
    ) as { thread_id: string };
    expect((await run("fork", thread_id)).stderr).toContain(`--input '{"topic":"...",`);
  });

  it("the banner of dev suggests the keys of the graph", async () => {
    const dev = startCli(["dev", "./ask.ts", "-p", "0"], { cwd: project.dir, isTTY: true });
    await dev.stderr.until(/try.*--input '\{"topic":"\.\.\.","answer":"\.\.\."\}'/);
    dev.stop();
    await dev.exit;
  });
});

itSqlite("the next command for a graph with messages suggests --message", async () => {
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
])("input schema %j suggests %s", (schema, flag) => {
  expect(inputFlag(schema)).toBe(flag);
});
