/** Reads and changes a storage while a server in another process uses it. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { Run } from "../../src/models/run.js";
import type { Thread } from "../../src/models/thread.js";
import { forkProgram } from "../helpers/compiled.js";
import { cli, createProject, type Project } from "./harness.js";

const GRAPHS = join(import.meta.dirname, "../fixtures/graphs");
const CLIENTS = 4;
const ROUNDS = 8;

let project: Project;
let child: ChildProcess;
let url: string;
let file: string;
beforeAll(async () => {
  project = await createProject({
    "graph-server.config.json": {
      graphs: Object.fromEntries(
        ["chat", "steps", "gate"].map((name) => [name, join(GRAPHS, `${name}.ts:graph`)]),
      ),
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "./data/store.db",
    },
  });
  file = join(project.dir, "data/store.db");
  child = await forkProgram("serve-sqlite", [file]);
  [url] = (await once(child, "message")) as [string];
});
afterAll(async () => {
  child.kill("SIGKILL");
  await once(child, "exit");
  await project.remove();
});

async function post<T>(path: string, body: object): Promise<T> {
  const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const read = (argv: string[]) => cli([...argv, "--json"], { cwd: project.dir });

/** Creates threads and runs until the signal aborts. */
async function client(signal: AbortSignal, done: { threads: string[]; statuses: string[] }): Promise<void> {
  while (!signal.aborted) {
    const { thread_id } = await post<Thread>("/threads", {});
    const run = await post<Run>(`/threads/${thread_id}/runs`, { assistant_id: "steps", input: { n: 0 } });
    done.threads.push(thread_id);
    done.statuses.push(run.status);
  }
}

describe("a storage in use", () => {
  it("read commands under load do not disturb the server", async () => {
    const done = { threads: [] as string[], statuses: [] as string[] };
    const stop = new AbortController();
    const clients = Array.from({ length: CLIENTS }, () => client(stop.signal, done));
    const working = Promise.all(clients);
    const files = () => readdirSync(dirname(file)).sort();
    const before = files();
    for (let round = 0; round < ROUNDS; round++) {
      // Each round reads beside runs, however fast either side is.
      await Promise.race([
        working,
        expect.poll(() => done.threads.length, { timeout: 60_000 }).toBeGreaterThan(round),
      ]);
      expect((await read(["threads", "list"])).code).toBe(0);
      for (const thread of done.threads.slice(-2)) {
        const { code, stdout } = await read(["inspect", "state", thread, "--path", "n"]);
        expect({ code, stdout }).toEqual({ code: 0, stdout: "10\n" });
        const history = await read(["history", thread]);
        expect((JSON.parse(history.stdout) as { items: unknown[] }).items).toHaveLength(12);
      }
    }
    stop.abort();
    await working;
    expect(done.threads.length).toBeGreaterThanOrEqual(ROUNDS);
    expect(new Set(done.statuses)).toEqual(new Set(["success"]));
    expect(files()).toEqual(before);
    for (const argv of [
      ["threads", "list", "--limit", "50"],
      ["inspect", "thread", done.threads[0] ?? ""],
    ]) {
      expect((await read(argv)).stdout).toBe((await read([...argv, "--url", url])).stdout);
    }
  });

  it("changes to busy threads are rejected", async () => {
    const { thread_id } = await post<Thread>("/threads", {});
    await post<Run>(`/threads/${thread_id}/runs`, { assistant_id: "steps", input: { n: 0 } });
    const begun = await fetch(`${url}/threads/${thread_id}/runs/stream`, {
      method: "POST",
      body: JSON.stringify({ assistant_id: "gate", input: { gate: "never opened" } }),
    });
    const first = await begun.body?.getReader().read();
    expect(new TextDecoder().decode(first?.value as Uint8Array)).toContain("metadata");
    const before = await read(["history", thread_id]);
    for (const argv of [
      ["threads", "delete", thread_id, "--yes"],
      ["state", "set", thread_id, "--values", '{"gate":"another"}'],
      ["fork", thread_id, "--branch", "--values", '{"gate":"another"}'],
      ["replay", thread_id, "--execute", "--in-place"],
      ["run", "steps", "--thread", thread_id, "-i", '{"n":0}'],
    ]) {
      const { code, stdout } = await read(argv);
      expect({ argv, code, stdout }).toMatchObject({ argv, code: 5 });
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: "thread_busy", hint: expect.not.stringContaining("recover") as string },
      });
    }
    expect(await read(["history", thread_id])).toEqual(before);
    const { stdout: pruned } = await read([
      "threads",
      "prune",
      "--older-than",
      "0s",
      "--status",
      "busy",
      "--yes",
    ]);
    expect(JSON.parse(pruned)).toMatchObject({ items: [], deleted: 0 });
    expect((await read(["inspect", "thread", thread_id])).code).toBe(0);
  });
});
