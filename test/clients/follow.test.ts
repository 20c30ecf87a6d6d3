import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { startTestServer } from "../helpers/app.js";
import { allEvents } from "../helpers/sse.js";

async function open(settings = {}) {
  const server = await startTestServer({ graphs: { chat, fail, gate, hitl, steps }, settings });
  const client = new Client({ apiUrl: server.url });
  const { thread_id } = await client.threads.create();
  return { server, client, thread_id };
}

const collect = async <T>(stream: AsyncIterable<T>) => {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
};
const say = (text: string) => ({ input: { messages: [{ role: "user", content: text }] } });

describe("runs.wait", () => {
  it("returns the final values", async () => {
    const { client, thread_id } = await open();
    const values = await client.runs.wait(thread_id, "steps", { input: { n: 0 } });
    expect(values).toMatchObject({ n: 10 });
  });

  it("returns state and interrupts together", async () => {
    const { client, thread_id } = await open();
    const values = await client.runs.wait(thread_id, "hitl", { input: { topic: "cats" } });
    expect(values).toMatchObject({ topic: "cats", __interrupt__: [{ value: { question: "Approve?" } }] });
    expect(values).not.toHaveProperty("secret");
  });

  it("throws the error of a failed run", async () => {
    const { client, thread_id } = await open();
    await expect(client.runs.wait(thread_id, "fail", { input: { x: 0 } })).rejects.toThrow(
      "RangeError: kaboom",
    );
    const values = await client.runs.wait(thread_id, "fail", { input: { x: 0 }, raiseError: false });
    expect(values).toEqual({ __error__: { error: "RangeError", message: "kaboom" } });
  });
});

describe("stateless runs", () => {
  it("can be awaited and streamed, and leave no thread", async () => {
    const { client } = await open();
    const before = await client.threads.count();
    expect(await client.runs.wait(null, "steps", { input: { n: 0 } })).toMatchObject({ n: 10 });
    expect(await client.threads.count()).toBe(before);
    const chunks = await collect(
      client.runs.stream(null, "steps", { input: { n: 0 }, streamMode: "updates" }),
    );
    expect(chunks.at(-1)?.event).toBe("end");
    expect(await client.threads.count()).toBe(before);
  });

  it("keep their thread on request", async () => {
    const { client, server } = await open();
    const before = await client.threads.count();
    await server.request("POST", "/runs/wait", {
      assistant_id: "steps",
      input: { n: 0 },
      on_completion: "keep",
    });
    expect(await client.threads.count()).toBe(before + 1);
  });

  it("run in batches", async () => {
    const { client, server } = await open();
    const kept = { assistant_id: "steps", input: { n: 0 }, on_completion: "keep" };
    const partly = await server.request("POST", "/runs/batch", [kept, { ...kept, assistant_id: "missing" }]);
    expect(partly.status).toBe(404);
    const runs = await client.runs.createBatch([
      { assistantId: "steps", input: { n: 0 } },
      { assistantId: "chat", ...say("hi") },
    ]);
    expect(runs.map(({ status }) => status)).toEqual(["pending", "pending"]);
    expect((await server.request("POST", "/runs/batch", [])).status).toBe(422);
    expect((await server.request("POST", "/runs/batch", [{}])).status).toBe(422);
    expect((await server.request("POST", "/runs/wait", { assistant_id: "missing" })).status).toBe(404);
    await expect.poll(() => client.threads.count()).toBe(1);
  });
});

describe("background runs", () => {
  it("return as pending and can be joined", async () => {
    const { client, server, thread_id } = await open();
    const name = newId();
    const headers = { prefer: "respond-async" };
    const body = { assistant_id: "gate", input: { gate: name } };
    const { body: run, headers: answered } = await server.request(
      "POST",
      `/threads/${thread_id}/runs`,
      body,
      headers,
    );
    const { run_id, status } = run as { run_id: string; status: string };
    expect(status).toBe("pending");
    expect(answered.has("x-tokens-used")).toBe(false);
    await gateOf(name).entered;
    const joined = client.runs.join(thread_id, run_id);
    gateOf(name).open();
    expect(await joined).toMatchObject({ log: [`before ${name}`, `waited ${name}`, `after ${name}`] });
    expect(await client.runs.join(thread_id, run_id)).toEqual(await joined);
    expect((await client.runs.get(thread_id, run_id)).status).toBe("success");
  });

  it("are queued with run_create_mode background", async () => {
    const { client, thread_id } = await open({ run_create_mode: "background" });
    const name = newId();
    const first = await client.runs.create(thread_id, "gate", { input: { gate: name } });
    await gateOf(name).entered;
    const second = await client.runs.create(thread_id, "chat", say("two"));
    const third = await client.runs.create(thread_id, "chat", say("three"));
    const list = await client.runs.list(thread_id);
    expect(list.map(({ run_id, status }) => [run_id, status])).toEqual([
      [third.run_id, "pending"],
      [second.run_id, "pending"],
      [first.run_id, "running"],
    ]);
    await client.runs.cancel(thread_id, second.run_id, true);
    expect((await client.runs.get(thread_id, second.run_id)).status).toBe("interrupted");
    expect((await client.threads.get(thread_id)).status).toBe("busy");
    gateOf(name).open();
    const values = (await client.runs.join(thread_id, third.run_id)) as { messages: { content: string }[] };
    expect(values.messages.map(({ content }) => content)).toEqual(["three", "You said: three"]);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });
});

describe("runs.cancel", () => {
  it("interrupts the active run", async () => {
    const { client, thread_id } = await open();
    const name = newId();
    const stream = client.runs.stream(thread_id, "gate", { input: { gate: name }, streamMode: "updates" });
    const chunks = collect(stream);
    await gateOf(name).entered;
    const [run] = await client.runs.list(thread_id);
    await client.runs.cancel(thread_id, run?.run_id ?? "", true);
    expect((await chunks).at(-1)).toMatchObject({ event: "end", data: { status: "interrupted" } });
    expect((await client.threads.get(thread_id)).status).toBe("idle");
    await client.runs.cancel(thread_id, run?.run_id ?? "");
    await expect(client.runs.cancel(thread_id, newId())).rejects.toThrow("404");
  });

  it("deletes a run and its checkpoints with rollback", async () => {
    const { client, thread_id } = await open();
    await client.runs.wait(thread_id, "chat", say("one"));
    const before = await client.threads.getHistory(thread_id, { limit: 100 });
    const name = newId();
    const chunks = collect(
      client.runs.stream(thread_id, "gate", { input: { gate: name }, streamMode: "updates" }),
    );
    await gateOf(name).entered;
    const [run] = await client.runs.list(thread_id);
    await client.runs.cancel(thread_id, run?.run_id ?? "", true, "rollback");
    await chunks;
    await expect(client.runs.get(thread_id, run?.run_id ?? "")).rejects.toThrow("404");
    const after = await client.threads.getHistory(thread_id, { limit: 100 });
    expect(after.map(({ checkpoint }) => checkpoint.checkpoint_id)).toEqual(
      before.map(({ checkpoint }) => checkpoint.checkpoint_id),
    );
  });

  it("cancels all runs of a thread", async () => {
    const { client, server, thread_id } = await open({ run_create_mode: "background" });
    const name = newId();
    const first = await client.runs.create(thread_id, "gate", { input: { gate: name } });
    const second = await client.runs.create(thread_id, "chat", say("x"));
    await gateOf(name).entered;
    expect((await server.request("POST", "/runs/cancel?wait=1", { thread_id })).status).toBe(204);
    for (const { run_id } of [first, second]) {
      expect((await client.runs.get(thread_id, run_id)).status).toBe("interrupted");
    }
    expect((await server.request("POST", "/runs/cancel", {})).status).toBe(422);
  });
});

describe("runs.delete", () => {
  it("deletes ended runs only", async () => {
    const { client, thread_id } = await open();
    const name = newId();
    const chunks = collect(
      client.runs.stream(thread_id, "gate", { input: { gate: name }, streamMode: "updates" }),
    );
    await gateOf(name).entered;
    const [run] = await client.runs.list(thread_id);
    const run_id = run?.run_id ?? "";
    await expect(client.runs.delete(thread_id, run_id)).rejects.toThrow("409");
    gateOf(name).open();
    await chunks;
    await client.runs.delete(thread_id, run_id);
    await expect(client.runs.delete(thread_id, run_id)).rejects.toThrow("404");
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ gate: name });
  });
});

describe("a joined stream", () => {
  it("returns the same frames to a client that joins later", async () => {
    const { client, server, thread_id } = await open();
    const all = await allEvents(
      await server.fetch("POST", `/threads/${thread_id}/runs/stream`, {
        assistant_id: "chat",
        ...say("hello"),
        stream_mode: ["values", "messages-tuple"],
      }),
    );
    const [run] = await client.runs.list(thread_id);
    const path = `/threads/${thread_id}/runs/${run?.run_id}/stream`;
    expect(
      await allEvents(await server.fetch("GET", path, undefined, { headers: { "last-event-id": "-1" } })),
    ).toEqual(all);
    for (const { id } of all) {
      const rest = await allEvents(
        await server.fetch("GET", path, undefined, { headers: { "last-event-id": String(id) } }),
      );
      expect(rest).toEqual(all.filter((event) => Number(event.id) > Number(id)));
    }
    const values = await allEvents(await server.fetch("GET", `${path}?stream_mode=values`));
    expect(values.map(({ event }) => event)).toEqual(["metadata", "values", "values", "end"]);
    expect((await server.request("GET", path, undefined, { "last-event-id": "x" })).status).toBe(422);
    expect((await server.request("GET", `/threads/${thread_id}/runs/${newId()}/stream`)).status).toBe(404);
  });

  it("sends the end of a run without stored frames", async () => {
    const { client, thread_id } = await open();
    const run = await client.runs.create(thread_id, "steps", { input: { n: 0 } });
    const chunks = await collect(client.runs.joinStream(thread_id, run.run_id));
    expect(chunks.map(({ event }) => event)).toEqual(["metadata", "values", "end"]);
    expect(chunks[1]?.data).toMatchObject({ n: 10 });
    const failed = await client.runs.create(thread_id, "fail", { input: { x: 0 } });
    const error = await collect(client.runs.joinStream(thread_id, failed.run_id));
    expect(error.at(-1)).toMatchObject({ event: "error", data: { message: "kaboom" } });
    expect(await client.runs.join(thread_id, failed.run_id)).toEqual({
      __error__: { error: "Error", message: "kaboom" },
    });
  });

  it('continues after the client disconnects with on_disconnect "continue"', async () => {
    const { client, server, thread_id } = await open();
    const name = newId();
    const gone = new AbortController();
    const response = await server.fetch(
      "POST",
      `/threads/${thread_id}/runs/stream`,
      { assistant_id: "gate", input: { gate: name }, stream_mode: "updates", on_disconnect: "continue" },
      { signal: gone.signal },
    );
    const location = response.headers.get("location") ?? "";
    await gateOf(name).entered;
    gone.abort();
    const rest = server.fetch("GET", location, undefined, { headers: { "last-event-id": "0" } });
    gateOf(name).open();
    const events = await allEvents(await rest);
    expect(events.map(({ event }) => event)).toEqual(["updates", "updates", "updates", "end"]);
    expect(gateOf(name).passes).toBe(1);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  it("ends when the client disconnects with ignore_on_disconnect_continue", async () => {
    const { client, server, thread_id } = await open({ ignore_on_disconnect_continue: true });
    const name = newId();
    const gone = new AbortController();
    const body = { assistant_id: "gate", input: { gate: name }, on_disconnect: "continue" };
    const response = await server.fetch("POST", `/threads/${thread_id}/runs/stream`, body, {
      signal: gone.signal,
    });
    expect(response.headers.has("location")).toBe(false);
    await gateOf(name).entered;
    gone.abort();
    await gateOf(name).aborted;
    await expect.poll(async () => (await client.runs.list(thread_id))[0]?.status).toBe("interrupted");
  });
});
