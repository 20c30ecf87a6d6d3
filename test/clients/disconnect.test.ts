/** Clients that disconnect: their runs stop, their threads become free, and their queue entries are removed. */
import { once } from "node:events";
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, vi } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { deferred } from "../helpers/deferred.js";
import { holdTimers } from "../helpers/held-timers.js";
import { collect } from "./open.js";
import { holdNextRow, openWatched, rawPost } from "./watched.js";

const gated = (gate: string, deaf = false) => ({ assistant_id: "gate", input: { gate, deaf } });

type GateState = { log: string[] };

/** An SDK stream whose run waits at its gate and whose response has started: the SDK would retry an earlier abort. */
async function streamAtGate(client: Client, thread_id: string, name: string, deaf = false) {
  const leave = new AbortController();
  const created = deferred();
  const payload = {
    input: gated(name, deaf).input,
    signal: leave.signal,
    onRunCreated: () => created.resolve(),
  };
  const chunks = collect(client.runs.stream(thread_id, "gate", payload));
  chunks.catch(() => undefined);
  await Promise.all([created.promise, gateOf(name).entered]);
  return { chunks, leave: () => leave.abort() };
}

describe("aborting an SDK stream", () => {
  it("interrupts the run and frees the thread", async () => {
    const { client, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const gate = gateOf("sdk abort");
    const { chunks, leave } = await streamAtGate(client, thread_id, "sdk abort");
    const settled = next("settled");
    leave();
    await expect(chunks).rejects.toMatchObject({ name: "AbortError" });
    await gate.aborted;
    await settled;
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "interrupted", error: null }]);
    const { status, values } = await client.threads.get(thread_id);
    expect({ status, values }).toMatchObject({ status: "idle", values: { log: ["before sdk abort"] } });
    gate.open();
    expect(gate.passes).toBe(0);
  });

  it("the next run continues from the last checkpoint of the thread", async () => {
    const { client, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const gate = gateOf("sdk resume");
    const { leave } = await streamAtGate(client, thread_id, "sdk resume");
    const settled = next("settled");
    leave();
    await settled;
    gate.open();
    await client.runs.create(thread_id, "gate", { input: null });
    const { log } = (await client.threads.get(thread_id)).values as GateState;
    expect(log).toEqual(["before sdk resume", "waited sdk resume", "after sdk resume"]);
    expect(gate.passes).toBe(1);
  });

  it.each([
    ["that observes its signal", false],
    ["that ignores its signal", true],
  ])("the queued run starts without waiting for a second when a graph %s is aborted", async (title, deaf) => {
    const { client, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const [first, second] = [`first ${title}`, `second ${title}`];
    const { leave } = await streamAtGate(client, thread_id, first, deaf);
    const queued = next("queued");
    const waiting = client.runs.create(thread_id, "gate", { input: gated(second).input });
    await queued;

    holdTimers(1000);
    leave();
    await gateOf(second).entered;

    gateOf(first).open();
    gateOf(second).open();
    expect(await waiting).toMatchObject({ status: "success" });
    expect(await client.runs.list(thread_id)).toMatchObject([
      { status: "success" },
      { status: "interrupted" },
    ]);
    const { log } = (await client.threads.get(thread_id)).values as GateState;
    expect(log).toEqual([`before ${first}`, `before ${second}`, `waited ${second}`, `after ${second}`]);
    expect(gateOf(first).passes).toBe(0);
  });
});

describe("enqueued runs", () => {
  it("are executed in order of arrival", async () => {
    const { client, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const names = ["queue 1", "queue 2", "queue 3"] as const;
    const runs = [client.runs.create(thread_id, "gate", { input: gated(names[0]).input })];
    await gateOf(names[0]).entered;
    for (const name of names.slice(1)) {
      const queued = next("queued");
      runs.push(client.runs.create(thread_id, "gate", { input: gated(name).input }));
      await queued;
      gateOf(name).open();
    }
    gateOf(names[0]).open();
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(["success", "success", "success"]);
    const { log } = (await client.threads.get(thread_id)).values as GateState;
    expect(log.filter((line) => line.startsWith("after"))).toEqual(names.map((name) => `after ${name}`));
  });
});

describe("a broken socket", () => {
  it.each([
    ["in the middle of a stream", "runs/stream"],
    ["before the answer of a blocking run", "runs"],
  ])("%s interrupts the run", async (title, path) => {
    const { client, server, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const gate = gateOf(title);
    const socket = rawPost(server.url, `/threads/${thread_id}/${path}`, gated(title));
    if (path === "runs/stream") await once(socket, "data");
    await gate.entered;
    const settled = next("settled");
    socket.destroy();
    await gate.aborted;
    await settled;
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "interrupted" }]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle" });
    gate.open();
    expect(gate.passes).toBe(0);
  });

  it("before the first byte prevents the first node", async () => {
    const { client, server, service, storage, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const accepted = vi.spyOn(service.runs, "stream");
    const row = holdNextRow(storage);
    const socket = rawPost(server.url, `/threads/${thread_id}/runs/stream`, gated("no byte"));
    await row.reached;
    const signal = accepted.mock.calls[0]?.[2]?.signal;
    if (!signal) throw new Error("the route passes no signal");
    const gone = once(signal, "abort");
    socket.destroy();
    await gone;
    const settled = next("settled");
    row.release();
    await settled;
    expect(gateOf("no byte").entries).toBe(0);
    expect(await client.runs.list(thread_id)).toMatchObject([{ status: "interrupted" }]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "idle" });
  });

  it.each(["runs/stream", "runs"])("while %s is queued leaves no run", async (path) => {
    const { client, server, storage, next } = await openWatched();
    const { thread_id } = await client.threads.create();
    const name = `holds ${path}`;
    const first = client.runs.create(thread_id, "gate", { input: gated(name).input });
    await gateOf(name).entered;
    const queued = next("queued");
    const socket = rawPost(server.url, `/threads/${thread_id}/${path}`, gated(`never ${path}`));
    await queued;
    expect(storage.locks.waiting(thread_id)).toBe(1);
    const left = next("left");
    socket.destroy();
    await left;
    expect(storage.locks.waiting(thread_id)).toBe(0);
    gateOf(name).open();
    const run = await first;
    expect(await client.runs.list(thread_id)).toEqual([run]);
    expect(gateOf(`never ${path}`).entries).toBe(0);
  });
});
