/** The SDK's `client.crons`, as an application calls it, with the setting `crons` on. */
import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { recordingLogger } from "../helpers/service.js";
import { openClient, says } from "./open.js";

const NEW_YEAR = "0 0 1 1 *";
const open = () => openClient({ settings: { crons: true } });
const nextYear = new Date().getUTCFullYear() + 1;
const AT = `${nextYear}-01-01T00:00:00.000Z`;

async function refusal(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => new Error("the call was not rejected"),
    (thrown: unknown) => thrown,
  );
  return (error as Error).message;
}

describe("client.crons", () => {
  it("a cron returns its next run date and its payload", async () => {
    const { client } = await open();
    const cron = await client.crons.create("chat", {
      schedule: NEW_YEAR,
      timezone: "America/New_York",
      input: says("a good year"),
      metadata: { topic: "greeting" },
      endTime: `${nextYear + 5}-06-01T00:00:00+02:00`,
    });
    expect(cron).toMatchObject({
      assistant_id: "chat",
      thread_id: null,
      schedule: NEW_YEAR,
      timezone: "America/New_York",
      next_run_date: `${nextYear}-01-01T05:00:00.000Z`,
      end_time: `${nextYear + 5}-05-31T22:00:00.000Z`,
      payload: { assistant_id: "chat", input: says("a good year") },
      metadata: { topic: "greeting" },
      user_id: null,
      enabled: true,
      on_run_completed: "delete",
      last_error: null,
    });
    expect(await client.crons.search()).toEqual([cron]);
  });

  it("a cron runs on its thread when due, with its metadata", async () => {
    const { client, server } = await open();
    const { thread_id } = await client.threads.create();
    const cron = await client.crons.createForThread(thread_id, "chat", {
      schedule: NEW_YEAR,
      input: says("a good year"),
      metadata: { topic: "greeting" },
    });
    await server.service.fireDue(new Date(Date.parse(AT) - 1).toISOString());
    expect(await client.runs.list(thread_id)).toEqual([]);
    await server.service.fireDue(AT);
    const [run, ...others] = await client.runs.list(thread_id);
    expect(others).toEqual([]);
    expect(run?.metadata).toMatchObject({ topic: "greeting", cron_id: cron.cron_id });
    const values = (await client.runs.join(thread_id, run!.run_id)) as { messages: { content: string }[] };
    expect(values.messages[0]?.content).toBe("a good year");
    const [after] = await client.crons.search({ threadId: thread_id });
    expect(after?.next_run_date).toBe(`${nextYear + 1}-01-01T00:00:00.000Z`);
  });

  it("only the latest of several missed slots runs, once", async () => {
    const { client, server } = await open();
    const { thread_id } = await client.threads.create();
    await client.crons.createForThread(thread_id, "chat", { schedule: NEW_YEAR, input: says("hello") });
    await server.service.fireDue(`${nextYear + 3}-05-05T00:00:00.000Z`);
    expect(await client.runs.list(thread_id)).toHaveLength(1);
    const [after] = await client.crons.search();
    expect(after?.next_run_date).toBe(`${nextYear + 4}-01-01T00:00:00.000Z`);
  });

  it.each(["keep", "delete"] as const)("without a thread, each run has its own: %s", async (kept) => {
    const { client, server } = await open();
    const { cron_id } = await client.crons.create("chat", {
      schedule: NEW_YEAR,
      input: says("hello"),
      onRunCompleted: kept,
    });
    await server.service.fireDue(AT);
    const count = () => client.threads.count();
    await expect.poll(count, { timeout: 20_000 }).toBe(kept === "keep" ? 1 : 0);
    if (kept === "delete") return;
    const [thread] = await client.threads.search();
    const [run] = await client.runs.list(thread!.thread_id);
    expect(run?.metadata).toMatchObject({ cron_id });
  });

  it("a cron does not run after its end time or while disabled", async () => {
    const { client, server } = await open();
    const { thread_id } = await client.threads.create();
    const make = (more: object) =>
      client.crons.createForThread(thread_id, "chat", { schedule: NEW_YEAR, input: says("hello"), ...more });
    const ended = await make({ endTime: `${nextYear - 1}-12-31T23:00:00Z` });
    const off = await make({ enabled: false });
    expect([ended.next_run_date, off.next_run_date]).toEqual([null, null]);
    await server.service.fireDue(AT);
    expect(await client.runs.list(thread_id)).toEqual([]);
    const on = await client.crons.update(off.cron_id, { enabled: true, schedule: "30 6 1 1 *" });
    expect(on).toMatchObject({ enabled: true, next_run_date: `${nextYear}-01-01T06:30:00.000Z` });
    const again = await client.crons.update(ended.cron_id, { endTime: null });
    expect(again).toMatchObject({ end_time: null, next_run_date: AT });
  });

  it("a patch with the time zone null sets UTC, and one without keeps the zone", async () => {
    const { client, server } = await open();
    const { thread_id } = await client.threads.create();
    const { cron_id } = await client.crons.createForThread(thread_id, "chat", {
      ...{ schedule: NEW_YEAR, input: says("hello"), timezone: "America/New_York" },
    });
    const kept = await client.crons.update(cron_id, { metadata: { a: 1 } });
    expect(kept).toMatchObject({ timezone: "America/New_York" });
    const patched = await server.request("PATCH", `/runs/crons/${cron_id}`, { timezone: null });
    expect(patched).toMatchObject({ status: 200, body: { timezone: null, next_run_date: AT } });
  });

  it("crons are filtered, sorted, paged and projected", async () => {
    const { client } = await open();
    const { thread_id } = await client.threads.create();
    const a = await client.crons.create("chat", { schedule: "0 6 1 1 *", metadata: { n: 1 } });
    const b = await client.crons.createForThread(thread_id, "steps", { schedule: NEW_YEAR, enabled: false });
    const ids = async (query?: Parameters<typeof client.crons.search>[0]) =>
      (await client.crons.search(query)).map(({ cron_id }) => cron_id);
    expect(await ids()).toEqual([b.cron_id, a.cron_id]);
    expect(await ids({ sortBy: "created_at", sortOrder: "asc" })).toEqual([a.cron_id, b.cron_id]);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([a.cron_id]);
    expect(await ids({ assistantId: "steps" })).toEqual([b.cron_id]);
    expect(await ids({ threadId: thread_id })).toEqual([b.cron_id]);
    expect(await ids({ enabled: true })).toEqual([a.cron_id]);
    expect(await ids({ metadata: { n: 1 } })).toEqual([a.cron_id]);
    expect(await client.crons.count({ metadata: { n: 1 } })).toBe(1);
    expect(await client.crons.search({ select: ["cron_id", "now"], limit: 1 })).toEqual([
      { cron_id: b.cron_id },
    ]);
    await client.crons.delete(a.cron_id);
    expect(await ids()).toEqual([b.cron_id]);
    expect(await refusal(client.crons.delete(a.cron_id))).toContain("does not exist");
  });

  it("a cron stores only its own fields; other fields are ignored", async () => {
    const { client, server } = await open();
    const odd = { command: { goto: 3 }, checkpoint: "none", if_not_exists: "create", nonsense: 1 };
    const made = await server.request("POST", "/runs/crons", {
      assistant_id: "chat",
      schedule: NEW_YEAR,
      input: says("hello"),
      ...odd,
    });
    expect(made.status).toBe(200);
    const [cron] = await client.crons.search();
    expect(cron?.payload).toEqual({ assistant_id: "chat", input: says("hello") });
    const change = { assistant_id: "steps", multitask_strategy: "reject", ...odd };
    const changed = await server.request("PATCH", `/runs/crons/${cron!.cron_id}`, change);
    expect(changed.status).toBe(200);
    const [after] = await client.crons.search();
    expect(after).toMatchObject({
      assistant_id: "chat",
      payload: { assistant_id: "chat", input: says("hello"), multitask_strategy: "reject" },
    });
    expect(Object.keys(after!.payload)).toHaveLength(3);
  });

  it("deleting a thread deletes its crons", async () => {
    const { client } = await open();
    const { thread_id } = await client.threads.create();
    await client.crons.createForThread(thread_id, "chat", { schedule: NEW_YEAR });
    await client.threads.delete(thread_id);
    expect(await client.crons.count()).toBe(0);
  });

  it("a rejected run is recorded and logged once, and the cron continues", async () => {
    const logger = recordingLogger();
    const { client, server } = await openClient({ settings: { crons: true }, logger });
    const { thread_id } = await client.threads.create();
    const gate = newId();
    await server.request(
      "POST",
      `/threads/${thread_id}/runs`,
      { assistant_id: "gate", input: { gate } },
      {
        prefer: "respond-async",
      },
    );
    await client.crons.createForThread(thread_id, "chat", {
      schedule: NEW_YEAR,
      multitaskStrategy: "reject",
    });
    await server.service.fireDue(AT);
    const [cron] = await client.crons.search();
    expect(cron).toMatchObject({
      last_error: expect.stringContaining("is busy") as string,
      next_run_date: `${nextYear + 1}-01-01T00:00:00.000Z`,
    });
    await server.service.fireDue(`${nextYear + 1}-01-01T00:00:00.000Z`);
    const told = logger.lines.filter(({ message }) => message.startsWith("the run of a cron was refused"));
    const of = { cron_id: cron?.cron_id, assistant_id: "chat", thread_id };
    expect(told).toMatchObject([
      { level: "warn", fields: of },
      { level: "debug", fields: of },
    ]);
  });

  it.each([
    ["* * * *", '"* * * *" is not a cron expression: it has 4 parts, not 5'],
    ["0 25 * * *", 'part 2, the hour, is "25"'],
    ["0 0 * 13 *", 'part 4, the month, is "13"'],
    ["* * * * * *", "it has 6 parts, not 5"],
    ["2030-01-01T00:00:00", "it has 1 parts, not 5"],
    ["@never", "there are @yearly"],
    ["0 0 30 2 *", "there is no such day"],
  ])("schedule %s is rejected with the reason", async (schedule, why) => {
    const { client } = await open();
    expect(await refusal(client.crons.create("chat", { schedule }))).toContain(why.replaceAll('"', '\\"'));
  });

  it("invalid run options and secrets are rejected on creation", async () => {
    const { client } = await open();
    const create = (assistant: string, more: object) =>
      refusal(client.crons.create(assistant, { schedule: NEW_YEAR, ...more }));
    expect(await create("nobody", {})).toContain("assistant");
    expect(await create("chat", { timezone: "Mars/Base" })).toContain("is not a time zone");
    expect(await create("chat", { config: { recursion_limit: 0 } })).toContain("recursion_limit");
    expect(await create("chat", { config: { configurable: { api_key: "sk-1" } } })).toContain(
      "holds a secret",
    );
    expect(await create("chat", { webhook: "https://example.com" })).toContain("webhook");
    expect(await refusal(client.crons.createForThread(newId(), "chat", { schedule: NEW_YEAR }))).toContain(
      "404",
    );
    expect(await client.crons.count()).toBe(0);
  });
});
