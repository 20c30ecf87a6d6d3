/** `client.threads.joinStream()` of the SDK: the frames of a thread's runs, one run after the other. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { byHeader } from "../helpers/two-users.js";
import { openClient, says } from "./open.js";

interface Chunk {
  id?: string;
  event: string;
  data: unknown;
}
type Options = NonNullable<Parameters<Client["threads"]["joinStream"]>[1]>;

/** Joins a thread; `until` reads the chunks up to the first that matches. */
function follow(client: Client, thread: string, options: Options = {}) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const stream = client.threads.joinStream(thread, {
    ...options,
    signal: leaving.signal,
  }) as AsyncGenerator<Chunk>;
  return {
    stream,
    leave: () => leaving.abort(),
    async until(isLast: (chunk: Chunk) => boolean): Promise<Chunk[]> {
      const chunks: Chunk[] = [];
      for (;;) {
        const next = await stream.next();
        if (next.done === true) return chunks;
        chunks.push(next.value);
        if (isLast(next.value)) return chunks;
      }
    },
  };
}

/** The thread may be deleted before the stream opens. */
function deletedBefore(error: unknown): Chunk[] {
  expect(String(error)).toContain("404");
  return [];
}

const isDone = ({ event }: Chunk) => event === "run_done";
const eventsOf = (chunks: readonly Chunk[]) => chunks.map(({ event }) => event);
const background = { onDisconnect: "continue", streamMode: "values" } as const;

async function opened(settings = {}) {
  const { client, server } = await openClient({ settings: { run_create_mode: "background", ...settings } });
  const { thread_id } = await client.threads.create();
  return { client, server, thread_id };
}

describe("threads.joinStream", () => {
  it("follows the current run and the next ones, and not the runs that have ended", async () => {
    const { client, thread_id } = await opened();
    await client.runs.wait(thread_id, "chat", { input: says("before") });
    const gate = newId();
    const first = await client.runs.create(thread_id, "gate", { input: { gate }, ...background });
    await gateOf(gate).entered;
    const joined = follow(client, thread_id);
    const begun = await joined.until(({ event }) => event === "metadata");
    expect(begun.at(-1)?.data).toMatchObject({ run_id: first.run_id });
    const second = await client.runs.create(thread_id, "chat", {
      ...{ input: says("after"), multitaskStrategy: "enqueue" },
      ...background,
    });
    gateOf(gate).open();
    const rest = await joined.until(isDone);
    expect(rest.at(-1)).toEqual({
      id: `${first.run_id}:done`,
      event: "run_done",
      data: { run_id: first.run_id, status: "success" },
    });
    const next = await joined.until(isDone);
    expect(eventsOf(next)[0]).toBe("metadata");
    expect(eventsOf(next).slice(-2)).toEqual(["end", "run_done"]);
    expect(next.at(-1)?.data).toEqual({ run_id: second.run_id, status: "success" });
  });

  it("resumes after any frame without a gap or a repetition", async () => {
    const { client, thread_id } = await opened();
    for (const text of ["one", "two"]) await client.runs.wait(thread_id, "chat", { input: says(text) });
    const whole = follow(client, thread_id, { lastEventId: "-1" });
    const all = [...(await whole.until(isDone)), ...(await whole.until(isDone))];
    expect(eventsOf(all).filter((event) => event === "metadata")).toHaveLength(2);
    const last = all.at(-1)?.id;
    for (const [at, { id }] of all.slice(0, -1).entries()) {
      const again = follow(client, thread_id, { lastEventId: id });
      expect(await again.until((chunk) => chunk.id === last)).toEqual(all.slice(at + 1));
      again.leave();
    }
  });

  it("the mode lifecycle has only the start and the end of runs, also of failed ones", async () => {
    const { client, thread_id } = await opened();
    const joined = follow(client, thread_id, { streamMode: "lifecycle", lastEventId: "-1" });
    const reading = joined.until(isDone);
    const { run_id } = await client.runs.create(thread_id, "fail", { input: { x: 0 }, ...background });
    const chunks = await reading;
    expect(eventsOf(chunks)).toEqual(["metadata", "run_done"]);
    expect(chunks.at(-1)?.data).toEqual({ run_id, status: "error" });
  });

  itSqlite("contains runs of other processes on the same storage", async () => {
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-join-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const storage = { checkpointer_scheme: "sqlite", checkpointer_uri: join(folder, "a.db") } as const;
    const { client, thread_id } = await opened(storage);
    const joined = follow(client, thread_id, { lastEventId: "-1" });
    const reading = joined.until(isDone);
    const { client: other } = await opened(storage);
    const { run_id } = await other.runs.create(thread_id, "chat", { input: says("hi"), ...background });
    expect((await reading).at(-1)?.data).toEqual({ run_id, status: "success" });
  });

  it("ends when the thread is deleted", async () => {
    const { client, thread_id } = await opened();
    const { run_id } = await client.runs.create(thread_id, "chat", { input: says("hi"), ...background });
    await client.runs.join(thread_id, run_id);
    const joined = follow(client, thread_id, { lastEventId: "-1" });
    await joined.until(isDone);
    await client.threads.delete(thread_id);
    expect(await joined.until(() => false)).toEqual([]);
  });

  it("ends without an error when threads are deleted while their stored runs are read", async () => {
    const { client } = await opened();
    const reading = Array.from({ length: 20 }, async () => {
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, "chat", { input: says("hi") });
      const joined = follow(client, thread_id, { lastEventId: "-1" });
      const chunks = joined.until(() => false);
      await client.threads.delete(thread_id);
      return eventsOf(await chunks.catch(deletedBefore));
    });
    for (const events of await Promise.all(reading)) expect(events).not.toContain("error");
  });

  it("leaving does not end the run", async () => {
    const { client, thread_id } = await opened();
    const gate = newId();
    const { run_id } = await client.runs.create(thread_id, "gate", { input: { gate }, ...background });
    await gateOf(gate).entered;
    const joined = follow(client, thread_id);
    await joined.until(({ event }) => event === "metadata");
    joined.leave();
    gateOf(gate).open();
    await client.runs.join(thread_id, run_id);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: "success" });
  });

  it("rejects unknown modes, positions and threads, and threads of other users", async () => {
    const { client, server, thread_id } = await opened();
    const path = `/threads/${thread_id}/stream`;
    expect((await server.request("GET", `${path}?stream_mode=state_update`)).status).toBe(422);
    expect((await server.request("GET", path, undefined, { "last-event-id": "7" })).status).toBe(422);
    expect((await server.request("GET", `/threads/${newId()}/stream`)).status).toBe(404);
    await expect(client.threads.joinStream(newId()).next()).rejects.toThrow("404");
    const users = await openClient({ authenticate: byHeader });
    const ann = new Client({ apiUrl: users.server.url, defaultHeaders: { user: "ann" } });
    const theirs = (await ann.threads.create()).thread_id;
    const read = (user: string) =>
      users.server.fetch("GET", `/threads/${theirs}/stream`, undefined, { headers: { user } });
    expect((await read("anna")).status).toBe(404);
    const own = await read("ann");
    expect([own.status, own.headers.get("location")]).toEqual([200, `/threads/${theirs}/stream`]);
    await own.body?.cancel();
  });
});
