/** A client reacts to the webhook of a run before the process of the run has released the thread. */
import { describe, expect, it } from "vitest";
import type { Storage } from "../../src/storage/contract/storage.js";
import { shaky } from "../fixtures/graphs/shaky.js";
import { startTestServer } from "../helpers/app.js";
import { keptStorage, MEMORY, withSqlite } from "../helpers/backends.js";
import type { LeftRun } from "../helpers/left-runs.js";
import { replacing } from "../helpers/refusing.js";
import { startReceiver, webhooks } from "../helpers/webhook-receiver.js";

/** The storage, whose first lease is released only after the lock was refused to another request. */
function releasedLate(storage: Storage): Storage {
  const { locks } = storage;
  let refuse: () => void = () => undefined;
  const refused = new Promise<void>((resolve) => (refuse = resolve));
  let isFirst = true;
  const acquire: typeof locks.acquire = async (...request) => {
    const lease = await locks.acquire(...request);
    if (!lease) refuse();
    if (!lease || !isFirst) return lease;
    isFirst = false;
    return {
      ...(lease.lost && { lost: lease.lost }),
      confirm: () => lease.confirm?.(),
      release: async () => {
        await refused;
        await lease.release();
      },
    };
  };
  return { ...storage, locks: replacing(locks, { acquire }) };
}

async function endedRun(storage: Storage, isBack: { now: boolean }) {
  const receiver = await startReceiver();
  const server = await startTestServer({
    graphs: { shaky: shaky(isBack) },
    storage: releasedLate(storage),
    settings: { max_attempts: 1, webhooks },
  });
  const { body: thread } = await server.request("POST", "/threads", {});
  const { thread_id } = thread as LeftRun;
  const request = { assistant_id: "shaky", input: {}, webhook: receiver.url };
  const headers = { Prefer: "respond-async" };
  const { body } = await server.request("POST", `/threads/${thread_id}/runs`, request, headers);
  const { run } = await receiver.next();
  return { server, run: body as LeftRun, end: run as { status: string }, path: `/threads/${thread_id}` };
}

describe("when a run that has ended still holds its thread", () => {
  it("its state can be edited", async () => {
    const { server, end, path } = await endedRun(await keptStorage(MEMORY), { now: true });
    expect(end.status).toBe("success");
    const values = { messages: [{ role: "user", content: "hello" }] };
    expect(await server.request("POST", `${path}/state`, { values })).toMatchObject({ status: 200 });
  });

  it("a run that would be rejected behind it starts", async () => {
    const { server, path } = await endedRun(await keptStorage(MEMORY), { now: true });
    const body = { assistant_id: "shaky", input: {}, multitask_strategy: "reject" };
    expect(await server.request("POST", `${path}/runs/wait`, body)).toMatchObject({ status: 200 });
  });

  withSqlite("on sqlite", (backend) => {
    it("a dead run can be redriven", async () => {
      const { server, run, end, path } = await endedRun(await keptStorage(backend()), { now: false });
      expect(end.status).toBe("error");
      const answer = await server.request("POST", `${path}/runs/${run.run_id}/redrive`);
      expect(answer).toMatchObject({ status: 200 });
    });
  });
});
