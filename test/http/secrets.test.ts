/** Secrets in a run's configuration and context reach the graph unmasked and are exposed nowhere else. */
import { readFile } from "node:fs/promises";
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { defaultSettings } from "../../src/config/settings.js";
import { newId } from "../../src/support/ids.js";
import { STREAM_MODES } from "../../src/models/run.js";
import { THREAD_FILE_FORMAT, THREAD_FILE_VERSION } from "../../src/models/thread-file.js";
import { runModel } from "../../src/storage/rows/run-rows.js";
import { threadModel } from "../../src/threads/thread-state.js";
import { MASK } from "../../src/support/secrets.js";
import { openStorage } from "../../src/storage/open.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gateGraph } from "../fixtures/graphs/gate.js";
import { startTestServer } from "../helpers/app.js";
import { openTestService, recordingLogger } from "../helpers/service.js";
import { runRow, threadRow } from "../storage/contract/rows.js";
import { tempFolder } from "../storage/temp-folder.js";

/** Part of every secret. */
const WORD = "hush-4711";

const configurable = {
  openaiApiKey: `sk-${WORD}`,
  "x-api-key": `x-${WORD}`,
  nested: { deeper: [{ access_token: `a-${WORD}`, model: "small" }] },
  credentials: { user: `u-${WORD}`, pins: [1234, `p-${WORD}`] },
  database_url: `postgres://me:${WORD}@db/x`,
  max_tokens: 100,
  token_count: "12",
  keyboard: "qwerty",
  monkey: "bonobo",
  password: true,
};
const context = { authorization: `Bearer ${WORD}`, clientSecret: WORD, locale: "de" };
const config = { configurable, metadata: { session_token: WORD, team: "red" }, tags: ["t"] };

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  seen: Annotation<boolean>,
  answer: Annotation<string>,
});
const Context = Annotation.Root({
  authorization: Annotation<string>,
  clientSecret: Annotation<string>,
  locale: Annotation<string>,
});
const model = new FakeModel();

const inner = new StateGraph(MessagesAnnotation)
  .addNode("speak", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, "speak")
  .compile();

const graph = new StateGraph(State, Context)
  .addNode("look", (_state, given: LangGraphRunnableConfig) => {
    const { thread_id: _1, run_id: _2, graph_id: _3, assistant_id: _4, ...own } = given.configurable ?? {};
    const found = Object.fromEntries(Object.keys(configurable).map((key) => [key, own[key] as unknown]));
    const isWhole = JSON.stringify(found) === JSON.stringify(configurable);
    return { seen: isWhole && JSON.stringify(given.context) === JSON.stringify(context) };
  })
  .addNode("inner", inner)
  .addNode("ask", () => ({ answer: String(interrupt("continue?")) }))
  .addEdge(START, "look")
  .addEdge("look", "inner")
  .addEdge("inner", "ask")
  .compile();

const input = { messages: [{ role: "user", content: "hi" }] };
const request = {
  assistant_id: "open",
  input,
  config,
  context,
  stream_mode: [...STREAM_MODES],
  stream_subgraphs: true,
};

const inFolder = tempFolder();

async function open() {
  const file = inFolder(`${newId()}.db`);
  const logger = recordingLogger();
  const server = await startTestServer({
    graphs: { open: graph, gate: gateGraph },
    logger,
    settings: { checkpointer_scheme: "sqlite", checkpointer_uri: file },
  });
  return { server, file, logger };
}

describe("secrets of a run", () => {
  it("secrets reach the graph and never answers, frames, the storage or the log", async () => {
    const { server, file, logger } = await open();
    const thread = newId();
    const on = `/threads/${thread}`;
    const exits: Record<string, string> = {};
    const see = async (method: string, path: string, body?: unknown) => {
      const answer = await server.request(method, path, body);
      expect(answer.status, `${method} ${path}`).toBeLessThan(300);
      exits[`${method} ${path} ${Object.keys(exits).length}`] = answer.text;
      return answer.body;
    };
    await see("POST", "/threads", { thread_id: thread });
    await see("POST", `${on}/runs/stream`, request);
    const state = await see("GET", `${on}/state?subgraphs=true`);
    expect(state).toMatchObject({ values: { seen: true }, next: ["ask"] });
    const [run] = (await see("GET", `${on}/runs`)) as { run_id: string }[];
    await see("GET", `${on}/runs/${run!.run_id}`);
    await see("GET", `${on}/runs/${run!.run_id}/join`);
    await see("GET", `${on}/runs/${run!.run_id}/stream`);
    await see("GET", on);
    await see("POST", `${on}/history`, { limit: 100 });
    await see("POST", "/threads/search", {});
    await see("POST", `${on}/copy`);
    await see("POST", `${on}/state`, { values: { answer: "no" }, as_node: "ask" });
    await see("POST", `${on}/runs`, { ...request, command: { resume: "yes" } });
    await see("POST", `${on}/runs/wait`, request);
    await see("POST", "/runs", request);
    await see("POST", "/runs/wait", request);
    await see("POST", "/runs/stream", request);
    await see("POST", "/runs/batch", [request]);
    await server.close(5);
    for (const suffix of ["", "-wal"]) {
      exits[`file${suffix}`] = await readFile(file + suffix, "latin1").catch(() => "");
    }
    exits.log = JSON.stringify(logger.lines);
    expect(exits.file).toContain("bonobo");
    expect(Object.keys(exits).filter((exit) => exits[exit]!.includes(WORD))).toEqual([]);
  });

  it("secrets are masked by key name", async () => {
    const { server } = await open();
    const answer = await server.request("POST", `/threads/${newId()}/runs`, {
      ...request,
      if_not_exists: "create",
    });
    const { kwargs, thread_id } = answer.body as { kwargs: object; thread_id: string };
    const masked = MASK;
    const shown = {
      configurable: {
        openaiApiKey: masked,
        "x-api-key": masked,
        nested: { deeper: [{ access_token: masked, model: "small" }] },
        credentials: { user: masked, pins: [1234, masked] },
        database_url: "postgres://me:********@db/x",
        max_tokens: 100,
        token_count: "12",
        keyboard: "qwerty",
        monkey: "bonobo",
        password: true,
      },
      metadata: { session_token: masked, team: "red" },
      tags: ["t"],
    };
    expect(kwargs).toMatchObject({
      config: shown,
      context: { authorization: masked, clientSecret: masked, locale: "de" },
    });
    expect((await server.request("GET", `/threads/${thread_id}`)).body).toMatchObject({ config: shown });
  });

  it("secrets of a queued run are kept outside its row", async () => {
    const { server } = await open();
    const thread = newId();
    const gate = newId();
    const later = { Prefer: "respond-async" };
    const held = { assistant_id: "gate", if_not_exists: "create", input: { gate } };
    await server.request("POST", `/threads/${thread}/runs`, held, later);
    await gateOf(gate).entered;
    const { body } = await server.request("POST", `/threads/${thread}/runs`, request, later);
    expect(body).toMatchObject({ status: "pending", kwargs: { context: { clientSecret: MASK } } });
    gateOf(gate).open();
    const { run_id } = body as { run_id: string };
    const answer = await server.request("GET", `/threads/${thread}/runs/${run_id}/join`);
    expect(answer.body).toMatchObject({ seen: true });
  });

  it("stored secrets are masked in answers", async () => {
    const storage = await openStorage({ ...defaultSettings(), cwd: process.cwd() });
    const server = await startTestServer({ graphs: { open: graph }, storage });
    const row = threadRow({ config });
    const run = runRow(row.thread_id, { status: "success", kwargs: { input, config, context } });
    await storage.threads.insert(row);
    await storage.runs.insert(run, { updated_at: row.updated_at });
    for (const path of ["", "/runs", `/runs/${run.run_id}`]) {
      const { status, text } = await server.request("GET", `/threads/${row.thread_id}${path}`);
      expect(status).toBe(200);
      expect(text).toContain("bonobo");
      expect(text).not.toContain(WORD);
    }
  });

  it("secrets in an imported file are not stored", async () => {
    const storage = await openStorage({ ...defaultSettings(), cwd: process.cwd() });
    const service = await openTestService({ graphs: { open: graph }, storage });
    const thread = threadModel(threadRow({ config }), { values: {}, interrupts: {} });
    const run = { ...runModel(runRow(thread.thread_id)), kwargs: { input, config, context } };
    const format = { format: THREAD_FILE_FORMAT, version: THREAD_FILE_VERSION } as const;
    await service.threads.restore({ ...format, thread, runs: [run], states: [], subgraphs: [] });
    const stored = [
      await storage.threads.get(thread.thread_id),
      await storage.runs.get(thread.thread_id, run.run_id),
    ];
    expect(JSON.stringify(stored)).toContain("bonobo");
    expect(JSON.stringify(stored)).not.toContain(WORD);
  });
});
