/** Runs the examples in `--help`, with the ids of an existing thread: on a template, and on the project of a server. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import { cli, createProject, type Project, startCli } from "./harness.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const THREAD = "0198c0de-0000-7000-8000-000000000000";
const RUN = "0198c0de-0000-7000-8000-000000000001";
const CHECKPOINT = "1f0c5a3e-7b2d-6abc-8000-c0ffee000000";
const SERVER = "http://127.0.0.1:2024";

const COMMANDS = [
  "threads",
  "threads list",
  "threads create",
  "threads patch",
  "threads prune",
  "runs",
  "runs list",
  "inspect",
  "inspect thread",
  "inspect run",
  "inspect checkpoint",
  "inspect state",
  "history",
  "diff",
  // Last, because it deletes the thread.
  "threads delete",
];

/** Commands whose examples need the project or the server of the thread. */
const DEBUGGING = [
  "schemas",
  "graph",
  "doctor",
  "recover",
  "completion",
  "replay",
  "fork",
  "state set",
  "export",
  "import",
];

async function examplesOf(command: string): Promise<string[]> {
  const { code, stdout } = await cli([...command.split(" "), "--help"]);
  expect(code).toBe(0);
  const [, text = ""] = stdout.split("Examples:\n");
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** The words of a shell line without quotes, and the file that its output is redirected to. */
function wordsOf(line: string): { words: string[]; out: string | undefined } {
  const [command = "", out] = line.split(" > ");
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return { words: words.map(([, double, single, plain]) => double ?? single ?? plain ?? ""), out };
}

describe("on a template", () => {
  let project: Project;
  let server: RunningServer;
  let ids: Record<string, string>;
  beforeAll(async () => {
    project = await createProject();
    await cp(join(import.meta.dirname, "../../templates/chat"), project.dir, { recursive: true });
    const { exitCode, outcome } = await firstRun();
    expect(exitCode).toBe(0);
    const service = await openService({
      cwd: project.dir,
      graphs: { agent: "./graph.ts:graph" },
      settings: { checkpointer_scheme: "sqlite", checkpointer_uri: ".graph-serve/dev.db" },
    });
    const { checkpoint, values } = await service.state.get(outcome.thread_id);
    await project.put("expected.json", values as object);
    server = await startServer(service, { host: "127.0.0.1", port: 0 });
    ids = {
      [THREAD]: outcome.thread_id,
      [RUN]: outcome.run_id,
      [CHECKPOINT]: checkpoint?.checkpoint_id ?? "",
      [SERVER]: server.url,
    };
  });
  afterAll(async () => {
    await server.close(0);
    await project.remove();
  });

  async function firstRun() {
    const { code, stdout } = await cli(["run", "--message", "hello", "--json"], { cwd: project.dir });
    return { exitCode: code, outcome: JSON.parse(stdout) as { thread_id: string; run_id: string } };
  }

  it.each(COMMANDS)("the examples of %s work", async (command) => {
    const examples = await examplesOf(command);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const known = Object.entries(ids).reduce((text, [id, real]) => text.replaceAll(id, real), example);
      const [program, ...argv] = wordsOf(known).words;
      const { code, stderr } = await cli(argv, { cwd: project.dir });
      expect({ program, example, code, stderr: code === 0 ? "" : stderr }).toEqual({
        program: "graph-serve",
        example,
        code: 0,
        stderr: "",
      });
    }
  });

  it("the help of every command has a usage line and environment variables", async () => {
    for (const command of COMMANDS.filter((name) => name.includes(" "))) {
      const { stdout } = await cli([...command.split(" "), "--help"]);
      expect(stdout).toMatch(/^Usage: graph-serve /);
      expect(stdout).toContain("--url <url>");
      expect(stdout).toContain("GRAPH_SERVE_CHECKPOINTER_SCHEME");
    }
  });
});

describe("on the project of a server", () => {
  let project: ThreadProject;
  let url: string;
  let server: ReturnType<typeof startCli>;
  beforeAll(async () => {
    project = await createThreadProject();
    const storage = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"];
    server = startCli(["start", "-p", "0", ...storage], { cwd: project.dir });
    const address = /http:\/\/127\.0\.0\.1:\d+/;
    [url] = await Promise.race([server.stderr.until(address), server.stdout.until(address)]);
  });
  afterAll(async () => {
    server.stop();
    await server.exit;
    await project.remove();
  });

  it.each(DEBUGGING)("the examples of %s work", async (command) => {
    const examples = await examplesOf(command);
    expect(examples.length).toBeGreaterThan(0);
    await project.run(["export", project.threadId, "--out", "thread.json"]);
    for (const example of examples) {
      const { words, out } = wordsOf(example);
      const argv = words.slice(1).flatMap((word) => {
        if (word === "--step") return [];
        if (/^0198c0de/.test(word)) return word.replace(/^[^@]*/, project.threadId);
        return word.startsWith(SERVER) ? url : word;
      });
      const isOwnPlace = /^(schemas|doctor|completion)$/.test(argv[0] ?? "");
      if (example === "graph-serve import thread.json") argv.push("--as", "new");
      const result = await (isOwnPlace ? project.bare(argv) : project.run(argv));
      expect([example, result.code, result.stderr.includes("error  ")]).toEqual([example, 0, false]);
      if (out !== undefined) await project.put(out, result.stdout);
    }
  });
});
