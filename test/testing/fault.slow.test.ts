/** `--fault` interrupts a run and resumes it: crash-safe graphs reach the same result. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, createProject, type CliResult, type Project } from "../cli/harness.js";

/** Keeps the outline in the state, or in a variable of the process. */
const graph = (where: "state" | "process") => `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
const memory = {};
const State = Annotation.Root({ topic: Annotation<string>, outline: Annotation<string>, text: Annotation<string> });
// The process is killed during the second node, however late the signal is sent.
const pause = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));
export const graph = new StateGraph(State)
  .addNode("plan", async ({ topic }) => { await pause(); memory.outline = "on " + topic; return { outline: "on " + topic }; })
  .addNode("write", async (state) => { await pause(1000); return { text: "text " + (${where === "state" ? "state" : "memory"}).outline }; })
  .addNode("check", async () => { await pause(); return {}; })
  .addEdge(START, "plan").addEdge("plan", "write").addEdge("write", "check").addEdge("check", END)
  .compile();
`;
const CASES = (name: string) =>
  `graph: ./${name}.ts\ncases:\n  - { name: writes, input: { topic: cats }, expect: { values: { text: text on cats } } }\n`;

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "safe.ts": graph("state"),
    "unsafe.ts": graph("process"),
    "safe.graph.yaml": CASES("safe"),
    "unsafe.graph.yaml": CASES("unsafe"),
  });
});
afterEach(() => project.remove());

const test = (name: string, fault: string): Promise<CliResult> =>
  cli(["test", `${name}.graph.yaml`, "--fault", fault], { cwd: project.dir });

describe("--fault", () => {
  it.each(["kill-after=plan", "checkpoint-write", "disconnect"])(
    "a crash-safe graph survives %s",
    async (fault) => {
      const { code, stdout } = await test("safe", fault);
      expect({ code, stdout }).toMatchObject({ code: 0 });
      expect(stdout).toContain(`failure at ${fault}, same outcome`);
    },
  );

  it("a graph that keeps data in its process fails", async () => {
    const { code, stdout } = await test("unsafe", "kill-after=plan");
    expect(code).toBe(1);
    expect(stdout).toContain(
      "fault kill-after=plan: the resumed run has a different outcome: values.text differs",
    );
    expect(stdout).toMatch(
      /expected {2}"text on cats"\n.*actual {4}"text undefined"\n.*unsafe\.graph\.yaml:3/,
    );
  });

  it("a fault that no case triggers fails the run", async () => {
    const { code, stdout } = await test("safe", "kill-after=missing");
    expect(code).toBe(1);
    expect(stdout).toContain("no case reached the failure kill-after=missing");
  });

  it("an unknown fault is a usage error", async () => {
    const { code, stderr } = await test("safe", "earthquake");
    expect(code).toBe(2);
    expect(stderr).toContain("kill-after=NODE, checkpoint-write, disconnect");
  });
});
