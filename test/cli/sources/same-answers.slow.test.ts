/**
 * One set of threads in every place: each command answers with the same bytes, the same exit code, wherever it reads.
 *
 * What cannot be the same, and is compared no further than this says:
 * - `export` from a server holds no "checkpoints": the interface shows states only. The rest of the file is the same.
 * - What a failed run threw, and where, is kept with it alone: no server tells it, no file of `export` holds it.
 * - `--raw`, `import`, `recover` and `doctor` are of the storage itself: there is no `--url` to compare with; `doctor`
 *   tells of this one storage by its nature.
 * - A thread that is imported lives on without its `ttl`: what was kept as evidence must not be swept.
 * - Ids and times that a command makes up differ; they are numbered before answers are compared.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/http/server.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { withMongodb } from "../../helpers/mongodb.js";
import { withPostgres } from "../../helpers/postgres.js";
import { cli, type CliResult } from "../harness.js";
import { changes, Made, readings } from "./answers.js";
import { createEveryKind, KINDS, type EveryKind } from "./every-kind.js";
import { importEvery, offlineAt, serveAt, type Run } from "./places.js";

/** Some hundred commands, each of which loads its graphs. */
const LONG = 240_000;

let every: EveryKind;
/** Where the threads were made. */
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

/** The same answer without what a run threw. */
const withoutFault = (result: CliResult): CliResult => ({
  ...result,
  stdout: result.stdout.replace(/,\n {2}"fault": \{[^]*?\n {2}\}/, ""),
});

/** Answers of a server are those of its storage, but for the checkpoints in files. */
const withoutCheckpoints = (argv: readonly string[], result: CliResult): CliResult =>
  argv[0] === "export" && result.code === 0
    ? { ...result, stdout: result.stdout.replace(/,\n"checkpoints": \[[^]*/, "}\n") }
    : result;

async function expectSameReadings(run: Run, viaServer = false): Promise<void> {
  for (const argv of readings(every)) {
    const expected = answers.get(argv.join(" "))!;
    const wanted = withoutFault(viaServer ? withoutCheckpoints(argv, expected) : expected);
    expect({ argv, ...(await run(...argv, "--json", "-q")) }).toEqual({ argv, ...wanted });
  }
}

describe("where the threads were made", () => {
  it("every answer is a document", () => {
    for (const [command, { stdout, stderr }] of answers) {
      expect({ command, stderr }).toEqual({ command, stderr: "" });
      expect(() => JSON.parse(stdout) as unknown, command).not.toThrow();
    }
  });

  it("all exit codes are met", () => {
    expect(new Set([...answers.values()].map(({ code }) => code))).toEqual(new Set([0, 1, 2, 4]));
  });
});

describe("changed in one place", () => {
  /** The answers where nothing but SQLite is in play. */
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
    for (const argv of changes(every)) found.push(made.numbered(await run(...argv, "--json", "-q")));
    return found;
  }

  async function expectSameChanges(run: Run): Promise<void> {
    const found = await answersTo(run);
    for (const [place, argv] of changes(every).entries())
      expect({ argv, ...found[place] }).toEqual({ argv, ...changed[place] });
  }

  it("every change is answered", () => {
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

    it("answers as the storage does", { timeout: LONG }, () => expectSameReadings(run, true));

    it("exports the thread it was asked for", async () => {
      for (const kind of KINDS) {
        const { stdout } = await run("export", every.threads[kind]);
        expect((JSON.parse(stdout) as ThreadFile).thread.thread_id).toBe(every.threads[kind]);
      }
    });

    it("changes as the storage does", { timeout: LONG }, () => expectSameChanges(run));
  });

  withPostgres("PostgreSQL", (postgres) => {
    let run: Run;
    beforeAll(async () => {
      const { max_queued_runs: _, ...storage } = postgres.options();
      run = await offlineAt(every, "postgres", storage);
      await importEvery(every, run);
    }, LONG);

    it("answers as SQLite does", { timeout: LONG }, () => expectSameReadings(run));
    it("changes as SQLite does", { timeout: LONG }, () => expectSameChanges(run));
  });

  withMongodb("MongoDB", (mongodb) => {
    let run: Run;
    beforeAll(async () => {
      const { max_queued_runs: _, ...storage } = mongodb().options();
      run = await offlineAt(every, "mongodb", storage);
      await importEvery(every, run);
    }, LONG);

    it("answers as SQLite does", { timeout: LONG }, () => expectSameReadings(run));
    it("changes as SQLite does", { timeout: LONG }, () => expectSameChanges(run));
  });
});
