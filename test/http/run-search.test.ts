/** `POST /runs/search`: runs across all threads, on every backend. */
import { describe, expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as failing } from "../fixtures/graphs/fail.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { byHeader } from "../helpers/two-users.js";

const graphs = { chat, failing };
const input = { messages: [{ role: "user", content: "hello" }] };

async function runOn(server: TestServer, assistant_id: string, more: object = {}): Promise<Run> {
  const { thread_id } = await server.service.threads.create({});
  return server.service.runs.create(thread_id, { assistant_id, input, ...more });
}

async function keysOf(server: TestServer): Promise<[threadId: string, runId: string]> {
  const { thread_id, run_id } = await runOn(server, "chat");
  return [thread_id, run_id];
}

async function search(server: TestServer, body: object = {}, headers = {}) {
  const answer = await server.request("POST", "/runs/search", body, headers);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const next = answer.headers.get("x-pagination-next");
  return { runs: answer.body as Run[], next: next === null ? null : Number(next) };
}

const ids = (runs: readonly Partial<Run>[]) => runs.map(({ run_id }) => run_id);

onEveryBackend("a search for runs", (backend) => {
  it("runs are found across threads, newest first, by each filter", async () => {
    const server = await startTestServer({ graphs, storage: await keptStorage(backend()) });
    const tag = newId();
    const first = await runOn(server, "chat", { metadata: { tag, nested: { a: [1, 2] } } });
    const second = await runOn(server, "failing", { metadata: { tag } });
    const third = await runOn(server, "chat", { metadata: { tag } });
    const found = async (body: object) => ids((await search(server, { metadata: { tag }, ...body })).runs);
    const all = ids([third, second, first]);

    const { runs } = await search(server, { metadata: { tag } });
    expect(runs).toEqual([third, second, first]);
    expect(await found({ status: "error" })).toEqual(ids([second]));
    expect(await found({ assistant_id: "chat" })).toEqual(ids([third, first]));
    const { assistant_id } = (await server.request("GET", "/assistants/failing")).body as Run;
    expect(await found({ assistant_id })).toEqual(ids([second]));
    expect(await found({ assistant_id: "nobody" })).toEqual([]);
    expect(await found({ thread_id: second.thread_id })).toEqual(ids([second]));
    expect(await found({ thread_id: newId() })).toEqual([]);
    const [one, other] = [first.thread_id, second.thread_id];
    expect(await found({ thread_ids: [one, other, newId()] })).toEqual(ids([second, first]));
    expect(await found({ thread_ids: [one.toUpperCase()], status: "success" })).toEqual(ids([first]));
    expect(await found({ thread_ids: [] })).toEqual([]);
    expect(await found({ thread_ids: [one], thread_id: one })).toEqual(ids([first]));
    expect(await found({ thread_ids: [one], thread_id: other })).toEqual([]);
    expect(await found({ metadata: { tag, nested: { a: [2] } } })).toEqual(ids([first]));
    expect(await found({ created_after: first.created_at })).toEqual(all);
    expect(await found({ created_before: first.created_at })).toEqual([]);
    const inZone = new Date(first.created_at).toISOString().replace("Z", "+00:00");
    expect(await found({ created_before: inZone })).toEqual([]);
  });

  it("runs of an assistant are found by every form of its id", async () => {
    const server = await startTestServer({ graphs, storage: await keptStorage(backend()) });
    const { assistant_id } = (await server.request("GET", "/assistants/chat")).body as Run;
    const metadata = { tag: newId() };
    const forms = [assistant_id.toUpperCase(), `urn:uuid:${assistant_id}`, "chat", assistant_id];
    const started: Run[] = [];
    for (const form of forms) started.unshift(await runOn(server, form, { metadata }));
    expect(started.map((run) => run.assistant_id)).toEqual([
      assistant_id,
      "chat",
      assistant_id,
      assistant_id,
    ]);
    for (const form of [...forms, `{${assistant_id}}`])
      expect(ids((await search(server, { metadata, assistant_id: form })).runs)).toEqual(ids(started));
  });

  it("runs are sorted by age, last change, status, duration and tokens, in both directions", async () => {
    const storage = await keptStorage(backend());
    const server = await startTestServer({ graphs, storage });
    const { kwargs, ...stored } = (await storage.runs.get(...(await keysOf(server))))!;
    const tag = newId();
    const made: Run[] = [];
    const rows: [status: Run["status"], start: number, end: number, tokens: number | null][] = [
      ["success", 0, 900, 5],
      ["error", 10, 300, 100],
      ["pending", 20, 5000, null],
      ["success", 30, 100, 30],
      ["success", 40, 110, 30],
    ];
    const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    for (const [status, start, end, tokens] of rows) {
      const { thread_id } = await server.service.threads.create({});
      const usage = tokens === null ? null : { input_tokens: 0, output_tokens: tokens, total_tokens: tokens };
      const times = { created_at: at(start), updated_at: at(end) };
      // A delayed run without a timer stays pending.
      const state = status === "pending" ? ("delayed" as const) : stored.state;
      const run = {
        ...stored,
        kwargs,
        state,
        ...times,
        thread_id,
        run_id: newId(),
        status,
        usage,
        metadata: { tag },
      };
      await storage.runs.insert(run, { updated_at: at(end) });
      made.push(run);
    }
    const sorted = async (body: object) => {
      const { runs } = await search(server, { metadata: { tag }, ...body });
      const plain = made.map(({ thread_id }) => thread_id);
      expect(await search(server, { thread_ids: plain, ...body }).then((page) => ids(page.runs))).toEqual(
        ids(runs),
      );
      const pages = await search(server, { thread_ids: plain, ...body, limit: 2, offset: 2 });
      expect(ids(pages.runs)).toEqual(ids(runs.slice(2, 4)));
      return runs.map(({ run_id }) => made.findIndex((each) => each.run_id === run_id));
    };
    expect(await sorted({})).toEqual([4, 3, 2, 1, 0]);
    expect(await sorted({ sort_order: "asc" })).toEqual([0, 1, 2, 3, 4]);
    expect(await sorted({ sort_by: "updated_at" })).toEqual([2, 0, 1, 4, 3]);
    expect(await sorted({ sort_by: "status", sort_order: "asc" })).toEqual([1, 2, 0, 3, 4]);
    expect(await sorted({ sort_by: "duration" })).toEqual([0, 1, 4, 3, 2]);
    expect(await sorted({ sort_by: "duration", sort_order: "asc" })).toEqual([2, 3, 4, 1, 0]);
    expect(await sorted({ sort_by: "tokens" })).toEqual([1, 4, 3, 0, 2]);
  });

  it("results are paginated and contain the selected fields", async () => {
    const server = await startTestServer({ graphs, storage: await keptStorage(backend()) });
    const { thread_id } = await server.service.threads.create({});
    const made: Run[] = [];
    for (const name of ["a", "b", "c"])
      made.unshift(
        await server.service.runs.create(thread_id, { assistant_id: "chat", input, metadata: { name } }),
      );
    const page = (body: object) => search(server, { thread_id, select: ["run_id", "status"], ...body });
    const shown = made.map(({ run_id, status }) => ({ run_id, status }));
    expect(await page({ limit: 2 })).toEqual({ runs: shown.slice(0, 2), next: 2 });
    expect(await page({ limit: 2, offset: 2 })).toEqual({ runs: shown.slice(2), next: null });
    expect(await page({ limit: 3 })).toEqual({ runs: shown, next: null });
    const graph = { metadata: { graph_id: "chat" } };
    expect(await page({ ...graph, limit: 1, offset: 1 })).toEqual({ runs: shown.slice(1, 2), next: 2 });
    expect(await page({ ...graph, limit: 1, offset: 2 })).toEqual({ runs: shown.slice(2), next: null });
  });
});

describe("a search for runs", () => {
  it("secrets and internal fields are not returned", async () => {
    const server = await startTestServer({ graphs });
    await runOn(server, "failing", { config: { configurable: { api_key: "pomegranate" } } });
    const { text } = await server.request("POST", "/runs/search", {});
    expect(text).toContain("api_key");
    for (const word of ["pomegranate", '"owner"', '"fault"', '"resumption"'])
      expect(text).not.toContain(word);
  });

  it.each([
    [{ limit: 0 }, "limit"],
    [{ status: "done" }, "status"],
    [{ created_after: "yesterday" }, "created_after"],
    [{ created_after: "2026-01-01T23:59:60Z" }, "created_after"],
    [{ created_before: "2026-01-01T00:00:00+99:99" }, "created_before"],
    [{ thread_id: "x" }, "thread_id"],
    [{ thread_ids: [newId(), "x"] }, "thread_ids"],
    [{ thread_ids: new Array(1001).fill(newId()) }, "thread_ids"],
    [{ select: ["owner"] }, "select"],
    [{ sort_by: "owner" }, "sort_by"],
    [{ sort_by: "tokens", sort_order: "down" }, "sort_order"],
  ])("%j is rejected with the invalid field", async (body, field) => {
    const server = await startTestServer({ graphs });
    const answer = await server.request("POST", "/runs/search", body);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain(field);
  });

  it("only the caller's runs are found, even with many threads", { timeout: 60_000 }, async () => {
    const storage = await openStorage({
      checkpointer_scheme: "memory",
      checkpointer_options: {},
      max_queued_runs: 1,
    });
    const server = await startTestServer({ graphs, storage, authenticate: byHeader });
    const as = async (user: string) => {
      const { thread_id } = (await server.request("POST", "/threads", {}, { user })).body as Run;
      const path = `/threads/${thread_id}/runs`;
      return (await server.request("POST", path, { assistant_id: "chat", input }, { user })).body as Run;
    };
    const [ann, bob] = [await as("ann"), await as("bob")];
    expect(ids((await search(server, {}, { user: "ann" })).runs)).toEqual(ids([ann]));
    expect(ids((await search(server, {}, { user: "bob" })).runs)).toEqual(ids([bob]));
    expect((await search(server, { thread_id: ann.thread_id }, { user: "bob" })).runs).toEqual([]);
    await manyThreads(storage, ann.thread_id);
    expect(ids((await search(server, {}, { user: "ann" })).runs)).toEqual(ids([ann]));
  });
});

/** More threads of one user than fit in a filter by thread id. */
async function manyThreads({ threads }: Storage, like: string): Promise<void> {
  const row = await threads.get(like);
  for (let index = 0; index <= 1000; index += 1) await threads.insert({ ...row!, thread_id: newId() });
}
