/** Token usage of runs: tokens reported by models in a run are kept apart from those in a thread's messages. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { parse } from "yaml";
import { newId } from "../../src/support/ids.js";
import type { Run, TokenUsage } from "../../src/models/run.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import type { CaseFileSource } from "../../src/testing/cases/case-model.js";
import { client, serve } from "../helpers/app.js";
import { allEvents } from "../helpers/sse.js";
import { cli, createProject, startCli, type Project } from "./harness.js";

/** Calls a model, then interrupts; the answer needs no model. */
const graph = `
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { FakeModel } from ${JSON.stringify(join(process.cwd(), "test/fixtures/fake-model.ts"))};

const model = new FakeModel(() => "shall I?");
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("think", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode("ask", () => ({ messages: [{ role: "user", content: String(interrupt("well?")) }] }))
  .addEdge(START, "think")
  .addEdge("think", "ask")
  .compile();
`;
const cases = `
graph: ./graph.ts
cases:
  - name: asks a model once
    steps:
      - input: { messages: [{ role: user, content: go }] }
        expect: { status: interrupted, tokens: { min: 1, max: 5 }, snapshot: true }
      - resume: "yes"
        expect: { status: success, tokens: { max: 0 }, snapshot: true }
`;
const storage = { checkpointer_scheme: "sqlite", checkpointer_uri: "./threads.db" };
const thread = newId();
const input = { messages: [{ role: "user", content: "go" }] };

let project: Project;
let service: Service;
let asked: Run;
let resumed: Run;
beforeAll(async () => {
  project = await createProject({
    "graph.ts": graph,
    "agent.graph.yaml": cases,
    "graph-server.config.json": { graphs: { agent: "./graph.ts" }, ...storage },
  });
  service = await openService({
    cwd: project.dir,
    graphs: { agent: "./graph.ts" },
    settings: { ...storage, metrics: true },
  });
  const body = { assistant_id: "agent", if_not_exists: "create" as const };
  asked = await service.runs.create(thread, { ...body, input });
  resumed = await service.runs.create(thread, { ...body, command: { resume: "yes" } });
});
afterAll(async () => {
  await service.close(0);
  await project.remove();
});

const run = (...argv: string[]) => cli(argv, { cwd: project.dir });

describe("token usage of a run over HTTP", () => {
  it("usage reported by models has source callbacks", () => {
    expect(asked.usage).toMatchObject({ total_tokens: 3, source: "callbacks" });
  });

  it("usage of a run without model calls has source messages", async () => {
    expect(resumed.usage).toMatchObject({ total_tokens: 3, source: "messages" });
    const server = await serve(await openService({ cwd: project.dir, graphs: { agent: "./graph.ts" } }));
    const path = `/threads/${newId()}/runs`;
    const body = { assistant_id: "agent", if_not_exists: "create" };
    const usageOf = async (request: object) => {
      const events = await allEvents(await server.fetch("POST", `${path}/stream`, { ...body, ...request }));
      return (events.at(-1)?.data as { usage: TokenUsage }).usage;
    };
    expect(await usageOf({ input })).toMatchObject({ total_tokens: 3, source: "callbacks" });
    expect(await usageOf({ command: { resume: "yes" } })).toMatchObject({
      total_tokens: 3,
      source: "messages",
    });
    const { headers } = await server.request("POST", path, { ...body, input: { messages: [] } });
    expect(headers.get("x-tokens-used")).not.toBe("0");
  });

  it("metrics count tokens once", async () => {
    expect(await service.metrics?.text()).toContain(
      'graph_serve_tokens_total{graph="agent",kind="output"} 2',
    );
  });
});

describe("token usage in commands", () => {
  it("inspect thread shows the sum", async () => {
    expect((await run("inspect", "thread", thread)).stdout).toMatch(/^runs +2, 3 tokens$/m);
  });

  it("threads list and runs list show the tokens", async () => {
    const threads = (await run("threads", "list")).stdout;
    expect(threads.split("\n").find((row) => row.includes(thread))).toMatch(/ 2 +3 +go$/);
    const { stdout } = await run("runs", "list", thread, "--json");
    const { items } = JSON.parse(stdout) as { items: Run[] };
    expect(items.map(({ usage }) => usage?.source)).toEqual(["messages", "callbacks"]);
    const all = (await run("runs", "list")).stdout.split("\n");
    expect(all[0]).toMatch(/^RUN +THREAD +STATUS/);
    expect(all.slice(1).filter((row) => row.includes(thread))).toHaveLength(2);
    const failed = await run("runs", "list", "--status", "error", "--json");
    expect(JSON.parse(failed.stdout)).toEqual({ items: [], next: null });
    const rows = (await run("runs", "list", thread)).stdout.split("\n").slice(1, 3);
    expect(rows.map((row) => row.trim().split(/ {2,}/).at(-1))).toEqual(["0", "3"]);
  });

  it("inspect run shows both sources", async () => {
    const { stdout } = await run("inspect", "run", resumed.run_id);
    expect(stdout).toMatch(/^tokens +0 \(0 in, 0 out\), 3 in the thread's messages$/m);
  });

  it("a test case has the tokens of its step", async () => {
    const { code, stdout } = await run("test", "--reporter", "json");
    const { cases: results } = JSON.parse(stdout) as { cases: { tokens: number; failures: object[] }[] };
    expect(results).toMatchObject([{ failures: [], tokens: 3 }]);
    expect(code).toBe(0);
  });

  it("a snapshot contains token counts without their source", async () => {
    await run("test");
    const kept = await readFile(join(project.dir, "agent.graph.yaml.snap"), "utf8");
    expect(kept).toContain('"total_tokens": 3');
    expect(kept).not.toContain("source");
  });

  it("a run without model calls needs no recording", async () => {
    const dev = startCli(["dev", "./graph.ts", "-p", "0", "--record"], { cwd: project.dir });
    const [, url = ""] = await dev.stderr.until(/(http:\/\/[\d.]+:\d+)/);
    const { request } = client(url);
    const path = `/threads/${newId()}/runs`;
    const body = { assistant_id: "agent", if_not_exists: "create" };
    await request("POST", path, { ...body, input });
    const last = await request("POST", path, { ...body, command: { resume: "yes" } });
    dev.stop();
    expect(await dev.exit).toBe(0);
    const { run_id } = last.body as Run;
    expect(await run("test", "--from-run", run_id, "--out", "made.graph.yaml")).toMatchObject({ code: 0 });
    const made = parse(await readFile(join(project.dir, "made.graph.yaml"), "utf8")) as CaseFileSource;
    expect(made.mock).toBeDefined();
    expect(made.cases[0]?.steps?.map(({ expect: expected }) => expected?.tokens)).toEqual([
      { max: 3 },
      undefined,
    ]);
  });
});
