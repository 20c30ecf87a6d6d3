/** Everything that the package exports has a docstring, and every example in a docstring compiles and runs. */
import { afterAll, describe, expect, it } from "vitest";
import { ERROR_CODES } from "../src/support/errors.js";
import { service } from "./fixtures/docstrings/service.js";
import {
  compileExamples,
  exampleOf,
  examplesOf,
  exportedSymbols,
  runExample,
  statedResults,
} from "./helpers/docstring-examples.js";

const MODULES = { "graph-serve": "src/index.ts", "graph-serve/testing": "src/testing/index.ts" };

/** Types whose values users write. */
const WRITTEN_BY_USERS = [
  "graph-serve Authenticate",
  "graph-serve CustomStorageOptions",
  "graph-serve ErrorDetails",
  "graph-serve ExplainError",
  "graph-serve FactoryRuntime",
  "graph-serve Identity",
  "graph-serve Logger",
  "graph-serve OpenCustomStorage",
  "graph-serve OpenOptions",
  "graph-serve RunCreateRequest",
  "graph-serve ServiceOptions",
  "graph-serve Settings",
  "graph-serve SettingsInput",
  "graph-serve Storage",
  "graph-serve ThreadCreateRequest",
  "graph-serve ThreadSearchRequest",
  "graph-serve WrapOptions",
  "graph-serve/testing CaseFileSource",
  "graph-serve/testing CaseSource",
  "graph-serve/testing Expectation",
  "graph-serve/testing RunCasesOptions",
  "graph-serve/testing Step",
];

/** What the examples import. */
const IMPORTS: Record<string, () => Promise<object>> = {
  "graph-serve": () => import("../src/index.js"),
  "graph-serve/testing": () => import("../src/testing/index.js"),
  "./graph.js": () => import("./fixtures/docstrings/graph.js"),
  "./service.js": () => import("./fixtures/docstrings/service.js"),
  "./tables.js": () => import("./fixtures/docstrings/tables.js"),
  "./rows.js": () => import("./fixtures/docstrings/rows.js"),
  "@langchain/langgraph": () => import("@langchain/langgraph"),
  "node:events": () => import("node:events"),
  "node:fs/promises": () => import("node:fs/promises"),
  "node:os": () => import("node:os"),
  "node:path": () => import("node:path"),
  express: () => import("express"),
};

async function load(specifier: string): Promise<object> {
  const found = IMPORTS[specifier];
  if (!found) throw new Error(`examples cannot import ${specifier}: add it to IMPORTS`);
  return found();
}

const symbols = exportedSymbols(MODULES);
const examples = examplesOf(symbols);
const idsOf = (found: typeof symbols) => found.map(({ id }) => id);

afterAll(() => service.close(0));

describe("docstrings of exported symbols", () => {
  it("every symbol has a description", () => {
    expect(symbols.length).toBeGreaterThan(100);
    expect(idsOf(symbols.filter(({ summary }) => summary === ""))).toEqual([]);
  });

  it("every value, function, class and type whose values users write has an example", () => {
    const ids = idsOf(symbols);
    expect(WRITTEN_BY_USERS.filter((id) => !ids.includes(id))).toEqual([]);
    const missing = symbols.filter(
      ({ id, isValue, examples: own }) => own.length === 0 && (isValue || WRITTEN_BY_USERS.includes(id)),
    );
    expect(idsOf(missing)).toEqual([]);
  });

  it("every function describes its parameters and its result", () => {
    const missing = symbols.filter(({ call, tags }) => {
      const count = (name: string) => tags.filter((tag) => tag.name === name && tag.text !== "").length;
      return call && (count("param") < call.parameters || (!call.isVoid && count("returns") === 0));
    });
    expect(idsOf(missing)).toEqual([]);
  });

  it("every @throws names an error code", () => {
    const codes = Object.keys(ERROR_CODES);
    const unknown = symbols.flatMap(({ id, tags }) =>
      tags
        .filter(({ name, text }) => name === "throws" && !codes.some((code) => text.includes(`\`${code}\``)))
        .map(({ text }) => `${id}: ${text}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe("examples in docstrings", () => {
  it("all compile in one program, which reports the errors of a wrong example", () => {
    const wrong = 'import { VERSION } from "graph-serve";\nconst version: number = VERSION;\n';
    const title = "a wrong example";
    const errors = compileExamples([...examples, exampleOf(title, wrong)], MODULES);
    expect(errors).toEqual([`${title}, line 2: Type 'string' is not assignable to type 'number'.`]);
  });

  it("stated results are compared, including those of nested statements", async () => {
    const code = "if (1 < 2) {\n  await Promise.resolve([1]); // => [2]\n}\n";
    const compared: unknown[] = [];
    await runExample(exampleOf("a wrong result", code), load, (...values) => compared.push(values));
    expect(compared).toEqual([[0, [1], [2]]]);
    expect(statedResults(code)).toBe(1);
  });

  it.each(examples.map((example) => [example.title, example] as const))(
    "the example of %s runs",
    async (_, example) => {
      const listeners = process.listeners("unhandledRejection");
      const checked = new Set<number>();
      try {
        await runExample(example, load, (index, actual, stated) => {
          checked.add(index);
          expect(actual).toEqual(stated);
        });
      } finally {
        const added = process.listeners("unhandledRejection").filter((one) => !listeners.includes(one));
        for (const listener of added) {
          process.off("unhandledRejection", listener);
          listener(new Error("unhandled"), Promise.resolve());
        }
      }
      expect(checked.size, "number of stated results that were reached").toBe(statedResults(example.code));
    },
  );
});
