/** What holds for every command of the program; a command that is not in the table fails here. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../../src/service.js";
import { newId } from "../../../src/support/ids.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { readHelp, type CommandHelp } from "../../helpers/cli-help.js";
import { cli, startCli, type CliOptions } from "../harness.js";
import { GRAPHS } from "../sources/every-kind.js";
import { CONTROL, createProjectOfCommands } from "./project.js";
import { entries, type Entry, type Ids } from "./table.js";

const SHAPES = entries({ threads: {} } as Ids);
const NAMES = Object.keys(SHAPES);

/** Without ids, what would name a thread of its own is missing or `undefined`. */
const takesThread = (name: string): boolean => /null|undefined/.test(JSON.stringify(SHAPES[name]));

let project: Awaited<ReturnType<typeof createProjectOfCommands>>;
let help: CommandHelp[];
/** Threads that a command has for itself. */
const own = new Map<string, { thread: string; ownRun: string }[]>();
/** A command that takes its thread away needs another one each time. */
const SPARE = 8;
beforeAll(async () => {
  project = await createProjectOfCommands();
  const service = await openService({
    cwd: project.project.dir,
    graphs: { ...GRAPHS, hostile: "./hostile.ts" },
    settings: { checkpointer_scheme: "sqlite", checkpointer_uri: ".graph-serve/dev.db" },
  });
  const file = JSON.parse(await readFile(join(project.project.dir, "thread.json"), "utf8")) as ThreadFile;
  const restore = async () => {
    const { thread_id } = await service.threads.restore(file, newId());
    const [last] = await service.runs.list(thread_id, { limit: 1 });
    return { thread: thread_id, ownRun: last?.run_id ?? "" };
  };
  for (const name of NAMES.filter(takesThread)) {
    const count = name === "threads delete" ? SPARE : 1;
    own.set(name, await Promise.all(Array.from({ length: count }, restore)));
  }
  await service.close(0);
  help = await readHelp();
}, 120_000);
afterAll(async () => {
  await project.project.remove();
});

/** How the command is called, on a thread of its own that it may change. */
const entryOf = (name: string): Entry => {
  const { threads, run, fork } = project;
  const threadsOfIt = own.get(name) ?? [{ thread: "", ownRun: "" }];
  const one = threadsOfIt.length > 1 ? threadsOfIt.pop()! : threadsOfIt[0]!;
  return entries({ threads, run, fork, ...one })[name]!;
};

const call = (name: string, argv: string[], options: CliOptions = {}) =>
  cli([...name.split(" "), ...argv], { cwd: project.project.dir, ...options });

/** The arguments for one more time. */
const again = (name: string, argv: string[]): string[] => (name === "init" ? [...argv, "--force"] : argv);

interface Failure {
  error: { code: string; message: string };
}

it("the table holds every command, and no other", () => {
  const commands = help.filter(({ name, commands: below }) => name !== "" && below.length === 0);
  expect(NAMES.slice().sort()).toEqual(commands.map(({ name }) => name).sort());
});

describe.each(NAMES)("%s", (name) => {
  it("says what it does, with examples", () => {
    const { usage, description, examples } = help.find((command) => command.name === name)!;
    expect(usage).toContain(`graph-serve ${name}`);
    expect(description).toMatch(/^[A-Z].*\.$/);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toMatch(new RegExp(`^graph-serve ${name}( |$)`));
  });

  it("fits its help into 80 columns", async () => {
    const { stdout } = await call(name, ["--help"], { columns: 80 });
    const [beforeExamples = ""] = stdout.split("\nExamples:");
    const long = beforeExamples.split("\n").filter((line) => line.length > 80 && /\s\S+\s/.test(line.trim()));
    expect(long).toEqual([]);
  });

  it("answers with one document", async () => {
    const { succeeds, noDocument } = entryOf(name);
    if (!succeeds || noDocument !== undefined) return;
    const { code, stdout, stderr } = await call(name, [...succeeds, "--json"]);
    expect({ code, stderr: code === 0 ? "" : stderr + stdout }).toEqual({ code: 0, stderr: "" });
    expect(typeof JSON.parse(stdout)).toBe("object");
  });

  it("answers with an empty list where there is nothing", async () => {
    const { empty } = entryOf(name);
    if (!empty) return;
    const { code, stdout } = await call(name, [...empty, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: [] }]);
    const { code: lines, stdout: none } = await call(name, [...empty, "--jsonl"]);
    expect([lines, none]).toEqual([0, ""]);
  });

  it("ends with 4 where something is missing", async () => {
    const { missing } = entryOf(name);
    if (!missing) return;
    const { code, stdout } = await call(name, [...missing, "--json"]);
    expect(code).toBe(4);
    expect((JSON.parse(stdout) as Failure).error.code).toMatch(
      /^(thread|run|checkpoint|cron|webhook)_not_found$/,
    );
    const text = await call(name, missing);
    expect([text.code, text.stdout]).toEqual([4, ""]);
    expect(text.stderr).toMatch(/^error {2}\S/m);
  });

  it("refuses bad input with 2", async () => {
    const { bad } = entryOf(name);
    for (const argv of [bad, ["--no-such-flag"]]) {
      const { code, stdout } = await call(name, [...argv, "--json"]);
      expect({ argv, code, stdout }).toMatchObject({ code: 2 });
      const { error } = JSON.parse(stdout) as Failure;
      expect({ code: typeof error.code, message: error.message.length > 0 }).toEqual({
        code: "string",
        message: true,
      });
      const text = await call(name, argv);
      expect({ argv, code: text.code, stdout: text.stdout }).toEqual({ argv, code: 2, stdout: "" });
      expect(text.stderr).toMatch(/^error {2}\S/m);
    }
  });

  it("writes no escape byte in a pipe", async () => {
    const { succeeds, bad } = entryOf(name);
    for (const argv of [...(succeeds ? [again(name, succeeds)] : []), bad]) {
      const { stdout, stderr } = await call(name, argv);
      expect({ argv, control: CONTROL.exec(stdout + stderr) }).toEqual({ argv, control: null });
    }
  });

  it.each([40, 80])("fits into %i columns, and writes no escape byte with NO_COLOR", async (columns) => {
    const { succeeds, isData, bad } = entryOf(name);
    const terminal = { isTTY: true, columns, env: { NO_COLOR: "1" } };
    for (const argv of [...(succeeds ? [again(name, succeeds)] : []), bad]) {
      const { code, stdout, stderr } = await call(name, argv, terminal);
      // A line that is drawn anew on a terminal is wiped first, whatever the colours.
      const notes = stderr.replaceAll("\r\u001b[K", "");
      expect({ argv, control: CONTROL.exec(stdout + notes) }).toEqual({ argv, control: null });
      if (argv === bad || isData !== undefined) continue;
      expect(code).toBe(0);
      expect(stdout.split("\n").filter((line) => line.length > columns)).toEqual([]);
    }
  });
});

it.each(["dev", "start"])("%s writes no escape byte in a pipe", async (name) => {
  const running = startCli([name, "-p", "0"], { cwd: project.project.dir });
  const listening = /http:\/\/127\.0\.0\.1:\d+/;
  await Promise.race([running.stderr.until(listening), running.stdout.until(listening)]);
  running.stop();
  expect(await running.exit).toBe(0);
  expect(CONTROL.exec(running.stdout.text + running.stderr.text)).toBeNull();
});
