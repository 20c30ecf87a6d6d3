/** A deploy changes a graph while threads wait in it: on every storage, no run succeeds with a skipped node. */
import { describe, expect, it } from "vitest";
import type { DeadRun } from "../../src/models/dead-run.js";
import { release, type Change, type Stop } from "../fixtures/graphs/releases.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { answerOf, crash, deploy, logOf, RUN, stopped, waited } from "../helpers/deploys.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";

const LOSING = ["renamed", "removed"] as const;
const KEEPING = ["added", "edge"] as const;

/** How often the node that the thread waits in has to execute. */
const executions = (stop: Stop): number => (stop === "send" ? 2 : 1);

const countOf = (log: string[]): number => log.filter((entry) => entry.startsWith("ask")).length;

onEveryBackend("a thread waits in a node that a deploy changes", (backend) => {
  describe.each(["interrupt", "breakpoint", "send", "subgraph"] as const)("at the stop %s", (stop) => {
    // Each of several `Send` tasks is answered by the id of its interrupt.
    const answer = async (server: TestServer, thread: string) => {
      if (stop !== "send") return answerOf(stop);
      const { body } = await server.request("GET", `/threads/${thread}`);
      const { interrupts } = body as { interrupts: Record<string, { id: string }[]> };
      const ids = Object.values(interrupts).flat();
      return {
        assistant_id: "agent",
        command: { resume: Object.fromEntries(ids.map(({ id }) => [id, "yes"])) },
      };
    };

    it.each(LOSING)("%s: the answer is refused, and works after the name is restored", async (change) => {
      const storage = await keptStorage(backend());
      const first = await deploy(storage, release(stop, "none"));
      const thread = await stopped(first, stop);
      const resume = await answer(first, thread);
      const second = await deploy(storage, release(stop, change));
      const refused = await waited(second, thread, resume);
      expect(refused).toMatchObject({ status: 409, body: { code: "graph_changed" } });
      expect(refused.text).toContain('node \\"ask\\"');
      expect(await logOf(first, thread)).toEqual(stop === "subgraph" ? [] : ["first"]);
      const third = await deploy(storage, release(stop, "none"));
      expect(await waited(third, thread, resume)).toMatchObject({ status: 200 });
      expect(countOf(await logOf(third, thread))).toBe(executions(stop));
    });

    it.each(KEEPING)("%s: the answer is accepted and the node executes", async (change) => {
      const storage = await keptStorage(backend());
      const first = await deploy(storage, release(stop, "none"));
      const thread = await stopped(first, stop);
      const resume = await answer(first, thread);
      const second = await deploy(storage, release(stop, change));
      expect(await waited(second, thread, resume)).toMatchObject({ status: 200 });
      const log = await logOf(second, thread);
      expect(countOf(log)).toBe(executions(stop));
      expect(log.includes("extra")).toBe(change === "added");
    });
  });

  describe.each(["crash", "queued"] as const)("in a run that is left behind: %s", (stop) => {
    const isKept = () => ["sqlite", "postgres", "mongodb"].includes(backend().name);
    const patchOf = () =>
      stop === "crash"
        ? { status: "running" as const, kwargs: RUN }
        : {
            run_id: crypto.randomUUID(),
            status: "pending" as const,
            state: "queued" as const,
            attempt: 0,
            kwargs: { input: null, command: { resume: "yes" } },
          };

    async function left(change: Change) {
      const storage = await keptStorage(backend());
      await storage.deadRuns?.forget("9999");
      const first = await deploy(storage, release(stop, "none"));
      const thread = await stopped(first, stop);
      await first.service.close(0);
      const run = await crash(storage, thread, patchOf());
      const server = await deploy(storage, release(stop, change));
      return { storage, server, thread, run };
    }

    const ended = ({ request }: TestServer, thread: string, run: string) =>
      request("GET", `/threads/${thread}/runs/${run}/join`);
    const runOf = async ({ request }: TestServer, thread: string, run: string) =>
      (await request("GET", `/threads/${thread}/runs/${run}`)).body;

    it.each(LOSING)("%s: the run is dead until the name is restored", async (change) => {
      if (!isKept()) return;
      const { storage, server, thread, run } = await left(change);
      await ended(server, thread, run);
      expect(await runOf(server, thread, run)).toMatchObject({
        status: "error",
        error: expect.stringContaining('node "ask"') as string,
      });
      const dead = (await server.request("GET", "/runs/dead")).body as DeadRun[];
      expect(dead).toMatchObject([{ run_id: run }]);
      const redrive = `/threads/${thread}/runs/${run}/redrive`;
      expect(await server.request("POST", redrive)).toMatchObject({
        status: 409,
        body: { code: "graph_changed" },
      });
      await server.service.close(0);
      const third = await deploy(storage, release(stop, "none"));
      expect((await third.request("POST", redrive)).status).toBe(200);
      await ended(third, thread, run);
      expect(await runOf(third, thread, run)).toMatchObject({ status: "success" });
      expect(countOf(await logOf(third, thread))).toBe(1);
    });

    it.each(KEEPING)("%s: the run continues", async (change) => {
      if (!isKept()) return;
      const { server, thread, run } = await left(change);
      await ended(server, thread, run);
      expect(await runOf(server, thread, run)).toMatchObject({ status: "success" });
      expect(countOf(await logOf(server, thread))).toBe(1);
    });
  });
});

const HOUR = 3600;
const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

onEveryBackend("a delayed run answers a question whose node was renamed", (backend) => {
  it("the run ends as error when it is due, and is dead where runs are kept", async () => {
    if (backend().name === "a custom storage") return;
    const storage = await keptStorage(backend());
    await storage.deadRuns?.forget("9999");
    const settings = { delayed_runs: true };
    const first = await deploy(storage, release("interrupt", "none"), settings);
    const thread = await stopped(first, "interrupt");
    const body = { ...answerOf("interrupt"), after_seconds: HOUR };
    const { body: run } = await first.request("POST", `/threads/${thread}/runs`, body, {
      prefer: "respond-async",
    });
    const { run_id } = run as { run_id: string };
    await first.service.close(0);
    const second = await deploy(storage, release("interrupt", "renamed"), settings);
    await second.service.fireDue(later(HOUR + 1));
    const path = `/threads/${thread}/runs/${run_id}`;
    expect((await second.request("GET", path)).body).toMatchObject({
      status: "error",
      error: expect.stringContaining('node "ask"') as string,
    });
    const dead = (await second.request("GET", "/runs/dead")).body as DeadRun[];
    expect(dead.map((one) => one.run_id)).toEqual(storage.deadRuns ? [run_id] : []);
    if (!storage.deadRuns) return;
    await second.service.close(0);
    const third = await deploy(storage, release("interrupt", "none"), settings);
    expect(await third.request("POST", `${path}/redrive`)).toMatchObject({ status: 200 });
    await third.request("GET", `${path}/join`);
    expect((await third.request("GET", path)).body).toMatchObject({ status: "success" });
  });
});

withPostgres("a queue shared by processes", (postgres: TestPostgres) => {
  it.each([
    ["renamed", "error"],
    ["added", "success"],
  ] as const)("%s: a worker of the next release ends the run as %s", async (change, status) => {
    const { max_queued_runs: _, ...own } = postgres.options();
    const open = (agent: unknown, role: "api" | "worker" | "all") =>
      startTestServer({
        graphs: { agent },
        settings: { ...own, queue: "postgres", stream: "postgres", role },
      });
    const first = await open(release("interrupt", "none"), "all");
    const thread = await stopped(first, "interrupt");
    await first.close(0);
    const api = await open(release("interrupt", "none"), "api");
    const answer = answerOf("interrupt");
    const queued = await api.request("POST", `/threads/${thread}/runs`, answer, { prefer: "respond-async" });
    const { run_id } = queued.body as { run_id: string };
    await open(release("interrupt", change), "worker");
    await api.request("GET", `/threads/${thread}/runs/${run_id}/join`);
    expect((await api.request("GET", `/threads/${thread}/runs/${run_id}`)).body).toMatchObject({ status });
    const dead = (await api.request("GET", "/runs/dead")).body as DeadRun[];
    expect(dead.some((one) => one.run_id === run_id)).toBe(status === "error");
  });
});
