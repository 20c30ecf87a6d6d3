import { join, resolve } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { GraphLoadError } from "../../src/support/errors.js";
import { LOAD_LIMIT_MS } from "../../src/graphs/awaited.js";
import { loadGraph } from "../../src/graphs/load.js";

const baseDir = resolve(import.meta.dirname, "../fixtures/broken");

async function failure(file: string, exportName?: string): Promise<GraphLoadError> {
  const error: unknown = await loadGraph({ path: join(baseDir, file), exportName }, { baseDir }).catch(
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(GraphLoadError);
  return error as GraphLoadError;
}

/** The error of calling a factory that loads without an error. */
async function callFailure(exportName: string): Promise<GraphLoadError> {
  const { loaded } = await loadGraph({ path: join(baseDir, "factories.ts"), exportName }, { baseDir });
  if (loaded.kind !== "factory") throw new Error("no factory");
  const error: unknown = await loaded.factory({}).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(GraphLoadError);
  return error as GraphLoadError;
}

const at = ({ location }: GraphLoadError) =>
  location && `${location.file.slice(baseDir.length + 1)}:${location.line}`;

describe("files", () => {
  test("a missing file suggests similar ones", async () => {
    const error = await failure("sever.ts");
    expect(error.message).toBe("graph file ./sever.ts not found");
    expect(error.hint).toBe("did you mean ./several.ts?");
  });

  test("a missing folder asks to check the path", async () => {
    expect((await failure("nowhere/x.ts")).hint).toMatch(/^check the path/);
  });

  test("an unsupported extension lists the supported ones", async () => {
    const error = await failure("notes.txt");
    expect(error.message).toBe("./notes.txt is not a JavaScript or TypeScript file");
    expect(error.hint).toContain(".ts, .tsx, .mts, .cts, .js, .mjs or .cjs");
  });
});

describe("exports", () => {
  const list =
    "exports there: builder (StateGraph, not compiled), first (compiled graph), limit (number), " +
    "makeGraph (function), second (compiled graph)";
  const sorted = (message: string) =>
    message.replace(/(?<=exports there: ).*/, (names) =>
      names
        .split(/, (?=\w+ \()/)
        .sort()
        .join(", "),
    );

  test("an unknown export lists the available exports", async () => {
    const error = await failure("several.ts", "graph");
    expect(sorted(error.message)).toBe(`export "graph" not found in ./several.ts\n${list}`);
    expect(error.hint).toBe("write ./several.ts:first or ./several.ts:second");
  });

  test("several graphs require a name", async () => {
    const error = await failure("several.ts");
    expect(sorted(error.message)).toBe(`./several.ts exports several graphs\n${list}`);
    expect(error.hint).toBe("write ./several.ts:first or ./several.ts:second");
  });

  test("a module without a graph is reported", async () => {
    const error = await failure("no-graph.mjs");
    expect(error.message).toContain("./no-graph.mjs exports no graph under the name default or graph");
    expect(error.message).toContain("settings (object)");
    expect(error.hint).toContain("builder.compile()");
  });

  test("an export that is not a graph is reported with its type", async () => {
    const error = await failure("several.ts", "limit");
    expect(error.message).toBe("./several.ts:limit is a number, not a graph");
  });

  test("a builder that does not compile is reported with the reason", async () => {
    const error = await failure("incomplete.ts");
    expect(error.message).toMatch(/^\.\/incomplete\.ts:graph does not compile: .*nowhere/);
  });
});

describe("evaluation", () => {
  test("TypeScript syntax errors contain line and code frame", async () => {
    const error = await failure("syntax.ts");
    expect(error.message).toBe("syntax error in ./syntax.ts:4: Unexpected token");
    expect(at(error)).toBe("syntax.ts:4");
    expect(error.location?.frame?.split("\n")).toEqual([
      "  3 | export const graph = {",
      '> 4 |   name: "x",,',
      "    |             ^",
      "  5 |   helper,",
    ]);
  });

  test("JavaScript syntax errors name the imported file", async () => {
    const error = await failure("syntax.mjs");
    expect(error.message).toMatch(/^syntax error in \.\/broken-helper\.mjs:3: Unexpected token/);
    expect(at(error)).toBe("broken-helper.mjs:3");
    expect(error.location?.frame).toContain("> 3 | export const broken");
  });

  test("a missing export of an imported module is located", async () => {
    const error = await failure("missing-export.mjs");
    expect(error.message).toContain("does not provide an export named 'gone'");
    expect(at(error)).toBe("missing-export.mjs:1");
  });

  test("an error at import contains the first frame of the project", async () => {
    const error = await failure("throws.ts");
    expect(error.message).toBe(
      "./throws.ts throws when it is imported\nTypeError: GRAPH_SERVE_NEVER_SET is not set",
    );
    expect(at(error)).toBe("helper.ts:5");
    expect(error.location?.frame).toContain("> 5 |   if (value === undefined) throw");
    expect(error.cause).toMatchObject({ name: "TypeError" });
  });

  test("an error in JavaScript is located", async () => {
    expect(at(await failure("throws.mjs"))).toBe("throws.mjs:3");
  });

  test.each([
    ["missing-package.ts", "@nowhere/missing-package", 2],
    ["missing-package.mjs", "missing-package", 1],
  ])("a package missing in %s is reported with the install command", async (file, name, line) => {
    const error = await failure(file);
    expect(error.message).toBe(`package "${name}" is not installed, imported by ./${file}:${line}`);
    expect(error.hint).toBe(`npm install ${name}`);
    expect(at(error)).toBe(`${file}:${line}`);
  });

  test.each([
    ["missing-file.ts", "./helpers.js", "./helper.ts"],
    ["missing-file.mjs", "./broken-helpers.mjs", "./broken-helper.mjs"],
  ])("a missing file imported by %s suggests another one", async (file, missing, similar) => {
    const error = await failure(file);
    expect(error.message).toBe(`file ${missing} not found, imported by ./${file}:1`);
    expect(error.hint).toBe(`did you mean ${similar}?`);
    expect(at(error)).toBe(`${file}:1`);
  });

  test.each(["missing-subpath.mjs", "missing-subpath.ts"])(
    "a package subpath missing in %s is reported",
    async (file) => {
      const error = await failure(file);
      expect(error.message).toBe(
        `package "@langchain/core" has no "@langchain/core/nowhere", imported by ./${file}:1`,
      );
      expect(error.hint).toMatch(/^the installed version is \d+\.\d+\.\d+: /);
      expect(at(error)).toBe(`${file}:1`);
    },
  );

  test("an undeclared alias suggests tsconfig paths", async () => {
    expect((await failure("missing-alias.ts")).hint).toBe(
      'declare "@/*" under compilerOptions.paths of tsconfig.json',
    );
  });
});

describe("promises", () => {
  afterEach(() => {
    // Restore first: the spy would otherwise put the fake clock's function back.
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** The error after the last of `limits` timeouts: first that of the module evaluation, then that of the promise. */
  async function lateFailure(limits: number, file: string, exportName?: string): Promise<GraphLoadError> {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const limit = vi.spyOn(globalThis, "setTimeout");
    const error = failure(file, exportName);
    while (limit.mock.calls.length < limits) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(LOAD_LIMIT_MS);
    return error;
  }

  test.each([
    ["promises.ts", "rejected", "TypeError: GRAPH_SERVE_NEVER_SET is not set", "helper.ts:5"],
    ["promises.ts", "late", "RangeError: too late", "promises.ts:4"],
    ["rejects.ts", "graph", "TypeError: no model", "rejects.ts:2"],
  ])("a rejected promise in %s is reported with cause and frame: %s", async (file, name, cause, place) => {
    const error = await failure(file, name);
    expect(error.message).toBe(`./${file}:${name} is a promise that was rejected\n${cause}`);
    expect(at(error)).toBe(place);
    expect(error.location?.frame).toContain(`> ${place.split(":")[1]} | `);
    expect(error.cause).toBeInstanceOf(Error);
  });

  test.each([
    ["endless.ts", "graph", "endless.ts:3"],
    ["endless-default.mjs", "default", "endless-default.mjs:1"],
  ])("a pending promise in %s is reported with its line", async (file, name, place) => {
    const error = await lateFailure(2, file, name);
    expect(error.message).toBe(`./${file}:${name} is a promise that has not settled after 30 s`);
    expect(error.hint).toContain("resolve to the graph");
    expect(at(error)).toBe(place);
  });

  test("a pending top-level await is reported", async () => {
    const error = await lateFailure(1, "endless-import.mjs");
    expect(error.message).toBe("./endless-import.mjs was not evaluated within 30 s");
    expect(error.hint).toContain("top-level await");
  });

  test.each([
    ["numeric", "a promise of a number"],
    ["empty", "a promise of undefined"],
  ])("a promise that does not resolve to a graph is reported with its type: %s", async (name, what) => {
    expect((await failure("promises.ts", name)).message).toBe(
      `./promises.ts:${name} is ${what}, not a graph`,
    );
  });
});

describe("factories", () => {
  test("a factory that throws is reported with cause and frame", async () => {
    const error = await callFailure("throwing");
    expect(error.message).toContain("the factory ./factories.ts:throwing throws");
    expect(error.message).toContain("TypeError: GRAPH_SERVE_NEVER_SET is not set");
    expect(at(error)).toBe("helper.ts:5");
  });

  test("a factory must return a graph", async () => {
    const error = await callFailure("numeric");
    expect(error.message).toBe("the factory ./factories.ts:numeric returned a number, not a graph");
    expect(error.hint).toContain("return builder.compile()");
  });
});
