/** A server that is frozen for longer than its heartbeat and locks last, and then continues. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Run } from "../../src/models/run.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { onServers, PATIENCE, settingsOf, type ServerProcess } from "../helpers/server-processes.js";

const TIMEOUT = { timeout: 300_000 };
/** Longer than a lease is trusted without a heartbeat, in ms. The only wait in this file for real time to pass. */
const STANDSTILL = 6_000;

/** Run ids of a thread's checkpoints, oldest first. */
async function writers({ client }: ServerProcess, thread_id: string): Promise<unknown[]> {
  const states = await client.threads.getHistory(thread_id, { limit: 1000 });
  return states.map(({ metadata }) => (metadata as { run_id?: unknown }).run_id).reverse();
}

/** Another process resumed the frozen run before the run behind it; writes of the frozen process were rejected. */
async function expectFenced(server: ServerProcess, frozen: Run, other: Run): Promise<void> {
  expect(await server.run(other)).toMatchObject({ status: "success", attempt: 1 });
  expect(await server.run(frozen)).toMatchObject({ status: "success", attempt: 2 });
  expect(await server.client.threads.get(frozen.thread_id)).toMatchObject({
    status: "idle",
    values: { count: 2 },
  });
  const order = await writers(server, frozen.thread_id);
  const last = order.lastIndexOf(frozen.run_id);
  expect(order.slice(last + 1)).toEqual(Array(order.length - last - 1).fill(other.run_id));
  expect(order.slice(0, last + 1)).not.toContain(other.run_id);
}

withPostgres("a frozen server on postgres", (postgres) => {
  onServers(
    () => settingsOf(postgres.options()),
    (servers) => {
      /** Makes all heartbeats look older than other processes tolerate. */
      const silence = () =>
        postgres.sql(`UPDATE "${postgres.schema}".gs_owners SET seen_at = '2020-01-01T00:00:00.000Z'`);

      it("keeps its thread and finishes its run while it holds the lock", TIMEOUT, async () => {
        const [frozen, other] = (await servers.start(2)) as [ServerProcess, ServerProcess];
        const [thread_id, gate] = [newId(), newId()];
        const run = await frozen.begin(thread_id, gate);
        await servers.begun(run);
        frozen.signal("SIGSTOP");
        await silence();
        const waiting = await other.begin(thread_id, null);
        // Deleting a run reconciles it first if its process is dead.
        const deleted = await other.request("DELETE", `/threads/${thread_id}/runs/${run.run_id}`);
        expect(deleted.body).toMatchObject({ code: "thread_busy" });
        expect((await other.run(run)).status).toBe("running");
        frozen.signal("SIGCONT");
        frozen.open(gate);
        await other.client.runs.join(thread_id, waiting.run_id);
        expect((await other.run(run)).status).toBe("success");
        expect((await other.run(waiting)).status).toBe("success");
        servers.expectTurns(thread_id);
        expect(await other.client.threads.get(thread_id)).toMatchObject({ values: { count: 2 } });
      });

      it("stops writing after it loses its lock", TIMEOUT, async () => {
        const [frozen, other] = (await servers.start(2)) as [ServerProcess, ServerProcess];
        const [thread_id, gate] = [newId(), newId()];
        const run = await frozen.begin(thread_id, gate, { deaf: true });
        await servers.begun(run);
        frozen.signal("SIGSTOP");
        await silence();
        const waiting = await other.begin(thread_id, null);
        await postgres.terminate("locks");
        other.open(gate);
        await other.client.runs.join(thread_id, waiting.run_id);
        await sleep(STANDSTILL);
        frozen.open(gate);
        frozen.signal("SIGCONT");
        await expect.poll(async () => (await other.run(run)).status, PATIENCE).toBe("success");
        await frozen.client.runs.join(thread_id, run.run_id);
        await expectFenced(other, run, waiting);
      });
    },
  );
});

withMongodb("a frozen server on mongodb", (mongodb) => {
  onServers(
    () => settingsOf(mongodb().options()),
    (servers) => {
      it("loses its thread to another server and stops writing", TIMEOUT, async () => {
        const [frozen, other] = (await servers.start(2)) as [ServerProcess, ServerProcess];
        const [thread_id, gate] = [newId(), newId()];
        const run = await frozen.begin(thread_id, gate, { deaf: true });
        await servers.begun(run);
        frozen.signal("SIGSTOP");
        const waiting = await other.begin(thread_id, null);
        other.open(gate);
        await other.client.runs.join(thread_id, waiting.run_id);
        frozen.open(gate);
        frozen.signal("SIGCONT");
        await expect.poll(async () => (await other.run(run)).status, PATIENCE).toBe("success");
        await frozen.client.runs.join(thread_id, run.run_id);
        await expectFenced(other, run, waiting);
      });
    },
  );
});
