import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { createProject, echoGraph, startCli, type Project, type RunningCli } from "./harness.js";

let project: Project;
let running: RunningCli | undefined;
beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
});
afterEach(async () => {
  running?.stop();
  await running?.exit;
  running = undefined;
  await project.remove();
});

interface LogLine {
  level: number | string;
  msg: string;
  url?: string;
  storage?: object;
  graphs?: string[];
  path?: string;
}
const linesOf = (text: string): LogLine[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as LogLine);

async function start(...argv: string[]): Promise<RunningCli & { listening: LogLine }> {
  running = startCli(["start", "./graph.ts", "-p", "0", ...argv], { cwd: project.dir });
  await running.stderr.until(/"msg":"listening"\}\n/);
  const listening = linesOf(running.stderr.text).find(({ msg }) => msg === "listening");
  return Object.assign(running, { listening: listening as LogLine });
}

describe("start", () => {
  it("one log line has the URL, the storage and the graphs", async () => {
    const { listening, stdout } = await start();
    expect(listening).toMatchObject({ storage: { scheme: "memory" }, graphs: ["agent"] });
    expect((await fetch(`${listening.url}/ok`)).status).toBe(200);
    expect(stdout.text).toBe("");
  });

  it("a port in use is an error that names the flag for another one", async () => {
    const { listening } = await start();
    const port = Number(new URL(listening.url ?? "").port);
    const second = startCli(["start", "./graph.ts", "-p", String(port)], { cwd: project.dir });
    expect(await second.exit).toBe(2);
    expect(second.stderr.text).toContain(`error  port ${port} on 127.0.0.1 is in use`);
    expect(second.stderr.text).toContain(`such as -p ${port + 1}`);
  });

  it("every log line is JSON", async () => {
    const { listening, stderr } = await start();
    await fetch(`${listening.url}/api/health`);
    await stderr.until(/"path":"\/api\/health"[^\n]*\n/);
    expect(linesOf(stderr.text).at(-1)).toMatchObject({ path: "/api/health", status: 200, msg: "request" });
  });

  it("the line about the env file is JSON too", async () => {
    await project.put(".env", "MODEL_KEY=abc\n");
    const { stderr } = await start();
    expect(linesOf(stderr.text)[0]).toMatchObject({ level: 30, msg: "loaded variables from .env" });
  });

  it("levels are words and times are ISO 8601 if the settings say so", async () => {
    await project.put(".env", "GRAPH_SERVE_LOG_TIME_FORMAT=iso\n");
    await project.put("graph-server.config.json", { log_level_format: "word" });
    const before = new Date().toISOString();
    const { listening, stderr } = await start("--host", "0.0.0.0");
    const after = new Date().toISOString();
    expect(listening).toMatchObject({ level: "info", time: expect.stringMatching(/^\d{4}-.+Z$/) as string });
    const { time } = listening as unknown as { time: string };
    expect([before, time, after]).toEqual([before, time, after].sort());
    expect(linesOf(stderr.text).map(({ level }) => level)).toContain("warn");
  });

  it("SIGTERM triggers a graceful shutdown", async () => {
    const cli = await start("--shutdown-grace", "1");
    cli.stop("SIGTERM");
    expect(await cli.exit).toBe(0);
    const said = linesOf(cli.stderr.text).map(({ msg }) => msg);
    expect(said.slice(-2)).toEqual(["stopping", "stopped"]);
    await expect(fetch(`${cli.listening.url}/ok`)).rejects.toThrow();
  });

  it("flags are applied as settings", async () => {
    const { listening } = await start("--body-limit", "2k", "--log-level", "info");
    const body = JSON.stringify({ metadata: { text: "x".repeat(3000) } });
    expect((await fetch(`${listening.url}/threads`, { method: "POST", body })).status).toBe(413);
  });

  it("a public address logs a warning", async () => {
    const { stderr } = await start("--host", "0.0.0.0");
    const warning = linesOf(stderr.text).find(({ level }) => level === 40);
    expect(warning?.msg).toContain("without authentication");
  });

  it("a public address with API keys logs no warning", async () => {
    await project.put("graph-server.config.json", '{ "api_keys": ["key-of-the-chat-page"] }');
    const { stderr, listening } = await start("--host", "0.0.0.0");
    expect(linesOf(stderr.text).filter(({ level }) => level === 40)).toEqual([]);
    expect((await fetch(`${listening.url}/threads/search`, { method: "POST" })).status).toBe(401);
  });

  it("an invalid setting exits with code 2", async () => {
    const cli = startCli(["start", "./graph.ts", "--run-timeout", "-1"], { cwd: project.dir });
    expect(await cli.exit).toBe(2);
    expect(cli.stderr.text).toContain("--run-timeout: run_timeout_seconds must be > 0");
  });

  it("a factory that throws prevents the start", async () => {
    await project.put(
      "factory.ts",
      'export function graph() {\n  throw new Error("no key for the model");\n}\n',
    );
    const cli = startCli(["start", "./graph.ts", "./factory.ts", "-p", "0"], { cwd: project.dir });
    expect(await cli.exit).toBe(2);
    expect(cli.stderr.text).toContain("the factory ./factory.ts:graph throws");
    expect(cli.stderr.text).toContain("no key for the model");
    expect(cli.stderr.text).toContain("at  factory.ts:2");
    expect(cli.stderr.text).not.toContain('"msg":"listening"');
  });

  itSqlite("a storage that cannot be opened exits with code 3", async () => {
    await project.put("file", "no folder");
    const flags = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./file/threads.db"];
    const cli = startCli(["start", "./graph.ts", ...flags], { cwd: project.dir });
    expect(await cli.exit).toBe(3);
    expect(cli.stderr.text).toMatch(/error {2}.*threads\.db/);
  });
});
