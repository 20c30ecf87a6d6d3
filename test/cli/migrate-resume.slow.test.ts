/** A copy that is interrupted at every checkpoint in turn, and resumed with the same command. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { openStorage } from "../../src/storage/open.js";
import type { StoragePlace } from "../../src/service/migration.js";
import { cli, createProject, startCli, type Project } from "./harness.js";
import { makeTravellers, onStorage, portraits, type Travellers } from "./travellers.js";

/** Timeout in milliseconds: each child process loads the whole program from its sources. */
const CHILDREN_MS = 180_000;

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const DYING = join(import.meta.dirname, "../fixtures/storage/dying-storage.mjs");

let project: Project;
let from: string;
let ids: Travellers;
let shown: unknown;
const at = (uri: string): StoragePlace => ({
  checkpointer_scheme: "sqlite",
  checkpointer_uri: uri,
  checkpointer_options: {},
});
beforeAll(async () => {
  project = await createProject();
  from = join(project.dir, "from.db");
  await onStorage(at(from), async (service) => {
    ids = await makeTravellers(service);
    shown = await portraits(service, ids);
  });
});
afterAll(() => project.remove());

/** Copies until the process is killed at its n-th checkpoint. */
async function dieAt(n: number, to: string): Promise<void> {
  const options = JSON.stringify({ dies_at: n });
  const flags = ["--from", from, "--to", to, "--to-scheme", DYING, "--to-options", options];
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, "migrate", "copy", ...flags], {
    cwd: project.dir,
    stdio: "ignore",
  });
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
}

async function countOf(uri: string): Promise<{ threads: number; checkpoints: number }> {
  const storage = await openStorage({ ...at(uri), max_queued_runs: 0 });
  let checkpoints = 0;
  for (const thread_id of Object.values(ids)) {
    for (const checkpoint_ns of await storage.checkpointer.namespaces(thread_id)) {
      const list = storage.checkpointer.list({ configurable: { thread_id, checkpoint_ns } });
      for await (const _ of list) checkpoints += 1;
    }
  }
  const threads = await storage.threads.count({});
  await storage.close();
  return { threads, checkpoints };
}

describe("a killed migrate copy", () => {
  it("the same command resumes the copy without duplicates", { timeout: CHILDREN_MS }, async () => {
    const to = join(project.dir, "killed.db");
    const whole = await countOf(from);
    const seen = [];
    for (const n of [1, 4, 3]) {
      await dieAt(n, to);
      seen.push((await countOf(to)).checkpoints);
    }
    // Each process resumed where the previous one was killed.
    expect(seen).toEqual([0, 3, 5]);
    const { code, stdout } = await cli(["migrate", "copy", "--from", from, "--to", to, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { threads: { total: 5 }, checkpoints: { total: whole.checkpoints, copied: whole.checkpoints - 5 } },
    ]);
    expect(await countOf(to)).toEqual(whole);
    expect(await onStorage(at(to), (service) => portraits(service, ids))).toEqual(shown);
  });

  it("a signal stops the copy and prints how to continue", async () => {
    const to = join(project.dir, "stopped.db");
    const running = startCli(["migrate", "copy", "--from", from, "--to", to], {
      cwd: project.dir,
    });
    running.stop("SIGTERM");
    expect(await running.exit).toBe(143);
    expect(running.stderr.text).toContain("run the same command again to continue");
    const { code } = await cli(["migrate", "copy", "--from", from, "--to", to], { cwd: project.dir });
    expect(code).toBe(0);
    expect(await onStorage(at(to), (service) => portraits(service, ids))).toEqual(shown);
  });
});
