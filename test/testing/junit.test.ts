/** The JUnit report validated against its schema and read by an independent parser. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, type TestSuites } from "junit2json";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { validateXML } from "xmllint-wasm";
import { cli, createProject, echoGraph, failingGraph, type Project } from "../cli/harness.js";

const BROKEN = join(import.meta.dirname, "../fixtures/broken-graphs");
const schema = await readFile(join(import.meta.dirname, "../fixtures/junit/junit.xsd"), "utf8");

/** Schema violations of a document. */
async function faults(xml: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: "report.xml", contents: xml }],
    schema: [schema],
  });
  return errors.map(({ rawMessage }) => rawMessage);
}

const message = "{ messages: [{ role: user, content: hi }] }";
const CASES = `graph: ./graph.ts
cases:
  - { name: good, input: ${message} }
  - name: <bad> & "worse" ]]>
    input: ${message}
    expect: { values: { messages: { length: 9 }, "messages[-1].content": "\\u0007<![CDATA[" } }
  - { name: later, skip: true, input: {} }
`;

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "fail.ts": failingGraph,
    "a.graph.yaml": CASES,
    "b.graph.yaml": "graph: ./gone.ts\ncases: [{ name: does not load, input: {} }]",
  });
});
afterEach(() => project.remove());

const report = async (cwd: string, ...flags: string[]): Promise<string> =>
  (await cli(["test", "--reporter", "junit", ...flags], { cwd })).stdout;

describe("the JUnit report", () => {
  it("is valid with cases that pass, fail, are skipped or fail to load", async () => {
    expect(await faults(await report(project.dir))).toEqual([]);
  });

  it("is valid with errors outside of cases", async () => {
    const xml = await report(
      project.dir,
      "-t",
      "good",
      "--min-node-coverage",
      "100",
      "--schema-lock",
      "--ci",
    );
    expect(xml).toContain("has no schemas of");
    expect(await faults(xml)).toEqual([]);
  });

  it("is valid for every broken graph", async () => {
    const xml = await report(BROKEN, "--timeout", "20");
    expect(await faults(xml)).toEqual([]);
    expect(xml.match(/<failure /g)?.length).toBeGreaterThanOrEqual(6);
  });

  it("is valid for graphs without case files, and without any cases", async () => {
    const bare = await createProject({
      "graph.ts": echoGraph(),
      "fail.ts": failingGraph,
      "graph-server.config.json": { graphs: { agent: "./graph.ts", fail: "./fail.ts", gone: "./gone.ts" } },
    });
    const smoke = await report(bare.dir);
    await bare.remove();
    expect(smoke).toContain('<testsuite name="fail"');
    expect(await faults(smoke)).toEqual([]);
    expect(await faults(await report(project.dir, "-t", "unknown", "--pass-with-no-tests"))).toEqual([]);
  });

  it("is rejected by the schema when it is modified", async () => {
    const xml = await report(project.dir);
    expect(await faults(xml.replace(/ classname="[^"]*"/, ""))).toEqual([
      expect.stringMatching(/attribute 'classname' is required/),
    ]);
    expect(await faults(xml.replace("<system-out>", "<output>"))).not.toEqual([]);
  });
});

describe("an independent JUnit parser", () => {
  it("reads every case with its result", async () => {
    const suites = (await parse(await report(project.dir))) as TestSuites;
    expect(suites).toMatchObject({ tests: 4, failures: 1, errors: 1 });
    const [first, second] = suites.testsuite ?? [];
    expect(first).toMatchObject({ name: "a.graph.yaml", tests: 3, failures: 1, errors: 0, skipped: 1 });
    const [good, bad, later] = first?.testcase ?? [];
    expect(good).toMatchObject({ name: "good", classname: "a.graph.yaml", "system-out": ["reply"] });
    expect(bad).toMatchObject({
      name: '<bad> & "worse" ]]>',
      failure: [
        {
          message: "values.messages has the length 2 (and 1 more)",
          type: "values.messages length",
          inner: expect.stringMatching(
            /actual[^]*at +a\.graph\.yaml:6[^]*values\.messages\[-1\]\.content equals/,
          ) as string,
        },
      ],
    });
    expect(later?.skipped).toBeDefined();
    expect(second?.testcase?.[0]).toMatchObject({
      name: "does not load",
      error: [{ type: "graph_load_failed" }],
    });
  });
});
