/** `start --processes`: several server processes on one port, started and supervised by a primary process. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import { createProject, type Project } from "../cli/harness.js";
import { installPackage } from "../helpers/compiled.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";
import { GATE_SOURCE, RemoteGates } from "../helpers/remote-gates.js";
import { readEvents, type SseEvent } from "../helpers/sse.js";

const TIMEOUT = { timeout: 300_000 };
/** A command starts up to three processes, each of which loads LangGraph. */
const PATIENCE = { timeout: 180_000, interval: 50 };

/** Two nodes of 20 custom events each, with the gate of the run between them; `spin` blocks the event loop. */
const GRAPH = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
${GATE_SOURCE}
const State = Annotation.Root({ gate: Annotation<string>, spin: Annotation<boolean> });
const cell = new Int32Array(new SharedArrayBuffer(4));
const emit = (config: { writer?: (value: unknown) => void }, from: number) => {
  for (let n = from; n < from + 20; n += 1) config.writer?.({ n });
};
export const graph = new StateGraph(State)
  .addNode("first", (_state, config) => emit(config, 0))
  .addNode("held", async ({ gate: name, spin }) => {
    await gate(name);
    // Blocks the event loop without using up a core.
    while (spin) Atomics.wait(cell, 0, 0, 20);
  })
  .addNode("last", (_state, config) => emit(config, 20))
  .addEdge(START, "first")
  .addEdge("first", "held")
  .addEdge("held", "last")
  .compile();
`;

interface LogLine {
  msg: string;
  level: number;
  process?: number;
  url?: string;
  health?: string;
  request_id?: string;
  pid?: number;
  signal?: string | null;
}

let installed: string;
let gates: RemoteGates;
beforeAll(async () => {
  installed = await installPackage();
}, TIMEOUT.timeout);
afterAll(() => rm(installed, { recursive: true, force: true }));

let project: Project;
const started: Processes[] = [];
beforeEach(async () => {
  gates = await RemoteGates.listen();
  project = await createProject({ "graph.ts": GRAPH });
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.destroy()));
  await gates.close();
  await project.remove();
});

type SettingsFile = Record<string, unknown>;

/** A command with its server processes, and its log so far. */
class Processes {
  readonly child: ChildProcess;
  /** Resolves when the whole log has arrived, that of the server processes too. */
  readonly exit: Promise<unknown[]>;
  readonly #gone: Promise<unknown[]>;
  log = "";

  constructor(command: string) {
    const args = [join(installed, "bin/graph-serve.js"), ...command.split(" "), "-p", "0"];
    this.child = spawn(process.execPath, args, {
      cwd: project.dir,
      env: { PATH: process.env.PATH, GATES: gates.url },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.exit = once(this.child, "close");
    this.#gone = once(this.child, "exit");
    this.child.stderr!.on("data", (chunk) => (this.log += String(chunk)));
    started.push(this);
  }

  static async start(settings: SettingsFile, command = "start --processes 2"): Promise<Processes> {
    await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts:graph" }, ...settings });
    const processes = new Processes(command);
    await processes.line(({ msg }) => msg === "all processes have started");
    return processes;
  }

  get lines(): LogLine[] {
    const lines = this.log.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  async line(passes: (line: LogLine) => boolean): Promise<LogLine> {
    await expect.poll(() => this.lines.some(passes) || this.log, PATIENCE).toBe(true);
    return this.lines.find(passes) as LogLine;
  }

  get url(): string {
    return this.lines.find(({ msg }) => msg === "listening")?.url ?? "";
  }

  /** A request on its own connection: the primary gives connections to the processes in turn. */
  async fetch(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const id = newId();
    const outgoing = request(new URL(path, this.url), {
      ...{ method, agent: false },
      headers: { "content-type": "application/json", "x-request-id": id, ...headers },
    });
    outgoing.end(body && JSON.stringify(body));
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    const web = Readable.toWeb(answer) as ReadableStream;
    return {
      id,
      close: () => outgoing.destroy(),
      response: new Response(web, { status: answer.statusCode }),
    };
  }

  async json(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<unknown> {
    const { response } = await this.fetch(method, path, body, headers);
    expect(response.status).toBe(200);
    return response.json();
  }

  async begin(gate: string, input: object = {}): Promise<Run> {
    const body = { assistant_id: "agent", input: { gate, ...input }, if_not_exists: "create" };
    const headers = { Prefer: "respond-async" };
    return (await this.json("POST", `/threads/${newId()}/runs`, body, headers)) as Run;
  }

  async run({ thread_id, run_id }: Run): Promise<Run> {
    return (await this.json("GET", `/threads/${thread_id}/runs/${run_id}`)) as Run;
  }

  async ended(run: Run): Promise<Run> {
    await expect
      .poll(async () => (await this.run(run)).status, PATIENCE)
      .toMatch(/success|error|interrupted/);
    return this.run(run);
  }

  async metrics(): Promise<string> {
    return (await this.fetch("GET", "/metrics")).response.text();
  }

  /** The process that answered a request; requests are logged when they end. */
  async answeredBy(id: string): Promise<number | undefined> {
    return (await this.line(({ request_id }) => request_id === id)).process;
  }

  /** Resolves when the gate is reached, with the process that executes the run. */
  async pidAt(gate: string, arrival = 0): Promise<number> {
    await expect.poll(() => gates.at(gate).length, PATIENCE).toBeGreaterThan(arrival);
    return gates.at(gate)[arrival] ?? 0;
  }

  async destroy(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    await this.#gone;
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Two readers on different processes, each with the frames after the first ones, as a client that reconnects. */
async function reconnects(settings: SettingsFile): Promise<void> {
  const server = await Processes.start(settings);
  const gate = newId();
  const thread = newId();
  const body = {
    assistant_id: "agent",
    input: { gate },
    if_not_exists: "create",
    stream_mode: ["custom", "values"],
    on_disconnect: "continue",
    stream_resumable: true,
  };
  const first = await server.fetch("POST", `/threads/${thread}/runs/stream`, body);
  const seen: SseEvent[] = [];
  for await (const event of readEvents(first.response)) {
    seen.push(event);
    if (seen.length === 7) break;
  }
  first.close();
  const { run_id } = seen[0]?.data as { run_id: string };
  const after = { "Last-Event-ID": seen.at(-1)?.id ?? "" };
  const path = `/threads/${thread}/runs/${run_id}/stream`;
  const readers = [
    await server.fetch("GET", path, undefined, after),
    await server.fetch("GET", path, undefined, after),
  ];
  await server.pidAt(gate);
  gates.open(gate);
  const rests = await Promise.all(
    readers.map(async ({ response }) => {
      const rest: SseEvent[] = [];
      for await (const event of readEvents(response)) rest.push(event);
      return rest;
    }),
  );
  const answering = await Promise.all(readers.map(({ id }) => server.answeredBy(id)));
  expect(answering.sort()).toEqual([1, 2]);
  for (const rest of rests) {
    const all = [...seen, ...rest];
    expect(all.map(({ id }) => Number(id))).toEqual(all.map((_, index) => index));
    const events = all.filter(({ event }) => event === "custom").map(({ data }) => (data as { n: number }).n);
    expect(events).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(all.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
  }
}

withPostgres("processes on postgres", (postgres) => {
  const settings = (more: SettingsFile = {}): SettingsFile => ({
    checkpointer_scheme: "postgres",
    checkpointer_uri: postgres.uri,
    checkpointer_options: { schema: postgres.schema, pool_max_size: 3 },
    ...more,
  });
  // Otherwise servers of later tests would resume the blocked runs of earlier ones.
  beforeEach(() => postgres.empty());

  it("a client that reconnects to another process receives every frame once", TIMEOUT, () =>
    reconnects(settings()),
  );

  it("a killed process is restarted, and its runs resume", TIMEOUT, async () => {
    const server = await Processes.start(settings({ metrics: true }));
    const names = [newId(), newId(), newId(), newId()];
    const runs = [];
    for (const name of names) runs.push(await server.begin(name));
    const pids = await Promise.all(names.map((name) => server.pidAt(name)));
    // Connections are distributed in turn.
    expect(new Set(pids).size).toBe(2);
    const [victim = 0] = pids;
    process.kill(victim, "SIGKILL");
    const end = await server.line(({ msg }) => msg === "a server process has ended: restarting it");
    expect(end).toMatchObject({
      level: 50,
      pid: victim,
      code: null,
      signal: "SIGKILL",
      restart_in_seconds: 0,
    });
    for (const [index, name] of names.entries())
      if (pids[index] === victim) expect(await server.pidAt(name, 1)).not.toBe(victim);
    names.forEach((name) => gates.open(name));
    for (const [index, run] of runs.entries()) {
      const attempt = pids[index] === victim ? 2 : 1;
      expect(await server.ended(run)).toMatchObject({ status: "success", attempt });
    }
    await expect
      .poll(() => server.metrics(), PATIENCE)
      .not.toContain('graph_serve_process_up{process="1"} 0');
    await expect
      .poll(() => server.metrics(), PATIENCE)
      .not.toContain('graph_serve_process_up{process="2"} 0');
    const text = await server.metrics();
    expect(text).toContain(`graph_serve_process_restarts_total{process="${end.process}"} 1`);
    for (const number of [1, 2]) {
      expect(text).toContain(`graph_serve_process_up{process="${number}"} 1`);
      expect(text).toMatch(new RegExp(`^graph_serve_runs_active\\{process="${number}"\\} 0$`, "m"));
    }
    for (const name of ["runs_active", "process_up"])
      expect(text.match(new RegExp(`^# TYPE graph_serve_${name} `, "gm"))).toHaveLength(1);
  });

  it("SIGTERM shuts all processes down gracefully", TIMEOUT, async () => {
    const server = await Processes.start(settings());
    const gate = newId();
    const run = await server.begin(gate);
    await server.pidAt(gate);
    server.child.kill("SIGTERM");
    await server.line(({ msg }) => msg === "stopping all processes");
    gates.open(gate);
    expect(await server.exit).toEqual([0, null]);
    expect(
      server.lines
        .filter(({ msg }) => msg === "stopped")
        .map(({ process: number }) => number)
        .sort(),
    ).toEqual([1, 2]);
    const next = await Processes.start(settings());
    expect(await next.run(run)).toMatchObject({ status: "success", attempt: 1 });
  });

  it("a second signal ends all processes immediately", TIMEOUT, async () => {
    const server = await Processes.start(settings({ shutdown_grace_seconds: 3_600 }));
    const gate = newId();
    await server.begin(gate);
    const pid = await server.pidAt(gate);
    server.child.kill("SIGTERM");
    await server.line(({ msg, process: number }) => msg === "stopping" && number !== undefined);
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([143, null]);
    await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
  });

  it("processes whose primary is killed shut down and requeue their runs", TIMEOUT, async () => {
    const server = await Processes.start(settings({ shutdown_grace_seconds: 0 }));
    const gate = newId();
    const run = await server.begin(gate);
    const pid = await server.pidAt(gate);
    server.child.kill("SIGKILL");
    await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
    await expect.poll(() => server.lines.filter(({ msg }) => msg === "stopped").length, PATIENCE).toBe(2);
    const next = await Processes.start(settings());
    await next.pidAt(gate, 1);
    gates.open(gate);
    expect(await next.ended(run)).toMatchObject({ status: "success" });
  });

  it(
    "a blocked process is reported at health_port and restarted while the other one serves",
    TIMEOUT,
    async () => {
      const server = await Processes.start(
        settings({ health_port: 0, stall_warning_seconds: 2, stall_exit_seconds: 20, max_attempts: 1 }),
      );
      const { health = "" } = await server.line(({ msg }) => msg === "all processes have started");
      const probe = async () => {
        const answer = await fetch(health);
        return { status: answer.status, body: await answer.json() };
      };
      expect(await probe()).toEqual({ status: 200, body: { ok: true } });
      const gate = newId();
      const { run_id } = await server.begin(gate, { spin: true });
      gates.open(gate);
      await expect
        .poll(probe, PATIENCE)
        .toMatchObject({ status: 200, body: { ok: true, stalled: [{ run_id }] } });
      await server.line(
        ({ msg, signal }) => msg.startsWith("a server process has ended") && signal === "SIGKILL",
      );
      await expect.poll(probe, PATIENCE).toEqual({ status: 200, body: { ok: true } });
      expect(await server.json("GET", "/ready")).toMatchObject({ ready: true });
    },
  );

  it("health_port responds with 503 if a blocked process is never killed", TIMEOUT, async () => {
    const server = await Processes.start(
      settings({
        health_port: 0,
        stall_warning_seconds: 1,
        stall_exit_seconds: 0,
        shutdown_grace_seconds: 0,
      }),
    );
    const { health = "" } = await server.line(({ msg }) => msg === "all processes have started");
    const gate = newId();
    await server.begin(gate, { spin: true });
    gates.open(gate);
    await expect.poll(async () => (await fetch(health)).status, PATIENCE).toBe(503);
    // The blocked process cannot shut down and is killed after its limit.
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([1, null]);
  });

  it("an error at startup is printed once and ends the primary", TIMEOUT, async () => {
    await project.put("graph.ts", "throw new Error('no graph today');\nexport const graph = 1;\n");
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts:graph" },
      ...settings({ processes: 2 }),
    });
    const server = new Processes("start");
    const [code] = await server.exit;
    const alone = new Processes("start --processes 1");
    expect(code).toBe((await alone.exit)[0]);
    expect(code).not.toBe(0);
    expect(server.log).toBe(alone.log);
    expect(server.log).toContain("no graph today");
  });

  withRedis("with a queue and frames in redis", (redis) => {
    it("api processes and worker processes share runs", TIMEOUT, async () => {
      const shared = settings({ queue: "postgres", stream: "redis", stream_uri: redis.uri });
      const api = await Processes.start(shared, "start --role api --processes 2");
      const workers = await Processes.start(shared, "worker --processes 2");
      const names = [newId(), newId(), newId(), newId()];
      const runs = [];
      for (const name of names) runs.push(await api.begin(name));
      await Promise.all(names.map((name) => api.pidAt(name)));
      names.forEach((name) => gates.open(name));
      for (const run of runs) expect(await api.ended(run)).toMatchObject({ status: "success" });
      workers.child.kill("SIGTERM");
      api.child.kill("SIGTERM");
      expect(await Promise.all([api.exit, workers.exit])).toEqual([
        [0, null],
        [0, null],
      ]);
    });
  });
});

withRedis("frames in redis", (redis) => {
  withMongodb("processes on mongodb", (mongodb) => {
    it("a client that reconnects to another process receives every frame once", TIMEOUT, () =>
      reconnects({
        checkpointer_scheme: "mongodb",
        checkpointer_uri: mongodb().uri,
        stream: "redis",
        stream_uri: redis.uri,
      }),
    );
  });
});
