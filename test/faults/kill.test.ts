import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { forkProgram } from "../helpers/compiled.js";

/** `GRAPH_SERVE_TEST_RUNS=100` takes minutes. */
const KILLS = Number(process.env.GRAPH_SERVE_TEST_RUNS ?? 10);
const CLIENTS = 6;
const ACKNOWLEDGED_BEFORE_KILL = 60;

let folder: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "graph-serve-kill-"));
});
afterAll(async () => {
  child?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<string> {
  child = await forkProgram("serve-sqlite", [join(folder, "db.sqlite")]);
  const [url] = (await once(child, "message")) as [string];
  return url;
}

async function call<T>(url: string, path: string, body?: object): Promise<T> {
  const response = await fetch(url + path, body && { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** What the server acknowledged: threads, and the finished runs of each. */
class Ledger {
  readonly threads = new Map<string, Run[]>();
  count = 0;
  #reached: (() => void) | undefined;

  acknowledge(threadId: string, run?: Run): void {
    const runs = this.threads.get(threadId) ?? [];
    this.threads.set(threadId, run ? [...runs, run] : runs);
    this.count += 1;
    this.#reached?.();
  }

  async reaches(count: number): Promise<void> {
    while (this.count < count) await new Promise<void>((resolve) => (this.#reached = resolve));
  }
}

/** One client: creates threads, runs and streams until the server is gone. */
async function client(url: string, ledger: Ledger): Promise<void> {
  for (let turn = 0; ; turn++) {
    const { thread_id } = await call<Thread>(url, "/threads", {});
    ledger.acknowledge(thread_id);
    for (const text of ["one", "two"]) {
      const input = { messages: [{ role: "user", content: text }] };
      ledger.acknowledge(
        thread_id,
        await call<Run>(url, `/threads/${thread_id}/runs`, { assistant_id: "chat", input }),
      );
    }
    if (turn % 2 === 0) continue;
    const streamed = await call<Thread>(url, "/threads", {});
    const response = await fetch(`${url}/threads/${streamed.thread_id}/runs/stream`, {
      method: "POST",
      body: JSON.stringify({ assistant_id: "steps", input: { n: 0 } }),
    });
    await response.text();
  }
}

/** Starts a run that never ends, in flight when the server is killed. Resolves when its first superstep has ended. */
async function hang(url: string): Promise<string> {
  const { thread_id } = await call<Thread>(url, "/threads", {});
  const response = await fetch(`${url}/threads/${thread_id}/runs/stream`, {
    method: "POST",
    body: JSON.stringify({ assistant_id: "gate", input: { gate: "never" }, stream_mode: "updates" }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let seen = ""; !seen.includes("event: updates");) seen += (await reader?.read())?.value ?? "";
  return thread_id;
}

async function assertNothingLost(url: string, ledger: Ledger): Promise<void> {
  for (const [threadId, acknowledged] of ledger.threads) {
    const thread = await call<Thread>(url, `/threads/${threadId}`);
    expect(thread.status).not.toBe("busy");
    const messages = (thread.values.messages ?? []) as unknown[];
    expect(messages.length).toBeGreaterThanOrEqual(acknowledged.length * 2);
    const stored = await call<Run[]>(url, `/threads/${threadId}/runs?limit=100`);
    const byId = new Map(stored.map((run) => [run.run_id, run]));
    for (const run of acknowledged) expect(byId.get(run.run_id)).toEqual(run);
    for (const { status } of stored) expect(["pending", "running"]).not.toContain(status);
  }
}

async function assertCutOff(url: string, threadId: string): Promise<void> {
  const runs = await call<Run[]>(url, `/threads/${threadId}/runs`);
  expect(runs).toMatchObject([{ status: "interrupted", error: null }]);
  expect(await call<Thread>(url, `/threads/${threadId}`)).toMatchObject({
    status: "idle",
    values: { log: ["before never"] },
  });
  const input = { messages: [{ role: "user", content: "hello again" }] };
  expect(await call<Run>(url, `/threads/${threadId}/runs`, { assistant_id: "chat", input })).toMatchObject({
    status: "success",
  });
}

async function kill(): Promise<void> {
  const exited = once(child as ChildProcess, "exit");
  child?.kill("SIGKILL");
  await exited;
}

describe("a server killed under load", () => {
  it("loses nothing it acknowledged", { timeout: 300_000 }, async () => {
    let url = await start();
    for (let kills = 0; kills < KILLS; kills++) {
      const ledger = new Ledger();
      const clients = Array.from({ length: CLIENTS }, () =>
        client(url, ledger).catch((error: unknown) => error),
      );
      const hanging = await hang(url);
      await ledger.reaches(ACKNOWLEDGED_BEFORE_KILL);
      await kill();
      await Promise.all(clients);
      url = await start();
      await assertNothingLost(url, ledger);
      await assertCutOff(url, hanging);
    }
  });
});
