import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, parseCLI, type TestSpecification } from "vitest/node";

/** Killed processes, databases that fail or go away, threads of thousands of checkpoints, walks over all there is. */
const SLOW = ["test/{processes,faults,deployment}/**/*.test.ts", "test/**/*.slow.test.ts"];
/** They put other modules in the place of packages, or a browser's window in the global scope. */
const ISOLATED = ["test/**/*.isolated.test.ts"];
/** Pages in a browser, the Studio above all. */
const BROWSER = ["test/studio/**/*.test.ts", "test/**/*.browser.test.ts"];
const NEVER = [...configDefaults.exclude, "test/fixtures/**"];

const quick = {
  extends: true as const,
  // Importing the program costs more than most files' tests: files share a process and what it has loaded.
  test: {
    name: "quick",
    include: ["test/**/*.test.ts"],
    exclude: [...NEVER, ...SLOW, ...ISOLATED, ...BROWSER],
    isolate: false,
  },
};
const isolated = { extends: true as const, test: { name: "isolated", include: ISOLATED, exclude: NEVER } };
const slow = { extends: true as const, test: { name: "slow", include: SLOW, exclude: NEVER } };

const browser = { extends: true as const, test: { name: "browser", include: BROWSER, exclude: NEVER } };

/** Files that take longest by far: one that begins last keeps a worker when all others are done. */
const LONG =
  /\/(backends|mongodb|postgres|thread-writers|scopes|broken-graphs|url|shared-frames|dead-runs|webhooks)\.test\.ts$/;

/** Where it is not known from runs before how long files take, the larger ones come first. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const rank = ({ moduleId, project }: TestSpecification) =>
      2 * projects.indexOf(project.name) + (LONG.test(moduleId) ? 0 : 1);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

/** `vitest run` leaves the slow tests and those in a browser out, unless it is asked for files or projects. */
const { filter, options } = parseCLI(["vitest", ...process.argv.slice(2)]);
const isAsked = filter.length > 0 || options.project !== undefined;

export default defineConfig({
  test: {
    projects: isAsked ? [quick, isolated, slow, browser] : [quick, isolated],
    globalSetup: "test/helpers/global-setup.ts",
    setupFiles: "test/helpers/setup.ts",
    sequence: { sequencer: LongFirst },
    maxWorkers: Math.max(2, availableParallelism()),
    // For a machine with ten times as much to do: no test waits for one of these to pass.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    restoreMocks: true,
    // The official validation suite declares its cases with global describe and it.
    globals: true,
  },
});
