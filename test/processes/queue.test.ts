/**
 * Runs queued in the database for any process with free capacity: api processes accept requests, workers
 * execute runs.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";
import {
  onServers,
  PATIENCE,
  type ServerProcess,
  type ServerProcesses,
  settingsOf,
} from "../helpers/server-processes.js";
import { allEvents, readEvents, type SseEvent } from "../helpers/sse.js";

const TIMEOUT = { timeout: 180_000 };
const api = { role: "api" } as const;
const worker = { role: "worker" } as const;

withPostgres("a queue in postgres", (postgres) => {
  const settings = () => ({
    ...settingsOf(postgres.options({ pool_max_size: 3 })),
    queue: "postgres" as const,
    stream: "postgres" as const,
    multitask_cancel: true,
    delayed_runs: true,
    shutdown_grace_seconds: 1,
  });
  describe("with api processes and workers", () =>
    onServers(settings, (servers) => roles(servers, postgres)));
  describe("with role all", () => onServers(settings, (servers) => all(servers, postgres)));
});

/** Run ids of a thread, in the order in which the database accepted them. */
const accepted = async (postgres: TestPostgres, thread: string): Promise<string[]> => {
  const text = `SELECT run_id FROM "${postgres.schema}".gs_runs WHERE thread_id = $1 ORDER BY seq`;
  return (await postgres.sql<{ run_id: string }>(text, [thread])).map(({ run_id }) => run_id);
};

/** The process of a run. */
const ownerOf = async (postgres: TestPostgres, { run_id }: Run): Promise<string | null> => {
  const text = `SELECT owner FROM "${postgres.schema}".gs_runs WHERE run_id = $1`;
  const [row] = await postgres.sql<{ owner: string | null }>(text, [run_id]);
  return row?.owner ?? null;
};

const begun = (servers: ServerProcesses, thread: string): string[] =>
  servers.ledger(thread).flatMap(({ what, run }) => (what === "begin" ? [run] : []));

function roles(servers: ServerProcesses, postgres: TestPostgres): void {
  let [one, two]: ServerProcess[] = [];
  let workers: ServerProcess[];

  beforeAll(async () => {
    [one, two] = await servers.start(2, api);
    workers = await servers.start(2, worker);
  }, TIMEOUT.timeout);

  const pids = (thread: string) => new Set(servers.ledger(thread).map(({ pid }) => pid));
  const expectWorkers = (thread: string) => {
    expect(pids(thread).size).toBeGreaterThan(0);
    for (const pid of pids(thread)) expect(workers.map((each) => each.pid)).toContain(pid);
  };
  const open = (gate: string) => workers.forEach((each) => each.open(gate));

  /** Starts a run at its own gate, in flight on a worker. */
  async function inFlight(thread_id = newId()) {
    const gate = newId();
    const run = await one!.begin(thread_id, gate);
    await servers.begun(run);
    return { ...run, gate, path: `/threads/${thread_id}/runs/${run.run_id}` };
  }

  it("a run is executed by a worker while its caller waits at an api process", TIMEOUT, async () => {
    const thread = newId();
    const input = { gate: null };
    const answer = await one!.client.runs.wait(thread, "ledger", { input, ifNotExists: "create" });
    expect(answer).toMatchObject({ count: 1 });
    const created = await one!.client.runs.create(thread, "ledger", { input });
    expect(created).toMatchObject({ status: "success", attempt: 1 });
    expectWorkers(thread);
    expect(await two!.client.threads.get(thread)).toMatchObject({ status: "idle" });
    expect((await two!.client.threads.getState<{ count: number }>(thread)).values.count).toBe(2);
  });

  it("the frames of a run are streamed live to readers on any process", TIMEOUT, async () => {
    const [thread, gate] = [newId(), newId()];
    const body = { assistant_id: "ledger", input: { gate }, if_not_exists: "create", stream_mode: "updates" };
    const response = await one!.fetch("POST", `/threads/${thread}/runs/stream`, body);
    const events: SseEvent[] = [];
    for await (const event of readEvents(response)) {
      events.push(event);
      // Frames written before the gate arrive before it opens.
      if (event.event === "updates" && "begin" in (event.data as object)) open(gate);
    }
    expect(events.map(({ event }) => event)).toEqual(["metadata", "updates", "updates", "updates", "end"]);
    expect(events.map(({ id }) => id)).toEqual(["0", "1", "2", "3", "4"]);
    const { run_id } = events[0]?.data as Run;
    const late = await two!.fetch("GET", `/threads/${thread}/runs/${run_id}/stream`);
    expect(await allEvents(late)).toEqual(events);
    expectWorkers(thread);
  });

  it("a run without a thread leaves no thread behind", TIMEOUT, async () => {
    const before = await one!.client.threads.search({ limit: 1000 });
    const input = { gate: null };
    expect(await one!.client.runs.wait(null, "ledger", { input })).toMatchObject({ count: 1 });
    const events: string[] = [];
    for await (const { event } of one!.client.runs.stream(null, "ledger", { input })) events.push(event);
    expect(events.at(-1)).toBe("end");
    await one!.client.runs.create(null, "ledger", { input });
    await expect
      .poll(async () => (await one!.client.threads.search({ limit: 1000 })).length, PATIENCE)
      .toBe(before.length);
  });

  it("a delayed run is executed once, after runs accepted earlier", TIMEOUT, async () => {
    const threads = Array.from({ length: 6 }, () => newId());
    const later = async (thread: string, index: number) => {
      const input = { gate: null };
      const more = { afterSeconds: 1 + index / 10, ifNotExists: "create" as const };
      return one!.client.runs.create(thread, "ledger", { input, ...more });
    };
    const delayed = await Promise.all(threads.map(later));
    const others = await Promise.all(threads.map((thread) => two!.begin(thread, null)));
    for (const { thread_id, run_id } of [...delayed, ...others]) {
      await two!.client.runs.join(thread_id, run_id);
      expect(await two!.run({ thread_id, run_id })).toMatchObject({ status: "success", attempt: 1 });
    }
    for (const thread of threads) {
      expect(begun(servers, thread)).toHaveLength(2);
      expect(begun(servers, thread)).toEqual(await accepted(postgres, thread));
      expectWorkers(thread);
    }
  });

  it("a running or waiting run can be cancelled from any process", TIMEOUT, async () => {
    const running = await inFlight();
    const { thread_id } = running;
    const waiting = [
      await one!.begin(thread_id, null),
      await two!.begin(thread_id, null),
      await one!.begin(thread_id, null),
    ] as const;
    const rolledBack = `/threads/${thread_id}/runs/${waiting[2].run_id}`;
    expect((await two!.request("POST", `${rolledBack}/cancel?wait=1&action=rollback`)).status).toBe(204);
    expect((await one!.request("GET", rolledBack)).status).toBe(404);
    const path = `/threads/${thread_id}/runs/${waiting[0].run_id}`;
    expect((await two!.request("POST", `${path}/cancel?wait=1`)).status).toBe(204);
    expect(await one!.run(waiting[0])).toMatchObject({ status: "interrupted", attempt: 0 });
    expect(await one!.run(running)).toMatchObject({ status: "running" });
    expect((await two!.request("POST", `${running.path}/cancel?wait=1`)).status).toBe(204);
    expect(await one!.run(running)).toMatchObject({ status: "interrupted" });
    await two!.client.runs.join(thread_id, waiting[1].run_id);
    expect(begun(servers, thread_id)).toEqual([running.run_id, waiting[1].run_id]);
    expect(await one!.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
  });

  it("a run is cancelled when its client disconnects", TIMEOUT, async () => {
    const thread = newId();
    const leave = new AbortController();
    const body = { assistant_id: "ledger", input: { gate: newId() }, if_not_exists: "create" };
    const response = await one!.fetch("POST", `/threads/${thread}/runs/stream`, body, {
      signal: leave.signal,
    });
    const run_id = response.headers.get("content-location")?.split("/").at(-1) ?? "";
    await servers.begun({ thread_id: thread, run_id });
    leave.abort();
    await expect
      .poll(async () => (await two!.run({ thread_id: thread, run_id })).status, PATIENCE)
      .toBe("interrupted");
  });

  it("runs of a thread start in the order of acceptance across api processes", TIMEOUT, async () => {
    const threads = [newId(), newId(), newId()];
    const made = await Promise.all(
      threads.flatMap((thread) =>
        Array.from({ length: 20 }, (_, index) => (index % 2 ? one! : two!).begin(thread, null)),
      ),
    );
    for (const run of made) await two!.client.runs.join(run.thread_id, run.run_id);
    for (const thread of threads) {
      servers.expectTurns(thread);
      expect(begun(servers, thread)).toEqual(await accepted(postgres, thread));
      expectWorkers(thread);
    }
  });

  it(
    "multitask_strategy reject and interrupt apply to a thread that is busy on a worker",
    TIMEOUT,
    async () => {
      const { thread_id, gate, run_id } = await inFlight();
      const body = { assistant_id: "ledger", input: { gate: null } };
      const path = `/threads/${thread_id}/runs`;
      const refused = await two!.request("POST", path, { ...body, multitask_strategy: "reject" });
      expect(refused).toMatchObject({ status: 409, body: { code: "thread_busy" } });
      const taking = two!.client.runs.create(thread_id, "ledger", {
        input: { gate: null },
        multitaskStrategy: "interrupt",
      });
      expect(await taking).toMatchObject({ status: "success" });
      expect(await one!.run({ thread_id, run_id })).toMatchObject({ status: "interrupted" });
      open(gate);
    },
  );

  it("a run with a secret is rejected because secrets are not stored", TIMEOUT, async () => {
    const config = { configurable: { openai_api_key: "sk-1" } };
    const body = { assistant_id: "ledger", input: { gate: null }, config, if_not_exists: "create" };
    const refused = await one!.request("POST", `/threads/${newId()}/runs`, body);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ type: "not_storable" }] } });
  });

  it("a worker does not serve the API", TIMEOUT, async () => {
    const [first] = workers as [ServerProcess];
    expect((await first.request("GET", "/ok")).status).toBe(200);
    expect((await first.request("GET", "/ready")).body).toMatchObject({ ready: true });
    for (const path of ["/info", "/threads/search", "/docs", "/openapi.json", "/studio", "/mcp"])
      expect((await first.request("POST", path, {})).status, path).toBe(404);
  });

  it(
    "a run whose worker is killed is resumed by another worker before the runs behind it",
    TIMEOUT,
    async () => {
      const run = await inFlight();
      const behind = [await one!.begin(run.thread_id, null), await two!.begin(run.thread_id, null)];
      const waited = two!.client.runs.join(run.thread_id, run.run_id);
      const dying = servers.withPid([...pids(run.thread_id)][0]) as ServerProcess;
      workers = [...workers.filter((each) => each !== dying), await servers.one(worker)];
      await dying.kill();
      await expect.poll(async () => (await one!.run(run)).attempt, PATIENCE).toBe(2);
      open(run.gate);
      expect(await waited).toMatchObject({ count: 1 });
      expect(await one!.run(run)).toMatchObject({ status: "success", attempt: 2 });
      for (const each of behind) {
        await one!.client.runs.join(each.thread_id, each.run_id);
        expect(await one!.run(each)).toMatchObject({ status: "success", attempt: 1 });
      }
      servers.expectTurns(run.thread_id, [dying]);
    },
  );

  it("a run is requeued immediately when its worker shuts down", TIMEOUT, async () => {
    const run = await inFlight();
    const leaving = servers.withPid([...pids(run.thread_id)][0]) as ServerProcess;
    workers = [...workers.filter((each) => each !== leaving), await servers.one(worker)];
    const owner = await ownerOf(postgres, run);
    await leaving.kill("SIGTERM");
    // No process waits until the owner counts as dead: the run has another one, or none.
    expect(await ownerOf(postgres, run)).not.toBe(owner);
    await expect.poll(async () => (await one!.run(run)).attempt, PATIENCE).toBe(2);
    open(run.gate);
    await one!.client.runs.join(run.thread_id, run.run_id);
    expect(await one!.run(run)).toMatchObject({ status: "success", attempt: 2 });
  });

  it("an api process that shuts down still answers a waiting client", TIMEOUT, async () => {
    const leaving = await servers.one({ ...api, shutdown_grace_seconds: 60 });
    const [thread_id, gate] = [newId(), newId()];
    const input = { gate };
    const answer = leaving.client.runs.wait(thread_id, "ledger", { input, ifNotExists: "create" });
    await expect.poll(() => servers.ledger(thread_id).length, PATIENCE).toBe(1);
    const ended = leaving.kill("SIGTERM");
    // It accepts no new requests but keeps waiting for the run it accepted.
    await expect.poll(() => leaving.request("GET", "/ok").catch(() => "closed"), PATIENCE).toBe("closed");
    open(gate);
    expect(await answer).toMatchObject({ count: 1 });
    await ended;
  });

  it("a run waits until a worker has capacity, and max_waiting_runs limits the queue", TIMEOUT, async () => {
    await Promise.all(workers.map((each) => each.kill()));
    const run = await one!.begin(newId(), null);
    const joined = two!.client.runs.join(run.thread_id, run.run_id);
    expect(await two!.run(run)).toMatchObject({ status: "pending", attempt: 0 });
    const full = await servers.one({ ...api, max_waiting_runs: 1, metrics: true });
    const body = { assistant_id: "ledger", input: { gate: null }, if_not_exists: "create" };
    const refused = await full.request("POST", `/threads/${newId()}/runs`, body);
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    const figures = (await full.request("GET", "/metrics")).text;
    expect(figures).toContain("graph_serve_runs_waiting 1\n");
    expect(figures).toContain("graph_serve_runs_ready 1\n");
    expect(figures).toMatch(/graph_serve_runs_ready_oldest_seconds \d+\.\d/);
    expect(figures).toContain("graph_serve_runs_free 0\n");
    await full.kill();
    workers = await servers.start(1, { ...worker, max_concurrent_runs: 1 });
    expect(await joined).toMatchObject({ count: 1 });
    const first = await inFlight();
    const second = await two!.begin(newId(), null);
    open(first.gate);
    await two!.client.runs.join(second.thread_id, second.run_id);
    const lines = [first, second].map(({ thread_id }) => servers.ledger(thread_id).map(({ what }) => what));
    expect(lines).toEqual([["begin", "end"], ["begin", "end"]]); // prettier-ignore
    expect(await one!.run(first)).toMatchObject({ status: "success" });
  });
}

function all(servers: ServerProcesses, postgres: TestPostgres): void {
  let processes: ServerProcess[];

  beforeAll(async () => {
    processes = await servers.start(3);
  }, TIMEOUT.timeout);

  it("a run on a free thread starts in the process that accepted it", TIMEOUT, async () => {
    for (const { client, pid } of processes) {
      const thread = newId();
      const input = { gate: null };
      await client.runs.wait(thread, "ledger", { input, ifNotExists: "create" });
      expect(servers.ledger(thread).map((line) => line.pid)).toEqual([pid, pid]);
    }
  });

  it("runs of a thread start in the order in which all processes accepted them", TIMEOUT, async () => {
    const threads = [newId(), newId()];
    const made = await Promise.all(
      threads.flatMap((thread) =>
        Array.from({ length: 24 }, (_, index) => processes[index % 3]!.begin(thread, null)),
      ),
    );
    for (const run of made) await processes[0]!.client.runs.join(run.thread_id, run.run_id);
    for (const thread of threads) {
      servers.expectTurns(thread);
      expect(begun(servers, thread)).toEqual(await accepted(postgres, thread));
    }
  });

  it("a waiting run is streamed to its client from the process that executes it", TIMEOUT, async () => {
    const [thread, gate] = [newId(), newId()];
    const [first, second] = processes as [ServerProcess, ServerProcess];
    const run = await first.begin(thread, gate);
    await servers.begun(run);
    const body = { assistant_id: "ledger", input: { gate: null }, stream_mode: "updates" };
    const response = await second.fetch("POST", `/threads/${thread}/runs/stream`, body);
    first.open(gate);
    const events = await allEvents(response);
    expect(events.map(({ event }) => event)).toEqual(["metadata", "updates", "updates", "updates", "end"]);
  });
}
