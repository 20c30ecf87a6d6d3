/** Joins and cancels of runs in every stage, each with the documented answer. */
import { describe, expect, it, vi } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import type { Answer, TestServer } from "../helpers/app.js";
import { expectDocumented } from "../helpers/documented.js";
import { allEvents } from "../helpers/sse.js";
import { openClient, says } from "./open.js";
import { holdNextWaking, openWatched } from "./watched.js";

const ASYNC = { prefer: "respond-async" };
const PATIENT = { timeout: 20_000 };

interface Subject {
  server: TestServer;
  thread: string;
  run: string;
  /** Path of the run. */
  path: string;
  /** Opens the gate that blocks the run. */
  release: () => void;
}

async function startOn(server: TestServer, thread: string, body: object): Promise<string> {
  const answer = await server.request("POST", `/threads/${thread}/runs`, body, ASYNC);
  expect(answer).toMatchObject({ status: 200, body: { status: "pending" } });
  return (answer.body as { run_id: string }).run_id;
}

async function subject(make: (server: TestServer, thread: string, gate: string) => Promise<string>) {
  const { server, client } = await openClient();
  const { thread_id: thread } = await client.threads.create();
  await client.runs.create(thread, "chat", { input: says("before") });
  const gate = newId();
  const run = await make(server, thread, gate);
  const path = `/threads/${thread}/runs/${run}`;
  return { server, thread, run, path, release: () => gateOf(gate).open() };
}

/** Creates a run in each stage. */
const STAGES: Record<string, () => Promise<Subject>> = {
  pending: () =>
    subject(async (server, thread, gate) => {
      await startOn(server, thread, { assistant_id: "gate", input: { gate } });
      await gateOf(gate).entered;
      return startOn(server, thread, { assistant_id: "chat", input: says("queued") });
    }),
  running: () =>
    subject(async (server, thread, gate) => {
      const run = await startOn(server, thread, { assistant_id: "gate", input: { gate } });
      await gateOf(gate).entered;
      return run;
    }),
  success: () => ended("chat", says("done"), "success"),
  interrupted: () => ended("hitl", { topic: "cats" }, "interrupted"),
  error: () => ended("fail", { x: 0 }, "error"),
};

const ended = (assistant_id: string, input: object, status: string) =>
  subject(async (server, thread) => {
    const run = await startOn(server, thread, { assistant_id, input });
    await expect.poll(() => statusOf(server, thread, run), PATIENT).toBe(status);
    return run;
  });

const statusOf = async (server: TestServer, thread: string, run: string): Promise<unknown> => {
  const { status, body } = await server.request("GET", `/threads/${thread}/runs/${run}`);
  return status === 200 ? (body as { status: string }).status : status;
};

const ask = async ({ server }: Subject, method: string, path: string, body?: object): Promise<Answer> => {
  const answer = await server.request(method, path, body);
  expectDocumented(method, path, answer);
  return answer;
};

const isOver = (stage: string) => stage !== "pending" && stage !== "running";

describe.each(Object.keys(STAGES))("a run with status %s", (stage) => {
  const open = () => (STAGES[stage] as () => Promise<Subject>)();

  it("can be joined", async () => {
    const found = await open();
    const joined = ask(found, "GET", `${found.path}/join`);
    found.release();
    const expected: Record<string, object> = {
      pending: {
        messages: expect.arrayContaining([expect.objectContaining({ content: "queued" })]) as object,
      },
      running: {
        log: [expect.stringContaining("before"), expect.any(String), expect.stringContaining("after")],
      },
      success: { messages: expect.any(Array) as object },
      interrupted: { topic: "cats", __interrupt__: [{ value: { question: "Approve?" } }] },
      error: { __error__: { message: "kaboom" } },
    };
    expect(await joined).toMatchObject({ status: 200, body: expected[stage] });
    // A second join returns the same.
    expect((await ask(found, "GET", `${found.path}/join`)).body).toEqual((await joined).body);
  });

  it("can be streamed to its last frame", async () => {
    const { server, path, release } = await open();
    const response = await server.fetch("GET", `${path}/stream`);
    release();
    const events = await allEvents(response);
    const last = stage === "error" ? "error" : "end";
    expect(events[0]?.event).toBe("metadata");
    expect(events.map(({ event }) => event).filter((event) => event === "end" || event === "error")).toEqual([
      last,
    ]);
    expect(events.at(-1)).toMatchObject({
      event: last,
      data: { status: { pending: "success", running: "success" }[stage] ?? stage },
    });
    expect(await allEvents(await server.fetch("GET", `${path}/stream`))).toEqual(events);
  });

  it.each([
    ["", 202],
    ["?wait=0", 202],
    ["?wait=1", 204],
    ["?action=interrupt&wait=true", 204],
  ])("is cancelled by cancel%s unless it has ended", async (query, status) => {
    const found = await open();
    const { server, thread, run, path } = found;
    const before = await server.request("GET", path);
    expect(await ask(found, "POST", `${path}/cancel${query}`)).toMatchObject({ status, text: "" });
    if (isOver(stage)) {
      expect((await server.request("GET", path)).body).toEqual(before.body);
      return;
    }
    if (status === 204) expect(await statusOf(server, thread, run)).toBe("interrupted");
    await expect.poll(() => statusOf(server, thread, run), PATIENT).toBe("interrupted");
    // Cancelling twice has the same effect.
    expect(await ask(found, "POST", `${path}/cancel${query}`)).toMatchObject({ status });
    const joined = await ask(found, "GET", `${path}/join`);
    expect(joined.status).toBe(200);
    found.release();
  });

  it("is deleted by a rollback unless it has ended", async () => {
    const found = await open();
    const { server, thread, run, path } = found;
    const before = await server.request("GET", path);
    expect((await ask(found, "POST", `${path}/cancel?action=rollback&wait=1`)).status).toBe(204);
    found.release();
    if (isOver(stage)) return expect((await server.request("GET", path)).body).toEqual(before.body);
    expect(await statusOf(server, thread, run)).toBe(404);
    for (const rest of ["/join", "/stream"]) {
      expect(await ask(found, "GET", `${path}${rest}`)).toMatchObject({
        status: 404,
        body: { code: "run_not_found" },
      });
    }
    expect((await ask(found, "POST", `${path}/cancel`)).status).toBe(404);
    const history = await server.request("POST", `/threads/${thread}/history`, {
      limit: 100,
      metadata: { run_id: run },
    });
    expect(history.body).toEqual([]);
  });

  it("is cancelled by POST /runs/cancel unless it has ended", async () => {
    const found = await open();
    const { server, thread, run, path } = found;
    const before = await server.request("GET", path);
    const body = { thread_id: thread, run_ids: [run] };
    expect((await ask(found, "POST", "/runs/cancel?wait=1", body)).status).toBe(204);
    if (isOver(stage)) expect((await server.request("GET", path)).body).toEqual(before.body);
    else expect(await statusOf(server, thread, run)).toBe("interrupted");
    found.release();
  });

  it("can be deleted only after it has ended", async () => {
    const found = await open();
    const { path } = found;
    const answer = await ask(found, "DELETE", path);
    if (!isOver(stage)) {
      expect(answer).toMatchObject({ status: 409, body: { code: "thread_busy" } });
      found.release();
      return;
    }
    expect(answer.status).toBe(204);
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/join"],
      ["GET", "/stream"],
      ["POST", "/cancel"],
      ["DELETE", ""],
    ] as const) {
      expect((await ask(found, method, `${path}${rest}`)).status, `${method} ${rest}`).toBe(404);
    }
  });

  it("leaves the thread ready for the next run", async () => {
    const found = await open();
    const { server, thread, path } = found;
    await ask(found, "POST", `${path}/cancel?wait=1`);
    found.release();
    const next = await server.request("POST", `/threads/${thread}/runs`, {
      assistant_id: "chat",
      input: says("next"),
    });
    expect(next).toMatchObject({ status: 200, body: { status: "success" } });
    expect((await server.request("GET", `/threads/${thread}`)).body).toMatchObject({ status: "idle" });
  });
});

it("a queued run cancelled while it acquires its thread does not run", async () => {
  const { server, client, storage } = await openWatched();
  const { thread_id: thread } = await client.threads.create();
  const gate = newId();
  await startOn(server, thread, { assistant_id: "gate", input: { gate } });
  await gateOf(gate).entered;
  const own = newId();
  const queued = await startOn(server, thread, { assistant_id: "gate", input: { gate: own } });
  const woken = holdNextWaking(storage);
  gateOf(gate).open();
  await woken.reached;
  const looked = vi.spyOn(storage.runs, "get");
  const cancelled = server.request("POST", `/threads/${thread}/runs/${queued}/cancel?wait=1`);
  await expect.poll(() => looked.mock.calls.length, PATIENT).toBeGreaterThan(0);
  woken.release();
  expect((await cancelled).status).toBe(204);
  expect(await statusOf(server, thread, queued)).toBe("interrupted");
  expect(gateOf(own).entries).toBe(0);
});
