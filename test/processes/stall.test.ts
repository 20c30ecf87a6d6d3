/**
 * The watchdog reports nodes that never yield, answers health probes meanwhile, and kills the process for its
 * supervisor to restart.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { createProject, type Project } from "../cli/harness.js";
import { client } from "../helpers/app.js";
import { installPackage } from "../helpers/compiled.js";
import { PATIENCE } from "../helpers/server-processes.js";

const TIMEOUT = { timeout: 300_000 };

/**
 * `does` selects what the node does; line 10 loops forever, and so does resolving the thenable of line 13. Loops sleep for
 * most of their time, so that they do not use up a core. `call` lasts until there is a file `go`.
 */
const GRAPH = `import { execSync } from "node:child_process";
import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ does: Annotation<string>, done: Annotation<string> });
const cell = new Int32Array(new SharedArrayBuffer(4));

const holds: Record<string, (signal?: AbortSignal) => unknown> = {
  nothing: () => undefined,
  loop: () => {
    for (;;) Atomics.wait(cell, 0, 0, 20);
  },
  thenable: () => {
    const own = { then: (resolve: (value: unknown) => void) => (Atomics.wait(cell, 0, 0, 20), resolve(own)) };
    return own;
  },
  call: () => execSync("until [ -e go ]; do sleep 0.1; done"),
  both: () => [holds.call?.(), holds.loop?.()],
  abort: (signal) => new Promise(() => signal?.addEventListener("abort", () => holds.loop?.())),
};

export const graph = new StateGraph(State)
  .addNode("hold", async ({ does }, { signal }) => {
    await holds[does]?.(signal);
    return { done: "yes" };
  })
  .addEdge(START, "hold")
  .compile();
`;
const STALLED = "the event loop is stalled: no other requests are served until this code yields";
const KILLED =
  "the event loop was stalled for stall_exit_seconds: killing the process so that its supervisor restarts it";

interface LogLine {
  level: number;
  msg: string;
  url?: string;
  health?: string;
  at?: string;
  run_id?: string;
  last_begun_run_id?: string;
}

let installed: string;
beforeAll(async () => {
  installed = await installPackage();
}, TIMEOUT.timeout);
afterAll(() => rm(installed, { recursive: true, force: true }));

let project: Project;
const children: ChildProcess[] = [];
beforeEach(async () => {
  project = await createProject({ "hold.ts": GRAPH });
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await project.remove();
});

/** A server in a separate process, with its log so far. */
class Started {
  readonly child: ChildProcess;
  readonly exit: Promise<unknown[]>;
  #log = "";

  constructor(settings: Record<string, number | boolean> = {}) {
    const env = Object.entries({ stall_warning_seconds: 2, health_port: 0, ...settings }).map(
      ([name, value]): [string, string] => [`GRAPH_SERVE_${name.toUpperCase()}`, String(value)],
    );
    const args = ["start", "./hold.ts", "-p", "0", "--db", "runs.db"];
    this.child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), ...args], {
      cwd: project.dir,
      env: { PATH: process.env.PATH, ...Object.fromEntries(env) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.push(this.child);
    // "close" comes after the last line of the log, "exit" can come before.
    this.exit = once(this.child, "close");
    this.child.stderr!.on("data", (chunk) => (this.#log += String(chunk)));
  }

  get lines(): LogLine[] {
    return this.#log
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Resolves with the first matching line once it is logged. */
  async line(passes: (line: LogLine) => boolean): Promise<LogLine> {
    await expect.poll(() => this.lines.some(passes), PATIENCE).toBe(true);
    return this.lines.find(passes) as LogLine;
  }

  async api() {
    const { url = "" } = await this.line(({ msg }) => msg === "listening");
    return client(url);
  }

  async health(): Promise<{ status: number; body: unknown }> {
    const { health = "" } = await this.line(({ msg }) => msg === "listening");
    const answer = await fetch(health);
    return { status: answer.status, body: await answer.json() };
  }

  async begin(does: string): Promise<Run> {
    const { request } = await this.api();
    const body = { assistant_id: "hold", input: { does }, if_not_exists: "create" };
    const headers = { Prefer: "respond-async" };
    const answer = await request("POST", `/threads/${newId()}/runs`, body, headers);
    expect(answer.status).toBe(200);
    return answer.body as Run;
  }

  /** Starts a run in a process that has loaded everything, so that nothing else stalls it. */
  async beginWarm(does: string): Promise<Run> {
    const first = await this.begin("nothing");
    await expect.poll(async () => (await this.run(first)).status, PATIENCE).toBe("success");
    return this.begin(does);
  }

  async run({ thread_id, run_id }: Run): Promise<Run> {
    const { request } = await this.api();
    return (await request("GET", `/threads/${thread_id}/runs/${run_id}`)).body as Run;
  }

  stallOf({ run_id }: Run): Promise<LogLine> {
    return this.line((line) => line.msg === STALLED && line.run_id === run_id && line.at !== undefined);
  }
}

describe("a node that never yields", () => {
  const LOOPS = [
    ["a loop", "loop", "hold.ts:10"],
    ["a thenable that resolves with itself", "thenable", "hold.ts:13"],
  ] as const;
  const factsOf = ({ run_id, thread_id }: Run, at: string) => ({
    ...{ run_id, thread_id, graph_id: "hold", node: "hold", at },
  });

  it.each(LOOPS)("is reported, and SIGTERM ends its process: %s", TIMEOUT, async (_what, does, at) => {
    const server = new Started({ stall_exit_seconds: 0 });
    expect(await server.health()).toEqual({ status: 200, body: { ok: true } });
    const culprit = await server.beginWarm(does);
    const known = factsOf(culprit, at);
    expect(await server.stallOf(culprit)).toMatchObject({ level: 50, ...known });
    expect(await server.health()).toMatchObject({ status: 503, body: { ok: false, ...known } });
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([null, "SIGTERM"]);
  });

  it.each(LOOPS)("is killed with its process, which recovers: %s", TIMEOUT, async (_what, does, at) => {
    const settings = { stall_exit_seconds: 6, max_attempts: 2 };
    const first = new Started(settings);
    const culprit = await first.beginWarm(does);
    const known = factsOf(culprit, at);
    expect(await first.exit).toEqual([null, "SIGKILL"]);
    expect(first.lines.at(-1)).toMatchObject({ level: 50, msg: KILLED, ...known });

    // The next process continues the run and is killed too; then the run is dead.
    const second = new Started(settings);
    expect(await second.exit).toEqual([null, "SIGKILL"]);
    expect(second.lines.at(-1)).toMatchObject({ msg: KILLED, ...known });
    const third = new Started(settings);
    await expect.poll(async () => (await third.run(culprit)).status, PATIENCE).toBe("error");
    const other = await third.begin("nothing");
    await expect.poll(async () => (await third.run(other)).status, PATIENCE).toBe("success");
    third.child.kill("SIGTERM");
    expect(await third.exit).toEqual([0, null]);
  });

  it("is killed when the grace period of a shutdown expires", TIMEOUT, async () => {
    const settings = { shutdown_grace_seconds: 0, stall_warning_seconds: 3_000, stall_exit_seconds: 0 };
    const server = new Started(settings);
    const run = await server.begin("abort");
    await expect.poll(async () => (await server.run(run)).status, PATIENCE).toBe("running");
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([null, "SIGKILL"]);
    expect(server.lines.at(-1)?.msg).toBe("graceful shutdown exceeded its time limit: killing the process");
  });
});

describe("a command that a graph blocks", () => {
  const CASES = "graph: hold\ncases:\n  - name: loops\n    input: { does: loop }\n";

  it.each([
    ["run", ["run", "./hold.ts", "--input", '{"does":"loop"}', "--json"]],
    ["test", ["test", "./hold.graph.yaml"]],
  ])("%s names the line, and Ctrl-C ends it", TIMEOUT, async (_, args) => {
    await project.put("hold.graph.yaml", CASES);
    await project.put("graph-server.config.json", { graphs: { hold: "./hold.ts:graph" } });
    const child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), ...args], {
      cwd: project.dir,
      // Longer than what loads graphs can take at once.
      env: { PATH: process.env.PATH, GRAPH_SERVE_STALL_WARNING_SECONDS: "2" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    const exit = once(child, "close");
    await expect.poll(() => stderr, PATIENCE).toMatch(/Ctrl-C ends the command.* at=hold\.ts:10/);
    child.kill("SIGINT");
    expect(await exit).toEqual([null, "SIGINT"]);
    expect(stdout).not.toContain("stalled");
  });
});

describe("a long synchronous call", () => {
  it("is logged again, with the place, once it has returned to code that never yields", TIMEOUT, async () => {
    const server = new Started({ stall_exit_seconds: 0 });
    const run = await server.beginWarm("both");
    await server.line((each) => each.msg === STALLED && each.last_begun_run_id === run.run_id);
    await project.put("go", "");
    expect(await server.stallOf(run)).toMatchObject({ at: "hold.ts:10" });
    expect(await server.health()).toMatchObject({ status: 503, body: { ok: false, at: "hold.ts:10" } });
  });

  it("is logged with the most recently started run, and the run succeeds", TIMEOUT, async () => {
    const server = new Started({ stall_exit_seconds: 60, metrics: true });
    const run = await server.beginWarm("call");
    await server.line((each) => each.msg === STALLED && each.last_begun_run_id === run.run_id);
    await project.put("go", "");
    await server.line(({ msg }) => msg === "the event loop is responsive again");
    const { request } = await server.api();
    const metrics = async () => (await request("GET", "/metrics")).text;
    await expect.poll(metrics, PATIENCE).toMatch(/^graph_serve_event_loop_stalls_total [1-9]/m);
    await expect.poll(async () => (await server.run(run)).status, PATIENCE).toBe("success");
    expect((await server.health()).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([0, null]);
  });
});
