/** Following, cancelling and deleting runs through a server that does not execute them. */
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import {
  onSharedBackends,
  PATIENCE,
  type ServerProcess,
  type ServerProcesses,
} from "../helpers/server-processes.js";
import { allEvents } from "../helpers/sse.js";

const TIMEOUT = { timeout: 180_000 };

const TAKE_OVER = { multitask_cancel: true };

const declareTests = (servers: ServerProcesses) => {
  let one: ServerProcess;
  let two: ServerProcess;
  beforeAll(async () => {
    [one, two] = (await servers.start(2)) as [ServerProcess, ServerProcess];
  }, TIMEOUT.timeout);

  /** Starts a run at its own gate, in flight on `server`. */
  async function inFlight(server: ServerProcess, thread_id: string) {
    const run = await queued(server, thread_id);
    await servers.begun(run);
    return run;
  }

  async function queued(server: ServerProcess, thread_id: string) {
    const gate = newId();
    const { run_id } = await server.begin(thread_id, gate);
    return { thread_id, run_id, gate, path: `/threads/${thread_id}/runs/${run_id}` };
  }

  async function expectUsable(server: ServerProcess, thread_id: string): Promise<void> {
    expect(await server.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    await server.client.runs.wait(thread_id, "ledger", { input: { gate: null } });
    servers.expectTurns(thread_id, []);
  }

  describe("cancel", () => {
    it("with wait returns after a run on another server has ended", TIMEOUT, async () => {
      const run = await inFlight(one, newId());
      expect((await two.request("POST", `${run.path}/cancel?wait=1`)).status).toBe(204);
      expect((await two.run(run)).status).toBe("interrupted");
      expect(servers.ledger(run.thread_id)).toHaveLength(1);
      expect(await two.client.threads.get(run.thread_id)).toMatchObject({ status: "idle" });
    });

    it("without wait interrupts a run on another server", TIMEOUT, async () => {
      const run = await inFlight(one, newId());
      expect((await two.request("POST", `${run.path}/cancel`)).status).toBe(202);
      await expect.poll(async () => (await two.run(run)).status, PATIENCE).toBe("interrupted");
      expect((await two.request("POST", `${run.path}/cancel`)).status).toBe(202);
      const unknown = `/threads/${run.thread_id}/runs/${newId()}/cancel`;
      expect((await two.request("POST", unknown)).status).toBe(404);
    });

    it("with action rollback rolls back a run on another server", TIMEOUT, async () => {
      const thread_id = newId();
      await one.client.runs.wait(thread_id, "ledger", { input: { gate: null }, ifNotExists: "create" });
      const before = await two.client.threads.getState(thread_id);
      const run = await inFlight(one, thread_id);
      expect((await two.request("POST", `${run.path}/cancel?action=rollback`)).status).toBe(202);
      expect((await two.request("GET", run.path)).status).toBe(404);
      expect((await one.request("GET", `${run.path}/stream`)).status).toBe(404);
      expect(await two.client.threads.getState(thread_id)).toEqual(before);
      expect(await two.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    });

    it("with action rollback reverts a run before the run behind it starts", TIMEOUT, async () => {
      const thread_id = newId();
      // Server two then has its connection for locks.
      await two.client.runs.wait(newId(), "ledger", { input: { gate: null }, ifNotExists: "create" });
      const run = await inFlight(one, thread_id);
      const behind = await one.begin(thread_id, null);
      expect((await two.request("POST", `${run.path}/cancel?action=rollback&wait=1`)).status).toBe(204);
      const state = await two.client.runs.join(thread_id, behind.run_id);
      expect(JSON.stringify(state)).not.toContain(run.gate);
      expect(await two.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    });

    it("interrupts a waiting run on another server and no other run", TIMEOUT, async () => {
      const thread_id = newId();
      const running = await inFlight(one, thread_id);
      const [cancelled, left] = [await queued(one, thread_id), await queued(one, thread_id)];
      expect((await two.request("POST", `${cancelled.path}/cancel?wait=1`)).status).toBe(204);
      expect((await two.run(cancelled)).status).toBe("interrupted");
      expect((await two.run(running)).status).toBe("running");
      for (const { gate } of [running, left]) one.open(gate);
      await two.client.runs.join(thread_id, left.run_id);
      const runs = await Promise.all([running, cancelled, left].map((run) => two.run(run)));
      expect(runs.map(({ status }) => status)).toEqual(["success", "interrupted", "success"]);
      expect(servers.ledger(thread_id).map(({ run }) => run)).not.toContain(cancelled.run_id);
      await expectUsable(two, thread_id);
    });

    it("by multitask_strategy interrupts the runs of a busy thread on any server", TIMEOUT, async () => {
      const thread_id = newId();
      const [running, waiting] = [await inFlight(one, thread_id), await queued(one, thread_id)];
      const payload = { input: { gate: null }, multitaskStrategy: "interrupt" as const };
      const created = await two.client.runs.create(thread_id, "ledger", payload);
      expect(created.status).toBe("success");
      const runs = await Promise.all([running, waiting].map((run) => two.run(run)));
      expect(runs.map(({ status }) => status)).toEqual(["interrupted", "interrupted"]);
      expect(servers.ledger(thread_id).map(({ run }) => run)).not.toContain(waiting.run_id);
      expect(await one.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    });

    it("by status interrupts matching runs on all servers", TIMEOUT, async () => {
      const thread_id = newId();
      const running = await inFlight(one, thread_id);
      const waiting = [
        await queued(one, thread_id),
        await queued(two, thread_id),
        await queued(one, thread_id),
      ];
      const cancel = (status: string) => two.request("POST", "/runs/cancel?wait=1", { thread_id, status });
      expect((await cancel("pending")).status).toBe(204);
      for (const run of waiting) expect((await one.run(run)).status).toBe("interrupted");
      expect((await one.run(running)).status).toBe("running");
      expect((await cancel("all")).status).toBe(204);
      expect((await one.run(running)).status).toBe("interrupted");
      expect(servers.ledger(thread_id)).toHaveLength(1);
      expect(await two.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    });

    it("settles the run of a dead process", TIMEOUT, async () => {
      const [dying, thread_id] = [await servers.one(), newId()];
      const run = await inFlight(dying, thread_id);
      await dying.kill();
      expect((await two.request("POST", `${run.path}/cancel?wait=1`)).status).toBe(204);
      expect(await two.run(run)).toMatchObject({ status: "interrupted", error: null });
      expect(await two.client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    });
  });

  describe("delete", () => {
    it(
      "rejects a run in flight on another server, even after another process resumes it",
      TIMEOUT,
      async () => {
        const dying = await servers.one();
        const { path } = await inFlight(dying, newId());
        expect((await two.request("DELETE", path)).body).toMatchObject({ code: "thread_busy" });
        await dying.kill();
        const deleted = async () => (await two.request("DELETE", path)).status;
        expect(await deleted()).toBe(409);
        expect((await two.request("POST", `${path}/cancel?wait=1`)).status).toBe(204);
        expect(await deleted()).toBe(204);
        expect(await deleted()).toBe(404);
      },
    );

    it("of a thread cancels its run on another server", TIMEOUT, async () => {
      const { thread_id } = await inFlight(one, newId());
      expect((await two.request("DELETE", `/threads/${thread_id}`)).status).toBe(204);
      expect((await one.request("GET", `/threads/${thread_id}`)).status).toBe(404);
      expect(servers.ledger(thread_id)).toHaveLength(1);
    });
  });

  describe("join", () => {
    it("waits for the end of a run on another server", TIMEOUT, async () => {
      const { thread_id, run_id, gate, path } = await inFlight(one, newId());
      const joined = two.client.runs.join(thread_id, run_id);
      const frames = two.fetch("GET", `${path}/stream`).then((response) => allEvents(response));
      one.open(gate);
      expect(await joined).toMatchObject({ count: 1 });
      const events = await frames;
      expect(events.map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
      expect(events[1]?.data).toMatchObject({ count: 1 });
      expect(events[2]?.data).toMatchObject({ run_id, status: "success" });
    });

    it("reports that a run on another server was cancelled", TIMEOUT, async () => {
      const { thread_id, run_id, gate, path } = await inFlight(one, newId());
      const joined = two.client.runs.join(thread_id, run_id);
      const frames = two.fetch("GET", `${path}/stream`).then((response) => allEvents(response));
      await one.request("POST", `${path}/cancel?wait=1`);
      expect(await joined).toMatchObject({ messages: [{ content: gate }, { content: "begun" }] });
      expect((await frames).at(-1)).toMatchObject({ event: "end", data: { status: "interrupted" } });
    });

    it(
      "with cancel_on_disconnect cancels a run on another server when its client disconnects",
      TIMEOUT,
      async () => {
        const run = await inFlight(one, newId());
        const leave = new AbortController();
        const joined = await two.fetch("GET", `${run.path}/join?cancel_on_disconnect=1`, undefined, {
          signal: leave.signal,
        });
        expect(joined.status).toBe(200);
        leave.abort();
        await expect.poll(async () => (await two.run(run)).status, PATIENCE).toBe("interrupted");
      },
    );
  });
};

onSharedBackends("two servers", declareTests, TAKE_OVER);
