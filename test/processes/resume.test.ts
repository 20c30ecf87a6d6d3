/** Runs of a killed process are resumed: by another process, or by the next process on the same file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { describeSqlite } from "../helpers/with-sqlite.js";
import type { Run } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { withPostgres } from "../helpers/postgres.js";
import {
  onServers,
  PATIENCE,
  type ServerProcess,
  type ServerProcesses,
  settingsOf,
} from "../helpers/server-processes.js";
import { readEvents, type SseEvent } from "../helpers/sse.js";
import { Database } from "../helpers/sqlite-database.js";

const TIMEOUT = { timeout: 300_000 };

interface Backend {
  /** Makes the heartbeats of all running processes look stale. */
  silence: () => Promise<unknown>;
  /** Drops the thread locks of a frozen process. */
  unlock: () => Promise<unknown>;
  /** The id of the process that owns a run. */
  ownerOf: (run_id: string) => Promise<unknown>;
  /** Whether several processes can use the backend at the same time. */
  isShared: boolean;
}

type Started = Run & { gate: string };

const values = async ({ client }: ServerProcess, { thread_id }: Started) =>
  (await client.threads.getState<{ log: string[] }>(thread_id)).values.log;

/** Starts a background run whose node `at` waits at a gate. */
async function begin(
  server: ServerProcess,
  { graph = "trail", at = "b", thread_id = newId(), ...more }: Record<string, unknown> = {},
): Promise<Started> {
  const gate = newId();
  const body = {
    assistant_id: graph,
    if_not_exists: "create",
    input: { log: ["in"], gates: { [String(at)]: gate } },
    ...more,
  };
  const headers = { Prefer: "respond-async" };
  const answer = await server.request("POST", `/threads/${String(thread_id)}/runs`, body, headers);
  expect(answer.status).toBe(200);
  return { ...(answer.body as Run), gate };
}

async function follow(server: ServerProcess, { thread_id, run_id }: Run, after?: string) {
  const headers = after === undefined ? undefined : { "Last-Event-ID": after };
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const response = await server.fetch("GET", path, undefined, { headers });
  const seen: SseEvent[] = [];
  const ended = (async () => {
    for await (const event of readEvents(response)) seen.push(event);
  })().catch(() => undefined);
  const shown = () => seen.map(({ event }) => event);
  return { seen, ended, shown };
}

const numbers = (events: readonly SseEvent[]) => events.map(({ id }) => Number(id));
const isAscending = (ids: readonly number[]) => ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? 0));

function declare(servers: ServerProcesses, backend: () => Backend): void {
  let other: ServerProcess | undefined;
  let dying: ServerProcess;

  beforeAll(async () => {
    if (backend().isShared) other = await servers.one();
  }, TIMEOUT.timeout);

  const ended = async (server: ServerProcess, run: Run) => {
    await server.client.runs.join(run.thread_id, run.run_id);
    return server.run(run);
  };
  const reached = (run: Run, node: string) =>
    expect.poll(() => servers.nodes(run).includes(node), PATIENCE).toBe(true);
  const pass = async (server: ServerProcess, run: Started) => {
    server.open(run.gate);
    return ended(server, run);
  };
  /** Waits until the checkpoint before this node is stored. */
  const stands = (server: ServerProcess, { thread_id }: Run, node: string) =>
    expect
      .poll(async () => (await server.client.threads.getState(thread_id)).next.includes(node), PATIENCE)
      .toBe(true);

  /** Kills the process and returns the one that resumes its runs. */
  const heir = async (): Promise<ServerProcess> => {
    await dying.kill();
    return other ?? servers.one();
  };

  describe("after a process is killed", () => {
    let next: ServerProcess;
    const runs: Record<string, Started> = {};
    let streamed: Awaited<ReturnType<typeof follow>>;
    let elsewhere: Awaited<ReturnType<typeof follow>> | undefined;
    let attended: Run;

    it("setup: a process with runs in every state is killed", TIMEOUT, async () => {
      dying = await servers.one();
      const asked = await dying.client.runs.wait(newId(), "ask", {
        ifNotExists: "create",
        input: { log: ["in"] },
      });
      expect(asked).toHaveProperty("__interrupt__");
      const waiting = (await dying.client.threads.search({ status: "interrupted" }))[0]?.thread_id;
      Object.assign(runs, {
        async: await begin(dying),
        sync: await begin(dying, { durability: "sync" }),
        exit: await begin(dying, { durability: "exit" }),
        fork: await begin(dying, { graph: "fork", at: "slow" }),
        secret: await begin(dying, { config: { configurable: { openai_api_key: "sk-1" } } }),
        cancelled: await begin(dying),
      });
      const gate = newId();
      const command = { resume: "yes", update: { gates: { asked: gate } } };
      runs.ask = await begin(dying, { graph: "ask", thread_id: waiting, input: undefined, command });
      runs.ask.gate = gate;
      const behind = await begin(dying, { thread_id: runs.async?.thread_id, at: "none" });
      runs.second = behind;
      runs.third = await begin(dying, { thread_id: behind.thread_id, at: "none" });
      const stream = await dying.fetch("POST", `/threads/${newId()}/runs/stream`, {
        assistant_id: "trail",
        if_not_exists: "create",
        input: { log: ["in"], gates: { b: newId() } },
        stream_mode: ["updates"],
      });
      const events = readEvents(stream);
      const { data } = (await events.next()).value as SseEvent;
      attended = data as Run;
      for (const [name, node] of [
        ["async", "b"],
        ["sync", "b"],
        ["exit", "b"],
        ["fork", "slow"],
        ["ask", "asked"],
        ["cancelled", "b"],
        ["secret", "b"],
      ] as const)
        // prettier-ignore
        await reached(runs[name]!, node);
      for (const name of ["async", "sync", "cancelled"]) await stands(dying, runs[name]!, "b");
      await reached(attended, "b");
      await reached(runs.fork!, "fast");
      streamed = await follow(dying, runs.sync!);
      await expect.poll(() => streamed.shown().filter((name) => name === "values").length, PATIENCE).toBe(2);
      elsewhere = other && (await follow(other, runs.sync!));
      if (elsewhere) await expect.poll(() => elsewhere?.shown(), PATIENCE).toEqual(["metadata"]);
      next = await heir();
      await events.return(undefined).catch(() => undefined);
    });

    it.each(["async", "sync"])("a run resumes from its last checkpoint: %s", TIMEOUT, async (name) => {
      const run = runs[name]!;
      expect(await pass(next, run)).toMatchObject({
        run_id: run.run_id,
        status: "success",
        attempt: 2,
        error: null,
      });
      expect(servers.nodes(run)).toEqual(["a", "b", "b", "c"]);
      if (name === "sync") expect(await values(next, run)).toEqual(["in", "a", "b", "c"]);
      const history = await next.client.threads.getHistory(run.thread_id, {
        limit: 100,
        metadata: { run_id: run.run_id },
      });
      // The input, and each node once. Checkpoints written after the kill carry the new attempt.
      expect(
        history.map(({ metadata }) => (metadata as { run_attempt?: number }).run_attempt ?? 1).reverse(),
      ).toEqual([1, 1, 1, 2, 2]);
    });

    it("a run that stores checkpoints only on exit restarts from the beginning", TIMEOUT, async () => {
      const run = runs.exit!;
      expect(await pass(next, run)).toMatchObject({ status: "success", attempt: 2 });
      expect(servers.nodes(run)).toEqual(["a", "b", "a", "b", "c"]);
      expect(await values(next, run)).toEqual(["in", "a", "b", "c"]);
    });

    it("only unfinished tasks of the current superstep are retried", TIMEOUT, async () => {
      const run = runs.fork!;
      expect(await pass(next, run)).toMatchObject({ status: "success", attempt: 2 });
      expect(servers.nodes(run).filter((node) => node === "fast")).toHaveLength(1);
      expect(servers.nodes(run).filter((node) => node === "slow")).toHaveLength(2);
      expect((await values(next, run)).sort()).toEqual(["fast", "in", "slow", "z"]);
    });

    it("the answer to an interrupt is delivered once", TIMEOUT, async () => {
      const run = runs.ask!;
      expect(await pass(next, run)).toMatchObject({ status: "success", attempt: 2 });
      expect(servers.nodes(run)).toEqual(["asked", "asked", "z"]);
      expect(await values(next, run)).toEqual(["in", "asked", "yes", "z"]);
    });

    it("runs enqueued behind a resumed run start in order", TIMEOUT, async () => {
      const [first, second, third] = [runs.async!, runs.second!, runs.third!];
      for (const run of [second, third]) {
        expect(await ended(next, run)).toMatchObject({ status: "success", attempt: 1 });
        expect(servers.nodes(run)).toEqual(["a", "b", "c"]);
      }
      expect(await values(next, first)).toEqual(Array(3).fill(["in", "a", "b", "c"]).flat());
      const order = servers.ledger(first.thread_id).map(({ run }) => run);
      expect(order.indexOf(second.run_id)).toBeGreaterThan(order.lastIndexOf(first.run_id));
      expect(order.indexOf(third.run_id)).toBeGreaterThan(order.lastIndexOf(second.run_id));
    });

    it("a run ends as interrupted if its client was connected", TIMEOUT, async () => {
      expect(await ended(next, attended)).toMatchObject({ status: "interrupted", error: null, attempt: 1 });
      expect(servers.nodes(attended)).toEqual(["a", "b"]);
      expect(await next.client.threads.get(attended.thread_id)).toMatchObject({ status: "idle" });
    });

    it("a run ends as error if its secrets were lost with the process", TIMEOUT, async () => {
      const run = await ended(next, runs.secret!);
      expect(run).toMatchObject({ status: "error", attempt: 1 });
      expect(run.error).toContain("secrets in its request are not stored");
    });

    it("a resumed run can be cancelled", TIMEOUT, async () => {
      const { thread_id, run_id } = runs.cancelled!;
      await next.client.runs.cancel(thread_id, run_id, true);
      expect(await next.run(runs.cancelled!)).toMatchObject({ status: "interrupted", attempt: 2 });
    });

    it(
      "a reader that reconnects with Last-Event-ID receives the frames of the next attempt",
      TIMEOUT,
      async () => {
        await streamed.ended;
        const last = streamed.seen.at(-1)?.id;
        const rest = await follow(next, runs.sync!, last);
        await rest.ended;
        expect(rest.seen[0]).toMatchObject({
          id: "1000000000",
          event: "metadata",
          data: { run_id: runs.sync!.run_id, attempt: 2, checkpoint_id: expect.any(String) as string },
        });
        const logs = rest.seen
          .filter(({ event }) => event === "values")
          .map(({ data }) => (data as { log: string[] }).log);
        expect(logs).toEqual([["in", "a"], ["in", "a", "b"], ["in", "a", "b", "c"]]); // prettier-ignore
        expect(rest.shown().at(-1)).toBe("end");
        expect(isAscending([...numbers(streamed.seen), ...numbers(rest.seen)])).toBe(true);
      },
    );

    it("a reader on another process receives the frames of the next attempt", TIMEOUT, async ({ skip }) => {
      if (!elsewhere) return skip("only one process can open the file");
      await elsewhere.ended;
      expect(elsewhere.seen[0]?.data).toMatchObject({ attempt: 1 });
      expect(elsewhere.seen[1]).toMatchObject({ event: "metadata", data: { attempt: 2 } });
      expect(elsewhere.shown().slice(-2)).toEqual(["values", "end"]);
      expect(isAscending(numbers(elsewhere.seen))).toBe(true);
    });
  });

  it("a run created behind the run of a killed process finds that run finished", TIMEOUT, async () => {
    await servers.killOthers(other);
    dying = await servers.one();
    const run = await begin(dying);
    await stands(dying, run, "b");
    const next = await heir();
    next.open(run.gate);
    const input = { log: ["next"], gates: {} };
    const { log } = (await next.client.runs.wait(run.thread_id, "trail", { input })) as { log: string[] };
    expect(log).toEqual(["in", "a", "b", "c", "next", "a", "b", "c"]);
    expect(await next.run(run)).toMatchObject({ status: "success", attempt: 2 });
  });

  it("a run fails after its third crash and can be redriven", TIMEOUT, async () => {
    const { isShared } = backend();
    await servers.killOthers();
    const living = await servers.start(isShared ? 4 : 1);
    const run = await begin(living[0] as ServerProcess);
    for (const attempt of [1, 2, 3]) {
      const arrivals = () =>
        servers.ledger(run.thread_id).filter((line) => "node" in line && line.node === "b");
      await expect.poll(() => arrivals().length, PATIENCE).toBe(attempt);
      const victim = servers.withPid(arrivals().at(-1)?.pid);
      await victim?.kill();
      living.splice(living.indexOf(victim as ServerProcess), 1);
      if (!isShared) living.push(await servers.one());
    }
    other &&= living[0];
    const last = await ended(living[0] as ServerProcess, run);
    expect(last).toMatchObject({ status: "error", attempt: 3 });
    expect(last.error).toBe("the run's process died 3 times, and it is not tried again");
    const [next] = living as [ServerProcess];
    const { body: dead } = await next.request("GET", "/runs/dead");
    expect(dead).toMatchObject([{ run_id: run.run_id, attempts: 3, reason: last.error }]);
    next.open(run.gate);
    const path = `/threads/${run.thread_id}/runs/${run.run_id}`;
    expect((await next.request("POST", `${path}/redrive`)).status).toBe(200);
    const told = await follow(next, run);
    expect(await ended(next, run)).toMatchObject({ status: "success", error: null, attempt: 4 });
    await told.ended;
    expect(told.seen[0]).toMatchObject({ event: "metadata", data: { attempt: 4 } });
    expect(told.shown().at(-1)).toBe("end");
    expect(await values(next, run)).toEqual(["in", "a", "b", "c"]);
  });

  describe("after a graceful shutdown", () => {
    let next: ServerProcess;
    let running: Started;
    let behind: Started[];
    let streamed: Awaited<ReturnType<typeof follow>>;

    it("unfinished runs are requeued", TIMEOUT, async () => {
      await servers.killOthers();
      dying = await servers.one();
      next = other = backend().isShared ? await servers.one() : dying;
      running = await begin(dying);
      const { thread_id } = running;
      behind = [await begin(dying, { thread_id, at: "none" }), await begin(dying, { thread_id, at: "none" })];
      await stands(dying, running, "b");
      streamed = await follow(dying, running);
      const owner = await backend().ownerOf(running.run_id);
      expect(owner).toEqual(expect.any(String));
      await dying.kill("SIGTERM");
      // No process waits until the owner counts as dead: the run has another one, or none.
      expect(await backend().ownerOf(running.run_id)).not.toBe(owner);
      if (!backend().isShared) next = other = await servers.one();
      await expect.poll(async () => (await next.run(running)).attempt, PATIENCE).toBe(2);
      await streamed.ended;
      expect(streamed.shown()).not.toContain("error");
      expect(streamed.shown()).not.toContain("end");
    });

    it("requeued runs finish in order in another process", TIMEOUT, async () => {
      expect(await pass(next, running)).toMatchObject({ status: "success", attempt: 2, error: null });
      for (const run of behind)
        expect(await ended(next, run)).toMatchObject({ status: "success", attempt: 1, error: null });
      expect(await values(next, running)).toEqual(["in", ...Array<string[]>(3).fill(["a", "b", "c"]).flat().toSpliced(3, 0, "in").toSpliced(7, 0, "in")]); // prettier-ignore
      expect(servers.nodes(running)).toEqual(["a", "b", "b", "c"]);
      const rest = await follow(next, running, streamed.seen.at(-1)?.id);
      await rest.ended;
      expect(rest.shown().at(-1)).toBe("end");
      expect(isAscending([...numbers(streamed.seen), ...numbers(rest.seen)])).toBe(true);
    });

    it(
      "requeued runs are retried any number of times, since a shutdown is not a crash",
      TIMEOUT,
      async () => {
        const run = await begin(next);
        for (const attempt of [1, 2, 3]) {
          await expect.poll(async () => (await next.run(run)).attempt, PATIENCE).toBe(attempt);
          await expect
            .poll(() => servers.nodes(run).filter((node) => node === "b").length, PATIENCE)
            .toBe(attempt);
          const leaving = next;
          if (backend().isShared) next = other = await servers.one();
          await leaving.kill("SIGTERM");
          if (!backend().isShared) next = other = await servers.one();
        }
        await expect.poll(() => servers.nodes(run).filter((node) => node === "b").length, PATIENCE).toBe(4);
        expect(await pass(next, run)).toMatchObject({ status: "success", attempt: 4 });
        if (!backend().isShared) other = undefined;
      },
    );
  });

  describe("after a process freezes", () => {
    afterEach(() => dying.signal("SIGCONT"));

    it("its run is taken over, its late writes are rejected and it sends no end frame", TIMEOUT, async () => {
      await servers.killOthers(other);
      dying = await servers.one();
      const run = await begin(dying, { on_disconnect: "continue" });
      await stands(dying, run, "b");
      const reader = await follow(dying, run);
      await expect.poll(() => reader.shown().filter((name) => name === "values").length, PATIENCE).toBe(2);
      dying.signal("SIGSTOP");
      await backend().silence();
      await backend().unlock();
      const next = other ?? (await servers.one());
      const taken = follow(next, run);
      await expect.poll(async () => (await next.run(run)).attempt, PATIENCE).toBe(2);
      await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b", "b"]);
      dying.open(run.gate);
      dying.signal("SIGCONT");
      // The reader receives the metadata of the next attempt, and no end frame of the first.
      await expect
        .poll(() => reader.seen.at(-1), PATIENCE)
        .toMatchObject({ event: "metadata", data: { attempt: 2 } });
      expect(reader.shown()).not.toContain("error");
      expect(await next.run(run)).toMatchObject({ status: "running", attempt: 2 });
      expect(await values(next, run)).toEqual(["in", "a"]);
      next.open(run.gate);
      await reader.ended;
      await (
        await taken
      ).ended;
      expect(reader.shown().slice(-2)).toEqual(["values", "end"]);
      expect(await next.run(run)).toMatchObject({ status: "success", attempt: 2 });
      expect(await values(next, run)).toEqual(["in", "a", "b", "c"]);
      const history = await next.client.threads.getHistory(run.thread_id, { limit: 100 });
      expect(history).toHaveLength(5);
      const parents = history.map(({ parent_checkpoint }) => parent_checkpoint?.checkpoint_id);
      expect(parents.slice(0, -1)).toEqual(
        history.slice(1).map(({ checkpoint }) => checkpoint.checkpoint_id),
      );
    });
  });
}

const soon = { shutdown_grace_seconds: 1 };

withPostgres("runs on postgres", (postgres) => {
  const silence = () =>
    postgres.sql(
      `UPDATE "${postgres.schema}".gs_owners SET seen_at = '2020-01-01T00:00:00.000Z'
       WHERE id IN (SELECT owner FROM "${postgres.schema}".gs_runs WHERE status = 'running')`,
    );
  const ownerOf = async (run_id: string) => {
    const text = `SELECT owner FROM "${postgres.schema}".gs_runs WHERE run_id = $1`;
    return (await postgres.sql<{ owner: string | null }>(text, [run_id]))[0]?.owner;
  };
  const backend = { silence, unlock: () => postgres.terminate("locks"), ownerOf, isShared: true };
  onServers(
    () => ({ ...settingsOf(postgres.options()), ...soon }),
    (servers) => declare(servers, () => backend),
  );
});

// A separate database: any server on it may resume the run.
withPostgres("runs on postgres with several running servers", (postgres) => {
  onServers(
    () => settingsOf(postgres.options()),
    (servers) => {
      it("a run is resumed when the database drops its thread lock", TIMEOUT, async () => {
        const [one] = (await servers.start(2)) as [ServerProcess];
        const run = await begin(one);
        await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b"]);
        const stands = async () => (await one.client.threads.getState(run.thread_id)).next.includes("b");
        await expect.poll(stands, PATIENCE).toBe(true);
        const reader = await follow(one, run);
        await postgres.terminate("locks");
        await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b", "b"]);
        servers.all((server) => server.open(run.gate));
        await reader.ended;
        expect(reader.shown().at(-1)).toBe("end");
        expect(await one.run(run)).toMatchObject({ status: "success", attempt: 2, error: null });
        expect(await values(one, run)).toEqual(["in", "a", "b", "c"]);
      });

      describe("if its client is connected", () => {
        /** Starts a run whose client waits, and drops its thread lock at node `b`. */
        const beginWaited = async (server: ServerProcess) => {
          const [thread_id, gate] = [newId(), newId()];
          const input = { log: ["in"], gates: { b: gate } };
          const body = { assistant_id: "trail", input, if_not_exists: "create", durability: "sync" };
          const answer = server.request("POST", `/threads/${thread_id}/runs`, body).catch(() => undefined);
          const stored = async () =>
            (await server.request("GET", `/threads/${thread_id}/runs`)).body as Run[];
          await expect.poll(async () => (await stored()).length, PATIENCE).toBe(1);
          const run: Started = { ...(await stored())[0]!, gate };
          await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b"]);
          await postgres.terminate("locks");
          await expect.poll(() => servers.nodes(run), PATIENCE).toEqual(["a", "b", "b"]);
          return { run, answer };
        };

        it("the client gets the end, whichever process resumes the run", TIMEOUT, async () => {
          await servers.killOthers();
          const both = await servers.start(2);
          const [one] = both as [ServerProcess];
          const { run, answer } = await beginWaited(one);
          both.forEach((server) => server.open(run.gate));
          const { run_id } = run;
          expect((await answer)?.body).toMatchObject({ run_id, status: "success", attempt: 2, error: null });
          expect(await values(one, run)).toEqual(["in", "a", "b", "c"]);
        });

        it("the run is interrupted if the process of the client dies", TIMEOUT, async () => {
          await servers.killOthers();
          const dying = await servers.one();
          const { run } = await beginWaited(dying);
          await dying.kill();
          const next = await servers.one();
          await expect
            .poll(() => next.run(run), PATIENCE)
            .toMatchObject({ status: "interrupted", attempt: 2, error: null });
          expect(servers.nodes(run)).toEqual(["a", "b", "b"]);
        });
      });
    },
  );
});

describeSqlite("runs on sqlite", () => {
  const folder = mkdtempSync(join(tmpdir(), "graph-serve-resume-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "db.sqlite");
  const query = async (text: string, ...values: string[]): Promise<unknown> => {
    const db = new Database(file, { timeout: 10_000 });
    const statement = db.prepare(text);
    const result = statement.reader ? statement.pluck().get(...values) : statement.run(...values);
    db.close();
    return result;
  };
  const backend = {
    silence: () => query("UPDATE gs_owners SET seen_at = '2020-01-01T00:00:00.000Z'"),
    unlock: async () => undefined,
    ownerOf: (run_id: string) => query("SELECT owner FROM gs_runs WHERE run_id = ?", run_id),
    isShared: false,
  };
  onServers(
    () => ({ checkpointer_scheme: "sqlite", checkpointer_uri: file, ...soon }),
    (servers) => declare(servers, () => backend),
  );
});
