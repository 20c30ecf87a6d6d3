/** State and history through the official SDK's client. */
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { NOBODY, openClient, says } from "./open.js";

/** A thread after a run of `steps`: twelve checkpoints. */
async function steppedThread(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.create(thread_id, "steps", { input: {} });
  return thread_id;
}

/** A thread that is interrupted inside a subgraph. */
async function askingThread(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.create(thread_id, "vault", { input: { topic: "cats" } });
  return thread_id;
}

describe("client.threads.getState", () => {
  it("is empty before the first run", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    expect(await client.threads.getState(thread_id)).toEqual({
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

  it("accepts a checkpoint id, a checkpoint, or neither", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    const latest = await client.threads.getState(thread_id);
    expect(latest).toMatchObject({
      values: { n: 10 },
      next: [],
      checkpoint: { thread_id, checkpoint_ns: "" },
    });
    const { checkpoint, parent_checkpoint: parent } = latest;
    expect(await client.threads.getState(thread_id, checkpoint)).toEqual(latest);
    expect(await client.threads.getState(thread_id, checkpoint.checkpoint_id ?? "")).toEqual(latest);

    const before = await client.threads.getState(thread_id, parent ?? undefined);
    expect(before).toMatchObject({ values: { n: 9 }, next: ["step"], checkpoint: parent });
    expect(await client.threads.getState(thread_id, parent?.checkpoint_id ?? "")).toEqual(before);
  });

  it("returns the states of subgraphs", async () => {
    const { client } = await openClient();
    const thread_id = await askingThread(client);
    const plain = await client.threads.getState(thread_id);
    const [task] = plain.tasks;
    expect(task).toMatchObject({
      name: "inner",
      state: null,
      interrupts: [{ value: { question: "Publish cats?" } }],
    });

    const nested = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    const state = nested.tasks[0]?.state;
    expect(state).toMatchObject({ next: ["ask"], values: { topic: "cats" } });
    const inside = { checkpoint_ns: state?.checkpoint.checkpoint_ns ?? "" };
    expect(inside.checkpoint_ns).toMatch(/^inner:/);
    const selected = await client.threads.getState(thread_id, {
      ...plain.checkpoint,
      ...inside,
      checkpoint_id: null,
    });
    expect(selected).toMatchObject({ next: ["ask"], values: { topic: "cats" } });
    const history = await client.threads.getHistory(thread_id, { checkpoint: inside });
    expect(history.map(({ next }) => next)).toEqual([["ask"], ["think"], ["__start__"]]);
  });

  it("returns 404 for an unknown checkpoint", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    await expect(client.threads.getState(thread_id, NOBODY)).rejects.toMatchObject({ status: 404 });
    await expect(client.threads.getState(NOBODY)).rejects.toMatchObject({ status: 404 });
  });
});

describe("client.threads.updateState", () => {
  it("writes through the reducers", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    const { configurable } = await client.threads.updateState(thread_id, {
      values: { log: ["edited"] },
      asNode: "step",
    });
    const state = await client.threads.getState(thread_id);
    expect(state.checkpoint).toEqual(configurable);
    expect(state).toMatchObject({ metadata: { source: "update" }, values: { n: 10 } });
    expect((state.values as { log: string[] }).log.at(-1)).toBe("edited");
  });

  it("forks from an earlier checkpoint", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    const third = (await client.threads.getHistory(thread_id, { limit: 20 })).find(
      ({ values }) => (values as { n: number }).n === 3,
    );
    const checkpointId = third?.checkpoint.checkpoint_id ?? "";
    await client.threads.updateState(thread_id, { values: { n: 8 }, checkpointId, asNode: "step" });
    const fork = await client.threads.getState(thread_id);
    expect(fork).toMatchObject({ values: { n: 8 }, next: ["step"], parent_checkpoint: third?.checkpoint });
    await client.runs.create(thread_id, "steps", { input: null });
    expect((await client.threads.get(thread_id)).values).toMatchObject({
      n: 10,
      log: ["step 1", "step 2", "step 3", "step 9", "step 10"],
    });
  });

  it("answers an interrupt in place of the node", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "hitl", { input: { topic: "cats" } });
    await client.threads.updateState(thread_id, { values: { answer: "skip" }, asNode: "ask" });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "interrupted", interrupts: {} });
    await client.runs.create(thread_id, "hitl", { input: null });
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle", values: { answer: "skip" } });
  });

  it("rejects unknown nodes and checkpoints", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    const before = await client.threads.getState(thread_id);
    const values = { n: 1 };
    await expect(client.threads.updateState(thread_id, { values, asNode: "nope" })).rejects.toMatchObject({
      status: 422,
    });
    await expect(
      client.threads.updateState(thread_id, { values, checkpointId: NOBODY }),
    ).rejects.toMatchObject({
      status: 404,
    });
    expect(await client.threads.getState(thread_id)).toEqual(before);
  });
});

describe("client.threads.getHistory", () => {
  it("lists checkpoints, newest first", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    expect(await client.threads.getHistory(thread_id)).toHaveLength(10);
    const history = await client.threads.getHistory(thread_id, { limit: 20 });
    expect(history.map(({ metadata }) => metadata?.step)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1]);
    for (const [index, { parent_checkpoint }] of history.entries()) {
      expect(parent_checkpoint).toEqual(history[index + 1]?.checkpoint ?? null);
    }
  });

  it("accepts `before` in every form", async () => {
    const { client } = await openClient();
    const thread_id = await steppedThread(client);
    const history = await client.threads.getHistory(thread_id);
    const checkpoint = history[4]?.checkpoint;
    for (const before of [
      { configurable: { ...checkpoint } },
      { checkpoint },
      checkpoint,
      checkpoint?.checkpoint_id,
    ]) {
      const earlier = await client.threads.getHistory(thread_id, { before: before as never, limit: 2 });
      expect(earlier).toEqual(history.slice(5, 7));
    }
  });

  it("filters by the metadata of checkpoints", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const first = await client.runs.create(thread_id, "chat", { input: says("one") });
    const second = await client.runs.create(thread_id, "chat", {
      input: says("two"),
      metadata: { mood: "gay" },
    });
    const runsOf = async (metadata: Record<string, unknown>) =>
      (await client.threads.getHistory(thread_id, { metadata })).map((state) => state.metadata?.run_id);
    expect(await runsOf({ run_id: first.run_id })).toEqual(Array(3).fill(first.run_id));
    expect(await runsOf({ run_id: second.run_id, source: "input" })).toEqual([second.run_id]);
    expect(await runsOf({ run_id: NOBODY })).toEqual([]);
  });
});
