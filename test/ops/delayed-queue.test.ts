/** Delayed runs with a shared queue: when due, they are queued exactly once, behind runs that were queued earlier. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { delayed, queued } from "../../src/runs/state.js";
import type { Service } from "../../src/service/service.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { says } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { replacing } from "../helpers/refusing.js";
import { startReceiver, webhooks } from "../helpers/webhook-receiver.js";
import { type TestPostgres, withPostgres } from "../helpers/postgres.js";

const HOUR = 3600;
const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const PATIENCE = { timeout: 30_000 };

/** Runs of the graph `gate` on one thread. Records the order in which runs reach their gate. */
class Turns {
  readonly order: string[] = [];
  readonly thread = newId();
  readonly #server: TestServer;
  readonly #gates = new Map<string, string>();

  constructor(server: TestServer) {
    this.#server = server;
  }

  async start(name: string, more: object = {}): Promise<Run> {
    const key = newId();
    this.#gates.set(name, key);
    gateOf(key).onEntered(() => this.order.push(name));
    const body = { assistant_id: "gate", input: { gate: key }, if_not_exists: "create", ...more };
    const path = `/threads/${this.thread}/runs`;
    const answer = await this.#server.request("POST", path, body, { prefer: "respond-async" });
    expect(answer).toMatchObject({ status: 200, body: { status: "pending" } });
    return answer.body as Run;
  }

  later(name: string, more: object = {}): Promise<Run> {
    return this.start(name, { after_seconds: HOUR, ...more });
  }

  async entered(name: string): Promise<void> {
    await gateOf(this.#key(name)).entered;
  }

  pass(...names: string[]): void {
    for (const name of names) gateOf(this.#key(name)).open();
  }

  passes(name: string): number {
    return gateOf(this.#key(name)).passes;
  }

  async run({ run_id }: Run): Promise<Run> {
    return (await this.#server.request("GET", `/threads/${this.thread}/runs/${run_id}`)).body as Run;
  }

  async ended(run: Run, status = "success"): Promise<void> {
    await expect.poll(async () => (await this.run(run)).status, PATIENCE).toBe(status);
  }

  #key(name: string): string {
    return this.#gates.get(name) ?? "";
  }
}

const fireAll = (services: readonly Service[], time: string) =>
  Promise.all(services.map((service) => service.fireDue(time)));

withPostgres("a delayed run with queue postgres", (postgres: TestPostgres) => {
  const open = (more: Partial<Settings> = {}, storage?: Storage) => {
    const { max_queued_runs: _, ...place } = postgres.options();
    const queue = { queue: "postgres", stream: "postgres", delayed_runs: true, crons: true } as const;
    return startTestServer({ graphs: { gate, chat }, settings: { ...place, ...queue, ...more }, storage });
  };
  const openApi = (more: Partial<Settings> = {}, storage?: Storage) =>
    open({ role: "api", ...more }, storage);
  const openWorker = (more: Partial<Settings> = {}) => open({ role: "worker", ...more });
  const states = async (thread: string) =>
    postgres.sql<Pick<RunRow, "state" | "status">>(
      `SELECT state, status FROM "${postgres.schema}".gs_runs WHERE thread_id = $1`,
      [thread],
    );

  it("is executed exactly once by a worker when due, with several processes polling", async () => {
    const [api, worker, other] = await Promise.all([openApi(), openWorker(), openWorker()]);
    const turns = new Turns(api);
    const run = await turns.later("later");
    expect(run).toMatchObject({ attempt: 0, kwargs: { after_seconds: HOUR } });
    const services = [api, worker, other].map(({ service }) => service);
    await fireAll(services, at(HOUR - 60));
    expect(await states(turns.thread)).toEqual([{ state: "delayed", status: "pending" }]);
    turns.pass("later");
    const joined = api.request("GET", `/threads/${turns.thread}/runs/${run.run_id}/join`);
    await fireAll([...services, ...services], at(HOUR + 1));
    expect((await joined).body).toMatchObject({ log: [{}, {}, {}].map(() => expect.any(String) as string) });
    expect(await turns.run(run)).toMatchObject({ status: "success", attempt: 1, kwargs: run.kwargs });
    await fireAll(services, at(2 * HOUR));
    expect(turns.passes("later")).toBe(1);
    expect(await states(turns.thread)).toHaveLength(1);
  });

  it("is queued without an owner when an api process fires it", async () => {
    const api = await openApi();
    const turns = new Turns(api);
    const run = await turns.later("later");
    await api.service.fireDue(at(HOUR + 1));
    expect(await states(turns.thread)).toEqual([{ state: "queued", status: "pending" }]);
    turns.pass("later");
    await openWorker();
    await turns.ended(run);
  });

  it("starts immediately when its thread is free and the process has capacity", async () => {
    const all = await open();
    const turns = new Turns(all);
    const run = await turns.later("later");
    await all.service.fireDue(at(HOUR + 1));
    await turns.entered("later");
    expect((await states(turns.thread))[0]?.state).not.toBe("queued");
    turns.pass("later");
    await turns.ended(run);
  });

  it("is queued behind runs accepted before it was due and ahead of runs accepted after", async () => {
    const [api] = await Promise.all([openApi(), openWorker(), openWorker()]);
    const turns = new Turns(api);
    const names = ["first", "before", "later", "after"];
    await turns.start("first");
    await turns.entered("first");
    await turns.later("later");
    await turns.start("before");
    await api.service.fireDue(at(HOUR + 1));
    const last = await turns.start("after");
    turns.pass(...names);
    await turns.ended(last);
    expect(turns.order).toEqual(names);
  });

  it("runs of one thread are queued in order of their due times, with several processes polling", async () => {
    const servers = await Promise.all([openApi(), openApi(), openApi()]);
    const services = servers.map(({ service }) => service);
    const turns = new Turns(servers[0]);
    const names = ["1", "2", "3", "4", "5", "6"];
    const made = new Map<string, Run>();
    for (const name of ["4", "2", "6", "1", "5", "3"])
      made.set(name, await turns.later(name, { after_seconds: Number(name) * HOUR }));
    await fireAll(services, at(7 * HOUR));
    // A timer that another process has just claimed is retried shortly afterwards.
    for (const moment of names) await services[0]?.fireDue(at(7 * HOUR + 60 * Number(moment)));
    expect(await states(turns.thread)).toEqual(names.map(() => ({ state: "queued", status: "pending" })));
    turns.pass(...names);
    await openWorker();
    await turns.ended(made.get("6")!);
    expect(turns.order).toEqual(names);
  });

  it("is taken over by other processes when its processes stop, before and after it is due", async () => {
    const [api, worker] = await Promise.all([openApi(), openWorker()]);
    const turns = new Turns(api);
    const [one, two] = [await turns.later("one"), await turns.later("two", { after_seconds: 2 * HOUR })];
    await Promise.all([api.service.close(0), worker.service.close(0)]);
    const next = await openApi();
    await next.service.fireDue(at(HOUR + 1));
    await next.service.close(0);
    const [last] = await Promise.all([openApi(), openWorker()]);
    turns.pass("one", "two");
    await last.service.fireDue(at(2 * HOUR + 1));
    const statuses = async () => {
      const { body } = await last.request("GET", `/threads/${turns.thread}/runs`);
      return (body as Run[]).map(({ run_id, status, attempt }) => [run_id, status, attempt]);
    };
    await expect.poll(statuses, PATIENCE).toEqual([
      [two.run_id, "success", 1],
      [one.run_id, "success", 1],
    ]);
    expect(turns.order).toEqual(["one", "two"]);
  });

  it("is neither lost nor duplicated when a process crashes between the timer and the queue", async () => {
    const api = await openApi();
    const storage = await postgres.open();
    const timers = storage.timers!;
    const turns = new Turns(api);
    const run = await turns.later("later");
    const timer = (await timers.get("run", run.run_id))!;
    // The crashed process had claimed the timer: another process fires it once the claim has expired.
    await timers.replace({ ...timer, due_at: at(HOUR + 60) });
    await api.service.fireDue(at(HOUR + 1));
    expect(await states(turns.thread)).toMatchObject([{ state: "delayed" }]);
    await api.service.fireDue(at(HOUR + 61));
    expect(await states(turns.thread)).toMatchObject([{ state: "queued" }]);
    // The run was queued, but the crashed process left its timer.
    expect(await timers.insert(timer)).toBe(true);
    await api.service.fireDue(at(HOUR + 61));
    expect(await timers.get("run", run.run_id)).toBeUndefined();
    turns.pass("later");
    await openWorker();
    await turns.ended(run);
    expect(turns.passes("later")).toBe(1);
  });

  it("is not rejected by max_waiting_runs, but counts toward it", async () => {
    const api = await openApi({ max_waiting_runs: 1 });
    const turns = new Turns(api);
    const run = await turns.later("later");
    const first = await turns.start("first");
    const body = { assistant_id: "gate", input: { gate: newId() }, if_not_exists: "create" };
    const ask = () => api.request("POST", `/threads/${newId()}/runs`, body);
    expect(await ask()).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
    await api.service.fireDue(at(HOUR + 1));
    expect(await turns.run(run)).toMatchObject({ status: "pending" });
    turns.pass("first", "later");
    await openWorker();
    await turns.ended(run);
    await turns.ended(first);
    expect(turns.order).toEqual(["first", "later"]);
  });

  it("sends the webhooks of queued runs that are cancelled, or deleted with their thread", async () => {
    const api = await openApi({ webhooks });
    const receiver = await startReceiver();
    const turns = new Turns(api);
    const webhook = receiver.url;
    const cancelled = await turns.start("cancelled", { webhook });
    const deleted = await turns.start("deleted", { webhook });
    await api.request("POST", `/threads/${turns.thread}/runs/${cancelled.run_id}/cancel`);
    expect((await receiver.next()).run).toMatchObject({ run_id: cancelled.run_id, status: "interrupted" });
    await api.request("DELETE", `/threads/${turns.thread}`);
    expect((await receiver.next()).run).toMatchObject({ run_id: deleted.run_id, status: "interrupted" });
  });

  it("keeps no webhook for a run that max_waiting_runs rejects", async () => {
    const api = await openApi({ webhooks, max_waiting_runs: 1 });
    const { url } = await startReceiver();
    const { run_id } = await new Turns(api).start("first", { webhook: url });
    const body = { assistant_id: "gate", input: { gate: newId() }, if_not_exists: "create", webhook: url };
    const refused = await api.request("POST", `/threads/${newId()}/runs`, body);
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
    const { items } = await api.service.webhooks.list({ limit: 1000 });
    expect(items.filter((webhook) => url.startsWith(webhook.url))).toMatchObject([{ run_id }]);
  });

  it("sends the webhook of a queued run that is cancelled while its thread is being deleted", async () => {
    const storage = await postgres.open();
    postgres.forget(storage);
    const { runs } = storage;
    let ended: () => Promise<unknown> = () => Promise.resolve();
    const racing = replacing(runs, {
      update: async (runId, patch, holder) => {
        const isUpdated = await runs.update(runId, patch, holder);
        if (patch.state === "ended") await ended();
        return isUpdated;
      },
    });
    const api = await openApi({ webhooks }, { ...storage, runs: racing });
    const receiver = await startReceiver();
    for (const action of ["interrupt", "rollback"]) {
      const turns = new Turns(api);
      const { run_id } = await turns.start("cancelled", { webhook: receiver.url });
      ended = () => {
        ended = () => Promise.resolve();
        return api.request("DELETE", `/threads/${turns.thread}`);
      };
      await api.request("POST", `/threads/${turns.thread}/runs/${run_id}/cancel?action=${action}`);
      expect((await receiver.next()).run).toMatchObject({ run_id, status: "interrupted" });
    }
  });

  it("fails with status error if its thread rejects it when due", async () => {
    const [api] = await Promise.all([openApi({ max_queued_runs: 1 }), openWorker()]);
    const turns = new Turns(api);
    const first = await turns.start("first");
    await turns.entered("first");
    const reject = await turns.later("reject", { multitask_strategy: "reject" });
    const behind = await turns.start("behind");
    const full = await turns.later("full");
    await api.service.fireDue(at(HOUR + 1));
    const busy = expect.stringContaining("is busy") as string;
    expect(await turns.run(reject)).toMatchObject({ status: "error", error: busy, attempt: 0 });
    const many = expect.stringContaining("1 callers already wait") as string;
    expect(await turns.run(full)).toMatchObject({ status: "error", error: many, attempt: 0 });
    turns.pass("first", "behind");
    await turns.ended(first);
    await turns.ended(behind);
    expect(turns.order).toEqual(["first", "behind"]);
  });

  it.each(["interrupt", "rollback"])(
    "cancels the other runs of its thread when due, with the strategy %s",
    async (multitask_strategy) => {
      const [api] = await Promise.all([openApi({ multitask_cancel: true }), openWorker()]);
      const turns = new Turns(api);
      const taking = await turns.later("taking", { multitask_strategy });
      const first = await turns.start("first");
      await turns.entered("first");
      await turns.start("behind");
      await api.service.fireDue(at(HOUR + 1));
      turns.pass("taking");
      await turns.ended(taking);
      expect(turns.order).toEqual(["first", "taking"]);
      const stopped =
        multitask_strategy === "interrupt" ? { status: "interrupted" } : { code: "run_not_found" };
      expect(await turns.run(first)).toMatchObject(stopped);
    },
  );

  it("can be cancelled before it is due and while it is queued", async () => {
    const api = await openApi();
    const turns = new Turns(api);
    const cancel = async ({ run_id }: Run) => {
      const path = `/threads/${turns.thread}/runs/${run_id}/cancel?wait=1`;
      expect((await api.request("POST", path)).status).toBe(204);
    };
    const [early, late, kept] = [
      await turns.later("early"),
      await turns.later("late"),
      await turns.later("kept"),
    ];
    await cancel(early);
    await api.service.fireDue(at(HOUR + 1));
    await cancel(late);
    turns.pass("early", "late", "kept");
    await openWorker();
    await turns.ended(kept);
    await turns.ended(early, "interrupted");
    await turns.ended(late, "interrupted");
    expect(turns.order).toEqual(["kept"]);
  });

  it("a stateless delayed run creates a thread and deletes it at the end", async () => {
    const [api] = await Promise.all([openApi(), openWorker()]);
    const body = { assistant_id: "chat", input: says("hello"), after_seconds: HOUR };
    const { thread_id } = (await api.request("POST", "/runs", body)).body as Run;
    await api.service.fireDue(at(HOUR + 1));
    const status = async () => (await api.request("GET", `/threads/${thread_id}`)).status;
    await expect.poll(status, PATIENCE).toBe(404);
  });

  it("a cron run is queued once and waits for a worker", async () => {
    const api = await openApi();
    const { thread_id } = (await api.request("POST", "/threads", {})).body as Run;
    const cron = { assistant_id: "chat", schedule: "0 0 1 1 *", input: says("hello") };
    const made = await api.request("POST", `/threads/${thread_id}/runs/crons`, cron);
    const { next_run_date } = made.body as { next_run_date: string };
    await Promise.all([api.service.fireDue(next_run_date), api.service.fireDue(next_run_date)]);
    expect(await states(thread_id)).toEqual([{ state: "queued", status: "pending" }]);
    await openWorker();
    const statuses = async () => (await states(thread_id)).map(({ status }) => status);
    await expect.poll(statuses, PATIENCE).toEqual(["success"]);
  });

  it("is accepted by only one of two concurrent processes; the other changes nothing", async () => {
    const api = await openApi();
    const turns = new Turns(api);
    const run = await turns.later("later");
    const storage = await postgres.open();
    const queue = await storage.openQueue!(process.cwd());
    const row = { ...(await storage.runs.get(turns.thread, run.run_id))!, ...queued() };
    const resumption = { unattended: true, isWhole: true, caller: null, spent_ms: 0 };
    const options = { queued: { ...queued(), resumption }, mostBefore: 9, from: delayed };
    const accept = () => queue.accept(row, { updated_at: at(0) }, options);
    const both = (await Promise.all([accept(), accept()])).map(({ became }) => became);
    expect(both.sort()).toEqual(["not_held", "queued"]);
    const thread = await storage.threads.get(turns.thread);
    expect(await accept()).toEqual({ became: "not_held" });
    expect(await storage.threads.get(turns.thread)).toEqual(thread);
  });
});
