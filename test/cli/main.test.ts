import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../../src/cli/main.js";
import { VERSION } from "../../src/support/own-package.js";
import { Capture, cli, createProject, echoGraph, startCli } from "./harness.js";
import { itSqlite } from "../helpers/with-sqlite.js";

const COMMANDS = ["dev", "start", "run", "validate", "init", "config", "config print", "openapi"];

describe("version and help", () => {
  it.each([["--version"], ["-V"]])("%s prints only the version", async (flag) => {
    expect(await cli([flag])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  it("the help lists every command on stdout", async () => {
    const { code, stdout, stderr } = await cli(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const command of COMMANDS) expect(stdout).toContain(`  ${command.split(" ")[0]}`);
  });

  it.each(COMMANDS)("%s prints a description, usage and examples", async (command) => {
    const { code, stdout } = await cli([...command.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: graph-serve ${command}`);
    expect(stdout).toContain("Examples:\n  graph-serve");
    expect(stdout).toContain("--json");
  });

  it("the help command prints the same as --help", async () => {
    expect((await cli(["help", "dev"])).stdout).toBe((await cli(["dev", "--help"])).stdout);
  });

  it("the help of a setting names its environment variable", async () => {
    const { stdout } = await cli(["dev", "--help"]);
    expect(stdout.replace(/\s+/g, " ")).toContain("env GRAPH_SERVE_PORT");
  });

  it("a call without a command is a usage error", async () => {
    const { code, stdout, stderr } = await cli([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Commands:");
  });
});

describe("usage errors", () => {
  it.each([
    [["strat"], 'unknown command "strat"', "did you mean start?"],
    [["config", "prnt"], 'unknown command "prnt"', "did you mean print?"],
    [["dev", "--prot", "1"], 'unknown option "--prot"', "did you mean --port?"],
    [["dev", "--jsn"], 'unknown option "--jsn"', "did you mean --json?"],
    [["dev", "--port"], "argument missing", "see graph-serve dev --help"],
    [
      ["init", "-t", "nope"],
      "Allowed choices are chat, agent-tools, hitl, minimal",
      "graph-serve init --help",
    ],
    [["validate", "--zzzzzzzz"], 'unknown option "--zzzzzzzz"', "see graph-serve validate --help"],
  ])("%j exits with code 2 and a suggestion", async (argv, message, hint) => {
    const { code, stdout, stderr } = await cli(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error {2}/);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`  fix  ${hint.startsWith("did") || hint.startsWith("see") ? hint : "see "}`);
    expect(stderr).toContain(hint);
  });

  it.each([
    ["ls", "threads list"],
    ["logs", "runs tail"],
    ["runs logs", "runs tail"],
    ["ps", "runs list"],
    ["serve", "start"],
    ["threads show", "inspect thread"],
    ["threads ls", "threads list"],
    ["threads rm", "threads delete"],
    ["runs show", "inspect run"],
    ["runs ls", "runs list"],
    ["crons get", "crons show"],
    ["config show", "config print"],
    ["1f3c", "inspect thread 1f3c"],
    ["inspect 1f3c9d0e-", "inspect thread 1f3c9d0e-"],
    ["threads @last", "inspect thread @last"],
    ["runs 0198c0de-7000", "inspect run 0198c0de-7000"],
  ])("%s suggests %s", async (line, meant) => {
    const { code, stderr } = await cli([...line.split(" "), "0198c0de"]);
    const [, suggested = ""] = /fix {2}did you mean graph-serve (.+)\? \(/.exec(stderr) ?? [];
    expect([code, suggested]).toEqual([2, expect.stringMatching(new RegExp(`^${meant}`))]);
    expect(await cli([...suggested.split(" "), "--help"])).toMatchObject({ code: 0 });
  });

  it("a usage error with --json is a document", async () => {
    const { code, stdout, stderr } = await cli(["dev", "--prot", "1", "--json"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: "invalid_request",
        message: 'unknown option "--prot"',
        hint: "did you mean --port? (graph-serve dev --help)",
      },
    });
  });
});

it.each([
  ["threads", "--help"],
  ["threads", "list", "--help"],
])("%s %s fits a terminal without a width", async (...argv) => {
  const wide = startCli(argv, { isTTY: true, columns: 80 });
  const unknown = startCli(argv, { isTTY: true, columns: 0 });
  await Promise.all([wide.exit, unknown.exit]);
  expect(unknown.stdout.text).toBe(wide.stdout.text);
});

describe("help", () => {
  const help = async (...argv: string[]) => (await cli([...argv, "--help"])).stdout;

  it("global options are listed once, and each command refers to them", async () => {
    expect(await help()).toContain("--log-level <level>");
    for (const argv of [["dev"], ["inspect", "run"], ["config", "print"]]) {
      const text = await help(...argv);
      expect(text).not.toContain("--log-level");
      expect(text.replace(/\s+/g, " ")).toContain("for global options such as --json: graph-serve --help");
    }
  });
});

describe("the error boundary", () => {
  const io = (stdout: Capture, stderr = new Capture()) => ({
    stdout,
    stderr,
    stdin: process.stdin,
    env: {},
    cwd: process.cwd(),
  });

  it("a closed stdout ends the command without an error", async () => {
    const stdout = new Capture();
    const stderr = new Capture();
    stdout.write = () => {
      throw Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    };
    expect(await main(["config", "schema"], io(stdout, stderr))).toBe(0);
    expect(stderr.text).toBe("");
  });

  itSqlite("a file that cannot be written is an error of the user, with a fix", async () => {
    const project = await createProject({ "echo.ts": echoGraph(), ".graph-serve": "a file" });
    onTestFinished(() => project.remove());
    const blocked = await cli(["run", "./echo.ts", "--message", "hi"], { cwd: project.dir });
    expect(blocked.code).toBe(2);
    expect(blocked.stderr).toMatch(/error {2}EEXIST: .*\.graph-serve'\n {2}fix {2}rename or remove it\n/);
    const missing = await cli(["openapi", "--out", "no/folder.json", "--json"], { cwd: project.dir });
    expect(missing.code).toBe(2);
    expect(JSON.parse(missing.stdout)).toMatchObject({
      error: { code: "config_invalid", hint: "create its folder first, or check the path" },
    });
  });

  it("a day that does not exist is rejected", async () => {
    const { code, stderr } = await cli(["threads", "prune", "--older-than", "2026-02-30", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--older-than must be a date, a time or a duration, got 2026-02-30");
  });

  it("an internal error exits with code 70 and hides its stack trace", async () => {
    const stdout = new Capture();
    stdout.write = () => {
      throw new TypeError("broken pipe organ");
    };
    const stderr = new Capture();
    expect(await main(["config", "schema"], io(stdout, stderr))).toBe(70);
    expect(stderr.text).toContain("error  internal error of graph-serve: broken pipe organ");
    expect(stderr.text).toContain("--verbose");
    expect(stderr.text).not.toContain("    at ");
    const verbose = new Capture();
    expect(await main(["config", "schema", "--verbose"], io(stdout, verbose))).toBe(70);
    expect(verbose.text).toContain("    at ");
  });
});

describe("colours", () => {
  const stderrOf = async (argv: string[], env: Record<string, string>, isTTY: boolean) =>
    (await cli(["strat", ...argv], { env, isTTY })).stderr;
  const red = "\u001b[31m";

  it.each([
    ["a terminal gets colours", [], {}, true, true],
    ["a pipe gets no colours", [], {}, false, false],
    ["NO_COLOR disables colours", [], { NO_COLOR: "1" }, true, false],
    ["CI disables colours", [], { CI: "true" }, true, false],
    ["FORCE_COLOR enables colours", [], { FORCE_COLOR: "1" }, false, true],
    ["--no-color overrides FORCE_COLOR", ["--no-color"], { FORCE_COLOR: "1" }, true, false],
  ])("%s", async (_title, argv, env, isTTY, coloured) => {
    expect((await stderrOf(argv, env, isTTY)).includes(red)).toBe(coloured);
  });
});
