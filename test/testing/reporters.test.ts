import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { cli, createProject, echoGraph, type Project } from "../cli/harness.js";
import { escapeXml } from "../../src/cli/suite/reporters/xml.js";
import { parseXml } from "./xml.js";

const NASTY = `<a & "b"> 'c' ]]> %0A ::error\\u0007 \\ud800 \\u001b[31m # \\ufffe`;

let project: Project;
beforeEach(async () => {
  const message = { messages: [{ role: "user", content: "hi" }] };
  project = await createProject({
    "graph.ts": echoGraph(),
    "a.graph.json": `{"graph":"./graph.ts","cases":[
      {"name":"good","input":${JSON.stringify(message)}},
      {"name":"${NASTY.replaceAll('"', '\\"')}","input":${JSON.stringify(message)},"expect":{"values":{"messages[-1].content":"${NASTY.replaceAll('"', '\\"')}\\nline"}}},
      {"name":"later","skip":true,"input":{}}]}`,
  });
});
afterEach(() => project.remove());

const report = async (reporter: string, ...flags: string[]): Promise<string> => {
  const { code, stdout } = await cli(["test", "--reporter", reporter, ...flags], { cwd: project.dir });
  expect(code).toBe(1);
  return stdout;
};

describe("the junit reporter", () => {
  it("writes well-formed XML with correct counts", async () => {
    const root = parseXml(await report("junit"));
    expect(root.tagName).toBe("testsuites");
    expect(root.getAttribute("tests")).toBe("3");
    expect(root.getAttribute("failures")).toBe("1");
    const [suite] = root.children;
    expect(suite?.getAttribute("name")).toBe("a.graph.json");
    expect(suite?.getAttribute("skipped")).toBe("1");
    const [good, bad, later] = suite?.children ?? [];
    expect(good?.querySelector("system-out")?.textContent).toBe("reply");
    expect(bad?.getAttribute("name")).toContain(`<a & "b"> 'c' ]]>`);
    expect(bad?.querySelector("failure")?.getAttribute("type")).toBe("values.messages[-1].content equals");
    expect(bad?.querySelector("failure")?.textContent).toMatch(
      /expected[^]*actual +"echo: hi"[^]*at +a\.graph\.json:3/,
    );
    expect(later?.querySelector("skipped")).not.toBeNull();
  });

  it("escapes all characters that XML does not allow", () => {
    const text = String.fromCharCode(...Array.from({ length: 0x10000 }, (_, code) => code));
    const parsed = parseXml(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`);
    expect(parsed.tagName).toBe("a");
    expect(parsed.textContent).toBe(parsed.getAttribute("b"));
    expect(parsed.textContent).toMatch(/\t\n.*\r.* !"#/s);
  });

  it("writes its file to --out and prints the list to stdout", async () => {
    const stdout = await report("junit", "--out", "reports/junit.xml");
    expect(stdout).toContain("1 passed, 1 failed, 1 skipped");
    expect(await readFile(join(project.dir, "reports/junit.xml"), "utf8")).toMatch(/^<\?xml version="1\.0"/);
  });
});

describe("the github reporter", () => {
  it("writes one single-line annotation per failure", async () => {
    const [annotation = "", ...more] = (await report("github"))
      .split("\n")
      .filter((line) => line.startsWith("::"));
    expect(more).toEqual([]);
    expect(annotation).toMatch(
      /^::error file=a\.graph\.json,line=3,title=<a & "b"> 'c' \]\]> %250A %3A%3Aerror/,
    );
    expect(annotation).toContain("%0A  expected");
  });
});

describe("the tap reporter", () => {
  it("numbers every case and ends with the plan", async () => {
    const lines = (await report("tap")).trimEnd().split("\n");
    expect(lines[0]).toBe("TAP version 14");
    expect(
      lines.filter((line) => /^(not )?ok /.test(line)).map((line) => /^((?:not )?ok \d+)/.exec(line)?.[1]),
    ).toEqual(["ok 1", "not ok 2", "ok 3"]);
    expect(lines.at(-1)).toBe("1..3");
    expect(lines.find((line) => line.startsWith("ok 3"))).toContain("# SKIP skip");
    const block = lines.slice(lines.indexOf("  ---") + 1, lines.indexOf("  ..."));
    expect(parse(block.join("\n"))).toMatchObject({ failures: [{ at: "a.graph.json:3" }], nodes: ["reply"] });
  });
});

describe("the dot, json and list reporters", () => {
  it("dot prints one character per case", async () => {
    expect(await report("dot")).toMatch(/^\.F-\n/);
  });

  it("json prints a single document", async () => {
    const { summary, cases } = JSON.parse(await report("json")) as { summary: object; cases: object[] };
    expect(summary).toMatchObject({ passed: 1, failed: 1, skipped: 1, stoppedBy: null });
    expect(cases[1]).toMatchObject({
      nodes: ["reply"],
      failures: [{ line: 3, expected: expect.any(String) as string }],
    });
  });

  it("list prints no control characters", async () => {
    expect(await report("list")).not.toMatch(/[\u0007\u001b]/);
  });
});
