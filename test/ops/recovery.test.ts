import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { isDead } from "../../src/storage/rows/owners.js";
import { openService } from "../../src/service/open.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { MEMORY, openBackend } from "../helpers/backends.js";
import { createTrails, leaveRun as leaveNodeRun } from "../helpers/left-runs.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService, readAll, recordingLogger } from "../helpers/service.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "graph-serve-recovery-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const settings = () => ({ checkpointer_scheme: "sqlite", checkpointer_uri: join(folder, "db.sqlite") });
const openFile = (): Promise<Storage> =>
  openStorage({ ...settings(), checkpointer_options: {}, max_queued_runs: 10 });

/** A service that executes no runs, and a graph whose runs can be left in the file. */
async function openTrail() {
  const storage = await openFile();
  const { trail } = createTrails(join(folder, "log"));
  const first = await openService({ graphs: { trail }, storage, settings: settings(), mode: "edit" });
  return { storage, trail, first };
}

/** A run in flight that is owned by the process `owner`. */
function runOf(threadId: string, owner: string): RunRow {
  const at = new Date().toISOString();
  return {
    run_id: newId(),
    thread_id: threadId,
    assistant_id: "hitl",
    created_at: at,
    updated_at: at,
    status: "running",
    metadata: {},
    kwargs: {},
    multitask_strategy: "enqueue",
    error: null,
    usage: null,
    state: "running",
    owner,
    attempt: 1,
  };
}

/** Stores a run in flight that the process `owner` left behind. */
async function leaveRun(threadId: string, owner: string): Promise<string> {
  const storage = await openFile();
  const row = runOf(threadId, owner);
  await storage.runs.insert(row, { updated_at: row.updated_at, status: "busy" });
  await storage.close();
  return row.run_id;
}

async function interruptedThread(): Promise<string> {
  const service = await openService({ graphs: { hitl, steps }, settings: settings() });
  const { thread_id } = await service.threads.create({});
  await service.runs.create(thread_id, { assistant_id: "hitl", input: { topic: "cats" } });
  await service.close();
  return thread_id;
}

describe("startup recovery", () => {
  itSqlite("fails the runs of a dead process", async () => {
    const thread_id = await interruptedThread();
    const run_id = await leaveRun(thread_id, "nobody");
    const logger = recordingLogger();
    const service = await openTestService({ graphs: { hitl, steps }, settings: settings(), logger });
    expect(await service.runs.get(thread_id, run_id)).toMatchObject({
      status: "error",
      error: "server stopped during the run",
    });
    expect((await service.threads.get(thread_id)).status).toBe("interrupted");
    expect(logger.of("warn")).toEqual(["runs that a stopped server left unfinished were settled"]);
    expect(
      await service.runs.create(thread_id, { assistant_id: "hitl", command: { resume: "yes" } }),
    ).toMatchObject({ status: "success" });
  });

  itSqlite("does not touch the runs of a live process", async () => {
    const thread_id = await interruptedThread();
    const storage = await openFile();
    // The parent of the test runner outlives the test.
    await storage.owners.beat({
      id: "other",
      host: "elsewhere",
      pid: 1,
      seen_at: new Date().toISOString(),
    });
    await storage.close();
    const run_id = await leaveRun(thread_id, "other");
    const service = await openTestService({ graphs: { hitl, steps }, settings: settings() });
    expect((await service.runs.get(thread_id, run_id)).status).toBe("running");
    expect((await service.threads.get(thread_id)).status).toBe("busy");
  });

  itSqlite("a thread is not pruned before the run that a process left can be rolled back", async () => {
    const thread_id = await interruptedThread();
    const storage = await openFile();
    await storage.owners.beat({
      ...{ id: "other", host: "elsewhere", pid: 1, seen_at: new Date().toISOString() },
    });
    await storage.close();
    await leaveRun(thread_id, "other");
    const service = await openTestService({ graphs: { hitl, steps }, settings: settings() });
    const before = await service.state.history(thread_id, { limit: 100 });
    expect(before.length).toBeGreaterThan(1);
    const prune = { thread_ids: [thread_id], strategy: "keep_latest" as const };
    expect(await service.threads.prune(prune)).toEqual({ pruned_count: 0 });
    expect(await service.state.history(thread_id, { limit: 100 })).toEqual(before);
  });

  itSqlite(
    "resumes the run that wrote last before an earlier one that had started without a write",
    async () => {
      const { storage, trail, first } = await openTrail();
      const wrote = await leaveNodeRun(first, storage, { attempt: 1 });
      const row = await storage.runs.get(wrote.thread_id, wrote.run_id);
      if (!row) throw new Error("the run is not stored");
      const earlier = { ...row, run_id: newId(), created_at: new Date(0).toISOString() };
      await storage.runs.insert(earlier, { updated_at: row.updated_at });
      await first.close(0);
      const service = await openTestService({ graphs: { trail }, settings: settings() });
      for (const { run_id } of [wrote, earlier])
        await expect
          .poll(() => service.runs.get(wrote.thread_id, run_id))
          .toMatchObject({ status: "success" });
      const { values } = await service.state.get(wrote.thread_id);
      expect(values).toMatchObject({ log: ["in", "a", "b", "c", "in", "a", "b", "c"] });
    },
  );

  itSqlite(
    "keeps the state of a thread from edits until the run that a process left has been resumed",
    async () => {
      const { storage, trail, first } = await openTrail();
      const { thread_id, run_id } = await leaveNodeRun(first, storage, { attempt: 1 });
      const edit = { values: { log: ["edited"] }, as_node: "c" };
      await expect(first.state.update(thread_id, edit)).rejects.toMatchObject({ code: "thread_busy" });
      await first.close(0);
      const service = await openTestService({ graphs: { trail }, settings: settings() });
      await expect.poll(() => service.runs.get(thread_id, run_id)).toMatchObject({ status: "success" });
      await service.state.update(thread_id, edit);
      const { values } = await service.state.get(thread_id);
      expect(values).toMatchObject({ log: ["in", "a", "b", "c", "edited"] });
    },
  );

  itSqlite("completes a rollback that was left after the end of its run", async () => {
    const storage = await openFile();
    const deleteRun = () => Promise.reject(new StorageUnavailableError("the disk is full"));
    const checkpointer = replacing(storage.checkpointer, { deleteRun });
    const first = await openService({
      graphs: { gate },
      settings: settings(),
      storage: { ...storage, checkpointer },
    });
    const { thread_id } = await first.threads.create({});
    const start = async (name: string) => {
      const run = await first.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
      await gateOf(name).entered;
      return run;
    };
    const [kept, undone] = [newId(), newId()];
    gateOf(kept).open();
    const { run_id } = await start(kept);
    await (
      await first.runs.join(thread_id, run_id)
    ).answer;
    const before = await first.state.get(thread_id);
    const last = await start(undone);
    await expect(first.runs.cancel(thread_id, last.run_id, { action: "rollback" })).rejects.toThrow("full");
    await first.close(0);
    const service = await openTestService({ graphs: { gate }, settings: settings() });
    expect(await service.runs.list(thread_id, {})).toMatchObject([{ run_id, status: "success" }]);
    expect(await service.state.get(thread_id)).toEqual(before);
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });

  itSqlite("keeps everything that an earlier process acknowledged", async () => {
    const thread_id = await interruptedThread();
    const service = await openTestService({ graphs: { hitl, steps }, settings: settings() });
    expect(await service.threads.get(thread_id)).toMatchObject({
      status: "interrupted",
      values: { topic: "cats" },
    });
    expect(await service.runs.list(thread_id, {})).toHaveLength(1);
    expect(
      await service.runs.create(thread_id, { assistant_id: "hitl", command: { resume: "yes" } }),
    ).toMatchObject({ status: "success" });
  });
});

describe("a queued run that another process marked as dead", () => {
  it("is not started", async () => {
    const storage = await openBackend(MEMORY);
    const service = await openService({ graphs: { gate }, storage });
    onTestFinished(() => service.close(0));
    const { thread_id } = await service.threads.create({});
    const [first, second] = [newId(), newId()];
    const running = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: first } });
    await gateOf(first).entered;
    const { run_id } = await service.runs.background(thread_id, {
      assistant_id: "gate",
      input: { gate: second },
    });
    const ended = { status: "error", error: "taken for dead" } as const;
    await storage.runs.update(run_id, { updated_at: new Date().toISOString(), state: "ended", ...ended });
    gateOf(second).open();
    gateOf(first).open();
    expect((await running).status).toBe("success");
    const after = await service.runs.create(thread_id, { assistant_id: "gate", input: { gate: second } });
    expect(after.status).toBe("success");
    expect(gateOf(second).entries).toBe(1);
    expect(await service.runs.get(thread_id, run_id)).toMatchObject(ended);
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });
});

describe("a queued run that another process has taken over", () => {
  itSqlite("does not end here: its reader gets the end that the other process stores", async () => {
    const storage = await openFile();
    let lost: () => void = () => undefined;
    const isLost = new Promise<void>((resolve) => (lost = resolve));
    const logger = recordingLogger();
    const warn = (fields: object, message: string) => {
      logger.warn(fields, message);
      if (message === "the run was lost: another process has taken it over") lost();
    };
    const service = await openTestService({ graphs: { gate }, storage, logger: { ...logger, warn } });
    const { thread_id } = await service.threads.create({});
    const [first, second] = [newId(), newId()];
    const running = service.runs.create(thread_id, { assistant_id: "gate", input: { gate: first } });
    await gateOf(first).entered;
    const { run_id } = await service.runs.background(thread_id, {
      ...{ assistant_id: "gate", input: { gate: second }, stream_mode: "values", stream_resumable: true },
    });
    const frames = readAll(await service.runs.joinStream(thread_id, run_id));

    const row = await storage.runs.get(thread_id, run_id);
    if (!row) throw new Error("the queued run is not stored");
    const other = { owner: "other", attempt: row.attempt };
    const updated_at = new Date().toISOString();
    const lease = { state: row.state, owner: row.owner, attempt: row.attempt };
    expect(await storage.runs.take?.(row, lease, { ...row, ...other }, { updated_at })).toBe(true);
    gateOf(second).open();
    gateOf(first).open();
    expect((await running).status).toBe("success");
    await isLost;

    const ended = { updated_at, state: "ended", status: "success" } as const;
    await storage.runs.update(run_id, ended, other);
    expect((await frames).map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
    expect(gateOf(second).entries).toBe(0);
    expect(await service.runs.get(thread_id, run_id)).toMatchObject({ status: "success", error: null });
  });
});

describe("a custom storage whose runs.unfinished ignores its filter", () => {
  async function opened() {
    const storage = await openBackend(MEMORY);
    const { runs } = storage;
    const unfinished = runs.unfinished.bind(runs);
    vi.spyOn(runs, "unfinished").mockImplementation(() => unfinished());
    const cancelled = vi.spyOn(runs, "requestCancel");
    const service = await openService({ graphs: { gate }, storage });
    onTestFinished(() => service.close(0));
    const begin = async () => {
      const { thread_id } = await service.threads.create({});
      const name = newId();
      const run = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
      await gateOf(name).entered;
      return { ...run, gate: gateOf(name) };
    };
    return { storage, service, cancelled, begin };
  }

  it("deleting a thread cancels only the runs of that thread", async () => {
    const { service, cancelled, begin } = await opened();
    const [one, other] = [await begin(), await begin()];
    await service.threads.delete(one.thread_id);
    expect(cancelled.mock.calls).toEqual([[one.run_id]]);
    other.gate.open();
    const { answer } = await service.runs.join(other.thread_id, other.run_id);
    expect(await answer).not.toHaveProperty("__error__");
  });

  it("the interrupted runs of a thread exclude runs of other threads", async () => {
    const { storage, service } = await opened();
    const [one, other] = [await service.threads.create({}), await service.threads.create({})];
    const left = [runOf(one.thread_id, "nobody"), runOf(other.thread_id, "nobody")];
    for (const run of left) await storage.runs.insert(run, { updated_at: run.updated_at });
    expect(await service.cutOffRuns(one.thread_id)).toMatchObject([{ run_id: left[0]?.run_id }]);
    expect(await service.cutOffRuns()).toHaveLength(2);
  });
});

describe("isDead", () => {
  const self = { id: "me", host: "here", pid: process.pid, seen_at: "2026-01-01T00:00:00.000Z" };
  const at = Date.parse(self.seen_at);

  it.each([
    [false, self],
    [true, undefined],
    [true, { ...self, id: "previous process with the same pid" }],
    [false, { ...self, id: "another owner in this process", seen_at: new Date().toISOString() }],
    [false, { ...self, id: "other", host: "elsewhere" }],
    [true, { ...self, id: "other", host: "elsewhere", seen_at: "2025-12-31T23:59:00.000Z" }],
    [false, { ...self, id: "parent", pid: process.ppid }],
    [true, { ...self, id: "gone", pid: 2 ** 22 + 1 }],
  ])("returns %j for the owner %j", (dead, owner) => {
    expect(isDead(owner, self, at)).toBe(dead);
  });
});

describe("the sweep", () => {
  it("deletes or prunes expired threads", async () => {
    const service = await openTestService({ graphs: { steps } });
    const gone = await service.threads.create({ ttl: { ttl: 0.00001 } });
    const pruned = await service.threads.create({ ttl: { strategy: "keep_latest", ttl: 0.00001 } });
    const kept = await service.threads.create({ ttl: 5 });
    for (const { thread_id } of [gone, pruned, kept]) {
      await service.runs.create(thread_id, { assistant_id: "steps", input: { n: 0 } });
    }
    const { updated_at } = await service.threads.get(kept.thread_id);
    await service.sweep(new Date(Date.parse(updated_at) + 1000).toISOString());
    await expect(service.threads.get(gone.thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
    expect(await service.state.history(pruned.thread_id, { limit: 100 })).toHaveLength(1);
    expect(await service.threads.get(pruned.thread_id)).toMatchObject({ ttl: null, values: { n: 10 } });
    expect((await service.state.history(kept.thread_id, { limit: 100 })).length).toBeGreaterThan(1);
  });
});
