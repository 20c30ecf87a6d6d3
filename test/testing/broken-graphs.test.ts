/** Graphs with one bug each. Their cases must fail with the name, the expectation and the position. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli } from "../cli/harness.js";

const cwd = join(import.meta.dirname, "../fixtures/broken-graphs");
const test = (file: string, ...flags: string[]) => cli(["test", `${file}.graph.yaml`, ...flags], { cwd });

interface Report {
  cases: { name: string; failures: object[] }[];
  faults: string[];
}

const CAUGHT: [string, string, object][] = [
  [
    "throws",
    "writes a report",
    { expectation: "status", expected: "success", actual: "error", line: 6, message: /RangeError: kaboom/ },
  ],
  [
    "wrong-order",
    "reviews what was written",
    {
      expectation: "nodes equals",
      expected: ["plan", "write", "review"],
      actual: ["plan", "review", "write"],
      line: 7,
      message: /nodes is not equal/,
    },
  ],
  [
    "leaky",
    "keeps its notes",
    {
      expectation: "private internal_notes",
      expected: 'no "internal_notes"',
      actual: "secret plan for cats",
      line: 8,
      message: /reached the client: stream event updates at write\.report\.internal_notes/,
    },
  ],
  [
    "spender",
    "is brief",
    {
      expectation: "tokens",
      expected: { max: 200 },
      actual: 500,
      line: 6,
      message: /500 tokens, expected at most 200/,
    },
  ],
  [
    "endless",
    "comes to an end",
    {
      expectation: "timeout",
      expected: "at most 1 s",
      line: 3,
      message: /did not finish within 1 s: node wait was running/,
    },
  ],
  [
    "forgetful",
    "asks before it publishes",
    {
      expectation: "status",
      step: 1,
      expected: "interrupted",
      actual: "success",
      line: 7,
      message: /was not interrupted/,
    },
  ],
];

describe("broken graphs", () => {
  it.each(CAUGHT)(
    "%s fails its case with the expected position",
    async (file, name, { message, ...failure }: { message?: RegExp }) => {
      const { code, stdout } = await test(file, "--json");
      expect(code).toBe(1);
      const report = JSON.parse(stdout) as Report;
      expect(report.cases).toHaveLength(1);
      expect(report.cases[0]?.name).toBe(name);
      expect(report.cases[0]?.failures[0]).toMatchObject({
        ...failure,
        message: expect.stringMatching(message ?? /./) as string,
        file: join(cwd, `${file}.graph.yaml`),
      });
    },
  );

  it("a changed input schema fails the schema lock", async () => {
    const { code, stdout } = await test("changed", "--schema-lock", "changed.lock.json", "--ci");
    expect(code).toBe(1);
    expect(stdout).toContain(
      "the input schema of graphs.ts:changed changed (breaking): topic: string changed to number; locked in changed.lock.json:7",
    );
  });

  it("the list reporter shows expected, actual and line", async () => {
    const { stdout } = await test("spender");
    expect(stdout).toContain(
      "FAIL  spender.graph.yaml > is brief\n  tokens: 500 tokens, expected at most 200\n",
    );
    expect(stdout).toMatch(/expected {2}\{"max":200\}\n {4}actual {4}500\n {4}at {8}spender\.graph\.yaml:6/);
    expect(stdout).toContain("> 6 |       tokens: { max: 200 }");
  });

  it("a graph that fails to load exits with code 2", async () => {
    const { code, stdout } = await test("unloadable");
    expect(code).toBe(2);
    expect(stdout).toContain('export "missing" not found in ./graphs.ts');
  });

  it("results over HTTP equal the results in-process", async () => {
    const failures = async (...flags: string[]) => {
      const { stdout } = await cli(["test", ".", "--json", "--timeout", "20", ...flags], { cwd });
      const { cases } = JSON.parse(stdout) as Report;
      return cases.map(({ name, failures: found }) => ({ name, found }));
    };
    const direct = await failures();
    expect(direct).toHaveLength(8);
    expect(await failures("--server")).toEqual(direct);
  });
});
