/** `GET /changes`: changed threads and runs, on every backend, for each user, from every process. */
import { expect, it, onTestFinished } from "vitest";
import type { Changes } from "../../src/models/changes.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { openStorage } from "../../src/storage/open.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { serve, startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, MEMORY, onEveryBackend, openBackend } from "../helpers/backends.js";
import { withPostgres } from "../helpers/postgres.js";
import { openTestService } from "../helpers/service.js";
import { readEvents } from "../helpers/sse.js";
import { byHeader } from "../helpers/two-users.js";

const graphs = { chat, gate };

/** Opens the stream and waits for its first event. `until` reads on until an event passes the test. */
async function follow({ fetch }: TestServer, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch("GET", "/changes", undefined, { headers, signal: leaving.signal });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const events = readEvents(response);
  const seen: Changes[] = [];
  const until = async (test: (changes: Changes) => boolean): Promise<Changes> => {
    for (;;) {
      const { done, value } = await events.next();
      if (done) throw new Error("the stream ended");
      expect(value.event).toBe("changes");
      seen.push(value.data as Changes);
      if (test(value.data as Changes)) return value.data as Changes;
    }
  };
  expect(await until(() => true)).toMatchObject({ threads: [], runs: [], is_complete: true });
  return { until, seen, leave: () => leaving.abort() };
}

const created = async ({ request }: TestServer, headers = {}): Promise<string> =>
  ((await request("POST", "/threads", {}, headers)).body as Thread).thread_id;

const hasThread = (id: string, status: string) => (changes: Changes) =>
  changes.threads.some((each) => each.thread_id === id && each.status === status);
const hasRun = (id: string, status: string) => (changes: Changes) =>
  changes.runs.some((each) => each.run_id === id && each.status === status);

onEveryBackend("the stream of changes", (backend) => {
  it("reports a new thread, its run while it runs and after it ended, and a deletion", async () => {
    const server = await startTestServer({ graphs, storage: await keptStorage(backend()) });
    const { until } = await follow(server);
    const id = await created(server);
    const { total } = await until(hasThread(id, "idle"));
    const name = newId();
    const run = await server.service.runs.background(id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    await until((changes) => hasThread(id, "busy")(changes) && changes.runs.length === 1);
    gateOf(name).open();
    expect((await until(hasRun(run.run_id, "success"))).threads).toMatchObject([{ status: "idle" }]);
    await server.request("DELETE", `/threads/${id}`);
    expect((await until((changes) => changes.total < total)).threads).toEqual([]);
  });

  it("contains only threads and runs of its user", async () => {
    const server = await startTestServer({
      graphs,
      storage: await keptStorage(backend()),
      authenticate: byHeader,
    });
    const ann = await follow(server, { user: "ann" });
    const bob = await follow(server, { user: "bob" });
    const hers = await created(server, { user: "ann" });
    const his = await created(server, { user: "bob" });
    const input = { messages: [{ role: "user", content: "hello" }] };
    await server.request("POST", `/threads/${hers}/runs`, { assistant_id: "chat", input }, { user: "ann" });
    await bob.until(hasThread(his, "idle"));
    await ann.until(({ runs }) => runs.some(({ status }) => status === "success"));
    const next = await created(server, { user: "bob" });
    await bob.until(hasThread(next, "idle"));
    for (const [{ seen }, own] of [
      [ann, [hers]],
      [bob, [his, next]],
    ] as const) {
      expect(new Set(seen.flatMap(({ threads }) => threads.map(({ thread_id }) => thread_id)))).toEqual(
        new Set(own),
      );
      expect(
        seen.flatMap(({ runs }) => runs).every(({ thread_id }) => own.includes(thread_id as never)),
      ).toBe(true);
    }
  });
});

withPostgres("the stream of changes of several processes", (postgres) => {
  it("reports runs of another process", async () => {
    const open = async () =>
      serve(
        await openTestService({
          graphs,
          storage: await openStorage(postgres.options()),
          settings: postgres.options(),
        }),
      );
    const [here, there] = [await open(), await open()];
    const { until } = await follow(here);
    const id = await created(there);
    const input = { messages: [{ role: "user", content: "hello" }] };
    const run = (await there.request("POST", `/threads/${id}/runs`, { assistant_id: "chat", input }))
      .body as Run;
    await until(hasRun(run.run_id, "success"));
  });
});

it("the usage of a stateless run is reported to its user only", async () => {
  const server = await startTestServer({ graphs, authenticate: byHeader });
  const ann = await follow(server, { user: "ann" });
  const bob = await follow(server, { user: "bob" });
  const input = { messages: [{ role: "user", content: "hello" }] };
  await server.request("POST", "/runs/wait", { assistant_id: "chat", input }, { user: "ann" });
  const sum = async () =>
    (await server.request("GET", "/usage", undefined, { user: "ann" })).body as { calls: number }[];
  await ann.until(({ usage }) => usage);
  await ann.until(({ usage }) => usage);
  expect(await sum()).toMatchObject([{ calls: 1 }]);
  await created(server, { user: "bob" });
  await bob.until(({ threads }) => threads.length > 0);
  expect(bob.seen.some(({ usage }) => usage)).toBe(false);
});

it("a change is reported among more threads than one read of the storage returns", async () => {
  const server = await startTestServer({ graphs, storage: await openBackend(MEMORY) });
  const { until } = await follow(server);
  await Promise.all(Array.from({ length: 450 }, () => created(server)));
  await until((changes) => changes.total === 450);
  const all = await follow(server);
  const id = await created(server);
  expect(await all.until(hasThread(id, "idle"))).toMatchObject({ total: 451, is_complete: true });
});

it("the streams of changes end when the server shuts down", async () => {
  const server = await startTestServer({ graphs, storage: await openBackend(MEMORY) });
  const { until } = await follow(server);
  const ended = expect(until(() => false)).rejects.toThrow("the stream ended");
  await server.close(5);
  await ended;
});
