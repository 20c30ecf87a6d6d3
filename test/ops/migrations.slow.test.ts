/**
 * A deploy changes a node that threads wait in, with a migration: on every storage, each thread continues in the new graph,
 * or stays exactly as it was.
 */
import { describe, expect, it } from "vitest";
import type { DeadRun } from "../../src/models/dead-run.js";
import { type Change, release, type Stop } from "../fixtures/graphs/releases.js";
import type { TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend, withSqlite } from "../helpers/backends.js";
import { answerOf, crash, deploy, logOf, RUN, stopped, waited } from "../helpers/deploys.js";
import { migrationsFile, versionOf } from "../helpers/migrations.js";

const STOPS = ["interrupt", "breakpoint", "send", "subgraph"] as const;
const LEFT = ["crash", "queued"] as const;
const CONVERTED = ["renamed", "added", "edge"] as const;

/** How often the node that the thread waits in has to execute. */
const executions = (stop: Stop): number => (stop === "send" ? 2 : 1);

/** The migration to a release. For one that removes the node, it cannot name another. */
async function migrationOf(stop: Stop, change: Change): Promise<string> {
  const from = (await versionOf(release(stop, "none"))).slice(0, 6);
  const ask = stop === "subgraph" ? "child|ask" : "ask";
  return migrationsFile(
    JSON.stringify([{ from, ...(change === "renamed" && { nodes: { [ask]: "question" } }) }]),
  );
}

/** Each of several `Send` tasks is answered by the id of its interrupt. */
async function answer(server: TestServer, thread: string, stop: Stop) {
  if (stop !== "send") return answerOf(stop);
  const { body } = await server.request("GET", `/threads/${thread}`);
  const { interrupts } = body as { interrupts: Record<string, { id: string }[]> };
  const ids = Object.values(interrupts).flat();
  return { assistant_id: "agent", command: { resume: Object.fromEntries(ids.map(({ id }) => [id, "yes"])) } };
}

/** A run that was accepted and has not started. */
const queuedRun = (kwargs: object) => ({
  run_id: crypto.randomUUID(),
  status: "pending" as const,
  state: "queued" as const,
  attempt: 0,
  kwargs,
});

const history = ({ request }: TestServer, thread: string) =>
  request("POST", `/threads/${thread}/history`, { limit: 100 });

/** Checks that the thread has executed the node of its release, and no other in its place. */
async function expectContinued(server: TestServer, thread: string, stop: Stop, change: Change) {
  const log = await logOf(server, thread);
  const of = (name: string) => log.filter((entry) => entry.startsWith(name)).length;
  const [own, other] = change === "renamed" ? ["question", "ask"] : ["ask", "question"];
  expect([of(own), of(other)]).toEqual([executions(stop), 0]);
  expect(log.includes("extra")).toBe(change === "added");
  if (change !== "edge") expect(log.at(-1)).toBe("last");
  const states = (await history(server, thread)).body as { metadata: { source: string } }[];
  expect(states.filter(({ metadata }) => metadata.source === "migrate")).toHaveLength(1);
}

onEveryBackend("a thread waits in a node that a deploy changes with a migration", (backend) => {
  describe.each(STOPS)("at the stop %s", (stop) => {
    it.each(CONVERTED)("%s: the answer is given to the node of the new graph", async (change) => {
      const storage = await keptStorage(backend());
      const first = await deploy(storage, release(stop, "none"));
      const thread = await stopped(first, stop);
      const resume = await answer(first, thread, stop);
      const migrations = await migrationOf(stop, change);
      const second = await deploy(storage, release(stop, change), { migrations });
      const answered = await waited(second, thread, resume);
      expect([answered.status, answered.text]).toEqual([200, expect.any(String)]);
      expect((await second.request("GET", `/threads/${thread}`)).body).toMatchObject({ status: "idle" });
      await expectContinued(second, thread, stop, change);
    });

    it("removed: the answer is refused, the thread is unchanged, and continues in the earlier graph", async () => {
      const storage = await keptStorage(backend());
      const first = await deploy(storage, release(stop, "none"));
      const thread = await stopped(first, stop);
      const resume = await answer(first, thread, stop);
      const before = (await history(first, thread)).text;
      const migrations = await migrationOf(stop, "removed");
      const second = await deploy(storage, release(stop, "removed"), { migrations });
      expect(await waited(second, thread, resume)).toMatchObject({
        status: 409,
        body: { code: "graph_changed" },
      });
      expect((await history(first, thread)).text).toBe(before);
      const third = await deploy(storage, release(stop, "none"), { migrations });
      expect(await waited(third, thread, resume)).toMatchObject({ status: 200 });
      const asked = (await logOf(third, thread)).filter((entry) => entry.startsWith("ask"));
      expect(asked).toHaveLength(executions(stop));
    });
  });

  describe.each(LEFT)("in a run that is left behind: %s", (stop) => {
    async function left(change: Change) {
      const storage = await keptStorage(backend());
      await storage.deadRuns?.forget("9999");
      const first = await deploy(storage, release(stop, "none"));
      const thread = await stopped(first, stop);
      await first.service.close(0);
      const queued = queuedRun({ input: null, command: { resume: "yes" } });
      const run = await crash(
        storage,
        thread,
        stop === "crash" ? { status: "running", kwargs: RUN } : queued,
      );
      const migrations = await migrationOf(stop, change);
      const server = await deploy(storage, release(stop, change), { migrations });
      const path = `/threads/${thread}/runs/${run}`;
      await server.request("GET", `${path}/join`);
      return { storage, server, thread, run, path, migrations };
    }
    const isKept = () => ["sqlite", "postgres", "mongodb"].includes(backend().name);

    it.each(CONVERTED)("%s: the run ends in the new graph", async (change) => {
      if (!isKept()) return;
      const { server, thread, path } = await left(change);
      expect((await server.request("GET", path)).body).toMatchObject({ status: "success" });
      await expectContinued(server, thread, stop, change);
    });

    it("removed: the run is dead, and can be redriven by the earlier release", async () => {
      if (!isKept()) return;
      const { storage, server, thread, run, path, migrations } = await left("removed");
      expect((await server.request("GET", path)).body).toMatchObject({
        status: "error",
        error: expect.stringContaining('node "ask"') as string,
      });
      expect((await server.request("GET", "/runs/dead")).body as DeadRun[]).toMatchObject([{ run_id: run }]);
      await server.service.close(0);
      const third = await deploy(storage, release(stop, "none"), { migrations });
      expect((await third.request("POST", `${path}/redrive`)).status).toBe(200);
      await third.request("GET", `${path}/join`);
      expect((await third.request("GET", path)).body).toMatchObject({ status: "success" });
      const asked = (await logOf(third, thread)).filter((entry) => entry.startsWith("ask"));
      expect(asked).toHaveLength(1);
    });
  });
});

withSqlite("an accepted run is to stop at a node that a deploy renames", (backend) => {
  it.each([
    ["interrupt_before", "crash", "ask"],
    ["interrupt_after", "crash", "ask"],
    ["interrupt_before", "subgraph", "child:ask"],
  ] as const)("%s at the stop %s: it stops at the node with its new name", async (field, stop, node) => {
    const storage = await keptStorage(backend());
    const first = await deploy(storage, release(stop, "none"));
    const thread = await stopped(first, stop);
    await first.service.close(0);
    const queued = queuedRun({ ...RUN, [field]: [node] });
    const run = await crash(storage, thread, queued);
    const migrations = await migrationOf(stop, "renamed");
    const server = await deploy(storage, release(stop, "renamed"), { migrations });
    await server.request("GET", `/threads/${thread}/runs/${run}/join`);
    const state = await server.request("GET", `/threads/${thread}/state?subgraphs=true`);
    const { next, tasks } = state.body as {
      next: string[];
      tasks: { state?: { next: string[] }; interrupts: unknown[] }[];
    };
    const stops = stop === "subgraph" ? tasks[0]?.state?.next : next;
    expect(stops).toEqual([field === "interrupt_before" ? "question" : "last"]);
    expect(tasks.flatMap(({ interrupts }) => interrupts)).toEqual([]);
  });
});
