/** Threads through the official SDK's client. */
import { describe, expect, it } from "vitest";
import { NOBODY, openClient, says } from "./open.js";

describe("client.threads.create", () => {
  it("creates an idle thread", async () => {
    const { client } = await openClient();
    const thread = await client.threads.create({ metadata: { topic: "tea" }, graphId: "hitl", ttl: 5 });
    expect(thread).toMatchObject({
      status: "idle",
      metadata: { topic: "tea", graph_id: "hitl" },
      values: {},
      interrupts: {},
      ttl: { strategy: "delete", ttl_minutes: 5 },
    });
    expect(await client.threads.get(thread.thread_id)).toEqual(thread);
  });

  it("rejects an existing id under raise", async () => {
    const { client } = await openClient();
    const threadId = NOBODY;
    const thread = await client.threads.create({ threadId });
    expect(thread.thread_id).toBe(threadId);
    await expect(client.threads.create({ threadId })).rejects.toMatchObject({ status: 409 });
    expect(await client.threads.create({ threadId, ifExists: "do_nothing" })).toEqual(thread);
  });

  it("applies supersteps before any run", async () => {
    const { client } = await openClient();
    const { thread_id, values } = await client.threads.create({
      graphId: "steps",
      supersteps: [
        { updates: [{ values: { log: ["seed"] }, asNode: "__start__" }] },
        { updates: [{ values: { n: 9, log: ["nine"] }, asNode: "step" }] },
      ],
    });
    expect(values).toEqual({ n: 9, log: ["seed", "nine"] });
    expect(await client.threads.getState(thread_id)).toMatchObject({ next: ["step"] });
  });
});

describe("client.threads.search", () => {
  async function openWithThreads() {
    const { client } = await openClient();
    const [first, second, third] = await Promise.all(
      ["oslo", "rome", "oslo"].map((city) => client.threads.create({ metadata: { city } })),
    );
    if (!first || !second || !third) throw new Error("three threads are needed");
    return { client, first, second, third };
  }

  it("filters by metadata and ids", async () => {
    const { client, first, second, third } = await openWithThreads();
    const oslo = await client.threads.search({ metadata: { city: "oslo" } });
    expect(new Set(oslo.map((thread) => thread.thread_id))).toEqual(
      new Set([first.thread_id, third.thread_id]),
    );
    expect(await client.threads.search({ ids: [second.thread_id] })).toEqual([second]);
    expect(await client.threads.search({ metadata: { city: "bern" } })).toEqual([]);
  });

  it("pages, sorts and selects fields", async () => {
    const { client } = await openWithThreads();
    const sorted = { sortBy: "thread_id", sortOrder: "asc", select: ["thread_id", "metadata"] } as const;
    const query = { ...sorted, select: [...sorted.select] };
    const all = await client.threads.search(query);
    expect(all.map((thread) => thread.thread_id)).toEqual(all.map((thread) => thread.thread_id).sort());
    expect(Object.keys(all[0] ?? {}).sort()).toEqual(["metadata", "thread_id"]);
    expect(await client.threads.search({ ...query, limit: 1, offset: 1 })).toEqual([all[1]]);
  });

  it("filters by status and values", async () => {
    const { client, first, second } = await openWithThreads();
    await client.runs.create(first.thread_id, "hitl", { input: { topic: "cats" } });
    await client.runs.create(second.thread_id, "hitl", { input: { topic: "dogs" } });
    expect(await client.threads.search({ status: "interrupted" })).toHaveLength(2);
    const cats = await client.threads.search({ values: { topic: "cats" } });
    expect(cats.map((thread) => thread.thread_id)).toEqual([first.thread_id]);
  });

  it("extracts values by path", async () => {
    const { client, first } = await openWithThreads();
    await client.runs.create(first.thread_id, "chat", { input: says("tea") });
    const extract = { last: "values.messages[-1].content" };
    const [found] = await client.threads.search({ ids: [first.thread_id], select: ["thread_id"], extract });
    expect(found).toEqual({ thread_id: first.thread_id, extracted: { last: "You said: tea" } });
  });

  it("agrees with count", async () => {
    const { client } = await openWithThreads();
    expect(await client.threads.count()).toBe(3);
    expect(await client.threads.count({ metadata: { city: "oslo" } })).toBe(2);
    expect(await client.threads.count({ status: "busy" })).toBe(0);
    expect(await client.threads.count({ values: { topic: "cats" } })).toBe(0);
  });
});

describe("client.threads.update", () => {
  it("merges metadata", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create({ metadata: { a: 1, b: 1 } });
    const updated = await client.threads.update(thread_id, { metadata: { b: 2 }, ttl: 10 });
    expect(updated).toMatchObject({ metadata: { a: 1, b: 2 }, ttl: { ttl_minutes: 10 } });
  });

  it("returns no body under returnMinimal", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const update = { metadata: { seen: true }, returnMinimal: true } as const;
    expect(await client.threads.update(thread_id, update)).toBeUndefined();
    expect(await client.threads.get(thread_id)).toMatchObject({ metadata: { seen: true } });
  });
});

describe("client.threads.copy", () => {
  it("forks the latest state", async () => {
    const { client } = await openClient();
    const source = await client.threads.create({ metadata: { topic: "tea" } });
    await client.runs.create(source.thread_id, "hitl", { input: { topic: "cats" } });
    const before = await client.threads.get(source.thread_id);
    const copy = await client.threads.copy(source.thread_id);
    expect(copy).toMatchObject({
      status: "interrupted",
      values: before.values,
      metadata: { topic: "tea", forked_from: source.thread_id },
    });
    expect(await client.threads.getHistory(copy.thread_id)).toHaveLength(1);

    await client.runs.create(copy.thread_id, "hitl", { command: { resume: "yes" } });
    expect(await client.threads.get(copy.thread_id)).toMatchObject({ values: { answer: "yes" } });
    expect(await client.threads.get(source.thread_id)).toEqual(before);
  });
});

describe("client.threads.delete", () => {
  it("removes thread, runs and checkpoints", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "chat", { input: says("tea") });
    expect(await client.threads.delete(thread_id)).toBeUndefined();
    const gone = { status: 404 };
    await expect(client.threads.get(thread_id)).rejects.toMatchObject(gone);
    await expect(client.threads.getState(thread_id)).rejects.toMatchObject(gone);
    await expect(client.runs.get(thread_id, run.run_id)).rejects.toMatchObject(gone);
    await expect(client.threads.delete(thread_id)).rejects.toMatchObject(gone);

    await client.threads.create({ threadId: thread_id });
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
    expect(await client.runs.list(thread_id)).toEqual([]);
  });
});

describe("client.threads.prune", () => {
  it("keeps the latest state or deletes the thread", async () => {
    const { client } = await openClient();
    const { thread_id } = await client.threads.create();
    await client.runs.create(thread_id, "steps", { input: { n: 0 } });
    const before = await client.threads.getState(thread_id);
    expect(await client.threads.prune([thread_id], { strategy: "keep_latest" })).toEqual({ pruned_count: 1 });
    expect(await client.threads.getHistory(thread_id)).toHaveLength(1);
    expect((await client.threads.getState(thread_id)).values).toEqual(before.values);
    expect(await client.threads.prune([thread_id, NOBODY])).toEqual({ pruned_count: 1 });
    await expect(client.threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
  });
});
