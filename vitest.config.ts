import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, parseCLI, type TestSpecification } from "vitest/node";

const { filter, options } = parseCLI(["vitest", ...process.argv.slice(2)]);
/** `vitest run` skips slow and browser tests unless files or projects are given. */
const isAsked = filter.length > 0 || options.project !== undefined;

/** Killed processes, database outages, threads with thousands of checkpoints, exhaustive searches. */
const SLOW = ["test/{processes,faults,deployment}/**/*.test.ts", "test/**/*.slow.test.ts"];
/** Tests that mock packages or add a browser's window to the global scope. */
const ISOLATED = ["test/**/*.isolated.test.ts"];
/** Browser tests, most of them of the Studio. */
const BROWSER = ["test/studio/**/*.test.ts", "test/**/*.browser.test.ts"];
/** Vitest applies the flag --exclude to no project that excludes files of its own. */
const NEVER = [...configDefaults.exclude, "test/fixtures/**", ...(options.exclude ?? [])];

/** Makes `createProject` in test/cli/harness.ts check that files with tests that need SQLite declare it. */
const env = { MARKS_SQLITE: "true" };

const quick = {
  extends: true as const,
  // Importing the program takes longer than the tests of most files, so files share a process and its loaded
  // modules.
  test: {
    name: "quick",
    include: ["test/**/*.test.ts"],
    exclude: [...NEVER, ...SLOW, ...ISOLATED, ...BROWSER],
    isolate: false,
    env,
  },
};
const isolated = {
  extends: true as const,
  test: { name: "isolated", include: ISOLATED, exclude: NEVER, env },
};

const cores = Math.max(2, availableParallelism());
/** Slow and browser tests start after all others. Their files share modules, the schema of PostgreSQL and the browser. */
const waiting = { isolate: false, sequence: { groupOrder: 1 } };
const slow = { extends: true as const, test: { name: "slow", include: SLOW, exclude: NEVER, ...waiting } };
const browser = {
  extends: true as const,
  // Pages change within milliseconds, and hundreds of lines wait for a change.
  test: { name: "browser", include: BROWSER, exclude: NEVER, ...waiting, expect: { poll: { interval: 20 } } },
};

/** The slowest files, longest first: one that starts last keeps a worker busy after all others are done. */
const LONG = [
  /\/(chaos|clock-skew)\.test\.ts$/,
  /\/(backends|mongodb|postgres|thread-writers|scopes|broken-graphs|url|shared-frames|dead-runs|webhooks)\.test\.ts$/,
  /\/(guides|large-values|many-runs|same-answers|every-command|unhandled|mongodb-outage|two-users)\.slow\.test\.ts$/,
  /\/(no-leaks|readme-steps|hostile-data|early-reader|edit-race|cut-streams|mongodb-walks|versions-many)\.slow\.test\.ts$/,
  /\/(resume|primary|stall|throwing-requests|storage-calls|odd-values|kill|cancel|lost-locks|database-connections)\.test\.ts$/,
  /\/(bill|examples-of-runs|graph-changed|migrations)\.slow\.test\.ts$/,
  /\/studio\/(on-save|pictures|safety|run|look)\.test\.ts$/,
];
const placeOf = (file: string): number => {
  const place = LONG.findIndex((names) => names.test(file));
  return place === -1 ? LONG.length : place;
};

/** Starts the slowest files of each project first; the rest are sorted by earlier duration or by size. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const rank = ({ moduleId, project }: TestSpecification) =>
      (LONG.length + 1) * projects.indexOf(project.name) + placeOf(moduleId);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    projects: isAsked ? [quick, isolated, slow, browser] : [quick, isolated],
    globalSetup: "test/helpers/global-setup.ts",
    setupFiles: "test/helpers/setup.ts",
    sequence: { sequencer: LongFirst },
    // Tests also wait for processes, databases and pages: two per core keep all cores busy.
    maxWorkers: 2 * cores,
    // Transformed files are kept in node_modules for the other projects and the next run.
    experimental: { fsModuleCache: true },
    // Slack for a machine that is ten times slower; no test waits for these timeouts to pass.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    restoreMocks: true,
    // The official validation suite declares its cases with global describe and it.
    globals: true,
  },
});
