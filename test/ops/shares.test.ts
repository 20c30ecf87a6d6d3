/** Per-user shares of global limits: crons, delayed runs and active runs. */
import { expect, it } from "vitest";
import { MAX_TIMERS, MAX_TIMERS_PER_USER } from "../../src/context/timer-limits.js";
import { openStorage } from "../../src/storage/open.js";
import type { TimerKind } from "../../src/storage/contract/timers.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { startTestServer } from "../helpers/app.js";
import { byHeader } from "../helpers/two-users.js";

const input = { messages: [{ role: "user", content: "hi" }] };
const NEW_YEAR = "0 0 1 1 *";
const AT = `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`;
const DUE = `${new Date().getUTCFullYear() + 2}-01-01T00:00:00.000Z`;

async function open(settings: object = {}) {
  const storage = await openStorage({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 100,
  });
  const server = await startTestServer({
    graphs: { chat, gate },
    storage,
    authenticate: byHeader,
    settings: { crons: true, delayed_runs: true, ...settings },
  });
  const post = (user: string, path: string, body: object) => server.request("POST", path, body, { user });
  const cronOf = (user: string) =>
    post(user, "/runs/crons", { assistant_id: "chat", schedule: NEW_YEAR, input });
  const delayedOf = (user: string) =>
    post(user, "/runs", { assistant_id: "chat", input, after_seconds: 36_000 });
  /** Inserts `count` timers of the given scope. */
  const fill = async (kind: TimerKind, scope: string | null, count: number) => {
    for (let n = 0; n < count; n++)
      await storage.timers!.insert({
        kind,
        id: newId(),
        thread_id: null,
        scope,
        due_at: DUE,
        created_at: AT,
        version: 1,
        data: {},
      });
  };
  const scopeOf = async (kind: TimerKind) =>
    (await storage.timers!.list({ kind, limit: 1, offset: 0 }))[0]!.scope;
  return { ...server, storage, post, cronOf, delayedOf, fill, scopeOf };
}

it.each([
  ["cron", "1000 of your crons are stored"],
  ["run", "1000 of your runs are delayed"],
] as const)(
  "a user who has reached the limit of timers (%s) does not block other users",
  async (kind, says) => {
    const { cronOf, delayedOf, fill, scopeOf } = await open();
    const add = kind === "cron" ? cronOf : delayedOf;
    expect((await add("mallory")).status).toBe(200);
    await fill(kind, await scopeOf(kind), MAX_TIMERS_PER_USER - 1);
    const refused = await add("mallory");
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
    expect(refused.text).toContain(says);
    expect((await add("bob")).status).toBe(200);
  },
);

it("crons of all users together are limited", async () => {
  const { cronOf, fill } = await open();
  await fill("cron", "others", MAX_TIMERS);
  const refused = await cronOf("bob");
  expect(refused).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
  expect(refused.text).toContain("10000 crons are stored");
});

it("crons of a user who has many start spread out, and a cron of another user starts on time", async () => {
  const { cronOf, fill, scopeOf, storage } = await open();
  const dueOf = async (user: string) => {
    const { cron_id, next_run_date } = (await cronOf(user)).body as Record<string, string>;
    expect(next_run_date).toBe(AT);
    const row = await storage.timers!.get("cron", cron_id!);
    return Date.parse(row!.due_at!) - Date.parse(AT);
  };
  expect(await dueOf("mallory")).toBe(0);
  await fill("cron", await scopeOf("cron"), MAX_TIMERS_PER_USER / 2);
  const delays = [];
  for (let n = 0; n < 20; n++) delays.push(await dueOf("mallory"));
  expect(new Set(delays).size).toBeGreaterThan(10);
  expect(Math.max(...delays)).toBeLessThan(20_000);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(await dueOf("bob")).toBe(0);
});

it("a process has at most max_active_runs, half of them for one user", async () => {
  const { post } = await open({ max_active_runs: 4 });
  const begin = (user: string, name: string) =>
    post(user, "/runs", { assistant_id: "gate", input: { gate: name } });
  const gates = [newId(), newId(), newId(), newId()] as const;
  const beginAll = async (user: string, names: readonly string[]) => {
    for (const name of names) {
      expect((await begin(user, name)).status).toBe(200);
      await gateOf(name).entered;
    }
  };
  await beginAll("mallory", gates.slice(0, 2));
  const own = await begin("mallory", newId());
  expect(own).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
  expect(own.text).toContain("2 of your runs are in flight");
  expect(own.headers.get("retry-after")).toBe("1");
  await beginAll("bob", gates.slice(2));
  const full = await post("carol", "/runs/wait", { assistant_id: "chat", input });
  expect(full).toMatchObject({ status: 429, body: { code: "too_many_runs" } });
  expect(full.text).toContain("4 runs are in flight");
  gates.forEach((name) => gateOf(name).open());
  await expect
    .poll(async () => (await post("carol", "/runs/wait", { assistant_id: "chat", input })).status)
    .toBe(200);
});

it("concurrent requests count toward max_active_runs", async () => {
  const { post } = await open({ max_active_runs: 5 });
  const name = newId();
  const all = Array.from({ length: 20 }, (_, n) =>
    post(`user ${n}`, "/runs", { assistant_id: "gate", input: { gate: name } }),
  );
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  gateOf(name).open();
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(15);
});

it.each(["cron", "run"] as const)(
  "a due timer (%s) fires in the first batch although 200 of another user were due earlier",
  async (kind) => {
    const { cronOf, delayedOf, service, storage } = await open();
    const add = kind === "cron" ? cronOf : delayedOf;
    for (let n = 0; n < 200; n++) expect((await add("mallory")).status).toBe(200);
    expect((await add("bob")).status).toBe(200);
    const timers = storage.timers!;
    const [ofBob] = await timers.list({ kind, limit: 1, offset: 200 });
    await timers.replace({ ...ofBob!, due_at: DUE });
    const claimed: string[] = [];
    const replace = timers.replace.bind(timers);
    timers.replace = (row) => {
      if (!claimed.includes(row.id)) claimed.push(row.id);
      return replace(row);
    };
    await service.fireDue(DUE);
    expect(claimed).toHaveLength(201);
    expect(claimed.indexOf(ofBob!.id)).toBeLessThan(20);
  },
);

it("a due cron waits until max_active_runs allows its run", async () => {
  const { post, service, storage } = await open({ max_active_runs: 1 });
  const { cron_id } = (await post("bob", "/runs/crons", { assistant_id: "chat", schedule: NEW_YEAR, input }))
    .body as Record<string, string>;
  const name = newId();
  await post("ann", "/runs", { assistant_id: "gate", input: { gate: name } });
  await gateOf(name).entered;
  await service.fireDue(AT);
  const waiting = await storage.timers!.get("cron", cron_id!);
  expect(waiting?.data).toMatchObject({ next_run_date: AT, last_error: null });
  gateOf(name).open();
  const isFired = async () => {
    await service.fireDue(AT);
    return (await storage.timers!.get("cron", cron_id!))?.data.next_run_date !== AT;
  };
  await expect.poll(isFired).toBe(true);
});
