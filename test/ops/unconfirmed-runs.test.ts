import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import { openStorage } from "../../src/storage/open.js";
import { now } from "../../src/storage/rows/rows.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { INPUT, leaveRun, trails } from "../helpers/left-runs.js";
import { withPostgres } from "../helpers/postgres.js";

/** The heartbeat interval. Fake timers, so tests trigger heartbeats themselves. */
const HEARTBEAT_MS = 5_000;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A service whose storage can execute a call and then lose the answer. */
async function openForgetful({
  storage: options = {},
  graphs = {},
}: { storage?: Partial<StorageOptions>; graphs?: Record<string, unknown> } = {}) {
  const inner = await openStorage({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 10,
    ...options,
  });
  let losing: string | undefined;
  const forgetful = <Part extends "threads" | "runs">(part: Part): Storage[Part] =>
    new Proxy(inner[part], {
      get: (table, name) => {
        const method: unknown = Reflect.get(table, name, table);
        if (typeof method !== "function") return method;
        return async (...args: unknown[]): Promise<unknown> => {
          const answer: unknown = await Reflect.apply(method, table, args);
          if (`${part}.${String(name)}` !== losing) return answer;
          losing = undefined;
          throw new StorageUnavailableError("the answer was lost");
        };
      },
    });
  const service = await openService({
    graphs: { gate, chat, ...graphs },
    storage: {
      ...inner,
      threads: forgetful("threads"),
      runs: forgetful("runs"),
    },
  });
  onTestFinished(() => service.close(0));
  const { thread_id } = await service.threads.create({});
  return { service, storage: inner, thread_id, loseAnswerOf: (call: string) => (losing = call) };
}

const say = { assistant_id: "chat", input: { messages: ["hi"] } };
const away = { code: "storage_unavailable" };

it("a run whose insert was not acknowledged does not keep its thread busy", async () => {
  const { service, thread_id, loseAnswerOf } = await openForgetful();
  loseAnswerOf("runs.insert");
  await expect(service.runs.create(thread_id, say)).rejects.toMatchObject(away);
  expect((await service.threads.get(thread_id)).status).toBe("busy");
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  await expect.poll(() => service.threads.get(thread_id)).toMatchObject({ status: "idle", error: null });
  const [run] = await service.runs.list(thread_id, {});
  expect(run).toMatchObject({ status: "error", error: expect.stringContaining("never began") as string });
});

it("an unacknowledged run is settled before the next run starts", async () => {
  const { service, thread_id, loseAnswerOf } = await openForgetful();
  loseAnswerOf("runs.insert");
  await expect(service.runs.create(thread_id, say)).rejects.toMatchObject(away);
  expect((await service.runs.create(thread_id, say)).status).toBe("success");
  const runs = await service.runs.list(thread_id, {});
  expect(runs.map(({ status }) => status)).toEqual(["success", "error"]);
  expect((await service.threads.get(thread_id)).status).toBe("idle");
});

withPostgres("with a run of a dead process", (postgres) => {
  it("an unacknowledged run is settled without hiding the run that must be resumed first", async () => {
    const { service, storage, thread_id, loseAnswerOf } = await openForgetful({
      storage: postgres.options(),
      graphs: await trails(),
    });
    const request = { assistant_id: "trail", input: { ...INPUT, log: ["next"] } };
    loseAnswerOf("runs.insert");
    await expect(service.runs.create(thread_id, request)).rejects.toMatchObject(away);
    const left = await leaveRun(service, storage, { thread_id, attempt: 1, hasWritten: false });
    expect((await service.runs.create(thread_id, request)).status).toBe("success");
    const { values } = await service.state.get(thread_id);
    expect(values).toMatchObject({ log: ["in", "a", "b", "c", "next", "a", "b", "c"] });
    expect(await service.runs.get(thread_id, left.run_id)).toMatchObject({ status: "success" });
  });
});

withPostgres("with a run of a process that has lost its lock", (postgres) => {
  /** Leaves a run in flight on a thread of this process; another live process is its owner. */
  async function leftByOther(change: Pick<RunRow, "status" | "attempt">) {
    const graphs = await trails();
    const open = () => openForgetful({ storage: postgres.options(), graphs });
    const [one, other] = [await open(), await open()];
    const { run_id } = await other.service.runs.create(other.thread_id, say);
    const owner = (await one.storage.runs.get(other.thread_id, run_id))?.owner ?? null;
    const { thread_id, service } = one;
    const left = await leaveRun(service, one.storage, { thread_id, attempt: 1, hasWritten: false });
    await one.storage.runs.update(left.run_id, { updated_at: now(), state: "running", owner, ...change });
    const request = { assistant_id: "trail", input: { ...INPUT, log: ["next"] } };
    expect((await service.runs.create(thread_id, request)).status).toBe("success");
    const { values } = await service.state.get(thread_id);
    expect(values).toMatchObject({ log: ["in", "a", "b", "c", "next", "a", "b", "c"] });
    return service.runs.get(thread_id, left.run_id);
  }

  it("a run that had not reached its graph is resumed before the next run", async () => {
    expect(await leftByOther({ status: "pending", attempt: 1 })).toMatchObject({ status: "success" });
  });

  it("the lost lock does not count as a crash of the process", async () => {
    const run = await leftByOther({ status: "running", attempt: 3 });
    expect(run).toMatchObject({ status: "success", attempt: 4 });
  });
});

it("an unacknowledged queued run does not affect the run in flight", async () => {
  const { service, thread_id, loseAnswerOf } = await openForgetful();
  const name = newId();
  const first = service.runs.create(thread_id, {
    assistant_id: "gate",
    input: { gate: name, deaf: false },
  });
  await gateOf(name).entered;
  loseAnswerOf("runs.insert");
  await expect(service.runs.background(thread_id, say)).rejects.toMatchObject(away);
  expect((await service.threads.get(thread_id)).status).toBe("busy");
  gateOf(name).open();
  expect((await first).status).toBe("success");
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  await expect
    .poll(async () => (await service.runs.list(thread_id, {})).map(({ status }) => status).sort())
    .toEqual(["error", "success"]);
  expect((await service.threads.get(thread_id)).status).toBe("idle");
});

it("a queued run that fails to update its thread leaves the thread idle", async () => {
  const { service, thread_id, loseAnswerOf } = await openForgetful();
  const name = newId();
  const first = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: name, deaf: false } });
  await gateOf(name).entered;
  const { run_id } = await service.runs.background(thread_id, say);
  loseAnswerOf("threads.update");
  gateOf(name).open();
  await first;
  await expect
    .poll(() => service.runs.get(thread_id, run_id))
    .toMatchObject({ status: "error", error: "the answer was lost" });
  await expect.poll(() => service.threads.get(thread_id)).toMatchObject({ status: "idle" });
});
