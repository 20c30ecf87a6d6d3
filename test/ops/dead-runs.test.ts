/** Dead runs: listing and redriving runs whose processes crashed, on every backend that persists runs. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { DeadRun } from "../../src/models/dead-run.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { openService } from "../../src/service/open.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { shaky } from "../fixtures/graphs/shaky.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { INPUT, leaveRun, type LeftRun, trails } from "../helpers/left-runs.js";
import { replacing } from "../helpers/refusing.js";
import { byHeader } from "../helpers/two-users.js";
import { startReceiver, webhooks } from "../helpers/webhook-receiver.js";

const WHOLE = ["in", "a", "b", "c"];

const ids = (run: unknown) => {
  const { run_id, thread_id } = run as LeftRun;
  return { run_id, thread_id };
};

const pathOf = ({ thread_id, run_id }: LeftRun) => `/threads/${thread_id}/runs/${run_id}`;
const deadOf = async ({ request }: TestServer, query = "") =>
  (await request("GET", `/runs/dead${query}`)).body as DeadRun[];
const runOf = async ({ request }: TestServer, run: LeftRun) => (await request("GET", pathOf(run))).body;
const redrive = ({ request }: TestServer, run: LeftRun) => request("POST", `${pathOf(run)}/redrive`);
const ended = async ({ request }: TestServer, run: LeftRun) =>
  (await request("GET", `${pathOf(run)}/join`)).body;

type Leave = Parameters<typeof leaveRun>[2];

onEveryBackend("dead runs", (backend) => {
  const isKept = () => ["sqlite", "postgres", "mongodb"].includes(backend().name);

  /** Starts a server on a storage that already holds runs left by crashed processes. */
  async function begun(
    leaves: Leave[],
    { settings, graphs }: { settings?: Partial<Settings>; graphs?: Record<string, unknown> } = {},
  ) {
    const storage = await keptStorage(backend());
    // Dead runs of earlier tests.
    await storage.deadRuns?.forget("9999");
    const left = await leftOn(storage, leaves);
    const own = graphs ?? (await trails());
    const server = await startTestServer({
      graphs: own,
      storage,
      settings: { max_attempts: 1, ...settings },
    });
    return { storage, server, left, first: left[0] as LeftRun };
  }

  async function leftOn(storage: Storage, leaves: readonly Leave[]): Promise<LeftRun[]> {
    const before = await openService({ graphs: await trails(), storage, mode: "edit" });
    const left: LeftRun[] = [];
    for (const leave of leaves) left.push(await leaveRun(before, storage, leave));
    await before.close(0);
    return left;
  }

  it("the list is empty on a backend that does not persist runs", async () => {
    if (isKept()) return;
    const { server } = await begun([]);
    expect(await deadOf(server)).toEqual([]);
  });

  it("a redriven dead run resumes from its checkpoint as the same run with the next attempt and no second input", async () => {
    if (!isKept()) return;
    const { server, first } = await begun([{ attempt: 1 }], { settings: { metrics: true } });
    const reason = "the run's process died once, and it is not tried again";
    expect(await runOf(server, first)).toMatchObject({ status: "error", error: reason, attempt: 1 });
    expect(await deadOf(server)).toMatchObject([
      { ...first, assistant_id: "trail", graph_id: "trail", attempts: 1, reason },
    ]);
    const figure = async () =>
      /^graph_serve_runs_dead (\d+)$/m.exec((await server.request("GET", "/metrics")).text)?.[1];
    expect(await figure()).toBe("1");
    const answer = await redrive(server, first);
    expect(answer.body).toMatchObject({ run_id: first.run_id, error: null });
    expect(answer.status).toBe(200);
    expect(await ended(server, first)).toMatchObject({ log: WHOLE });
    expect(await runOf(server, first)).toMatchObject({ status: "success", error: null, attempt: 2 });
    expect(await deadOf(server)).toEqual([]);
    expect(await figure()).toBe("0");
    expect((await server.service.threads.get(first.thread_id)).status).toBe("idle");
  });

  it("a redriven run is queued ahead of later runs of its thread", async () => {
    if (backend().name !== "postgres") return;
    const settings = { queue: "postgres", checkpointer_scheme: "postgres" } as const;
    const { server, first } = await begun([{ attempt: 1 }], { settings });
    expect(await deadOf(server)).toMatchObject([first]);
    expect((await redrive(server, first)).status).toBe(200);
    const later = { assistant_id: "trail", input: { log: ["next"], gates: {} } };
    await server.service.runs.create(first.thread_id, later);
    expect(await runOf(server, first)).toMatchObject({ status: "success", attempt: 2 });
    expect((await server.service.state.get(first.thread_id)).values).toMatchObject({
      log: [...WHOLE, "next", "a", "b", "c"],
    });
  });

  it("a redriven run without checkpoints starts again with its input", async () => {
    if (!isKept()) return;
    const { server, first } = await begun([{ attempt: 1, hasWritten: false }]);
    expect((await redrive(server, first)).status).toBe(200);
    expect(await ended(server, first)).toMatchObject({ log: WHOLE });
  });

  it("a run is dead after max_attempts crashes; a redriven run starts and completes", async () => {
    if (!isKept()) return;
    const five = { settings: { max_attempts: 5 } };
    const { server, storage, left } = await begun([{ attempt: 4 }, { attempt: 5 }], five);
    const [alive, dead] = left as [LeftRun, LeftRun];
    expect(await ended(server, alive)).toMatchObject({ log: WHOLE });
    expect(await deadOf(server)).toMatchObject([{ run_id: dead.run_id, attempts: 5 }]);
    expect(await storage.deadRuns?.count()).toBe(1);
    expect((await redrive(server, dead)).status).toBe(200);
    await ended(server, dead);
    expect(await runOf(server, dead)).toMatchObject({ status: "success", attempt: 6 });
  });

  it("the list is paged, newest first", async () => {
    if (!isKept()) return;
    const { server, left } = await begun([{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }]);
    const ids = left.map(({ run_id }) => run_id).reverse();
    const page = await server.request("GET", "/runs/dead?limit=2");
    expect((page.body as DeadRun[]).map(({ run_id }) => run_id)).toEqual(ids.slice(0, 2));
    expect(page.headers.get("x-pagination-next")).toBe("2");
    const rest = await server.request("GET", "/runs/dead?limit=2&offset=2");
    expect((rest.body as DeadRun[]).map(({ run_id }) => run_id)).toEqual(ids.slice(2));
    expect(rest.headers.get("x-pagination-next")).toBeNull();
  });

  it("concurrent redrive requests requeue a run once", async () => {
    if (!isKept()) return;
    const { server, first } = await begun([{ attempt: 1 }]);
    const answers = await Promise.all([1, 2, 3].map(() => redrive(server, first)));
    const codes = answers.map(({ status }) => status).sort();
    expect(codes).toEqual([200, 409, 409]);
    expect(await ended(server, first)).toMatchObject({ log: WHOLE });
    expect(await runOf(server, first)).toMatchObject({ attempt: 2 });
  });

  it("redrive is rejected while another run of the thread is in flight, or after one has written to it", async () => {
    if (!isKept()) return;
    for (const hasWritten of [true, false]) {
      const { server, first } = await begun([{ attempt: 1, hasWritten }]);
      const gate = newId();
      const input = { log: ["next"], gates: { b: gate } };
      const path = `/threads/${first.thread_id}/runs`;
      const later = await server.request(
        "POST",
        path,
        { assistant_id: "trail", input },
        { Prefer: "respond-async" },
      );
      await gateOf(gate).entered;
      const busy = await redrive(server, first);
      expect([busy.status, busy.body]).toMatchObject([409, { code: "thread_busy" }]);
      gateOf(gate).open();
      const next = later.body as LeftRun;
      await ended(server, next);
      const moved = await redrive(server, first);
      expect([moved.status, moved.body]).toMatchObject([
        409,
        {
          code: "run_not_redrivable",
          detail: expect.stringContaining(
            `run "${first.run_id}" cannot be requeued: run "${next.run_id}" has written to its thread since`,
          ) as string,
        },
      ]);
      expect(await runOf(server, first)).toMatchObject({ status: "error", attempt: 1 });
    }
  });

  it("redrive is rejected after the state of the thread was edited", async () => {
    if (!isKept()) return;
    const { server, left } = await begun([{ attempt: 1 }, { attempt: 1, hasWritten: false }]);
    for (const run of left) {
      await server.service.state.update(run.thread_id, { values: { log: ["edited"] }, as_node: "a" });
      const moved = await redrive(server, run);
      expect([moved.status, moved.body]).toMatchObject([409, { code: "run_not_redrivable" }]);
    }
  });

  it("redrive of a run that is not dead or does not exist is rejected with the reason", async () => {
    if (!isKept()) return;
    const { server, first } = await begun([{ attempt: 1 }]);
    const done = await server.service.runs.createStateless({
      assistant_id: "trail",
      input: INPUT,
      on_completion: "keep",
    });
    await ended(server, done);
    const refused = await redrive(server, done);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        code: "run_not_redrivable",
        detail: expect.stringContaining(`run "${done.run_id}" is not dead: it is success`) as string,
      },
    ]);
    const unknown = await redrive(server, { ...first, run_id: newId() });
    expect([unknown.status, unknown.body]).toMatchObject([404, { code: "run_not_found" }]);
    const noId = await redrive(server, { ...first, run_id: "no id" });
    expect(noId.status).toBe(422);
  });

  it("a run whose graph is not configured becomes dead and can be redriven when the graph is back", async () => {
    if (!isKept()) return;
    const { fork } = await trails();
    const { server, storage, first } = await begun([{ attempt: 1 }], {
      graphs: { fork },
      settings: { max_attempts: 3 },
    });
    expect(await deadOf(server)).toMatchObject([{ ...first, attempts: 1 }]);
    const gone = await redrive(server, first);
    expect([gone.status, gone.body]).toMatchObject([
      409,
      { code: "run_not_redrivable", detail: expect.stringContaining("trail") as string },
    ]);
    await server.close(0);
    const next = await startTestServer({ graphs: await trails(), storage });
    expect((await redrive(next, first)).status).toBe(200);
    expect(await ended(next, first)).toMatchObject({ log: WHOLE });
  });

  it("redrive is rejected when resume_runs is off, and the run stays dead", async () => {
    if (!isKept()) return;
    const { server, storage, first } = await begun([{ attempt: 1 }]);
    await server.close(0);
    const settings = { resume_runs: false };
    const next = await startTestServer({ graphs: await trails(), storage, settings });
    const refused = await redrive(next, first);
    expect([refused.status, refused.body]).toMatchObject([400, { code: "unsupported_option" }]);
    expect(await deadOf(next)).toMatchObject([first]);
  });

  it("dead runs are removed with their row or thread, and expire to failed runs after 30 days", async () => {
    if (!isKept()) return;
    const { server, storage, left } = await begun([1, 2, 3].map(() => ({ attempt: 1 })));
    const [one, two, three] = left as [LeftRun, LeftRun, LeftRun];
    await server.request("DELETE", pathOf(one));
    await server.request("DELETE", `/threads/${two.thread_id}`);
    expect(await deadOf(server)).toMatchObject([three]);
    const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString();
    await server.service.sweep(inDays(29));
    expect(await storage.deadRuns?.count()).toBe(1);
    await server.service.sweep(inDays(31));
    expect(await deadOf(server)).toEqual([]);
    expect(await runOf(server, three)).toMatchObject({ status: "error" });
    expect((await redrive(server, three)).body).toMatchObject({ code: "run_not_redrivable" });
  });

  it("each end of a redriven run sends its own webhook", async () => {
    if (!isKept()) return;
    const receiver = await startReceiver();
    const isBack = { now: false };
    const server = await startTestServer({
      graphs: { shaky: shaky(isBack) },
      storage: await keptStorage(backend()),
      settings: { max_attempts: 1, webhooks },
    });
    const body = { assistant_id: "shaky", input: {}, webhook: receiver.url };
    const run = (await server.request("POST", "/runs", body)).body as LeftRun;
    const death = await receiver.next();
    expect(death.run).toMatchObject({ ...ids(run), status: "error" });
    isBack.now = true;
    expect((await redrive(server, run)).status).toBe(200);
    const end = await receiver.next();
    expect(end.run).toMatchObject({ ...ids(run), status: "success" });
    const named = [death, end].map(({ headers }) => headers["webhook-id"]);
    expect(named).toEqual([`msg_${run.run_id}`, `msg_${run.run_id}_2`]);
  });

  it("a rejected redrive sends no webhook", async () => {
    if (!isKept()) return;
    const receiver = await startReceiver();
    const resumption = { unattended: true, isWhole: true, caller: null, spent_ms: 0, webhook: receiver.url };
    const { server, storage, first } = await begun([{ attempt: 1, resumption }], { settings: { webhooks } });
    const gate = newId();
    const later = { assistant_id: "trail", input: { log: ["next"], gates: { a: gate } } };
    const other = server.service.runs.create(first.thread_id, later);
    await gateOf(gate).entered;
    expect((await redrive(server, first)).body).toMatchObject({ code: "thread_busy" });
    gateOf(gate).open();
    await other;
    expect(await storage.timers?.get("webhook", first.run_id)).toBeUndefined();
    expect(receiver.received).toEqual([]);
  });

  it("the thread of a stateless dead run is kept until the redriven run has ended", async () => {
    if (!isKept()) return;
    const isBack = { now: false };
    const server = await startTestServer({
      graphs: { shaky: shaky(isBack) },
      storage: await keptStorage(backend()),
      settings: { max_attempts: 1 },
    });
    const body = { assistant_id: "shaky", input: {} };
    const run = (await server.request("POST", "/runs", body)).body as LeftRun;
    await expect.poll(async () => (await runOf(server, run)) as object).toMatchObject({ status: "error" });
    await expect.poll(() => deadOf(server)).toContainEqual(expect.objectContaining(ids(run)));
    isBack.now = true;
    expect((await redrive(server, run)).status).toBe(200);
    await expect
      .poll(async () => (await server.request("GET", `/threads/${run.thread_id}`)).status)
      .toBe(404);
  });

  it("the thread of a stateless dead run is kept when its caller waited for the queue", async () => {
    if (backend().name !== "postgres") return;
    const server = await startTestServer({
      graphs: { shaky: shaky({ now: false }) },
      storage: await keptStorage(backend()),
      settings: { max_attempts: 1, queue: "postgres", checkpointer_scheme: "postgres" },
    });
    const body = { assistant_id: "shaky", input: {}, on_disconnect: "continue" };
    const waited = await server.request("POST", "/runs/wait", body);
    expect(waited.body).toMatchObject({ __error__: { message: "the storage is away" } });
    const dead = await deadOf(server);
    const [run] = dead.filter(({ graph_id }) => graph_id === "shaky");
    expect((await server.request("GET", `/threads/${run?.thread_id}`)).status).toBe(200);
  });

  it("two runs of a thread that were both in flight are resumed one after the other", async () => {
    if (!isKept()) return;
    const storage = await keptStorage(backend());
    const [first] = await leftOn(storage, [{ attempt: 1 }]);
    const thread_id = first?.thread_id ?? "";
    const [second] = await leftOn(storage, [{ attempt: 1, thread_id, hasWritten: false }]);
    const server = await startTestServer({ graphs: await trails(), storage });
    for (const run of [first, second] as LeftRun[]) {
      await ended(server, run);
      expect(await runOf(server, run)).toMatchObject({ status: "success", attempt: 2 });
    }
    const { body } = await server.request("GET", `/threads/${thread_id}/state`);
    expect(body).toMatchObject({ values: { log: [...WHOLE, ...WHOLE] } });
    expect((await server.request("GET", `/threads/${thread_id}`)).body).toMatchObject({ status: "idle" });
  });

  it("a run whose process has lost its lock is resumed before the runs behind it", async () => {
    if (!["postgres", "mongodb"].includes(backend().name)) return;
    const storage = await keptStorage(backend());
    const [first] = await leftOn(storage, [{ attempt: 1 }]);
    const thread_id = first?.thread_id ?? "";
    const [second] = await leftOn(storage, [{ attempt: 1, thread_id, hasWritten: false }]);
    const left = [first, second] as [LeftRun, LeftRun];
    const gone = { owner: "gone", attempt: 1 };
    const at = new Date().toISOString();
    // The process of the first run lives, and the second run was requeued.
    await storage.owners.beat({ id: "slow", host: "elsewhere", pid: 1, seen_at: at });
    await storage.runs.update(left[0].run_id, { updated_at: at, owner: "slow" }, gone);
    const requeued = { status: "pending", state: "queued", owner: null } as const;
    await storage.runs.update(left[1].run_id, { updated_at: at, ...requeued }, gone);
    const server = await startTestServer({ graphs: await trails(), storage });
    for (const run of left) {
      await ended(server, run);
      expect(await runOf(server, run)).toMatchObject({ status: "success" });
    }
    const { body } = await server.request("GET", `/threads/${thread_id}/state`);
    expect(body).toMatchObject({ values: { log: [...WHOLE, ...WHOLE] } });
    await storage.owners.remove("slow");
  });

  it("a run that its process requeues while it is claimed is resumed before the runs behind it", async () => {
    if (!["postgres", "mongodb"].includes(backend().name)) return;
    const storage = await keptStorage(backend());
    const [first] = (await leftOn(storage, [{ attempt: 1 }])) as [LeftRun];
    const at = new Date().toISOString();
    await storage.owners.beat({ id: "slow", host: "elsewhere", pid: 1, seen_at: at });
    await storage.runs.update(first.run_id, { updated_at: at, owner: "slow" }, { owner: "gone", attempt: 1 });
    const { runs } = storage;
    const requeued = { updated_at: at, state: "queued", owner: null } as const;
    const take: typeof runs.take = async (...claim) => {
      await runs.update(first.run_id, requeued, { owner: "slow", attempt: 1 });
      return (await runs.take?.(...claim)) ?? false;
    };
    const racing = replacing(runs, { take });
    const server = await startTestServer({ graphs: await trails(), storage: { ...storage, runs: racing } });
    const body = { assistant_id: "trail", input: INPUT };
    const next = await server.request("POST", `/threads/${first.thread_id}/runs/wait`, body);
    expect(next.body).toMatchObject({ log: [...WHOLE, ...WHOLE] });
    expect(await runOf(server, first)).toMatchObject({ status: "success", error: null });
    await storage.owners.remove("slow");
  });

  it("users list and redrive only their own dead runs", async () => {
    if (!isKept()) return;
    const storage = await keptStorage(backend());
    const before = await openService({ graphs: await trails(), storage, mode: "edit" });
    const ann = await before.as({ user: { identity: "ann" }, scope: { owner: "ann" } }).threads.create({});
    const mine = await leaveRun(before, storage, { attempt: 1, thread_id: ann.thread_id });
    const other = await leaveRun(before, storage, { attempt: 1 });
    await before.close(0);
    const settings = { max_attempts: 1 };
    const server = await startTestServer({
      graphs: await trails(),
      storage,
      settings,
      authenticate: byHeader,
    });
    const as = (user: string) => ({
      ...server,
      request: (method: string, path: string) => server.request(method, path, undefined, { user }),
    });
    expect((await deadOf(as("ann"))).map(({ run_id }) => run_id)).toContain(mine.run_id);
    expect((await deadOf(as("bob"))).map(({ run_id }) => run_id)).not.toContain(mine.run_id);
    expect((await redrive(as("bob"), mine)).status).toBe(404);
    expect((await redrive(as("ann"), mine)).status).toBe(200);
    expect(other).toBeDefined();
  });
});
