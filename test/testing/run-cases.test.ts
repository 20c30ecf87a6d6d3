import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCases } from "../../src/testing/index.js";
import { createProject } from "../cli/harness.js";

const BROKEN = join(import.meta.dirname, "../fixtures/broken-graphs");
const HITL = join(import.meta.dirname, "../../templates/hitl");

const { cases } = await runCases({ cwd: HITL, snapshots: "check" });

describe("runCases in a test runner", () => {
  it.each(cases)("$name", ({ failures }) => {
    expect(failures).toEqual([]);
  });
});

describe("runCases", () => {
  it("returns the location of each failure", async () => {
    const { cases: found } = await runCases({ cwd: BROKEN, paths: ["spender.graph.yaml"] });
    expect(found).toMatchObject([
      {
        name: "is brief",
        status: "failed",
        failures: [{ expectation: "tokens", actual: 500, location: { line: 6 } }],
      },
    ]);
  });

  it("filters by name and stops on an abort signal", async () => {
    expect((await runCases({ cwd: HITL, name: "fraud" })).cases).toHaveLength(1);
    const stopped = await runCases({ cwd: HITL, signal: AbortSignal.abort("enough") });
    expect(stopped.stoppedBy).toBe("enough");
    expect(stopped.cases.every(({ status }) => status === "skipped")).toBe(true);
  });

  it("rejects an invalid case file with a hint", async () => {
    const project = await createProject({ "a.graph.yaml": "cases: [{ nam: one }]" });
    await expect(runCases({ cwd: project.dir })).rejects.toMatchObject({
      code: "config_invalid",
      hint: 'did you mean "name"?',
    });
    await project.remove();
  });
});
