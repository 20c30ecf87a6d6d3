/** Checks that apply to every command. A command missing from the table fails here. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../../helpers/with-sqlite.js";
import { openService } from "../../../src/service/open.js";
import { newId } from "../../../src/support/ids.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { readHelp, type CommandHelp } from "../../helpers/cli-help.js";
import { cli, startCli, type CliOptions } from "../harness.js";
import { GRAPHS } from "../sources/every-kind.js";
import { CONTROL, createProjectOfCommands } from "./project.js";
import { entries, type Entry, type Ids } from "./table.js";

const SHAPES = entries({ threads: {} } as Ids);
const NAMES = Object.keys(SHAPES);

/** True if the command takes a thread: without ids, its arguments contain `null` or "undefined". */
const takesThread = (name: string): boolean => /null|undefined/.test(JSON.stringify(SHAPES[name]));

let project: Awaited<ReturnType<typeof createProjectOfCommands>>;
let help: CommandHelp[];
/** Threads reserved for each command. */
const own = new Map<string, { thread: string; ownRun: string }[]>();
/** Number of threads for `threads delete`, which uses up one per call. */
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

/** The table entry of the command, with a thread of its own that it may change. */
const entryOf = (name: string): Entry => {
  const { threads, run, fork } = project;
  const threadsOfIt = own.get(name) ?? [{ thread: "", ownRun: "" }];
  const one = threadsOfIt.length > 1 ? threadsOfIt.pop()! : threadsOfIt[0]!;
  return entries({ threads, run, fork, ...one })[name]!;
};

const call = (name: string, argv: string[], options: CliOptions = {}) =>
  cli([...name.split(" "), ...argv], { cwd: project.project.dir, ...options });

/** The arguments for a repeated call. */
const again = (name: string, argv: string[]): string[] => (name === "init" ? [...argv, "--force"] : argv);

interface Failure {
  error: { code: string; message: string };
}

it("the table lists exactly the commands of the program", () => {
  const commands = help.filter(({ name, commands: below }) => name !== "" && below.length === 0);
  expect(NAMES.slice().sort()).toEqual(commands.map(({ name }) => name).sort());
});

describe.each(NAMES)("%s", (name) => {
  it("the help has a description and examples", () => {
    const { usage, description, examples } = help.find((command) => command.name === name)!;
    expect(usage).toContain(`graph-serve ${name}`);
    expect(description).toMatch(/^[A-Z].*\.$/);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toMatch(new RegExp(`^graph-serve ${name}( |$)`));
  });

  it("the help fits 80 columns", async () => {
    const { stdout } = await call(name, ["--help"], { columns: 80 });
    const [beforeExamples = ""] = stdout.split("\nExamples:");
    const long = beforeExamples.split("\n").filter((line) => line.length > 80 && /\s\S+\s/.test(line.trim()));
    expect(long).toEqual([]);
  });

  it("--json prints one document", async () => {
    const { succeeds, noDocument } = entryOf(name);
    if (!succeeds || noDocument !== undefined) return;
    const { code, stdout, stderr } = await call(name, [...succeeds, "--json"]);
    expect({ code, stderr: code === 0 ? "" : stderr + stdout }).toEqual({ code: 0, stderr: "" });
    expect(typeof JSON.parse(stdout)).toBe("object");
  });

  it("--json prints an empty list if there are no results", async () => {
    const { empty } = entryOf(name);
    if (!empty) return;
    const { code, stdout } = await call(name, [...empty, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: [] }]);
    const { code: lines, stdout: none } = await call(name, [...empty, "--jsonl"]);
    expect([lines, none]).toEqual([0, ""]);
  });

  it("a missing resource exits with code 4", async () => {
    const { missing } = entryOf(name);
    if (!missing) return;
    const { code, stdout } = await call(name, [...missing, "--json"]);
    expect(code).toBe(4);
    expect((JSON.parse(stdout) as Failure).error.code).toMatch(
      /^(thread|run|checkpoint|cron|webhook|assistant)_not_found$/,
    );
    const text = await call(name, missing);
    expect([text.code, text.stdout]).toEqual([4, ""]);
    expect(text.stderr).toMatch(/^error {2}\S/m);
  });

  it("bad input exits with code 2", async () => {
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

  it("output to a pipe contains no control characters", async () => {
    const { succeeds, bad } = entryOf(name);
    for (const argv of [...(succeeds ? [again(name, succeeds)] : []), bad]) {
      const { stdout, stderr } = await call(name, argv);
      expect({ argv, control: CONTROL.exec(stdout + stderr) }).toEqual({ argv, control: null });
    }
  });

  it.each([40, 80])(
    "output fits %i columns and contains no control characters with NO_COLOR",
    async (columns) => {
      const { succeeds, isData, bad } = entryOf(name);
      const terminal = { isTTY: true, columns, env: { NO_COLOR: "1" } };
      for (const argv of [...(succeeds ? [again(name, succeeds)] : []), bad]) {
        const { code, stdout, stderr } = await call(name, argv, terminal);
        // Progress lines on a terminal start with an erase sequence, with or without colours.
        const notes = stderr.replaceAll("\r\u001b[K", "");
        expect({ argv, control: CONTROL.exec(stdout + notes) }).toEqual({ argv, control: null });
        if (argv === bad || isData !== undefined) continue;
        expect(code).toBe(0);
        expect(stdout.split("\n").filter((line) => line.length > columns)).toEqual([]);
      }
    },
  );
});

it.each(["dev", "start"])("%s writes no control characters to a pipe", async (name) => {
  const running = startCli([name, "-p", "0"], { cwd: project.project.dir });
  const listening = /http:\/\/127\.0\.0\.1:\d+/;
  await Promise.race([running.stderr.until(listening), running.stdout.until(listening)]);
  running.stop();
  expect(await running.exit).toBe(0);
  expect(CONTROL.exec(running.stdout.text + running.stderr.text)).toBeNull();
});
