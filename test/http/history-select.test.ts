/**
 * `select` on a thread's history: only the requested fields are returned, including `changed_keys`, on every
 * backend.
 */
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, it, vi } from "vitest";
import type { SelectedState, ThreadState } from "../../src/models/state.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";

const State = Annotation.Root({
  items: Annotation<number[]>,
  text: Annotation<string>,
  done: Annotation<number[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
});
/** Long enough that checkpointers store it separately. */
const LONG = "kept apart ".repeat(1000);

/** Writes a long text once, then sends each item to its own worker. */
const fan = new StateGraph(State)
  .addNode("plan", () => ({ text: LONG, items: [1, 2] }))
  .addNode("work", ({ items }) => ({ done: items }))
  .addNode("close", () => ({}))
  .addEdge(START, "plan")
  .addConditionalEdges("plan", ({ items }) => items.map((item) => new Send("work", { items: [item] })), [
    "work",
  ])
  .addEdge("work", "close")
  .addEdge("close", END)
  .compile({ name: "fan" });

const asks = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => (interrupt("continue?"), {}))
  .addEdge(START, "ask")
  .compile({ name: "asks" });

const graphs = { fan, hitl, subgraph, asks };
const WITHOUT_VALUES = [
  "next",
  "tasks",
  "checkpoint",
  "metadata",
  "created_at",
  "parent_checkpoint",
  "interrupts",
  "unfinished_step",
] as const;

async function ran(storage: Storage, graph: keyof typeof graphs, input: object) {
  const server = await startTestServer({ graphs, storage });
  const { thread_id } = await server.service.threads.create({});
  await server.service.runs.create(thread_id, { assistant_id: graph, input });
  return { server, path: `/threads/${thread_id}/history` };
}

async function history(server: TestServer, path: string, body: object = {}): Promise<SelectedState[]> {
  const answer = await server.request("POST", path, { limit: 100, ...body });
  expect(answer.status).toBe(200);
  return answer.body as SelectedState[];
}

const changed = (states: SelectedState[]) => states.map(({ changed_keys }) => changed_keys);

onEveryBackend("select on a history", (backend) => {
  it.each(Object.keys(graphs) as (keyof typeof graphs)[])(
    "select returns the same fields of %s as the full states, without values",
    async (graph) => {
      const input = { messages: [{ role: "user", content: "hi" }], topic: "tea", items: [] };
      const { server, path } = await ran(await keptStorage(backend()), graph, input);
      const whole = (await history(server, path)) as ThreadState[];
      expect(whole.length).toBeGreaterThan(1);
      const expected = whole.map(({ values: _, ...state }) => state);
      expect(await history(server, path, { select: WITHOUT_VALUES })).toEqual(expected);
      const less = whole.map(({ next, interrupts }) => ({ next, interrupts }));
      expect(await history(server, path, { select: ["next", "interrupts"] })).toEqual(less);
    },
  );

  it("changed_keys lists the visible keys that each superstep wrote", async () => {
    const storage = await keptStorage(backend());
    const { server, path } = await ran(storage, "fan", { items: [] });
    const [head] = await history(server, path);
    const states = await history(server, path, { select: ["changed_keys"] });
    expect(changed(states)).toEqual([[], ["done"], ["items", "text"], ["items"], []]);
    // The parent of a page's last checkpoint is not on the page.
    const page = { before: head?.checkpoint?.checkpoint_id ?? "", limit: 1, select: ["changed_keys"] };
    expect(await history(server, path, page)).toEqual([{ changed_keys: ["done"] }]);
    const hidden = await ran(storage, "hitl", { topic: "tea" });
    expect(changed(await history(hidden.server, hidden.path, { select: ["changed_keys"] }))).toEqual([
      ["log"],
      ["topic"],
      [],
    ]);
  });

  it("a checkpoint resumed with an update of an unselected key matches the full states", async () => {
    const input = { messages: [{ role: "user", content: "hi", id: "first" }] };
    const { server, path } = await ran(await keptStorage(backend()), "asks", input);
    const update = { messages: [{ type: "remove", id: "first", content: "" }] };
    const resumed = { assistant_id: "asks", command: { resume: "yes", update } };
    const { status } = await server.request("POST", path.replace("history", "runs/wait"), resumed);
    expect(status).toBe(200);
    const whole = (await history(server, path)) as ThreadState[];
    const expected = whole.map(({ values: _, ...state }) => state);
    expect(await history(server, path, { select: WITHOUT_VALUES })).toEqual(expected);
  });

  it("changed_keys of a fork compares it with its parent checkpoint", async () => {
    const { server, path } = await ran(await keptStorage(backend()), "fan", { items: [] });
    const states = await history(server, path);
    const oldest = states.at(-2)?.checkpoint ?? undefined;
    const thread = path.split("/")[2] ?? "";
    await server.service.state.update(thread, { values: { text: "edited" }, checkpoint: oldest });
    const [fork] = await history(server, path, { select: ["changed_keys", "parent_checkpoint"] });
    expect(fork).toEqual({ changed_keys: ["text"], parent_checkpoint: oldest });
  });

  it("values stored separately are not read unless selected", async () => {
    const { name } = backend();
    const storage = await keptStorage(backend());
    const { server, path } = await ran(storage, "fan", { items: [] });
    const { serde } = storage.checkpointer;
    const loaded: string[] = [];
    const load = serde.loadsTyped.bind(serde);
    vi.spyOn(serde, "loadsTyped").mockImplementation((type, data: Uint8Array | string) => {
      loaded.push(typeof data === "string" ? data : Buffer.from(data).toString());
      return load(type, data) as Promise<unknown>;
    });
    const long = () => loaded.filter((text) => text.includes("kept apart")).length;
    await history(server, path, {
      select: ["checkpoint", "changed_keys", "changed_messages", "created_at", "next"],
    });
    // These backends store a checkpoint as one document.
    const keepsWhole = ["mongodb", "a custom storage"].includes(name);
    if (!keepsWhole) expect(long()).toBe(0);
    await history(server, path, { select: ["checkpoint", "changed_keys", "created_at", "tasks"] });
    // The task's writes are stored with its checkpoint, once.
    if (!keepsWhole) expect(long()).toBe(1);
    await history(server, path, { select: ["values"] });
    expect(long()).toBeGreaterThan(2);
  });
});

describe("select on a history", () => {
  it("select works as a GET query and rejects unknown fields", async () => {
    const server = await startTestServer({ graphs });
    const { thread_id } = await server.service.threads.create({});
    await server.service.runs.create(thread_id, { assistant_id: "fan", input: { items: [] } });
    const path = `/threads/${thread_id}/history?limit=1`;
    const { body } = await server.request("GET", `${path}&select=next&select=changed_keys`);
    expect(body).toEqual([{ next: [], changed_keys: [] }]);
    const refused = await server.request("GET", `${path}&select=nothing`);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("changed_keys");
  });

  it("an omitted or empty select returns full states without changed_keys", async () => {
    const server = await startTestServer({ graphs });
    const { thread_id } = await server.service.threads.create({});
    await server.service.runs.create(thread_id, { assistant_id: "fan", input: { items: [] } });
    const path = `/threads/${thread_id}/history`;
    const whole = await history(server, path);
    expect(Object.keys(whole[0] ?? {})).not.toContain("changed_keys");
    expect(await history(server, path, { select: [] })).toEqual(whole);
    expect(whole[0]).toHaveProperty("values.done", [1, 2]);
  });
});
