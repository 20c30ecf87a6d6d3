/** Idempotency keys, on every backend: concurrent and later requests with the same key return the same run. */
import { expect, it } from "vitest";
import type { Run, RunCreateRequest } from "../../src/models/run.js";
import { NotFoundError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { graphs, says } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService, readAll } from "../helpers/service.js";

const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const hello = (): RunCreateRequest => ({
  assistant_id: "chat",
  input: says("hello"),
  idempotency_key: newId(),
});

onEveryBackend("a request with an idempotency key", (backend) => {
  /** A storage without timers does not support idempotency keys. */
  const skip = () => backend().name === "a custom storage";
  const open = async () => {
    const storage = await keptStorage(backend());
    const service = await openTestService({ graphs, storage });
    const other = await openTestService({ graphs, storage });
    const { thread_id } = await service.threads.create({});
    return { storage, service, other, thread_id };
  };

  it("concurrent and repeated requests to several servers create one run", async () => {
    if (skip()) return;
    const { service, other, thread_id } = await open();
    const request = hello();
    const asked = [service, other, service, other].map((each) => each.runs.background(thread_id, request));
    const [first, ...others] = (await Promise.all(asked)).map(({ run_id }) => run_id);
    expect(others).toEqual([first, first, first]);
    const ended = await other.runs.create(thread_id, request);
    expect(ended).toMatchObject({ run_id: first, status: "success" });
    const { run, answer } = await service.runs.wait(thread_id, request);
    expect([run.run_id, await answer]).toEqual([first, (await service.threads.get(thread_id)).values]);
    const stream = await service.runs.stream(thread_id, request);
    expect((await readAll(stream)).at(-1)).toMatchObject({ event: "end", data: { run_id: first } });
    expect(await service.runs.list(thread_id, {})).toHaveLength(1);
  });

  it("a run on the temporary thread of a refused request is kept", async () => {
    if (skip()) return;
    const { storage, other } = await open();
    const { runs, threads } = storage;
    let accepted: Run | undefined;
    const service = await openTestService({
      graphs,
      storage: {
        ...storage,
        runs: replacing(runs, {
          insert: async ({ thread_id }) => {
            throw new NotFoundError("thread", thread_id);
          },
        }),
        threads: replacing(threads, {
          delete: async (...args) => {
            accepted ??= await other.runs.background(args[0], { ...hello(), multitask_strategy: "enqueue" });
            return threads.delete(...args);
          },
        }),
      },
    });
    await expect(service.runs.createStateless(hello())).rejects.toMatchObject({ code: "thread_not_found" });
    const { thread_id, run_id } = accepted!;
    await (
      await other.runs.join(thread_id, run_id)
    ).answer;
    expect(await other.runs.get(thread_id, run_id)).toMatchObject({ status: "success" });
  });

  it("a repeated request joins the run in flight", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const gate = newId();
    const request = { assistant_id: "gate", input: { gate }, idempotency_key: newId() };
    const first = await service.runs.stream(thread_id, request);
    await gateOf(gate).entered;
    const again = await service.runs.stream(thread_id, request);
    const ended = service.runs.create(thread_id, request);
    gateOf(gate).open();
    expect(await readAll(again)).toEqual(await readAll(first));
    expect((await ended).run_id).toBe(first.run.run_id);
    expect(gateOf(gate).entries).toBe(1);
  });

  it("a repeated request waits while the first one waits for its thread", async () => {
    if (skip()) return;
    const { service, other, thread_id } = await open();
    const gate = newId();
    await service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    await gateOf(gate).entered;
    const request = hello();
    const first = service.runs.create(thread_id, request);
    const repeated = [other.runs.create(thread_id, request), service.runs.background(thread_id, request)];
    gateOf(gate).open();
    const { run_id } = await first;
    expect((await Promise.all(repeated)).map((run) => run.run_id)).toEqual([run_id, run_id]);
    expect(await service.runs.list(thread_id, {})).toHaveLength(2);
  });

  it("a key that was stored before keys had locks returns its run", async () => {
    if (skip()) return;
    const { service, storage } = await open();
    const request = hello();
    const run = await service.runs.createStateless(request);
    const older = async (lease_until: string | null) => {
      const rows = await storage.timers!.list({ kind: "key", limit: 1000, offset: 0 });
      const row = rows.find(({ data }) => data.run_id === run.run_id)!;
      const { isAccepted: _, ...data } = row.data;
      expect(await storage.timers!.replace({ ...row, data: { ...data, lease_until } })).toBe(true);
    };
    // Its process crashed after it stored the run, and before it recorded this with the key.
    await older(at(-1));
    expect((await service.runs.createStateless(request)).run_id).toBe(run.run_id);
    await (
      await service.runs.join(run.thread_id, run.run_id)
    ).answer;
    await service.threads.delete(run.thread_id);
    await older(null);
    expect(await service.runs.createStateless(request)).toEqual(run);
  });

  it("a repeated request with another body is rejected; another key creates another run", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const request = hello();
    const { run_id } = await service.runs.create(thread_id, request);
    const changed = { ...request, input: says("bye") };
    await expect(service.runs.background(thread_id, changed)).rejects.toMatchObject({
      code: "invalid_request",
      issues: [{ loc: ["header", "idempotency-key"], type: "idempotency_key_reused" }],
    });
    await expect(service.runs.createStateless(request)).rejects.toThrow("came with another request");
    const next = await service.runs.create(thread_id, { ...changed, idempotency_key: newId() });
    expect(next.run_id).not.toBe(run_id);
  });

  it("a request can be retried after a rejection, and after the accepting process crashed", async () => {
    if (skip()) return;
    const { service, storage, thread_id } = await open();
    const gate = newId();
    const request = { ...hello(), multitask_strategy: "reject" } as const;
    const busy = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    await expect(service.runs.background(thread_id, request)).rejects.toThrow("is busy");
    gateOf(gate).open();
    await (
      await service.runs.join(thread_id, busy.run_id)
    ).answer;
    const run = await service.runs.create(thread_id, request);
    expect(run.status).toBe("success");
    // The state left by a process that crashed after storing the key and before storing the run.
    const rows = await storage.timers!.list({ kind: "key", limit: 1000, offset: 0 });
    const row = rows.find(({ data }) => data.run_id === run.run_id)!;
    const left = { ...row.data, run_id: newId(), isAccepted: false };
    expect(await storage.timers!.replace({ ...row, data: left })).toBe(true);
    const next = await service.runs.create(thread_id, request);
    // The new request uses the run id of the crashed process, so only one run can be stored.
    expect(next).toMatchObject({ status: "success", run_id: left.run_id });
  });

  it("a key is remembered for one day, even after its run was deleted", async () => {
    if (skip()) return;
    const { service } = await open();
    const request = hello();
    const run = await service.runs.createStateless(request);
    // The end is stored shortly before the thread is free, and a sweep skips threads that are not. `join` waits for both.
    await (
      await service.runs.join(run.thread_id, run.run_id)
    ).answer;
    await service.sweep(at(23));
    await expect(service.runs.get(run.thread_id, run.run_id)).rejects.toThrow("does not exist");
    expect(await service.runs.createStateless(request)).toEqual(run);
    await service.sweep(at(25));
    expect((await service.runs.createStateless(request)).run_id).not.toBe(run.run_id);
  });
});
