import pg from "pg";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { newId } from "../../src/support/ids.js";
import { type Logger, silentLogger } from "../../src/support/log.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { withPostgres, type TestPostgres } from "../helpers/postgres.js";
import { readAll } from "../helpers/service.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import { runRow, threadRow, tick } from "./contract/rows.js";

const services: Service[] = [];

async function serve(
  postgres: TestPostgres,
  checkpointer_options = {},
  more: Partial<Settings> = {},
): Promise<Service> {
  const { checkpointer_scheme, checkpointer_uri, checkpointer_options: options } = postgres.options();
  const settings = {
    checkpointer_scheme,
    checkpointer_uri,
    checkpointer_options: { ...options, ...checkpointer_options },
    ...more,
  };
  const service = await openService({ graphs: { steps, chat, gate }, settings, logger: silentLogger });
  services.push(service);
  return service;
}

afterEach(async () => {
  for (const service of services.splice(0)) await service.close(0);
});

withPostgres("a service on PostgreSQL", (postgres) => {
  const hello = { assistant_id: "chat", input: { messages: [{ role: "user", content: "hello" }] } };

  it.each(["async", "sync", "exit"] as const)(
    "ten steps with durability %s take at most 30 queries",
    async (durability) => {
      // The clock is frozen so that no heartbeat adds to the queries.
      vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"] });
      onTestFinished(() => void vi.useRealTimers());
      const { threads, runs, state } = await serve(postgres);
      const { thread_id } = await threads.create({});
      const query = vi.spyOn(pg.Client.prototype, "query");
      const run = await runs.create(thread_id, { assistant_id: "steps", input: { n: 0 }, durability });
      const statements = query.mock.calls.filter(([config]) => typeof config === "object").length;
      query.mockRestore();
      expect(run.status).toBe("success");
      expect((await state.get(thread_id)).values).toMatchObject({ n: 10 });
      expect(statements).toBeLessThanOrEqual(30);
    },
  );

  it("a queued run keeps its thread past the time to live, and a rejected run changes nothing", async () => {
    const queue = { queue: "postgres", role: "api", stream: "postgres" } as const;
    const service = await serve(postgres, {}, { ...queue, max_waiting_runs: 1 });
    const { threads, runs } = service;
    const { thread_id } = await threads.create({ ttl: 1 });
    const { run_id } = await runs.background(thread_id, hello);
    const accepted = await threads.get(thread_id);
    const config = { tags: ["refused"] };
    await expect(runs.background(thread_id, { ...hello, config })).rejects.toMatchObject({
      code: "too_many_runs",
    });
    expect(await threads.get(thread_id)).toEqual(accepted);
    await service.sweep(new Date(Date.now() + 3_600_000).toISOString());
    expect(await runs.get(thread_id, run_id)).toMatchObject({ status: "pending", attempt: 0 });
  });

  it("a process that releases a thread claims its next run immediately", async () => {
    // The clock is frozen, so polling cannot pick up a thread that was skipped.
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { threads, runs } = await serve(postgres, {}, { queue: "postgres", stream: "postgres" });
    const { thread_id } = await threads.create({});
    const ends = Array.from({ length: 24 }, () => runs.create(thread_id, hello));
    expect((await Promise.all(ends)).map(({ status }) => status)).toEqual(Array(24).fill("success"));
  });

  it("a queue with frames in memory logs a warning at startup", async () => {
    const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = postgres.options();
    const stored = {
      checkpointer_scheme,
      checkpointer_uri,
      checkpointer_options,
      queue: "postgres",
    } as const;
    const said: string[] = [];
    const warn: Logger["warn"] = (...words: unknown[]) => void said.push(String(words.at(-1)));
    for (const stream of ["postgres", "memory"] as const) {
      const logger = { ...silentLogger, warn };
      services.push(await openService({ graphs: { chat }, settings: { ...stored, stream }, logger }));
      expect(said.length).toBe(stream === "memory" ? 1 : 0);
    }
    expect(said[0]).toContain("receives only its last frame");
  });

  it.each([1, 2])("the end of %i runs in a deadlock with another statement is stored", async (count) => {
    const { runs, threads } = await postgres.open();
    const rows = await Promise.all(
      Array.from({ length: count }, async () => {
        const thread = threadRow({ status: "busy" });
        await threads.insert(thread);
        const row = runRow(thread.thread_id);
        await runs.insert(row, { updated_at: tick() });
        return row;
      }),
    );
    const [{ thread_id, run_id }] = rows as [RunRow];
    const other = await postgres.pool.connect();
    onTestFinished(() => other.release());
    const locking = (table: string, key: string) =>
      `SELECT 1 FROM "${postgres.schema}".${table} WHERE ${key} = $1 FOR UPDATE`;
    await other.query("BEGIN");
    await other.query(locking("gs_threads", "thread_id"), [thread_id]);
    const end = { updated_at: tick(), state: "ended", status: "success" } as const;
    const settled = runs.settle(
      rows.map((row) => ({
        runId: row.run_id,
        threadId: row.thread_id,
        run: end,
        thread: { updated_at: end.updated_at, status: "idle" },
      })),
    );
    const blocked = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1`;
    await expect.poll(() => postgres.sql(blocked, [`${postgres.schema} pool`])).toHaveLength(1);
    // PostgreSQL aborts the statement that has waited longer.
    await other.query(locking("gs_runs", "run_id"), [run_id]);
    await other.query("COMMIT");
    await settled;
    for (const row of rows) {
      expect(await runs.get(row.thread_id, row.run_id)).toMatchObject({ status: "success" });
      expect(await threads.get(row.thread_id)).toMatchObject({ status: "idle" });
    }
  });

  it("200 concurrent runs share three connections", async () => {
    const { threads, runs } = await serve(postgres, { pool_max_size: 3 });
    const ended = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { thread_id } = await threads.create({});
        const stream = await runs.stream(thread_id, { ...hello, stream_mode: ["values"] });
        return (await readAll(stream)).at(-1);
      }),
    );
    expect(ended.filter((last) => last?.event !== "end")).toEqual([]);
    expect(await threads.count({ status: "idle" })).toBeGreaterThanOrEqual(200);
  });

  it("runs of one thread on two servers are executed one after another", async () => {
    const [one, two] = [await serve(postgres), await serve(postgres)];
    const { thread_id } = await one.threads.create({});
    const all = Array.from({ length: 10 }, (_, n) => (n % 2 ? one : two).runs.create(thread_id, hello));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(10).fill("success"));
    const { values } = await one.state.get(thread_id);
    expect((values as { messages: unknown[] }).messages).toHaveLength(20);
  });

  it("a run in flight rejects runs on another server", async () => {
    const [one, two, name] = [await serve(postgres), await serve(postgres), newId()];
    const { thread_id } = await one.threads.create({});
    const running = one.runs.create(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const rejected = two.runs.create(thread_id, { ...hello, multitask_strategy: "reject" });
    await expect(rejected).rejects.toMatchObject({ code: "thread_busy" });
    gateOf(name).open();
    expect((await running).status).toBe("success");
  });

  it("closed pool connections are replaced", async () => {
    const { threads } = await serve(postgres);
    const { thread_id } = await threads.create({});
    await Promise.all(Array.from({ length: 5 }, () => threads.get(thread_id)));
    expect(await postgres.terminate("pool")).toBeGreaterThan(1);
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => threads.get(thread_id)));
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "storage_unavailable" });
    }
    expect((await threads.get(thread_id)).thread_id).toBe(thread_id);
  });

  it("an interrupted statement is reported as storage_unavailable", async () => {
    const { threads } = await serve(postgres);
    const { thread_id } = await threads.create({});
    const blocker = await postgres.pool.connect();
    await blocker.query("BEGIN");
    await blocker.query(`LOCK TABLE "${postgres.schema}".gs_threads`);
    const cutOff = threads.get(thread_id).catch((error: unknown) => error);
    const isBlocked = () =>
      postgres.sql(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'",
        [`${postgres.schema} pool`],
      );
    await expect.poll(isBlocked).not.toEqual([]);
    await postgres.terminate("pool");
    await blocker.query("COMMIT");
    blocker.release();
    const error = await cutOff;
    expect(error).toMatchObject({ code: "storage_unavailable", status: 503 });
    expect((error as Error).message).toMatch(
      /^PostgreSQL at [\w.]+:\d+ (is shutting down|lost the connection)/,
    );
    // The pool may have other connections whose end it has not received yet.
    await expect.poll(() => threads.get(thread_id).catch(String)).toMatchObject({ thread_id });
  });

  it("a run whose lock is lost resumes, its late writes are rejected and the thread accepts new runs", async () => {
    const { threads, runs, state } = await serve(postgres);
    const { thread_id } = await threads.create({});
    const name = newId();
    const input = { gate: name, deaf: true };
    const running = runs.create(thread_id, { assistant_id: "gate", input });
    await gateOf(name).entered;
    await postgres.terminate("locks");
    await gateOf(name).aborted;
    // The node ignores its signal and writes after the loss; the write is rejected.
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

  it("a run that lost its lock resumes without counting as a crash", async () => {
    const service = await serve(postgres, {}, { max_attempts: 1 });
    const { thread_id } = await service.threads.create({});
    const name = newId();
    const request = { assistant_id: "gate", input: { gate: name } };
    const { run_id } = await service.runs.background(thread_id, request);
    await gateOf(name).entered;
    for (const times of [2, 3]) {
      await postgres.terminate("locks");
      await expect.poll(() => gateOf(name).entries, { timeout: 20_000 }).toBe(times);
    }
    gateOf(name).open();
    await expect
      .poll(() => service.runs.get(thread_id, run_id))
      .toMatchObject({ status: "success", error: null, attempt: 3 });
  });

  it("the end of a superseded run does not change the thread", async () => {
    const storage = await postgres.open();
    const { threads, runs } = await serve(postgres);
    const { thread_id } = await threads.create({});
    const first = await runs.create(thread_id, hello);
    const [row] = await storage.runs.list({ threadId: thread_id, limit: 1, offset: 0 });
    const at = new Date().toISOString();
    const [older, newer] = [newId(), newId()];
    for (const run_id of [older, newer]) {
      const run = { ...row!, run_id, state: "running" as const, status: "running" as const };
      await storage.runs.insert(run, { updated_at: at, status: "busy" });
    }
    const settle = (runId: string) =>
      storage.runs.settle([
        {
          runId,
          run: { updated_at: at, state: "ended", status: "error" },
          threadId: thread_id,
          thread: { updated_at: at, status: "error" },
        },
      ]);
    await settle(older);
    expect((await threads.get(thread_id)).status).toBe("busy");
    expect((await runs.get(thread_id, older)).status).toBe("error");
    await settle(newer);
    expect((await threads.get(thread_id)).status).toBe("error");
    expect((await runs.get(thread_id, first.run_id)).status).toBe("success");
    await postgres.close();
  });

  it("everything works without prepared statements", async () => {
    const { threads, runs } = await serve(postgres, { prepare: false });
    const query = vi.spyOn(pg.Client.prototype, "query");
    const { thread_id } = await threads.create({});
    expect((await runs.create(thread_id, hello)).status).toBe("success");
    const names = query.mock.calls.map(([config]) => (config as { name?: string }).name);
    expect(names.filter((name) => name !== undefined && name !== "gs_locks")).toEqual([]);
  });
});
