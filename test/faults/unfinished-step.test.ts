/**
 * A server is killed in the middle of a superstep and its successor does not resume runs: finished tasks are
 * shown as an unfinished superstep.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import type { Run } from "../../src/models/run.js";
import type { ThreadState } from "../../src/models/state.js";
import { cli, createProject, type Project } from "../cli/harness.js";
import { client, type TestServer } from "../helpers/app.js";
import { forkProgram } from "../helpers/compiled.js";

const GRAPH = fileURLToPath(new URL("../fixtures/graphs/halves.ts", import.meta.url));

let project: Project;
let child: ChildProcess | undefined;
beforeAll(async () => {
  project = await createProject({
    "graph-server.config.json": {
      graphs: { halves: `${GRAPH}:graph` },
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "db.sqlite",
    },
  });
});
afterAll(async () => {
  child?.kill("SIGKILL");
  await project.remove();
});

async function start(): Promise<TestServer["request"]> {
  const args = [join(project.dir, "db.sqlite"), JSON.stringify({ resume_runs: false })];
  child = await forkProgram("serve-sqlite", args);
  const [url] = (await once(child, "message")) as [string];
  return client(url).request;
}

async function kill(): Promise<void> {
  const exited = once(child as ChildProcess, "exit");
  child?.kill("SIGKILL");
  await exited;
}

it(
  "after a kill, the state and inspect show the run of the unfinished superstep until new input discards it",
  { timeout: 120_000 },
  async () => {
    let request = await start();
    const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
    const path = `/threads/${thread_id}`;
    const state = async () => (await request("GET", `${path}/state`)).body as ThreadState;
    const begin = (how: string, headers?: Record<string, string>) =>
      request("POST", `${path}/runs`, { assistant_id: "halves", input: { how } }, headers);

    const { run_id } = (await begin("never", { Prefer: "respond-async" })).body as Run;
    await expect.poll(async () => (await state()).unfinished_step, { timeout: 30_000 }).toBeDefined();
    await kill();
    request = await start();

    const cut = await state();
    expect((await request("GET", `${path}/runs/${run_id}`)).body).toMatchObject({ status: "error" });
    expect((await request("GET", path)).body).toMatchObject({ status: "idle" });
    const [left] = cut.tasks.filter(({ name }) => name === "left");
    expect(cut).toMatchObject({
      values: { log: ["left"] },
      next: ["right"],
      unfinished_step: { run_id, tasks: [left?.id] },
    });
    await kill();

    for (const what of [["thread"], ["checkpoint"]]) {
      const { code, stdout } = await cli(["inspect", ...what, thread_id], { cwd: project.dir });
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^unfinished +left finished, but the superstep did not: the writes are not in a checkpoint yet$/m,
      );
      expect(stdout).toMatch(new RegExp(`^of run +${run_id}$`, "m"));
    }
    const { stdout } = await cli(["inspect", "checkpoint", thread_id, "--json"], { cwd: project.dir });
    expect(JSON.parse(stdout)).toMatchObject({ unfinished_step: { run_id } });

    request = await start();
    expect((await begin("ends")).body).toMatchObject({ status: "success" });
    const next = await state();
    expect(next).toMatchObject({ values: { log: ["left"] }, next: [] });
    expect(next.unfinished_step).toBeUndefined();
    await kill();
    expect((await cli(["inspect", "thread", thread_id], { cwd: project.dir })).stdout).not.toMatch(
      /unfinished/,
    );
  },
);
