/** A graph whose module does not load: its threads stay readable, and requests that need its code explain the error. */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import { openService } from "../../src/service/open.js";
import { recordingLogger } from "../helpers/service.js";
import { serve, type TestServer } from "../helpers/app.js";

/** Interrupts inside a subgraph, so that an interrupted thread has checkpoints in two namespaces. */
const GOOD = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ topic: Annotation<string>, answer: Annotation<string> });
const inner = new StateGraph(State)
  .addNode("ask", ({ topic }) => ({ answer: String(interrupt("about " + topic + "?")) }))
  .addEdge(START, "ask").addEdge("ask", END).compile();
export const graph = new StateGraph(State).addNode("inner", inner)
  .addEdge(START, "inner").addEdge("inner", END).compile();
`;
const BROKEN = 'import "@langchain/langgraph";\nthrow new Error("no key\\nin the environment");\n';

let dir: string;
let thread: string;
const graphFile = (content: string) => writeFile(join(dir, "graph.ts"), content);

async function open(logger = recordingLogger()): Promise<TestServer> {
  const settings = {
    graphs: { agent: "./graph.ts" },
    checkpointer_scheme: "sqlite" as const,
    checkpointer_uri: join(dir, "threads.db"),
  };
  return serve(await openService({ settings, cwd: dir, standIns: true, logger }));
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "graph-serve-not-loaded-"));
  await symlink(join(process.cwd(), "node_modules"), join(dir, "node_modules"), "junction");
  await graphFile(GOOD);
  const server = await open();
  const created = await server.request("POST", "/threads", {});
  thread = (created.body as { thread_id: string }).thread_id;
  await server.request("POST", `/threads/${thread}/runs`, {
    assistant_id: "agent",
    input: { topic: "cats" },
  });
  await server.close(0);
  await graphFile(BROKEN);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it("threads of a graph that does not load are readable with hidden values and one warning", async () => {
  const logger = recordingLogger();
  const { request } = await open(logger);
  const read = async (path: string) => {
    const { status, body } = await request("GET", path);
    expect(status).toBe(200);
    return body;
  };
  expect(await read("/ok")).toMatchObject({ ok: true });
  expect(await read(`/threads/${thread}`)).toMatchObject({ status: "interrupted", values: {} });

  expect(await read(`/threads/${thread}/state?subgraphs=true`)).toMatchObject({
    values: {},
    next: ["inner"],
    tasks: [{ name: "inner", interrupts: [{ value: "about cats?" }], state: { next: ["ask"], values: {} } }],
  });
  expect(await read(`/threads/${thread}/history`)).toHaveLength(2);
  const assistants = (await request("POST", "/assistants/search", {})).body;
  expect(assistants).toMatchObject([{ graph_id: "agent" }]);
  expect(logger.of("warn")).toEqual(["the graph does not load: no values are shown"]);
  expect(logger.of("error")).toEqual([]);
});

it("requests that need the graph's code return 409 with the error and its location", async () => {
  const { request, service } = await open();
  const run = { assistant_id: "agent", input: { topic: "dogs" } };
  const seed = { supersteps: [{ updates: [{ values: { topic: "dogs" }, as_node: "inner" }] }] };
  const before = (await request("POST", "/threads/count", {})).body;
  for (const [method, path, body] of [
    ["POST", `/threads/${thread}/runs`, run],
    ["POST", `/threads/${thread}/runs/stream`, run],
    ["POST", "/runs/wait", run],
    ["POST", `/threads/${thread}/state`, { values: { topic: "dogs" } }],
    ["POST", "/threads", seed],
    ["GET", "/assistants/agent/schemas", undefined],
    ["GET", "/assistants/agent/graph", undefined],
    ["GET", "/assistants/agent/subgraphs", undefined],
  ] as const) {
    expect(await request(method, path, body), `${method} ${path}`).toMatchObject({
      status: 409,
      body: {
        code: "graph_not_loaded",
        detail:
          'graph "agent" does not load: ./graph.ts throws when it is imported: Error: no key: in the environment; fix the error at ./graph.ts:2',
      },
    });
  }
  expect((await request("POST", "/threads/count", {})).body).toEqual(before);
  expect((await request("GET", `/threads/${thread}/runs`)).body).toHaveLength(1);
  expect(service.graphFaults().get("agent")?.location).toMatchObject({
    line: 2,
    frame: expect.stringContaining("throw new Error") as string,
  });
});

it("a copied thread includes subgraph state and resumes after the graph is fixed", async () => {
  const { request, service } = await open();
  const copy = (await request("POST", `/threads/${thread}/copy`)).body as { thread_id: string };
  await graphFile(GOOD);
  expect([...(await service.reload()).keys()]).toEqual([]);
  const resume = { assistant_id: "agent", command: { resume: "soft" } };
  for (const id of [copy.thread_id, thread]) {
    expect((await request("POST", `/threads/${id}/runs/wait`, resume)).body).toEqual({
      topic: "cats",
      answer: "soft",
    });
  }
});

it("a failed reload keeps the previous version and reports the error", async () => {
  await graphFile(GOOD);
  const { request, service } = await open();
  await graphFile(BROKEN);
  const faults = await service.reload();
  expect([...faults.values()].map(({ message }) => message)).toEqual([
    "./graph.ts throws when it is imported\nError: no key\nin the environment",
  ]);
  expect((await request("GET", "/assistants/agent/schemas")).status).toBe(200);
  expect(service.watchedFiles()).toEqual([join(dir, "graph.ts")]);
});

it("the latest load error is reported instead of the first one", async () => {
  const { service } = await open();
  await graphFile('throw new Error("another fault");');
  await service.reload();
  expect(service.graphFaults().get("agent")?.message).toContain("another fault");
});

it("an error of a graph factory is logged once and cleared when the factory succeeds", async () => {
  const logger = recordingLogger();
  await graphFile(`${GOOD.replace("export const graph", "const made")}
export function graph() {
  if (globalThis.factoryIsBroken) throw new Error("no key");
  return made;
}`);
  const { request, service } = await open(logger);
  const read = async () => expect((await request("GET", `/threads/${thread}`)).status).toBe(200);
  const place = globalThis as { factoryIsBroken?: boolean };
  place.factoryIsBroken = true;
  onTestFinished(() => void delete place.factoryIsBroken);
  await read();
  await read();
  expect(logger.of("warn").filter((message) => message.includes("factory"))).toHaveLength(1);
  expect([...service.graphFaults().keys()]).toEqual(["agent"]);
  place.factoryIsBroken = false;
  await read();
  expect([...service.graphFaults().keys()]).toEqual([]);
});
