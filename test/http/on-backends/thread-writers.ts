/**
 * Keys that one graph hides on a thread are not shown by any other graph, whichever graph a client names, on
 * every backend.
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { newId } from "../../../src/support/ids.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { openService } from "../../../src/service/open.js";
import type { Service } from "../../../src/service/service.js";
import type { ServiceOptions } from "../../../src/service/options.js";
import { copyStorage } from "../../../src/storage/copy/storage.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { graph as chat } from "../../fixtures/graphs/chat.js";
import { graph as glass, shell } from "../../fixtures/graphs/glass.js";
import { graph as subgraph } from "../../fixtures/graphs/subgraph.js";
import { CLASSIFIED, graph as vault } from "../../fixtures/graphs/vault.js";
import { serve, type TestServer } from "../../helpers/app.js";
import {
  keptStorage,
  MEMORY,
  openBackend,
  withoutRows,
  type Backend,
  type OnBackends,
} from "../../helpers/backends.js";

const STREAM_MODES = ["values", "updates", "tasks", "checkpoints", "debug", "messages", "custom"];
const HIDDEN = new RegExp(`secret|private_note|${CLASSIFIED}|graph_serve`);

const asked = { assistant_id: "vault", input: { topic: "cats" } };
const look = { assistant_id: "glass", input: { topic: "dogs" } };
interface Created {
  thread_id: string;
}
const GLASS = { metadata: { graph_id: "glass" } };

async function open(
  { settings, cwd }: Backend,
  options: Partial<ServiceOptions> = {},
): Promise<TestServer & { hides: TestServer["request"] }> {
  const service = await openService({ graphs: { glass, vault, chat }, settings, cwd, ...options });
  onTestFinished(() => service.close(0));
  const server = await serve(service);
  const hides: TestServer["request"] = async (method, path, body) => {
    const answer = await server.request(method, path, body);
    expect([answer.status, path]).toEqual([200, path]);
    expect(answer.text, `${method} ${path}`).not.toMatch(HIDDEN);
    return answer;
  };
  return { ...server, hides };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function stop(server: Opened): Promise<void> {
  await server.close(0);
  await server.service.close(0);
}

/** Creates a thread interrupted in the vault graph, with metadata that names another graph. */
async function heldThread({ request }: Opened): Promise<string> {
  const thread_id = newId();
  await request("POST", "/threads", { thread_id });
  const run = await request("POST", `/threads/${thread_id}/runs`, asked);
  expect(run.body).toMatchObject({ status: "interrupted" });
  await request("PATCH", `/threads/${thread_id}`, GLASS);
  return thread_id;
}

/** Reads a thread in every way. */
async function readEverything({ hides }: Opened, threadId: string): Promise<void> {
  const thread = `/threads/${threadId}`;
  await hides("PATCH", thread, GLASS);
  await hides("GET", thread);
  const state = await hides("GET", `${thread}/state?subgraphs=true`);
  const history = (await hides("POST", `${thread}/history`, { limit: 100 })).body as { checkpoint: object }[];
  expect(history.length).toBeGreaterThan(0);
  for (const { checkpoint } of history)
    await hides("POST", `${thread}/state/checkpoint`, { checkpoint, subgraphs: true });
  const { tasks } = state.body as { tasks: { checkpoint: object | null }[] };
  for (const { checkpoint } of tasks)
    if (checkpoint) await hides("POST", `${thread}/history`, { checkpoint });
  await hides("POST", "/threads/search", { ids: [threadId], extract: { all: "values" } });
  const secret = { ids: [threadId], values: { secret: `${CLASSIFIED} facts` } };
  expect((await hides("POST", "/threads/count", secret)).body).toBe(0);
  for (const { run_id } of (await hides("GET", `${thread}/runs`)).body as { run_id: string }[]) {
    await hides("GET", `${thread}/runs/${run_id}/join`);
    await hides("GET", `${thread}/runs/${run_id}/stream`);
  }
}

export function hiddenKeys(on: OnBackends): void {
  on("a thread with keys hidden by another graph", (backend) => {
    it("hidden keys are not shown when metadata names another graph", async () => {
      const server = await open(backend());
      const thread = await heldThread(server);
      await readEverything(server, thread);
      const found = await server.request("POST", "/threads/search", { ids: [thread], ...GLASS });
      expect(found.body).toMatchObject([{ values: { topic: "cats" }, metadata: { graph_id: "glass" } }]);
      const copy = (await server.hides("POST", `/threads/${thread}/copy`)).body as Created;
      await readEverything(server, copy.thread_id);
    });

    it("hidden keys are not shown to a run of another graph", async () => {
      const server = await open(backend());
      const thread = await heldThread(server);
      for (const stream_mode of STREAM_MODES) {
        const body = { ...look, stream_mode, stream_subgraphs: true };
        expect((await server.hides("POST", `/threads/${thread}/runs/stream`, body)).text).toContain(
          "event: end",
        );
      }
      const answer = await server.hides("POST", `/threads/${thread}/runs/wait`, look);
      expect(answer.body).toEqual({ topic: "dogs" });
      const events = { ...look, stream_mode: ["values", "events"] };
      const refused = await server.request("POST", `/threads/${thread}/runs/stream`, events);
      expect(refused).toMatchObject({ status: 400, body: { code: "unsupported_option" } });
      await readEverything(server, thread);
    });

    it("hidden keys are not shown when another graph resumes the thread", async () => {
      const server = await open(backend());
      const thread = await heldThread(server);
      const body = { assistant_id: "glass", command: { resume: "yes" }, stream_subgraphs: true };
      const stream_mode = STREAM_MODES;
      await server.hides("POST", `/threads/${thread}/runs/stream`, { ...body, stream_mode });
      await readEverything(server, thread);
    });

    it("hidden keys stay hidden after state updates through another graph", async () => {
      const server = await open(backend());
      const thread = await heldThread(server);
      await server.hides("POST", `/threads/${thread}/state`, { values: { note: "mine" } });
      await server.hides("POST", `/threads/${thread}/state`, { values: null });
      await readEverything(server, thread);
    });

    it("hidden keys stay hidden after a restart", async () => {
      const storage = await keptStorage(backend());
      const first = await open(backend(), { storage });
      const thread = await heldThread(first);
      await stop(first);
      const second = await open(backend(), backend().durable ? {} : { storage });
      await readEverything(second, thread);
      await second.hides("POST", `/threads/${thread}/runs/wait`, look);
      await readEverything(second, thread);
    });

    it("hidden keys stay hidden when the thread's row is lost", async () => {
      const storage = await keptStorage(backend());
      const first = await open(backend(), { storage: await withoutRows(storage) });
      const thread = await heldThread(first);
      await stop(first);
      const second = await open(backend(), { storage: await withoutRows(storage) });
      await second.hides("POST", "/threads", { thread_id: thread, ...GLASS });
      await readEverything(second, thread);
      await second.hides("POST", `/threads/${thread}/runs/wait`, look);
      await stop(second);
      const third = await open(backend(), { storage: await withoutRows(storage) });
      await third.hides("POST", `/threads/${thread}/runs/wait`, { ...look, if_not_exists: "create" });
      await readEverything(third, thread);
    });

    it("the writing graph is derived from the runs when the row does not list it", async () => {
      const storage = await openBackend(backend());
      const server = await open(backend(), { storage });
      const thread = await heldThread(server);
      await forget(storage, thread);
      await readEverything(server, thread);
      const [run] = (await server.request("GET", `/threads/${thread}/runs`)).body as { run_id: string }[];
      const path = `/threads/${thread}/runs/${run?.run_id}`;
      expect((await server.request("DELETE", path)).status).toBe(204);
      await readEverything(server, thread);
    });

    it("a thread with unknown writers hides the keys of every graph", async () => {
      const storage = await openBackend(backend());
      const server = await open(backend(), { storage });
      const thread = await heldThread(server);
      const [run] = (await server.request("GET", `/threads/${thread}/runs`)).body as { run_id: string }[];
      await server.request("DELETE", `/threads/${thread}/runs/${run?.run_id}`);
      await forget(storage, thread);
      await readEverything(server, thread);
      await server.hides("POST", `/threads/${thread}/runs/wait`, look);
      await readEverything(server, thread);
    });
  });

  /** Simulates a row from a release that did not store the writing graphs. */
  async function forget({ threads }: Storage, threadId: string): Promise<void> {
    const row = await threads.get(threadId);
    await threads.update(threadId, { updated_at: row?.updated_at ?? "", graphs: null });
    expect((await threads.get(threadId))?.graphs).toBeNull();
  }
}

export function severalGraphs(): void {
  describe("a thread written by several graphs", () => {
    it("all values are shown when no graph hides any", async () => {
      const { request } = await open(MEMORY, { graphs: { chat, talk: chat } });
      const { thread_id } = (await request("POST", "/threads", {})).body as Created;
      const say = { assistant_id: "talk", input: { messages: ["hi"] } };
      await request("POST", `/threads/${thread_id}/runs/wait`, { ...say, assistant_id: "chat" });
      const { body } = await request("POST", `/threads/${thread_id}/runs/wait`, say);
      const said = [{ content: "hi" }, { content: "You said: hi" }];
      expect(body).toMatchObject({ messages: [...said, ...said] });
      const events = await request("POST", `/threads/${thread_id}/runs/stream`, {
        ...say,
        stream_mode: "events",
      });
      expect(events.text).toContain("on_chain_start");
      const runs = (await request("GET", `/threads/${thread_id}/runs`)).body as { metadata: object }[];
      expect(runs.map(({ metadata }) => metadata)).toMatchObject([
        { graph_id: "talk" },
        { graph_id: "talk" },
        { graph_id: "chat" },
      ]);
    });

    it("steps of each graph and its subgraphs are shown when no graph hides any", async () => {
      const { request } = await open(MEMORY, { graphs: { chat, subgraph } });
      const stream_mode = ["updates", "tasks"];
      const modes = { stream_mode, stream_subgraphs: true, input: { messages: ["hi"] } };
      const streamed = async (thread_id: string, assistant_id: string) => {
        const path = `/threads/${thread_id}/runs/stream`;
        const { text } = await request("POST", path, { ...modes, assistant_id });
        return text
          .split("\n")
          .filter((line) => line.startsWith("data: ") && !line.includes('"run_id"'))
          .map((line) => line.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>"));
      };
      const thread = async () => ((await request("POST", "/threads", {})).body as Created).thread_id;
      const shared = await thread();
      // The input of a task is the state, which has the messages of the other graph, too.
      const updates = (lines: string[]) => lines.filter((line) => !line.includes('"triggers"'));
      for (const graph of ["chat", "subgraph", "chat"])
        expect(updates(await streamed(shared, graph)).length).toBeGreaterThan(0);
      const alone = updates(await streamed(await thread(), "subgraph"));
      expect(alone.join()).toContain("leaf was here");
      const together = updates(await streamed(shared, "subgraph"));
      expect(together).toHaveLength(alone.length);
      for (const said of ["inner model speaking", "leaf was here", "closed"])
        expect(together.join()).toContain(said);
      const history = (await request("POST", `/threads/${shared}/history`, { limit: 2 })).body;
      expect(history).toMatchObject([
        {},
        { tasks: [{ name: "close", result: { messages: [{ content: "closed" }] } }] },
      ]);
    });

    it("values written during a read are not shown", async () => {
      const storage = await openBackend(MEMORY);
      let meanwhile = async () => undefined as unknown;
      const { checkpointer } = storage;
      const getTuple = checkpointer.getTuple.bind(checkpointer);
      checkpointer.getTuple = async (config) => {
        const work = meanwhile;
        meanwhile = async () => undefined;
        await work();
        return getTuple(config);
      };
      const server = await open(MEMORY, { storage });
      const { thread_id } = (await server.request("POST", "/threads", GLASS)).body as Created;
      const thread = `/threads/${thread_id}`;
      await server.request("POST", `${thread}/runs`, look);
      meanwhile = async () => {
        await server.service.runs.create(thread_id, asked);
        return server.service.threads.update(thread_id, GLASS);
      };
      const { body } = await server.hides("GET", `${thread}/state?subgraphs=true`);
      expect(body).toMatchObject({ values: { topic: "cats" }, next: ["inner"] });
    });

    it("a queued run with stream mode events is rejected when it starts", async () => {
      const server = await open(MEMORY);
      const thread = await heldThread(server);
      const run = await server.service.runs
        .background(thread, { ...look, stream_mode: ["events"] })
        .catch((error: unknown) => error);
      expect(run).toMatchObject({ code: "unsupported_option" });
      expect((await server.request("GET", `/threads/${thread}/runs`)).body).toHaveLength(1);
    });
  });

  describe("client metadata", () => {
    const planted = { graph_serve: { graphs: ["glass"], scope: null }, graphs: ["glass"] };

    it("client metadata cannot set the list of writing graphs", async () => {
      const server = await open(MEMORY);
      const thread_id = newId();
      const config = { metadata: planted, configurable: planted };
      await server.request("POST", "/threads", { thread_id, metadata: planted });
      await server.request("POST", `/threads/${thread_id}/runs`, { ...asked, metadata: planted, config });
      await server.request("PATCH", `/threads/${thread_id}`, { metadata: { ...planted, graph_id: "glass" } });
      const plain = { graph_serve: "glass" };
      const run = { ...look, metadata: plain, config: { metadata: plain, configurable: plain } };
      await server.request("POST", `/threads/${thread_id}/runs`, run);
      for (const path of ["state?subgraphs=true", "history"]) {
        const { text } = await server.request("GET", `/threads/${thread_id}/${path}`);
        expect(text).not.toMatch(new RegExp(`secret|${CLASSIFIED}|graph_serve`));
      }
    });

    it("client metadata filters cannot match internal metadata", async () => {
      const server = await open(MEMORY);
      const thread = await heldThread(server);
      for (const graph_serve of [{ scope: null }, { graphs: ["vault"] }, {}]) {
        const { body } = await server.request("POST", `/threads/${thread}/history`, {
          metadata: { graph_serve },
        });
        expect(body).toEqual([]);
      }
    });
  });

  describe("a graph that is no longer served", () => {
    it("keys of a removed graph stay hidden unless another graph shows them", async () => {
      const storage = await keptStorage(MEMORY);
      const first = await open(MEMORY, { storage });
      const thread = await heldThread(first);
      await stop(first);
      // By default, the answer is refused: its node was removed with the graph.
      const settings = { ...MEMORY.settings, on_graph_changed: "drop" as const };
      const second = await open(MEMORY, { storage, graphs: { shell }, settings });
      const shown = await second.hides("GET", `/threads/${thread}/state?subgraphs=true`);
      expect(shown.body).toMatchObject({ values: { topic: "cats" }, tasks: [{ state: { values: {} } }] });
      await readEverything(second, thread);
      const { thread_id } = (await second.hides("POST", `/threads/${thread}/copy`)).body as Created;
      const on = {
        assistant_id: "shell",
        command: { resume: 1 },
        stream_mode: STREAM_MODES,
        stream_subgraphs: true,
      };
      await second.hides("POST", `/threads/${thread_id}/runs/stream`, on);
      await stop(second);
      // Under another name the graph shows the same values as before.
      const third = await open(MEMORY, { storage, graphs: { safe: vault } });
      await readEverything(third, thread);
      expect((await third.request("GET", `/threads/${thread}`)).body).toMatchObject({
        values: { topic: "cats" },
      });
    });
  });

  describe("copies of a thread", () => {
    async function fileOf(service: Service, threadId: string): Promise<ThreadFile> {
      const [thread, runs, states] = [
        await service.threads.get(threadId),
        await service.runs.list(threadId, {}),
        await service.state.history(threadId, { limit: 100 }),
      ];
      const checkpoints: ThreadFile["checkpoints"] = [];
      for await (const stored of service.threads.stored(threadId)) checkpoints.push(stored);
      return {
        format: "graph-serve/thread",
        version: 1,
        thread,
        runs,
        states: states.reverse(),
        subgraphs: [],
        checkpoints,
      };
    }

    it.each([
      ["with its checkpoints", (file: ThreadFile) => file],
      ["with its checkpoints alone", (file: ThreadFile) => ({ ...file, runs: [], states: [] })],
      ["as clients see it", ({ checkpoints: _, ...file }: ThreadFile) => file],
    ])("hidden keys stay hidden in a thread imported from a file %s", async (_what, cut) => {
      const storage = await openBackend(MEMORY);
      const server = await open(MEMORY, { storage });
      const thread = await heldThread(server);
      const raw = await openService({ graphs: { glass, vault }, storage, unfiltered: true, mode: "edit" });
      const file = await fileOf(raw, thread);
      expect(JSON.stringify(file)).toContain(CLASSIFIED);
      const restored = await server.service.threads.restore(cut(file), newId());
      await readEverything(server, restored.thread_id);
      await server.hides("POST", `/threads/${restored.thread_id}/runs/wait`, look);
    });

    it("hidden keys stay hidden in another storage", async () => {
      const [from, to] = [await openBackend(MEMORY), await openBackend(MEMORY)];
      const first = await open(MEMORY, { storage: from });
      const thread = await heldThread(first);
      const report = await copyStorage({ from, to, overwrite: false });
      expect(report.left).toEqual([]);
      await readEverything(await open(MEMORY, { storage: to }), thread);
    });
  });
}
