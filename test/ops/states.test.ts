import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { openTestService } from "../helpers/service.js";

async function thread(assistant_id: string, input: object) {
  const service = await openTestService({ graphs: { steps, chat, hitl, subgraph } });
  const { thread_id } = await service.threads.create({});
  await service.runs.create(thread_id, { assistant_id, input });
  return { service, thread_id };
}

const NOWHERE = "1f1e0000-0000-6000-8000-000000000000";

describe("the state of a thread", () => {
  it("is empty before the first run", async () => {
    const service = await openTestService({ graphs: { steps } });
    const { thread_id } = await service.threads.create({});
    expect(await service.state.get(thread_id)).toEqual({
      values: {},
      next: [],
      tasks: [],
      metadata: {},
      created_at: null,
      checkpoint: null,
      parent_checkpoint: null,
      interrupts: [],
    });
  });

  it("contains its checkpoint and parent checkpoint as flat objects", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const { checkpoint, parent_checkpoint, metadata } = await service.state.get(thread_id);
    for (const named of [checkpoint, parent_checkpoint]) {
      expect(named).toEqual({
        thread_id,
        checkpoint_ns: "",
        checkpoint_id: expect.any(String) as string,
        checkpoint_map: null,
      });
    }
    expect(metadata).toMatchObject({ source: "loop", parents: {}, thread_id });
    expect(metadata).not.toHaveProperty("checkpoint_ns");
  });

  it("is returned for any existing checkpoint and rejected for an unknown one", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const history = await service.state.history(thread_id, { limit: 100 });
    for (const state of history) {
      const checkpoint = { checkpoint_id: state.checkpoint?.checkpoint_id };
      expect(await service.state.get(thread_id, { checkpoint })).toEqual(state);
    }
    for (const checkpoint_id of [NOWHERE, "not-a-uuid"]) {
      await expect(service.state.get(thread_id, { checkpoint: { checkpoint_id } })).rejects.toMatchObject({
        code: "checkpoint_not_found",
      });
    }
    await expect(service.state.get(thread_id, { checkpoint: { thread_id: newId() } })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("hides keys outside the output schema", async () => {
    const { service, thread_id } = await thread("hitl", { topic: "cats", secret: "in" });
    const everything = JSON.stringify([
      await service.state.get(thread_id, { subgraphs: true }),
      await service.state.history(thread_id, { limit: 100 }),
      await service.threads.get(thread_id),
      await service.threads.copy(thread_id),
      await service.threads.search({}),
    ]);
    expect(everything).not.toContain("secret");
    expect(everything).not.toContain("plan for cats");
    expect(everything).toContain("Approve?");
  });
});

describe("the history of a thread", () => {
  it("is linear, newest first", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const states = await service.state.history(thread_id, { limit: 100 });
    for (const [index, state] of states.entries()) {
      expect(state.parent_checkpoint?.checkpoint_id ?? undefined).toBe(
        states[index + 1]?.checkpoint?.checkpoint_id,
      );
    }
  });

  it("returns ten states by default", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    expect(await service.state.history(thread_id, {})).toHaveLength(10);
    expect(await service.state.history(thread_id, { limit: 3 })).toHaveLength(3);
  });

  it("starts before a checkpoint given in any form", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const all = await service.state.history(thread_id, { limit: 100 });
    const checkpoint = all[3]?.checkpoint ?? {};
    const checkpoint_id = all[3]?.checkpoint?.checkpoint_id ?? "";
    for (const before of [checkpoint_id, checkpoint, { configurable: checkpoint }, { checkpoint }]) {
      expect(await service.state.history(thread_id, { before, limit: 2 })).toEqual(all.slice(4, 6));
    }
  });

  it("is filtered by metadata", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const inputs = await service.state.history(thread_id, { metadata: { source: "input" } });
    expect(inputs.map(({ metadata }) => metadata.step)).toEqual([-1]);
    expect(await service.state.history(thread_id, { metadata: { nested: { a: 1 } } })).toEqual([]);
    const byWrites = service.state.history(thread_id, { metadata: { writes: { step: { n: 1 } } } });
    await expect(byWrites).rejects.toMatchObject({ issues: [{ loc: ["body", "metadata", "writes"] }] });
  });

  it("is returned for a subgraph by its namespace", async () => {
    const { service, thread_id } = await thread("subgraph", { messages: ["hi"] });
    const all = await service.state.history(thread_id, { limit: 100 });
    const checkpoint = all.flatMap(({ tasks }) => tasks).find(({ name }) => name === "child")?.checkpoint;
    expect(checkpoint?.checkpoint_ns).toMatch(/^child:/);
    const inner = await service.state.history(thread_id, {
      checkpoint: { checkpoint_ns: checkpoint?.checkpoint_ns },
      limit: 1,
    });
    expect(inner[0]?.checkpoint?.checkpoint_ns).toBe(checkpoint?.checkpoint_ns);
  });
});

describe("a state update", () => {
  it("applies reducers and returns the new checkpoint", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const before = await service.state.get(thread_id);
    const written = await service.state.update(thread_id, { values: { log: ["edited"] }, as_node: "step" });
    const state = await service.state.get(thread_id);
    expect(written).toEqual({
      ...state.checkpoint,
      checkpoint: state.checkpoint,
      configurable: state.checkpoint,
    });
    expect((state.values as { log: string[] }).log.at(-1)).toBe("edited");
    expect(state.parent_checkpoint).toEqual(before.checkpoint);
    expect(state.metadata.source).toBe("update");
  });

  it("from an earlier checkpoint creates a fork", async () => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const history = await service.state.history(thread_id, { limit: 100 });
    const old = history.find(({ values }) => (values as { n: number }).n === 4);
    await service.state.update(thread_id, { values: { n: 9 }, as_node: "step", checkpoint: old?.checkpoint });
    const state = await service.state.get(thread_id);
    expect(state.values).toMatchObject({ n: 9, log: ["step 1", "step 2", "step 3", "step 4"] });
    expect(state.parent_checkpoint).toEqual(old?.checkpoint);
    await service.runs.create(thread_id, { assistant_id: "steps" });
    expect((await service.threads.get(thread_id)).values.n).toBe(10);
  });

  it("sets the thread status according to the next nodes", async () => {
    const { service, thread_id } = await thread("hitl", { topic: "cats" });
    await service.state.update(thread_id, { values: { answer: "no" }, as_node: "finish" });
    expect((await service.threads.get(thread_id)).status).toBe("idle");
    await service.state.update(thread_id, { values: { topic: "dogs" }, as_node: "plan" });
    expect((await service.threads.get(thread_id)).status).toBe("interrupted");
  });

  it("converts messages", async () => {
    const { service, thread_id } = await thread("chat", { messages: ["hi"] });
    await service.state.update(thread_id, { values: { messages: [{ role: "user", content: "edited" }] } });
    const { messages } = (await service.state.get(thread_id)).values as { messages: object[] };
    expect(messages.at(-1)).toMatchObject({ type: "human", content: "edited" });
  });

  it.each([
    ["invalid_request", { values: { n: 1 }, as_node: "unknown" }],
    ["invalid_request", { values: { a: { lc: 1 } } }],
    ["checkpoint_not_found", { values: { n: 1 }, checkpoint_id: NOWHERE }],
  ])("is rejected as %s and changes nothing", async (code, request) => {
    const { service, thread_id } = await thread("steps", { n: 0 });
    const before = await service.state.get(thread_id);
    await expect(service.state.update(thread_id, request)).rejects.toMatchObject({ code });
    expect(await service.state.get(thread_id)).toEqual(before);
  });
});

describe("two writes to one key in one superstep", () => {
  const graph = new StateGraph(Annotation.Root({ topic: Annotation<string>, word: Annotation<string> }))
    .addNode("one", () => ({ word: "first word" }))
    .addNode("two", () => ({ word: "second word" }))
    .addNode("calm", () => ({ word: "calm" }))
    .addConditionalEdges(START, ({ topic }) => (topic === "calm" ? ["calm"] : ["one", "two"]), [
      "calm",
      "one",
      "two",
    ])
    .compile();

  it("fail the run with an error that quotes no values, and the thread stays readable", async () => {
    const service = await openTestService({ graphs: { graph } });
    const { thread_id } = await service.threads.create({});
    const run = await service.runs.create(thread_id, { assistant_id: "graph", input: { topic: "cats" } });
    expect(run.status).toBe("error");
    expect(run.error).toMatch(/^Invalid update for channel "word": LastValue can only receive one value/);
    const state = await service.state.get(thread_id, { subgraphs: true });
    expect(state).toMatchObject({ values: { topic: "cats" }, next: ["one", "two"] });
    expect(await service.threads.get(thread_id)).toMatchObject({
      status: "error",
      values: { topic: "cats" },
    });
    const copy = await service.threads.copy(thread_id);
    expect(copy.values).toEqual({ topic: "cats" });
    const next = await service.runs.create(thread_id, { assistant_id: "graph", input: { topic: "calm" } });
    expect(next).toMatchObject({ status: "success", error: null });
  });
});
