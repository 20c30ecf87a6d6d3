/** Unhandled errors and calls of process.exit, in commands that run in their own process. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/support/ids.js";
import { client } from "../helpers/app.js";
import { installPackage } from "../helpers/compiled.js";
import { PATIENCE } from "../helpers/server-processes.js";
import { createProject, type Project } from "./harness.js";

/** Does what the input requests, then waits for the abort signal or returns immediately. */
const loose = `
import { AsyncResource } from "node:async_hooks";
import { Annotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ does: Annotation<string>, waits: Annotation<boolean>, done: Annotation<string> });

const does = {
  reject: () => void Promise.reject(new RangeError("never awaited")),
  exit: () => process.exit(7),
  exitAndCatch: () => { try { process.exit(7); } catch {} },
  throw: () => void setTimeout(() => { throw new RangeError("thrown by a timer"); }),
  rejectLater: () => {
    const reject = AsyncResource.bind(() => void Promise.reject(new RangeError("long after the run")));
    process.once("SIGUSR2", reject);
  },
};

export const graph = new StateGraph(State)
  .addNode("work", async (state, config) => {
    does[state.does]?.();
    if (state.waits) await new Promise((resolve) => config.signal.addEventListener("abort", resolve));
    return { done: "yes" };
  })
  .addEdge(START, "work")
  .compile();
`;

const withoutTypes = (code: string) => code.replaceAll(/<\w+>/g, "");

let installed: string;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => rm(installed, { recursive: true, force: true }));

let project: Project;
let children: ChildProcess[] = [];
beforeEach(async () => {
  project = await createProject({ "loose.ts": loose });
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  await project.remove();
});

function graphServe(...argv: string[]): ChildProcess {
  const child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), ...argv], {
    cwd: project.dir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  return child;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

async function finish(child: ChildProcess): Promise<Ended> {
  const exit = once(child, "exit") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), exit]);
  return { code, stdout, stderr };
}

interface LogLine {
  level: number;
  msg: string;
  err?: { message: string; stack: string };
  run_id?: string;
  url?: string;
}

/** A server in its own process, and its log so far. */
class Started {
  readonly child: ChildProcess;
  readonly exit: Promise<unknown[]>;
  log = "";

  constructor(command: string, { graph = "./loose.ts", flags = [] as string[] } = {}) {
    this.child = graphServe(command, graph, "-p", "0", ...flags);
    // "close" comes after the last line of the log, "exit" can come before.
    this.exit = once(this.child, "close");
    this.child.stderr!.on("data", (chunk) => (this.log += String(chunk)));
  }

  async api() {
    await expect.poll(() => this.log, PATIENCE).toMatch(/http:\/\/[\d.]+:\d+/);
    return client(/http:\/\/[\d.]+:\d+/.exec(this.log)![0]);
  }

  get lines(): LogLine[] {
    return this.log
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Resolves with the first matching line: a response can arrive before the log. */
  async line(passes: (line: LogLine) => boolean): Promise<LogLine> {
    await expect.poll(() => this.lines.some(passes), PATIENCE).toBe(true);
    return this.lines.find(passes) as LogLine;
  }
}

const body = (input: object) => ({ assistant_id: "loose", input, if_not_exists: "create" });

describe("an unhandled rejection", () => {
  it("the run that caused it fails, and the server keeps running", async () => {
    const server = new Started("start");
    const { request } = await server.api();
    const bystander = newId();
    const other = request("POST", `/threads/${bystander}/runs/wait`, body({ does: "rejectLater" }));
    const thread = newId();
    const answer = await request("POST", `/threads/${thread}/runs`, body({ does: "reject", waits: true }));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: "error", error: "never awaited" });
    expect((await other).body).toMatchObject({ done: "yes" });
    expect((await request("GET", `/threads/${thread}`)).body).toMatchObject({ status: "error" });
    const logged = await server.line(({ msg }) => msg === "unhandled error in a graph");
    const { run_id } = answer.body as { run_id: string };
    expect(logged).toMatchObject({ level: 50, run_id, err: { message: "never awaited" } });
    server.child.kill("SIGUSR2");
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([0, null]);
  });

  it("a rejection after the end of its run is logged with the run and does not change it", async () => {
    const server = new Started("start");
    const { request } = await server.api();
    const thread = newId();
    const answer = await request("POST", `/threads/${thread}/runs`, body({ does: "rejectLater" }));
    const { run_id } = answer.body as { run_id: string };
    expect(answer.body).toMatchObject({ status: "success" });
    server.child.kill("SIGUSR2");
    expect(await server.line(({ err }) => err !== undefined)).toMatchObject({ run_id });
    const row = await request("GET", `/threads/${thread}/runs/${run_id}`);
    expect(row.body).toMatchObject({ status: "success", error: null });
  });

  it("a rejection is counted in the metrics", async () => {
    await project.put("graph-server.config.json", { metrics: true });
    const server = new Started("start");
    const { request } = await server.api();
    await request("POST", `/threads/${newId()}/runs`, body({ does: "reject", waits: true }));
    const { text: figures } = await request("GET", "/metrics");
    expect(figures).toContain('graph_serve_unhandled_errors_total{graph="loose"} 1');
  });

  it("a rejection during import does not prevent the server from starting", async () => {
    await project.put("loose.ts", `${loose}\nvoid Promise.reject(new Error("at import"));\n`);
    const server = new Started("start");
    const { request } = await server.api();
    expect((await request("GET", "/ok")).status).toBe(200);
    const logged = await server.line(({ err }) => err !== undefined);
    expect(logged).toMatchObject({ level: 50, err: { message: "at import" } });
    expect(logged).not.toHaveProperty("run_id");
  });

  it("a run in dev fails, and dev keeps running", async () => {
    const server = new Started("dev");
    const { request } = await server.api();
    const answer = await request("POST", `/threads/${newId()}/runs`, body({ does: "reject", waits: true }));
    expect(answer.body).toMatchObject({ status: "error", error: "never awaited" });
    expect((await request("GET", "/ok")).status).toBe(200);
    await expect.poll(() => server.log, PATIENCE).toContain("unhandled error in a graph");
  });

  it("the run of the run command fails", async () => {
    const input = JSON.stringify({ does: "reject", waits: true });
    const { code, stdout } = await finish(graphServe("run", "./loose.ts", "-i", input, "--json"));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "error",
      error: { message: "RangeError: never awaited" },
    });
  });

  it("only the test case that caused it fails", async () => {
    await project.put(
      "loose.graph.yaml",
      `graph: ./loose.ts
cases:
  - { name: loose, input: { does: reject, waits: true }, expect: { status: success } }
  - { name: sound, input: { does: nothing }, expect: { status: success } }
`,
    );
    const { code, stdout } = await finish(graphServe("test", "--reporter", "json"));
    expect(code).toBe(1);
    const { cases } = JSON.parse(stdout) as { cases: { name: string; status: string }[] };
    expect(cases.map(({ name, status }) => [name, status])).toEqual([
      ["loose", "failed"],
      ["sound", "passed"],
    ]);
  });

  it("a rejection outside a run is printed, and the command finishes with code 1", async () => {
    await project.put("loose.ts", `${loose}\nvoid Promise.reject(new Error("at import"));\n`);
    const { code, stdout, stderr } = await finish(graphServe("run", "./loose.ts", "-i", "{}", "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ status: "success" });
    expect(stderr).toContain("error  unhandled error\n       Error: at import");
    expect(code).toBe(1);
  });
});

describe("an uncaught exception", () => {
  it("the run that caused it fails, and the server shuts down gracefully", async () => {
    const server = new Started("start", { flags: ["--shutdown-grace", "5"] });
    const { request } = await server.api();
    const answer = await request("POST", `/threads/${newId()}/runs`, body({ does: "throw", waits: true }));
    expect(answer.body).toMatchObject({ status: "error", error: "thrown by a timer" });
    expect(await server.exit).toEqual([70, null]);
    const { run_id } = answer.body as { run_id: string };
    expect(server.lines.find(({ err }) => err)).toMatchObject({ run_id });
    const said = server.lines.map(({ msg }) => msg);
    expect(said).toContain("stopping");
    expect(said.at(-1)).toBe("stopped");
  });

  it("the run of the run command fails", async () => {
    const input = JSON.stringify({ does: "throw", waits: true });
    const { code, stdout } = await finish(graphServe("run", "./loose.ts", "-i", input, "--json"));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { message: "RangeError: thrown by a timer" } });
  });
});

describe("an uncaught exception outside a run", () => {
  it("an exception from a timer started on import ends a waiting command", async () => {
    const late = 'setTimeout(() => { throw new RangeError("late"); });';
    await project.put("loose.ts", `${loose}\n${late}\n`);
    const input = JSON.stringify({ does: "nothing", waits: true });
    const { code, stdout } = await finish(graphServe("run", "./loose.ts", "-i", input, "--json"));
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        message: "unhandled error\nRangeError: late",
        file: join(project.dir, "loose.ts"),
        line: loose.split("\n").length + 1,
      },
    });
    expect(code).toBe(1);
    const shown = await finish(graphServe("run", "./loose.ts", "-i", input));
    expect(shown.stderr).toMatch(/RangeError: late\n +at +loose\.ts:\d+:\d+\n/);
    expect(shown.stderr).toContain(`> ${loose.split("\n").length + 1} | ${late}`);
    expect(shown.code).toBe(1);
  });
});

describe("an uncaught exception outside a run, in a server", () => {
  it.each([["./loose.ts"], ["./loose.mjs"]])(
    "a timer that throws after the import of %s shuts the server down",
    async (graph) => {
      const late = 'process.once("SIGUSR2", () => setTimeout(() => { throw new RangeError("late"); }));';
      await project.put("loose.ts", `${loose}\n${late}\n`);
      await project.put("loose.mjs", `${withoutTypes(loose)}\n${late}\n`);
      const server = new Started("start", { graph });
      await server.api();
      server.child.kill("SIGUSR2");
      expect(await server.exit).toEqual([70, null]);
      const logged = server.lines.find(({ err }) => err);
      expect(logged).toMatchObject({ msg: "unhandled error in a graph", err: { message: "late" } });
      expect(logged).not.toHaveProperty("run_id");
    },
  );
});

describe("process.exit in a graph", () => {
  const message = "process.exit(7) was called, which a graph must not do";
  const line = loose.split("\n").findIndex((row) => row.includes("exit: ()")) + 1;

  it.each(["start", "dev"])(
    "a call in a node fails its run, is logged with its location, and %s keeps running",
    async (command) => {
      const server = new Started(command);
      const { request } = await server.api();
      const thread = newId();
      for (const does of ["exit", "exitAndCatch"]) {
        const answer = await request("POST", `/threads/${thread}/runs`, body({ does, waits: true }));
        expect(answer.body).toMatchObject({ status: "error", error: message });
      }
      expect((await request("GET", `/threads/${thread}/runs`)).body).toHaveLength(2);
      await expect.poll(() => server.log, PATIENCE).toContain(`loose.ts:${line}`);
      server.child.kill("SIGTERM");
      expect(await server.exit).toEqual([0, null]);
    },
  );

  it("a call in a node fails the run of the run command", async () => {
    const input = JSON.stringify({ does: "exit" });
    const { code, stdout, stderr } = await finish(graphServe("run", "./loose.ts", "-i", input, "--json"));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { message: `ProcessExit: ${message}` } });
    expect(stderr).toContain(`warn  loose.ts:${line}: ${message}\n`);
  });

  it("a call in a node fails only its test case", async () => {
    await project.put(
      "loose.graph.yaml",
      `graph: ./loose.ts
cases:
  - { name: leaving, input: { does: exit }, expect: { status: success } }
  - { name: sound, input: { does: nothing }, expect: { status: success } }
`,
    );
    const { code, stdout, stderr } = await finish(graphServe("test", "--reporter", "json"));
    expect(code).toBe(1);
    const { cases } = JSON.parse(stdout) as { cases: { name: string; status: string }[] };
    expect(cases.map(({ name, status }) => [name, status])).toEqual([
      ["leaving", "failed"],
      ["sound", "passed"],
    ]);
    expect(stderr).toContain(`loose.ts:${line}: ${message}`);
  });

  const atImport = `${loose}\nprocess.exit(7);\n`;
  const place = `loose.ts:${atImport.split("\n").length - 1}`;

  it.each([
    ["start", "./loose.ts"],
    ["run", "./loose.ts", "-i", "{}"],
    ["test", "loose.graph.yaml"],
  ])("a call on import is an error with its location: %s", async (...argv) => {
    await project.put("loose.ts", atImport);
    await project.put("loose.graph.yaml", "graph: ./loose.ts\ncases: [{ name: one, input: {} }]\n");
    const { code, stderr, stdout } = await finish(graphServe(...argv));
    expect(code).toBe(2);
    const said = stderr + stdout;
    expect(said).toContain("./loose.ts throws when it is imported");
    expect(said).toContain(message);
    expect(said).toContain(place);
  });

  it("a call on import of a native ES module is an error with its location", async () => {
    await project.put("loose.mjs", "export const graph = 1;\nprocess.exit();\n");
    const { code, stderr } = await finish(graphServe("run", "./loose.mjs", "-i", "{}"));
    expect(code).toBe(2);
    expect(stderr).toContain("process.exit() was called");
    expect(stderr).toContain("loose.mjs:2");
  });

  const awaiting = "await new Promise((resolve) => setTimeout(resolve));\n";
  // An exception that a timer does not catch stops the server.
  const later = "setTimeout(() => { try { process.exit(7); } catch {} });\n";
  const leaving = "export const graph = 1;\nprocess.exit(7);\n";

  it.each([
    ["after a top-level await", "mjs", awaiting + leaving, 3],
    ["after a top-level await", "ts", awaiting + leaving, 3],
    ["after an import that awaits at top level", "mjs", `import "./awaiting.mjs";\n${leaving}`, 3],
    ["after an import that awaits at top level", "ts", `import "./awaiting.mjs";\n${leaving}`, 3],
    ["in an imported file, after a top-level await", "mjs", 'export * from "./leaving.mjs";\n', 3],
  ])("a call %s is an error with its location: .%s", async (_, extension, code, row) => {
    await project.put("awaiting.mjs", awaiting);
    await project.put("leaving.mjs", awaiting + leaving);
    await project.put(`loose.${extension}`, code);
    const { code: exitCode, stderr } = await finish(graphServe("start", `./loose.${extension}`, "-p", "0"));
    expect(stderr).toContain(message);
    expect(stderr).toMatch(new RegExp(`(loose|leaving)\\.${extension}:${row}`));
    expect(exitCode).toBe(2);
  });

  it("a call on import keeps dev running", async () => {
    await project.put("loose.ts", atImport);
    const server = new Started("dev");
    const { request } = await server.api();
    await expect.poll(() => server.log, PATIENCE).toContain(place);
    expect((await request("GET", "/ok")).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([0, null]);
  });

  it.each([
    ["in a promise", "ts", "void new Promise((r) => setTimeout(r)).then(() => process.exit(7));"],
    ["in a timer", "ts", later],
    ["in a timer", "mjs", later],
    ["in a timer after a top-level await", "ts", awaiting + later],
    ["in a timer after a top-level await", "mjs", awaiting + later],
    ["in a timer of an imported file", "mjs", 'import "./late.mjs";'],
    ["in a timer, after an import that awaits at top level", "mjs", `import "./awaiting.mjs"; ${later}`],
  ])("a call after the import, %s, is logged, and the server keeps running: .%s", async (_, ext, code) => {
    await project.put("awaiting.mjs", awaiting);
    await project.put("late.mjs", later);
    await project.put(`loose.${ext}`, `${ext === "ts" ? loose : withoutTypes(loose)}\n${code}\n`);
    const server = new Started("start", { graph: `./loose.${ext}` });
    const { request } = await server.api();
    await server.line(
      ({ msg, err }) => msg === "a graph tried to exit the process" && err?.message === message,
    );
    expect((await request("GET", "/ok")).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([0, null]);
  });
});
