import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { openTestService } from "../helpers/service.js";

const open = () => openTestService({ graphs: { steps, chat, hitl } });

describe("threads.create", () => {
  it("fills in defaults", async () => {
    const service = await open();
    const thread = await service.threads.create({});
    expect(thread).toEqual({
      thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      created_at: expect.stringMatching(/Z$/) as string,
      updated_at: thread.created_at,
      state_updated_at: null,
      metadata: {},
      config: {},
      status: "idle",
      values: {},
      interrupts: {},
      error: null,
      ttl: null,
    });
    expect(await service.threads.get(thread.thread_id)).toEqual(thread);
  });

  it("rejects an existing id, or returns the existing thread with if_exists do_nothing", async () => {
    const service = await open();
    const thread_id = newId();
    const first = await service.threads.create({ thread_id, metadata: { a: 1 } });
    await expect(service.threads.create({ thread_id: thread_id.toUpperCase() })).rejects.toMatchObject({
      code: "thread_exists",
    });
    const again = await service.threads.create({
      thread_id,
      if_exists: "do_nothing",
      metadata: { a: 2 },
      ttl: 5,
    });
    expect(again).toEqual(first);
  });

  it("applies supersteps before any run", async () => {
    const service = await open();
    const thread = await service.threads.create({
      supersteps: [
        { updates: [{ values: { n: 7, log: ["seed"] }, as_node: "__start__" }] },
        { updates: [{ values: { n: 8, log: ["stepped"] }, as_node: "step" }] },
      ],
    });
    expect(thread).toMatchObject({ status: "idle", values: { n: 8, log: ["seed", "stepped"] } });
    expect(await service.runs.create(thread.thread_id, { assistant_id: "steps" })).toMatchObject({
      status: "success",
    });
    expect((await service.threads.get(thread.thread_id)).values.n).toBe(10);
  });

  it("creates no thread if a superstep is rejected", async () => {
    const service = await open();
    const thread_id = newId();
    const supersteps = [{ updates: [{ values: { n: 1 }, as_node: "unknown" }] }];
    await expect(service.threads.create({ thread_id, supersteps })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(service.threads.get(thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
    expect(await service.threads.create({ thread_id })).toMatchObject({ values: {} });
  });

  it("rejects metadata that could not be deserialized", async () => {
    const service = await open();
    const metadata = { a: { lc: 1, type: "constructor", id: ["x"] } };
    await expect(service.threads.create({ metadata })).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("the ttl of a thread", () => {
  it("counts from the last update, in minutes", async () => {
    const service = await open();
    const { thread_id, ttl, updated_at } = await service.threads.create({ ttl: 5 });
    expect(ttl).toEqual({
      strategy: "delete",
      ttl_minutes: 5,
      expires_at: new Date(Date.parse(updated_at) + 300_000).toISOString(),
    });
    const patched = await service.threads.update(thread_id, { ttl: { strategy: "keep_latest", ttl: 1 } });
    expect(patched.ttl).toMatchObject({ strategy: "keep_latest", ttl_minutes: 1 });
    expect((await service.threads.update(thread_id, { ttl: { ttl: null } })).ttl).toBeNull();
  });
});

describe("threads.update", () => {
  it("merges metadata key by key", async () => {
    const service = await open();
    const { thread_id } = await service.threads.create({ metadata: { a: 1, deep: { x: 1 } } });
    const updated = await service.threads.update(thread_id, { metadata: { b: 2, deep: { y: 2 } } });
    expect(updated.metadata).toEqual({ a: 1, b: 2, deep: { y: 2 } });
    expect((await service.threads.update(thread_id, {})).metadata).toEqual(updated.metadata);
  });

  it("rejects a missing thread", async () => {
    const service = await open();
    await expect(service.threads.update(newId(), {})).rejects.toMatchObject({ code: "thread_not_found" });
  });
});

describe("threads.copy", () => {
  it("copies only the latest state and records its origin", async () => {
    const service = await open();
    const { thread_id } = await service.threads.create({ metadata: { owner: "me" }, ttl: 5 });
    await service.runs.create(thread_id, { assistant_id: "steps", input: { n: 0 } });
    const before = await service.state.history(thread_id, { limit: 100 });
    const copy = await service.threads.copy(thread_id);
    expect(copy).toMatchObject({
      metadata: { owner: "me", forked_from: thread_id },
      status: "idle",
      ttl: null,
      values: { n: 10 },
    });
    expect(await service.state.history(copy.thread_id, { limit: 100 })).toHaveLength(1);
    const { metadata } = await service.state.get(copy.thread_id);
    expect(metadata).toMatchObject({ source: "fork", thread_id: copy.thread_id });
    expect(metadata).not.toHaveProperty("run_id");
    expect(await service.state.history(thread_id, { limit: 100 })).toEqual(before);
  });

  it("copies an open interrupt that can be resumed on either thread", async () => {
    const service = await open();
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "hitl", input: { topic: "cats" } });
    const copy = await service.threads.copy(thread_id);
    expect(copy.status).toBe("interrupted");
    expect(Object.values(copy.interrupts).flat()).toMatchObject([{ value: { topic: "cats" } }]);
    await service.runs.create(copy.thread_id, { assistant_id: "hitl", command: { resume: "copy" } });
    expect((await service.threads.get(copy.thread_id)).values.answer).toBe("copy");
    expect((await service.threads.get(thread_id)).status).toBe("interrupted");
    await service.runs.create(thread_id, { assistant_id: "hitl", command: { resume: "source" } });
    expect((await service.threads.get(thread_id)).values.answer).toBe("source");
  });

  it("copies a thread without runs", async () => {
    const service = await open();
    const { thread_id } = await service.threads.create({});
    expect(await service.threads.copy(thread_id)).toMatchObject({ values: {}, status: "idle" });
    await expect(service.threads.copy(newId())).rejects.toMatchObject({ code: "thread_not_found" });
  });
});

describe("threads.search", () => {
  it("filters before paging", async () => {
    const service = await open();
    for (let index = 0; index < 12; index++)
      await service.threads.create({ metadata: { even: index % 2 === 0, index } });
    const page = await service.threads.search({
      metadata: { even: true },
      limit: 4,
      sort_by: "created_at",
      sort_order: "asc",
    });
    expect(page.items.map(({ metadata }) => metadata?.index)).toEqual([0, 2, 4, 6]);
    expect(page).toMatchObject({ total: 6, next: 4 });
    const last = await service.threads.search({
      metadata: { even: true },
      limit: 4,
      offset: 4,
      sort_by: "created_at",
      sort_order: "asc",
    });
    expect(last.items.map(({ metadata }) => metadata?.index)).toEqual([8, 10]);
    expect(last).toMatchObject({ total: 6, next: null });
  });

  it("matches only values that clients can see", async () => {
    const service = await open();
    const ids: string[] = [];
    for (const topic of ["cats", "dogs", "cats"]) {
      const { thread_id } = await service.threads.create({});
      await service.runs.create(thread_id, { assistant_id: "hitl", input: { topic } });
      ids.push(thread_id);
    }
    const found = await service.threads.search({
      values: { topic: "cats" },
      limit: 1,
      sort_by: "thread_id",
      sort_order: "asc",
    });
    expect(found).toMatchObject({ total: 2, next: 1, items: [{ thread_id: ids[0] }] });
    expect(await service.threads.count({ values: { topic: "dogs" } })).toBe(1);
    expect(await service.threads.count({ values: { secret: "plan for cats" } })).toBe(0);
    expect(await service.threads.count({ status: "interrupted" })).toBe(3);
  });

  it("selects fields and extracts values", async () => {
    const service = await open();
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "chat", input: { messages: ["hi"] } });
    const { items } = await service.threads.search({
      ids: [thread_id.toUpperCase()],
      select: ["thread_id"],
      extract: {
        last: "values.messages[-1].content",
        none: "values.nothing[0].here",
        secret: "constructor.name",
      },
    });
    expect(items).toEqual([{ thread_id, extracted: { last: "You said: hi", none: null, secret: null } }]);
  });
});
