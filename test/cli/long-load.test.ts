import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LOAD_LIMIT_MS, LONG_LOAD_MS } from "../../src/graphs/awaited.js";
import { createProject, type Project, type RunningCli, startCli } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "import.ts": "await new Promise(() => undefined);\nexport const graph = undefined;\n",
    "factory.ts": "export async function graph() {\n  await new Promise(() => undefined);\n}\n",
    "promise.ts": "export const graph = new Promise(() => undefined);\n",
    "graph-server.config.json": { graphs: { agent: "./import.ts:graph" } },
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  // Restore first: the spy would otherwise put the fake clock's function back.
  vi.restoreAllMocks();
  vi.useRealTimers();
  await project.remove();
});

/** Starts the command, and advances the clock when it waits for its graph. */
async function waiting(argv: string[]): Promise<RunningCli> {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const waits = () => timers.mock.calls.filter(([, ms]) => ms === LONG_LOAD_MS).length;
  const running = startCli(argv, { cwd: project.dir });
  // The promise or the factory is exported by a module, which is awaited first.
  const isExported = argv.includes("./promise.ts") || argv.includes("./factory.ts");
  while (waits() < (isExported ? 2 : 1)) await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(LONG_LOAD_MS);
  return running;
}

describe("a graph that never loads", () => {
  it.each([
    [["graph", "--json"], /^the import of \.\/import\.ts has not finished after 5 s.+top-level await/],
    [
      ["run", "--db", "memory", "--input", "{}", "--json"],
      /^the import of \.\/import\.ts has not finished after 5 s.+top-level await/m,
    ],
    [
      ["graph", "./promise.ts", "--json"],
      /^the promise \.\/promise\.ts:graph has not finished after 5 s.+make it resolve/,
    ],
    [
      ["graph", "./factory.ts", "--json"],
      /^the factory \.\/factory\.ts:graph has not finished after 5 s.+an await in the factory/,
    ],
    [
      ["run", "./factory.ts", "--db", "memory", "--input", "{}", "--json"],
      /^the factory \.\/factory\.ts:graph has not finished after 5 s.+an await in the factory/m,
    ],
  ])("%j names the file on stderr before it fails", async (argv, line) => {
    const { stdout, stderr, exit } = await waiting(argv);
    expect({ stderr: stderr.text, stdout: stdout.text }).toEqual({
      stderr: expect.stringMatching(line) as string,
      stdout: "",
    });
    vi.advanceTimersByTime(LOAD_LIMIT_MS - LONG_LOAD_MS);
    expect(await exit).toBe(2);
  });

  it.each([
    ["./import.ts", "the import of ./import.ts"],
    ["./factory.ts", "the factory ./factory.ts:graph"],
  ])("start logs it: %s", async (file, what) => {
    const { stderr, exit } = await waiting(["start", file, "--port", "0"]);
    const lines = stderr.text.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        level: 40,
        msg: expect.stringContaining(`${what} has not finished after 5 s`) as string,
      }),
    );
    vi.advanceTimersByTime(LOAD_LIMIT_MS - LONG_LOAD_MS);
    expect(await exit).toBe(2);
  });
});
