/** Everything that the package exports has a docstring with an example, and every example compiles and runs. */
import { afterAll, describe, expect, it } from "vitest";
import { ERROR_CODES } from "../src/support/errors/codes.js";
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

/** What the examples import. */
const IMPORTS: Record<string, () => Promise<object>> = {
  "graph-serve": () => import("../src/index.js"),
  "graph-serve/testing": () => import("../src/testing/index.js"),
  "./graph.js": () => import("./fixtures/docstrings/graph.js"),
  "./service.js": () => import("./fixtures/docstrings/service.js"),
  "./tables.js": () => import("./fixtures/docstrings/tables.js"),
  "./storage.js": () => import("./fixtures/docstrings/storage.js"),
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

  it("every symbol has an example", () => {
    expect(idsOf(symbols.filter(({ examples: own }) => own.length === 0))).toEqual([]);
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
