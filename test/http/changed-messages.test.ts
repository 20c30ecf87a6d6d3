/** `changed_messages` of a history: numbers of messages that each step added, removed and replaced, on every backend. */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { SelectedState, ThreadState } from "../../src/models/state.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  plan: Annotation<string>,
  drafts: Annotation<BaseMessage[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
const call = (id: string) => ({ id, name: "search", args: {} });

/** Returns all messages of its parent, as subgraphs do. */
const expert = new StateGraph(MessagesAnnotation)
  .addNode("check", () => ({ messages: [new AIMessage("checked")] }))
  .addNode("answer", () => ({ messages: [new AIMessage("answered")] }))
  .addEdge(START, "check")
  .addEdge("check", "answer")
  .addEdge("answer", END)
  .compile();

const build = (output?: object) =>
  new StateGraph({ stateSchema: State, ...(output && { output: output as typeof State }) })
    .addNode("ask", () => ({
      messages: [new AIMessage({ id: "asks", content: "", tool_calls: ["a", "b", "c"].map(call) })],
      plan: "look it up",
    }))
    .addNode("tools", () => ({
      messages: ["a", "b", "c"].map((tool_call_id) => new ToolMessage({ content: "found", tool_call_id })),
    }))
    .addNode("expert", expert)
    .addNode(
      "draft",
      () => (interrupt("draft?"), { drafts: [new AIMessage("draft"), new HumanMessage("no")] }),
    )
    .addNode("tidy", ({ messages }) => ({
      messages: [
        new RemoveMessage({ id: messages[0]?.id ?? "" }),
        new AIMessage({ id: "asks", content: "asked", tool_calls: ["a", "b", "c"].map(call) }),
      ],
    }))
    .addNode("close", () => ({ plan: "done" }))
    .addEdge(START, "ask")
    .addEdge("ask", "tools")
    .addEdge("tools", "expert")
    .addEdge("expert", "draft")
    .addEdge("draft", "tidy")
    .addEdge("tidy", "close")
    .addEdge("close", END)
    .compile();

const graphs = {
  work: build(),
  hides: build(Annotation.Root({ plan: Annotation<string>, drafts: State.spec.drafts })),
};
const NONE = { added: {}, tool_calls: 0, removed: 0, replaced: 0 };
const DRAFTS = { drafts: { ...NONE, added: { ai: 1, human: 1 } } };
const INPUT = { messages: [{ role: "user", content: "hello" }] };
const SELECT = ["changed_messages"];

async function ran(storage: Storage, graph: keyof typeof graphs) {
  const server = await startTestServer({ graphs, storage });
  const { thread_id } = await server.service.threads.create({});
  await server.service.runs.create(thread_id, { assistant_id: graph, input: INPUT });
  const command = { resume: "yes" };
  await server.service.runs.create(thread_id, { assistant_id: graph, command });
  return { server, thread_id };
}

async function history<T>(server: TestServer, thread: string, body: object): Promise<T[]> {
  const answer = await server.request("POST", `/threads/${thread}/history`, { limit: 100, ...body });
  expect(answer.status).toBe(200);
  return answer.body as T[];
}

const countsIn = async (server: TestServer, thread: string, body: object = {}) =>
  (await history<SelectedState>(server, thread, { select: SELECT, ...body })).map(
    ({ changed_messages }) => changed_messages,
  );

onEveryBackend("changed messages of a history", (backend) => {
  it("counts the messages that each step added, removed and replaced, also after an interrupt", async () => {
    const { server, thread_id } = await ran(await keptStorage(backend()), "work");
    const counts = [
      {},
      { messages: { ...NONE, removed: 1, replaced: 1 } },
      DRAFTS,
      // Not the messages that the subgraph received and returned.
      { messages: { ...NONE, added: { ai: 2 } } },
      { messages: { ...NONE, added: { tool: 3 } } },
      { messages: { ...NONE, added: { ai: 1 }, tool_calls: 3 } },
      { messages: { ...NONE, added: { human: 1 } } },
      {},
    ];
    expect(await countsIn(server, thread_id)).toEqual(counts);
    const [first, second] = await history<ThreadState>(server, thread_id, {});
    const before = { before: first?.checkpoint, limit: 1 };
    expect(await countsIn(server, thread_id, before)).toEqual([counts[1]]);
    expect(JSON.stringify(second?.metadata)).not.toContain("removed");
  });

  it("counts edits and runs from an older step, but not the messages of a copy", async () => {
    const { server, thread_id } = await ran(await keptStorage(backend()), "work");
    const states = await history<ThreadState>(server, thread_id, {});
    const checkpoint = states.find(({ next }) => next[0] === "tools")?.checkpoint ?? undefined;
    const messages = [
      { type: "human", content: "wait" },
      { type: "human", content: "and see" },
    ];
    await server.service.state.update(thread_id, { values: { messages }, checkpoint, as_node: "draft" });
    const [edit] = await countsIn(server, thread_id, { limit: 1 });
    expect(edit).toEqual({ messages: { ...NONE, added: { human: 2 } } });
    await server.service.runs.create(thread_id, { assistant_id: "work", input: null });
    const [, tidied] = await countsIn(server, thread_id, { limit: 2 });
    expect(tidied).toEqual({ messages: { ...NONE, removed: 1, replaced: 1 } });
    const copy = await server.service.threads.copy(thread_id);
    expect(await countsIn(server, copy.thread_id)).toEqual([{}]);
  });

  it("leaves out the messages that the graph hides", async () => {
    const storage = await keptStorage(backend());
    const { server, thread_id } = await ran(storage, "hides");
    const found = await countsIn(server, thread_id);
    expect(found.filter((counts) => Object.keys(counts ?? {}).length > 0)).toEqual([DRAFTS]);
    let stored = "";
    for await (const { metadata } of storage.checkpointer.list({ configurable: { thread_id } }))
      stored += JSON.stringify(metadata);
    expect(stored).toContain('"tool":3');
  });
});
