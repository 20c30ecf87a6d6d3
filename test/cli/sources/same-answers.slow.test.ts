/**
 * The same threads in every source: each command prints the same bytes and exits with the same code everywhere.
 *
 * Known differences, excluded from the comparison:
 * - `export` from a server has no "checkpoints", because the API returns only states. The rest of the file is the same.
 * - Error details of a failed run are stored only with the run: neither the API nor files of `export` contain them.
 * - `--raw`, `import`, `recover` and `doctor` work on the storage itself and have no `--url`; the output of `doctor`
 *   depends on the storage.
 * - An imported thread loses its `ttl`, because a thread kept as evidence must not expire.
 * - An error for an object that does not exist names the storage or server, and the command that lists what it has.
 * - Ids and times created by a command differ; they are numbered before the comparison.
 */
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../../helpers/with-sqlite.js";
import type { RunningServer } from "../../../src/http/listen.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { withMongodb } from "../../helpers/mongodb.js";
import { withPostgres } from "../../helpers/postgres.js";
import { cli, type CliResult } from "../harness.js";
import { changes, Made, readings } from "./answers.js";
import { createEveryKind, KINDS, type EveryKind } from "./every-kind.js";
import { importEvery, offlineAt, serveAt, type Run } from "./places.js";

/** Timeout in milliseconds for about a hundred commands, each of which loads its graphs. */
const LONG = 240_000;

let every: EveryKind;
/** Runs a command on the storage in which the threads were created. */
let origin: Run;
let known: string;
const answers = new Map<string, CliResult>();

beforeAll(async () => {
  every = await createEveryKind();
  origin = (...argv) => cli(argv, { cwd: every.project.dir });
  const files = KINDS.map(async (kind) => (await origin("export", every.threads[kind], "--raw")).stdout);
  known = (await Promise.all(files)).join("\n");
  for (const argv of readings(every)) answers.set(argv.join(" "), await origin(...argv, "--json", "-q"));
}, LONG);
afterAll(() => every.project.remove());

/** The result without the error details of a failed run. */
const withoutFault = (result: CliResult): CliResult => ({
  ...result,
  stdout: result.stdout.replace(/,\n {2}"fault": \{[^]*?\n {2}\}/, ""),
});

/** The result without the storage or server that an error names, and the flags for it. */
const withoutPlace = (result: CliResult): CliResult => ({
  ...result,
  stdout: result.stdout
    .replace(/ (in (sqlite|postgres|mongodb)|on http:)[^"]*/, "")
    .replace(/("hint": "[^"]*?graph-serve [^"]*?) --(url|config|db) [^" ]+/, "$1"),
});

/** The result without the checkpoints in an exported file, which a server does not return. */
const withoutCheckpoints = (argv: readonly string[], result: CliResult): CliResult =>
  argv[0] === "export" && result.code === 0
    ? { ...result, stdout: result.stdout.replace(/,\n"checkpoints": \[[^]*/, "}\n") }
    : result;

async function expectSameReadings(run: Run, viaServer = false): Promise<void> {
  for (const argv of readings(every)) {
    const expected = answers.get(argv.join(" "))!;
    const wanted = withoutFault(viaServer ? withoutCheckpoints(argv, expected) : expected);
    const found = await run(...argv, "--json", "-q");
    expect({ argv, ...withoutPlace(found) }).toEqual({ argv, ...withoutPlace(wanted) });
  }
}

describe("the original storage", () => {
  it("every command prints a JSON document", () => {
    for (const [command, { stdout, stderr }] of answers) {
      expect({ command, stderr }).toEqual({ command, stderr: "" });
      expect(() => JSON.parse(stdout) as unknown, command).not.toThrow();
    }
  });

  it("the commands cover all exit codes", () => {
    expect(new Set([...answers.values()].map(({ code }) => code))).toEqual(new Set([0, 1, 2, 4]));
  });
});

describe("commands that change data", () => {
  /** The results on SQLite, as the reference. */
  let changed: CliResult[];
  beforeAll(async () => {
    const run = await offlineAt(every, "changed", {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "./changed.db",
    });
    await importEvery(every, run);
    changed = await answersTo(run);
  }, LONG);

  async function answersTo(run: Run): Promise<CliResult[]> {
    const made = new Made(known);
    const found: CliResult[] = [];
    for (const argv of changes(every))
      found.push(withoutPlace(made.numbered(await run(...argv, "--json", "-q"))));
    return found;
  }

  async function expectSameChanges(run: Run): Promise<void> {
    const found = await answersTo(run);
    for (const [place, argv] of changes(every).entries())
      expect({ argv, ...found[place] }).toEqual({ argv, ...changed[place] });
  }

  it("every command prints a result", () => {
    expect(changed.map(({ stderr }) => stderr).join("")).toBe("");
    expect(changed.filter(({ code }) => code === 0).length).toBeGreaterThan(15);
    expect(new Set(changed.map(({ code }) => code))).toEqual(new Set([0, 2, 4, 5]));
  });

  describe("a server", () => {
    let server: RunningServer;
    let run: Run;
    beforeAll(async () => {
      const storage = { checkpointer_scheme: "sqlite", checkpointer_uri: "./served.db" } as const;
      await importEvery(every, await offlineAt(every, "served", storage));
      server = await serveAt(every, "./served.db");
      run = (...argv) => cli([...argv, "--url", server.url], { cwd: every.project.dir });
    }, LONG);
    afterAll(() => server.close(0));

    it("read commands return the same as the storage", { timeout: LONG }, () =>
      expectSameReadings(run, true),
    );

    it("export returns the requested thread", async () => {
      for (const kind of KINDS) {
        const { stdout } = await run("export", every.threads[kind]);
        expect((JSON.parse(stdout) as ThreadFile).thread.thread_id).toBe(every.threads[kind]);
      }
    });

    it("change commands return the same as the storage", { timeout: LONG }, () => expectSameChanges(run));
  });

  withPostgres("PostgreSQL", (postgres) => {
    let run: Run;
    beforeAll(async () => {
      const { max_queued_runs: _, ...storage } = postgres.options();
      run = await offlineAt(every, "postgres", storage);
      await importEvery(every, run);
    }, LONG);

    it("read commands return the same as SQLite", { timeout: LONG }, () => expectSameReadings(run));
    it("change commands return the same as SQLite", { timeout: LONG }, () => expectSameChanges(run));
  });

  withMongodb("MongoDB", (mongodb) => {
    let run: Run;
    beforeAll(async () => {
      const { max_queued_runs: _, ...storage } = mongodb().options();
      run = await offlineAt(every, "mongodb", storage);
      await importEvery(every, run);
    }, LONG);

    it("read commands return the same as SQLite", { timeout: LONG }, () => expectSameReadings(run));
    it("change commands return the same as SQLite", { timeout: LONG }, () => expectSameChanges(run));
  });
});
