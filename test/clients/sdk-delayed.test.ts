/** `afterSeconds` of the SDK, as an application sends it, with the setting `delayed_runs` on. */
import { describe, expect, it } from "vitest";
import { openClient, says } from "./open.js";

const open = () => openClient({ settings: { delayed_runs: true } });
const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

async function refusal(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => new Error("the call was not rejected"),
    (thrown: unknown) => thrown,
  );
  return (error as Error).message;
}

describe("afterSeconds", () => {
  it("returns immediately, and the run starts when due", async () => {
    const { client, server } = await open();
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "chat", { input: says("hello"), afterSeconds: 60 });
    expect(run.status).toBe("pending");
    expect(await client.runs.list(thread_id, { status: "pending" })).toHaveLength(1);
    const joined = client.runs.join(thread_id, run.run_id);
    await server.service.fireDue(later(61));
    expect(await joined).toMatchObject({ messages: [{ content: "hello" }, {}] });
  });

  it("starts a delayed run without further requests", async () => {
    const { client } = await open();
    const { thread_id } = await client.threads.create();
    const payload = { input: says("hello"), afterSeconds: 0.05 };
    const run = await client.runs.create(thread_id, "chat", payload);
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ messages: [{}, {}] });
  });

  it("creates a missing thread and works without a thread", async () => {
    const { client, server } = await open();
    const thread = "0197f0a0-0000-7000-8000-0000000000aa";
    const payload = { input: says("hello"), afterSeconds: 60 };
    expect(await refusal(client.runs.create(thread, "chat", payload))).toContain("404");
    await client.runs.create(thread, "chat", { ...payload, ifNotExists: "create" });
    const own = await client.runs.create(null, "chat", {
      ...payload,
      ...({ onCompletion: "keep" } as object),
    });
    await server.service.fireDue(later(61));
    await client.runs.join(own.thread_id, own.run_id);
    expect((await client.runs.get(own.thread_id, own.run_id)).status).toBe("success");
    expect(await client.runs.list(thread)).toHaveLength(1);
  });

  it("rejects invalid options immediately", async () => {
    const { client } = await open();
    const { thread_id } = await client.threads.create();
    const create = (more: object) =>
      refusal(client.runs.create(thread_id, "chat", { input: says("hello"), afterSeconds: 60, ...more }));
    expect(await create({ afterSeconds: -1 })).toContain("must be from 0 to 31622400");
    expect(await create({ afterSeconds: 1e9 })).toContain("must be from 0 to 31622400");
    expect(await create({ config: { configurable: { api_key: "sk-1" } } })).toContain("holds a secret");
    expect(await create({ config: { recursion_limit: 0 } })).toContain("recursion_limit");
    expect(await create({ checkpointId: "1f0f0f0f-0000-6000-8000-000000000000" })).toContain("404");
    expect(await refusal(client.runs.wait(thread_id, "chat", { afterSeconds: 60 }))).toContain(
      "create the run, then join it",
    );
    expect(await client.runs.list(thread_id)).toEqual([]);
  });

  it("allows at most 100 delayed runs per thread", async () => {
    const { client } = await open();
    const { thread_id } = await client.threads.create();
    const make = () => client.runs.create(thread_id, "chat", { input: says("hello"), afterSeconds: 60 });
    for (let made = 0; made < 100; made += 1) await make();
    expect(await refusal(make())).toContain("it already has 100 delayed runs");
  });
});
