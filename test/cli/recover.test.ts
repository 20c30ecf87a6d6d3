import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { newId } from "../../src/support/ids.js";
import { openStorage } from "../../src/storage/open.js";
import { cli, createProject, echoGraph, type Project } from "./harness.js";

let project: Project;
let threadId: string;
const STORAGE = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"];
const run = (...argv: string[]) => cli([...argv, ...STORAGE], { cwd: project.dir });

beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
  const { stdout } = await run("run", "./graph.ts", "--message", "hello", "--json");
  threadId = (JSON.parse(stdout) as { thread_id: string }).thread_id;
});
afterEach(() => project.remove());

/** Inserts a run with a dead server as its owner, and returns the run's id. */
async function leaveRun(folder: string, thread: string): Promise<string> {
  const storage = await openStorage({
    checkpointer_scheme: "sqlite",
    checkpointer_uri: join(folder, "threads.db"),
    checkpointer_options: {},
    max_queued_runs: 1,
  });
  const at = new Date().toISOString();
  const run_id = newId();
  const row = { run_id, thread_id: thread, assistant_id: "agent", created_at: at, updated_at: at };
  const more = { metadata: {}, kwargs: {}, multitask_strategy: "enqueue", error: null, usage: null } as const;
  await storage.runs.insert(
    { ...row, ...more, status: "running", state: "running", owner: "nobody", attempt: 1 },
    // As during the first run of a thread.
    { updated_at: at, status: "busy", state_updated_at: null },
  );
  await storage.close();
  return run_id;
}

describe("recover", () => {
  it("recover prints an empty list if no run is unfinished", async () => {
    const { code, stdout } = await run("recover", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([0, { items: [], next: null, applied: false }]);
    expect((await run("recover")).stderr).toBe("no unfinished runs\n");
  });

  it("inspect shows the latest checkpoint of an unfinished run, and how to recover", async () => {
    await leaveRun(project.dir, threadId);
    const shown = await run("inspect", "thread", threadId);
    expect(shown.stdout).toMatch(/^status +busy$/m);
    expect(shown.stdout).toContain("values\n  messages: [2 items]\n    - human: hello\n");
    expect(shown.stderr).toContain("if the server of the running run has crashed: graph-serve recover");
    const { stdout } = await run("inspect", "thread", threadId, "--values", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ messages: [{ content: "hello" }, {}] });
  });

  it("recover without --apply changes no runs", async () => {
    const run_id = await leaveRun(project.dir, threadId);
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await run("recover", "--json");
      expect(JSON.parse(stdout)).toMatchObject({
        items: [{ run_id, thread_id: threadId, owner: null }],
        applied: false,
      });
    }
    const shown = await run("recover");
    expect(shown.stdout).toContain(run_id);
    expect(shown.stderr).toContain("graph-serve recover --apply");
  });

  it("writes to a busy thread are rejected with a hint to use recover", async () => {
    const run_id = await leaveRun(project.dir, threadId);
    await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts" } });
    const set = ["state", "set", threadId, "--values", '{"messages":[]}', "--as-node", "reply"];
    for (const argv of [
      set,
      ["threads", "delete", threadId, "--yes"],
      ["fork", threadId, "--branch", "--values", "{}"],
    ]) {
      const { code, stdout } = await run(...argv, "--json");
      expect({ argv, code, answer: JSON.parse(stdout) as unknown }).toMatchObject({
        argv,
        code: 5,
        answer: {
          error: {
            code: "thread_busy",
            message: expect.stringContaining("its server crashed") as string,
            hint: expect.stringContaining("graph-serve recover") as string,
          },
        },
      });
    }
    expect((await run("threads", "patch", threadId, "--metadata", "seen=true")).code).toBe(0);
    expect(JSON.parse((await run("recover", "--json")).stdout)).toMatchObject({ items: [{ run_id }] });
    await run("recover", "--apply");
    expect((await run(...set)).code).toBe(0);
  });

  it("--apply settles unfinished runs even if the graph does not load", async () => {
    const run_id = await leaveRun(project.dir, threadId);
    await project.put("graph.ts", "export const graph = ;");
    await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts" } });
    const { code, stdout } = await run("recover", "--apply", "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: [{ run_id }], applied: true }]);
    expect(JSON.parse((await run("recover", "--json")).stdout)).toMatchObject({ items: [] });
    const storage = await openStorage({
      checkpointer_scheme: "sqlite",
      checkpointer_uri: join(project.dir, "threads.db"),
      checkpointer_options: {},
      max_queued_runs: 1,
    });
    expect(await storage.runs.get(threadId, run_id)).toMatchObject({ status: "error" });
    expect(await storage.threads.get(threadId)).toMatchObject({ status: "idle" });
    await storage.close();
  });

  it("scheme memory and a missing file have different errors", async () => {
    const memory = await cli(["recover", "--checkpointer-scheme", "memory", "--json"], { cwd: project.dir });
    expect([memory.code, JSON.parse(memory.stdout)]).toMatchObject([
      2,
      { error: { code: "config_invalid" } },
    ]);
    const missing = await cli(["recover", "--checkpointer-uri", "./none.db", "--json"], { cwd: project.dir });
    expect([missing.code, JSON.parse(missing.stdout)]).toMatchObject([
      3,
      { error: { code: "storage_unavailable" } },
    ]);
  });
});
