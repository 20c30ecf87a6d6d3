/** A client that waits for a run keeps its connection when the run loses its thread lock and is resumed. */
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { openStorage } from "../../src/storage/open.js";
import type { RunLease } from "../../src/storage/contract/runs.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { readEvents, type SseEvent } from "../helpers/sse.js";

/** Attempts to store a requeued run: three when its execution ends, and one when its thread is free. */
const REQUEUE_ATTEMPTS = 4;

const DOORS = ["create", "wait", "stream"] as const;
type Door = (typeof DOORS)[number];

/** A run whose client waits. */
interface WaitedRun {
  thread_id: string;
  name: string;
  /** Disconnects the client. */
  leave: () => void;
  /** Events received so far, for a stream. */
  events: SseEvent[];
  /** Resolves with the status and the body of the response, or the events of a stream. */
  ended: Promise<unknown>;
}

const PATHS: Record<Door, string> = { create: "/runs", wait: "/runs/wait", stream: "/runs/stream" };
const logOf = (name: string) => [`before ${name}`, `waited ${name}`, `after ${name}`];

withPostgres("a run that loses its thread lock while its client waits", (postgres) => {
  const serve = (more: Partial<Settings> = {}) => {
    const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = postgres.options();
    const storage = { checkpointer_scheme, checkpointer_uri, checkpointer_options };
    return startTestServer({ graphs: { gate }, settings: { ...storage, ...more } });
  };

  /** Resolves when the run is at its gate. */
  async function begin(
    server: TestServer,
    door: Door,
    { isStateless = false, deaf = false } = {},
  ): Promise<WaitedRun> {
    const thread_id = newId();
    const prefix = isStateless ? "" : `/threads/${thread_id}`;
    const name = newId();
    const client = new AbortController();
    const body = {
      assistant_id: "gate",
      input: { gate: name, deaf },
      stream_mode: ["values"],
      // The run has a checkpoint when it reaches the gate.
      durability: "sync",
      ...(!isStateless && { if_not_exists: "create" }),
    };
    const events: SseEvent[] = [];
    const ended = (async () => {
      const init = { signal: client.signal };
      const response = await server.fetch("POST", prefix + PATHS[door], body, init);
      if (door !== "stream") return { status: response.status, body: await response.json() };
      for await (const event of readEvents(response)) events.push(event);
      return events;
    })();
    ended.catch(() => undefined);
    await gateOf(name).entered;
    return { thread_id, name, leave: () => client.abort(), events, ended };
  }

  const loseLocks = async () => {
    await expect.poll(() => postgres.terminate("locks")).toBe(1);
  };
  const entries = (name: string, times: number) =>
    expect.poll(() => gateOf(name).entries, { interval: 5 }).toBe(times);
  const runOf = async (server: TestServer, { thread_id }: WaitedRun) => {
    const [run] = (await server.request("GET", `/threads/${thread_id}/runs`)).body as Run[];
    return run;
  };

  /** Checks what the client got. */
  async function expectSuccess(door: Door, { name, ended }: WaitedRun, attempt: number): Promise<void> {
    const answer = await ended;
    if (door === "create")
      expect(answer).toMatchObject({ status: 200, body: { status: "success", attempt } });
    if (door === "wait") expect(answer).toMatchObject({ status: 200, body: { log: logOf(name) } });
    if (door !== "stream") return;
    const events = answer as SseEvent[];
    expect(events.map(({ event }) => event)).not.toContain("error");
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
    expect(events.at(-2)).toMatchObject({ event: "values", data: { log: logOf(name) } });
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    const begun = events.flatMap(({ event, id, data }) => (event === "metadata" ? [{ id, data }] : []));
    const [{ data: first } = { data: undefined }] = begun;
    const { run_id } = first as { run_id: string };
    expect(begun).toMatchObject(
      Array.from({ length: attempt }, (_, n) => ({
        id: String(n * 1_000_000_000),
        data: { run_id, attempt: n + 1, ...(n > 0 && { checkpoint_id: expect.any(String) as string }) },
      })),
    );
  }

  it.each(DOORS)("resumes in the same process, and its client gets the end: %s", async (door) => {
    const server = await serve();
    const run = await begin(server, door);
    const first = await runOf(server, run);
    for (const times of [2, 3]) {
      await loseLocks();
      await entries(run.name, times);
    }
    gateOf(run.name).open();
    await expectSuccess(door, run, 3);
    expect(await runOf(server, run)).toMatchObject({
      run_id: first?.run_id,
      status: "success",
      attempt: 3,
      error: null,
    });
    const { body } = await server.request("GET", `/threads/${run.thread_id}`);
    expect(body).toMatchObject({ status: "idle", values: { log: logOf(run.name) } });
  });

  it.each(["wait", "stream"] as const)("resumes on its temporary thread: %s", async (door) => {
    const server = await serve();
    const count = async () => (await server.request("POST", "/threads/count", {})).body as number;
    const before = await count();
    const run = await begin(server, door, { isStateless: true });
    expect(await count()).toBe(before + 1);
    await loseLocks();
    await entries(run.name, 2);
    gateOf(run.name).open();
    await expectSuccess(door, run, 2);
    expect(await count()).toBe(before);
  });

  it.each(DOORS)("resumes before the next run of its thread: %s", async (door) => {
    const server = await serve();
    const run = await begin(server, door);
    const { thread_id } = run;
    const next = server.request("POST", `/threads/${thread_id}/runs/wait`, {
      assistant_id: "gate",
      input: { gate: run.name },
    });
    await loseLocks();
    await entries(run.name, 2);
    gateOf(run.name).open();
    await expectSuccess(door, run, 2);
    expect((await next).body).toMatchObject({ log: [...logOf(run.name), ...logOf(run.name)] });
  });

  it("resumes before a later run of another process, although it could not be requeued at first", async () => {
    const storage = await openStorage(postgres.options());
    let refusals = 0;
    const refuse = ({ state }: Partial<RunLease>) => {
      if (state !== "queued" || refusals >= REQUEUE_ATTEMPTS) return;
      refusals += 1;
      throw new StorageUnavailableError("the database is away");
    };
    const runs = replacing<Storage["runs"]>(storage.runs, {
      async update(runId, patch, holder) {
        refuse(patch);
        return storage.runs.update(runId, patch, holder);
      },
      async settle(outcomes) {
        for (const { run } of outcomes) refuse(run);
        return storage.runs.settle(outcomes);
      },
    });
    const server = await startTestServer({ graphs: { gate }, storage: { ...storage, runs } });
    const run = await begin(server, "create");
    const { thread_id } = run;
    const first = await storage.runs.get(thread_id, (await runOf(server, run))?.run_id ?? "");
    if (!first) throw new Error("the run is not stored");
    const [run_id, name, at] = [newId(), newId(), new Date().toISOString()];
    const later = { run_id, created_at: at, updated_at: at, kwargs: { input: { gate: name } } };
    const left = { status: "pending", state: "queued", owner: "gone", attempt: 0 } as const;
    const resumption = { unattended: true, isWhole: true, caller: null, spent_ms: 0 };
    await storage.runs.insert({ ...first, ...later, ...left, resumption }, { updated_at: at });
    await loseLocks();
    await gateOf(run.name).aborted;
    for (const each of [run.name, name]) gateOf(each).open();
    await expectSuccess("create", run, 2);
    expect(refusals).toBe(REQUEUE_ATTEMPTS);
    await expect
      .poll(async () => (await server.request("GET", `/threads/${thread_id}/state`)).body)
      .toMatchObject({ values: { log: [...logOf(run.name), ...logOf(name)] } });
  });

  describe("and whose client disconnects", () => {
    it.each(DOORS)("is interrupted in its next attempt: %s", async (door) => {
      const server = await serve();
      const run = await begin(server, door);
      await loseLocks();
      await entries(run.name, 2);
      run.leave();
      await expect
        .poll(() => runOf(server, run))
        .toMatchObject({ status: "interrupted", attempt: 2, error: null });
      expect(gateOf(run.name)).toMatchObject({ entries: 2, passes: 0 });
    });

    it.each(DOORS)("does not start its next attempt: %s", async (door) => {
      const server = await serve();
      const run = await begin(server, door, { deaf: true });
      await loseLocks();
      await gateOf(run.name).aborted;
      // The node ignores its signal, so the next attempt waits for it.
      run.leave();
      await expect(run.ended).rejects.toThrow();
      const cancelled = `SELECT 1 FROM "${postgres.schema}".gs_runs WHERE thread_id = $1 AND cancel_requested`;
      await expect.poll(() => postgres.sql(cancelled, [run.thread_id])).toHaveLength(1);
      gateOf(run.name).open();
      await expect.poll(() => runOf(server, run)).toMatchObject({ status: "interrupted", error: null });
      expect(gateOf(run.name)).toMatchObject({ entries: 1, passes: 0 });
    });
  });

  it("a run with secrets in its request fails, because they are not stored", async () => {
    const server = await serve();
    const name = newId();
    const body = {
      assistant_id: "gate",
      input: { gate: name },
      if_not_exists: "create",
      config: { configurable: { openai_api_key: "sk-1" } },
    };
    const answer = server.request("POST", `/threads/${newId()}/runs`, body);
    await gateOf(name).entered;
    await loseLocks();
    expect((await answer).body).toMatchObject({ status: "error", error: "the thread's lock was lost" });
  });

  it.each(DOORS)("resumes with a queue: %s", async (door) => {
    const server = await serve({ queue: "postgres", stream: "postgres" });
    const run = await begin(server, door);
    await loseLocks();
    await entries(run.name, 2);
    gateOf(run.name).open();
    await expectSuccess(door, run, 2);
  });

  it.each([
    ["shared frames", "postgres"],
    ["frames in memory", "memory"],
  ] as const)("resumes repeatedly after it waited in the queue: %s", async (_, stream) => {
    const server = await serve({ queue: "postgres", stream, max_concurrent_runs: 1 });
    const blocker = await begin(server, "create");
    const waiting = begin(server, "stream");
    const pending = `SELECT 1 FROM "${postgres.schema}".gs_runs WHERE status = 'pending'`;
    await expect.poll(() => postgres.sql(pending)).toHaveLength(1);
    gateOf(blocker.name).open();
    const run = await waiting;
    await expect.poll(() => run.events.map(({ event }) => event)).toContain("metadata");
    for (const times of [2, 3]) {
      await loseLocks();
      await entries(run.name, times);
    }
    gateOf(run.name).open();
    await expectSuccess("stream", run, 3);
  });

  it("40 runs survive 40 lost lock sessions", async () => {
    const server = await serve();
    const ended: Run["status"][] = [];
    let lost = 0;
    for (let round = 0; round < 4; round++) {
      const doors = Array.from({ length: 10 }, (_, n) => DOORS[n % 3] as Door);
      const runs = await Promise.all(doors.map((door) => begin(server, door)));
      for (const run of runs) {
        const before = runs.map(({ name }) => gateOf(name).entries);
        await loseLocks();
        lost += 1;
        // The next session is terminated while the other runs are being resumed.
        await expect.poll(() => gateOf(run.name).entries > (before[runs.indexOf(run)] ?? 0)).toBe(true);
        gateOf(run.name).open();
      }
      await Promise.all(runs.map(({ ended: all }) => all));
      for (const run of runs) ended.push((await runOf(server, run))?.status ?? "error");
    }
    expect(lost).toBe(40);
    expect(ended).toEqual(Array(40).fill("success"));
  });
});
