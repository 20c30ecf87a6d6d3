/** The setting `compat`, tested through the official SDK's client: the effect of each value on the same calls. */
import type { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, vi } from "vitest";
import { remoteClient } from "../../src/client/remote.js";
import { RunSoFar } from "../../src/client/run-events.js";
import { COMPAT_DEFAULTS, type Compat } from "../../src/config/compat.js";
import type { Settings } from "../../src/config/settings.js";
import type { Service } from "../../src/service/service.js";
import { gateOf } from "../fixtures/gates.js";
import { deferred } from "../helpers/deferred.js";
import { collect, graphs, openClient, says } from "./open.js";
import { openWatched } from "./watched.js";

type Names = [string, string, string];
const BOTH: Compat[] = ["specification", "langgraph"];

const openWith = (compat: Compat, settings: Partial<Settings> = {}) =>
  openClient({ settings: { compat, ...settings } });

/** A thread with a run that waits at its gate. */
async function busyThread(client: Client, name: string) {
  const { thread_id } = await client.threads.create();
  const first = client.runs.create(thread_id, "gate", { input: { gate: name } });
  await gateOf(name).entered;
  return { thread_id, first };
}

/** Resolves when the server has noticed that the client of the next stream disconnected. */
function leftStream({ runs }: Service): Promise<void> {
  const left = deferred();
  const stream = runs.stream.bind(runs);
  vi.spyOn(runs, "stream").mockImplementationOnce(async (...args) => {
    const opened = await stream(...args);
    const disconnect = () => {
      opened.disconnect();
      left.resolve();
    };
    return { ...opened, disconnect };
  });
  return left.promise;
}

describe("runs.create", () => {
  it("returns when the run has ended (compat specification)", async () => {
    const { client } = await openWith("specification");
    const { thread_id } = await client.threads.create();
    expect(await client.runs.create(thread_id, "chat", { input: says("tea") })).toMatchObject({
      status: "success",
    });
  });

  it("returns immediately while the run continues (compat langgraph)", async () => {
    const { client } = await openWith("langgraph");
    const { thread_id, first } = await busyThread(client, "compat background");
    const { run_id, status } = await first;
    expect(status).toBe("pending");
    gateOf("compat background").open();
    expect(await client.runs.join(thread_id, run_id)).toMatchObject({ gate: "compat background" });
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: "success" });
  });
});

describe("assistants", () => {
  it("only the default assistant is listed (compat specification)", async () => {
    const { client } = await openWith("specification");
    expect(await client.assistants.search()).toMatchObject([{ graph_id: "chat" }]);
  });

  it("every graph has an assistant with the id that LangGraph assigns (compat langgraph)", async () => {
    const { client } = await openWith("langgraph", { default_assistant_id: "hitl" });
    const found = await client.assistants.search({ limit: 100 });
    expect(found.map(({ graph_id }) => graph_id).sort()).toEqual(Object.keys(graphs).sort());
    expect(found[0]?.graph_id).toBe("hitl");
    const steps = found.find(({ graph_id }) => graph_id === "steps");
    expect(await client.assistants.get(steps?.assistant_id ?? "")).toMatchObject({ graph_id: "steps" });
    const values = await client.runs.wait(null, steps?.assistant_id ?? "", { input: {} });
    expect(values).toMatchObject({ n: 10 });
  });

  it("a graph named agent has the well-known assistant id (compat langgraph)", async () => {
    const { client } = await openClient({
      graphs: { agent: graphs.chat },
      settings: { compat: "langgraph" },
    });
    const id = "fe096781-5601-53d2-b2f6-0d3403f7e9ca";
    expect(await client.assistants.get(id)).toMatchObject({ assistant_id: id, graph_id: "agent" });
  });
});

describe("a client that disconnects from its stream", () => {
  it.each([
    ["specification", undefined, "interrupted", 0],
    ["langgraph", undefined, "success", 1],
    ["langgraph", "cancel", "interrupted", 0],
    ["specification", "continue", "success", 1],
  ] as const)(
    "compat %s with on_disconnect %s: the run ends as %s",
    async (compat, onDisconnect, status, passes) => {
      const name = `compat leaves ${compat} ${onDisconnect}`;
      const { client, service, next } = await openWatched({ compat });
      const hasLeft = leftStream(service);
      const { thread_id } = await client.threads.create();
      const leave = new AbortController();
      const created = deferred();
      const payload = { input: { gate: name }, signal: leave.signal, onRunCreated: () => created.resolve() };
      const chunks = collect(client.runs.stream(thread_id, "gate", { ...payload, onDisconnect }));
      chunks.catch(() => undefined);
      await Promise.all([created.promise, gateOf(name).entered]);
      const settled = next("settled");
      leave.abort();
      await hasLeft;
      gateOf(name).open();
      await settled;
      expect(await client.runs.list(thread_id)).toMatchObject([
        {
          status,
          kwargs: { on_disconnect: onDisconnect ?? (compat === "langgraph" ? "continue" : "cancel") },
        },
      ]);
      expect(gateOf(name).passes).toBe(passes);
    },
  );
});

describe("a run on a busy thread", () => {
  it("is queued (compat specification)", async () => {
    const { client, next } = await openWatched({ compat: "specification" });
    const { thread_id, first } = await busyThread(client, "compat enqueue");
    const queued = next("queued");
    const second = client.runs.create(thread_id, "chat", { input: says("tea") });
    await queued;
    gateOf("compat enqueue").open();
    expect([(await first).status, (await second).status]).toEqual(["success", "success"]);
    expect((await second).multitask_strategy).toBe("enqueue");
  });

  it("is rejected (compat langgraph)", async () => {
    const { client } = await openWith("langgraph");
    const { thread_id } = await busyThread(client, "compat reject");
    const second = client.runs.create(thread_id, "chat", { input: says("tea") });
    await expect(second).rejects.toMatchObject({ status: 409 });
    expect(await client.runs.list(thread_id)).toMatchObject([
      { status: "running", multitask_strategy: "reject" },
    ]);
    gateOf("compat reject").open();
  });

  it("is queued with multitaskStrategy enqueue (compat langgraph)", async () => {
    const { client } = await openWith("langgraph");
    const { thread_id } = await busyThread(client, "compat asks");
    const { run_id } = await client.runs.create(thread_id, "steps", {
      input: {},
      multitaskStrategy: "enqueue",
    });
    gateOf("compat asks").open();
    expect(await client.runs.join(thread_id, run_id)).toMatchObject({ n: 10 });
  });

  it("interrupt stops the active run, keeps it and starts first (compat langgraph)", async () => {
    const { client } = await openWith("langgraph");
    const name = "compat interrupt";
    const { thread_id, first } = await busyThread(client, name);
    const queued = await client.runs.create(thread_id, "chat", {
      input: says("later"),
      multitaskStrategy: "enqueue",
    });
    const { run_id } = await client.runs.create(thread_id, "gate", {
      input: { gate: `${name} again` },
      multitaskStrategy: "interrupt",
    });
    gateOf(`${name} again`).open();
    await client.runs.join(thread_id, run_id);
    expect(await client.runs.get(thread_id, (await first).run_id)).toMatchObject({ status: "interrupted" });
    expect(await client.runs.get(thread_id, queued.run_id)).toMatchObject({ status: "interrupted" });
    const { values, status } = await client.threads.get(thread_id);
    expect(status).toBe("idle");
    expect((values as { log: string[] }).log).toEqual([
      `before ${name}`,
      `before ${name} again`,
      `waited ${name} again`,
      `after ${name} again`,
    ]);
  });

  it("interrupt also cancels waiting callers (compat langgraph)", async () => {
    const { client, next } = await openWatched({ compat: "langgraph", run_create_mode: "wait" });
    const name = "compat callers";
    const { thread_id, first } = await busyThread(client, name);
    const create = (gate: string, multitaskStrategy: "enqueue" | "interrupt") =>
      client.runs.create(thread_id, "gate", { input: { gate }, multitaskStrategy });
    const [waits, sooner, later] = ["waits", "sooner", "later"].map((each) => `${name} ${each}`) as Names;
    const isQueued = next("queued");
    const waiting = create(waits, "enqueue");
    await isQueued;
    const isTaken = next("queued");
    const second = create(sooner, "interrupt");
    await isTaken;
    const third = create(later, "interrupt");
    gateOf(later).open();
    const ended = await Promise.all([first, waiting, second, third]);
    expect(ended.map(({ status }) => status)).toEqual([
      "interrupted",
      "interrupted",
      "interrupted",
      "success",
    ]);
    expect([waits, sooner, later].map((gate) => gateOf(gate).passes)).toEqual([0, 0, 1]);
  });

  it("rollback deletes the active run (compat langgraph)", async () => {
    const { client } = await openWith("langgraph");
    const name = "compat rollback";
    const { thread_id, first } = await busyThread(client, name);
    const input = { gate: `${name} again` };
    gateOf(input.gate).open();
    const stream = client.runs.stream(thread_id, "gate", { input, multitaskStrategy: "rollback" });
    await collect(stream);
    const { run_id } = await first;
    await expect(client.runs.get(thread_id, run_id)).rejects.toMatchObject({ status: 404 });
    const { values } = await client.threads.get(thread_id);
    expect((values as { log: string[] }).log[0]).toBe(`before ${input.gate}`);
  });

  it.each(["interrupt", "rollback"] as const)("%s is rejected (compat specification)", async (strategy) => {
    const { client } = await openWatched({ compat: "specification" });
    const name = `compat refused ${strategy}`;
    const { thread_id, first } = await busyThread(client, name);
    const second = client.runs.create(thread_id, "chat", {
      input: says("tea"),
      multitaskStrategy: strategy,
    });
    await expect(second).rejects.toMatchObject({ status: 409 });
    gateOf(name).open();
    expect((await first).status).toBe("success");
  });
});

describe("a run that interrupts", () => {
  it.each([
    ["specification", "interrupted"],
    ["langgraph", "success"],
  ] as const)("compat %s: the run ends as %s and its thread is interrupted", async (compat, status) => {
    const { client } = await openWith(compat);
    const { thread_id } = await client.threads.create();
    const chunks = await collect(client.runs.stream(thread_id, "hitl", { input: { topic: "cats" } }));
    expect(chunks.at(-1)).toMatchObject({ event: "end", data: { status } });
    expect(await client.runs.list(thread_id)).toMatchObject([{ status }]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: "interrupted" });
    const answered = await client.runs.wait(thread_id, "hitl", { command: { resume: "yes" } });
    expect(answered).toMatchObject({ answer: "yes" });
  });
});

describe("a run of the CLI", () => {
  it.each(BOTH)("is queued and reports its interrupt (compat %s)", async (compat) => {
    const { server, client, next } = await openWatched({ compat });
    const name = `compat command ${compat}`;
    const { thread_id, first } = await busyThread(client, name);
    const command = await remoteClient({ url: server.url });
    const request = { assistant_id: "hitl", input: { topic: "cats" } };
    const queued = next("queued");
    const run = new RunSoFar();
    const taken = (async () => {
      const { signal } = new AbortController();
      for await (const event of command.runs.stream(thread_id, request, signal)) run.take(event);
    })();
    await queued;
    gateOf(name).open();
    await Promise.all([first, taken]);
    expect(run).toMatchObject({ status: "interrupted", interrupts: [{ value: { question: "Approve?" } }] });
    expect(await client.runs.get(thread_id, run.runId ?? "")).toMatchObject({
      status: compat === "langgraph" ? "success" : "interrupted",
      multitask_strategy: "enqueue",
      kwargs: { on_disconnect: "cancel" },
    });
  });
});

describe("defaults of compat", () => {
  const DIFFERING = Object.keys(COMPAT_DEFAULTS.langgraph) as (keyof typeof COMPAT_DEFAULTS.langgraph)[];

  it("each default can be overridden separately", async () => {
    const { client } = await openWith("langgraph", { run_create_mode: "wait" });
    const { thread_id } = await client.threads.create();
    expect(await client.runs.create(thread_id, "hitl", { input: { topic: "cats" } })).toMatchObject({
      status: "success",
    });
    const { server } = await openWith("specification", { multitask_strategy: "reject" });
    expect(server.service.settings).toMatchObject({ multitask_strategy: "reject", run_create_mode: "wait" });
  });

  it.each(BOTH)("every default differs between the modes (compat %s)", async (compat) => {
    const { server } = await openWith(compat);
    const settings = DIFFERING.map((name) => [name, server.service.settings[name]] as const);
    if (compat === "langgraph") expect(Object.fromEntries(settings)).toEqual(COMPAT_DEFAULTS.langgraph);
    else
      for (const [name, value] of settings) expect(value, name).not.toEqual(COMPAT_DEFAULTS.langgraph[name]);
  });
});
