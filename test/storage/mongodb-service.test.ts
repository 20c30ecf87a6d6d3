import { afterEach, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { withMongodb, type TestMongodb } from "../helpers/mongodb.js";
import { runRow, threadRow, tick } from "./contract/rows.js";

const services: Service[] = [];

async function serve(mongodb: TestMongodb): Promise<Service> {
  const { checkpointer_scheme, checkpointer_uri } = mongodb.options();
  const service = await openService({
    graphs: { chat, gate },
    settings: { checkpointer_scheme, checkpointer_uri },
  });
  services.push(service);
  return service;
}

afterEach(async () => {
  for (const service of services.splice(0)) await service.close(0);
});

withMongodb("a service on mongodb", (mongodb) => {
  const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hello" }] } };

  it("runs of one thread on two servers are executed one after another", async () => {
    const [one, two] = [await serve(mongodb()), await serve(mongodb())];
    const { thread_id } = await one.threads.create({});
    const all = Array.from({ length: 6 }, (_, n) => (n % 2 ? one : two).runs.create(thread_id, hello));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(6).fill("success"));
    const { values } = await two.state.get(thread_id);
    expect((values as { messages: unknown[] }).messages).toHaveLength(12);
  });

  it("a run in flight rejects runs on another server", async () => {
    const [one, two, name] = [await serve(mongodb()), await serve(mongodb()), newId()];
    const { thread_id } = await one.threads.create({});
    const running = one.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const rejected = two.runs.create(thread_id, { ...hello, multitask_strategy: "reject" });
    await expect(rejected).rejects.toMatchObject({ code: "thread_busy" });
    gateOf(name).open();
    expect((await running).status).toBe("success");
  });

  it("a run whose lock is lost resumes, its late writes are rejected and the thread accepts new runs", async () => {
    const { threads, runs, state } = await serve(mongodb());
    const { thread_id } = await threads.create({});
    const name = newId();
    const running = runs.create(thread_id, { assistant_id: "gate", input: { gate: name, deaf: true } });
    await gateOf(name).entered;
    // Another process considered this one dead.
    await mongodb().db.collection("gs_sessions").deleteMany({});
    await gateOf(name).aborted;
    gateOf(name).open();
    expect(await running).toMatchObject({ status: "success", error: null, attempt: 2 });
    expect(gateOf(name).entries).toBe(2);
    const { values } = await state.get(thread_id);
    const { log } = values as { log: string[] };
    expect(log).toEqual([`before ${name}`, `waited ${name}`, `after ${name}`]);
    const next = await runs.create(thread_id, { assistant_id: "gate", input: { gate: name, deaf: false } });
    expect(next.status).toBe("success");
    expect((await threads.get(thread_id)).status).toBe("idle");
  });

  it("runs and threads survive a restart", async () => {
    const first = await serve(mongodb());
    const { thread_id } = await first.threads.create({ metadata: { who: "me" } });
    const run = await first.runs.create(thread_id, hello);
    await first.close(0);
    const second = await serve(mongodb());
    expect(await second.threads.search({ metadata: { who: "me" } })).toMatchObject({
      items: [{ thread_id, status: "idle" }],
      total: 1,
    });
    expect(await second.runs.get(thread_id, run.run_id)).toMatchObject({ status: "success" });
    const { values } = await second.state.get(thread_id);
    expect((values as { messages: unknown[] }).messages).toHaveLength(2);
  });

  it("the end of a superseded run does not change the thread", async () => {
    const { threads, runs } = await mongodb().open();
    const { thread_id } = threadRow();
    await threads.insert(threadRow({ thread_id }));
    const [older, newer] = [runRow(thread_id), runRow(thread_id)];
    for (const run of [older, newer]) await runs.insert(run, { updated_at: tick(), status: "busy" });
    const settle = (runId: string) =>
      runs.settle([
        {
          runId,
          run: { updated_at: tick(), state: "ended", status: "error" },
          threadId: thread_id,
          thread: { updated_at: tick(), status: "error" },
        },
      ]);
    await settle(older.run_id);
    expect(await runs.get(thread_id, older.run_id)).toMatchObject({ status: "error" });
    expect(await threads.get(thread_id)).toMatchObject({ status: "busy" });
    await settle(newer.run_id);
    expect(await threads.get(thread_id)).toMatchObject({ status: "error" });
    await mongodb().close();
  });
});
