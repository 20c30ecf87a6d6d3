/** Stopping the `test` process: it prints the results so far and leaves no process behind. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createProject, type Project } from "../cli/harness.js";
import { installPackage } from "../helpers/compiled.js";

const LONGEST = 30_000;
/** Writes its pid, then waits for the abort signal (`politely`) or forever. */
const GRAPH = `
import { appendFileSync } from "node:fs";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ stays: Annotation<string>, done: Annotation<string> });
export const graph = new StateGraph(State)
  .addNode("begin", () => ({ done: "no" }))
  .addNode("work", async ({ stays }, { signal }) => {
    if (!stays || (stays === "child" && process.argv[2] !== "run")) return { done: "yes" };
    appendFileSync("pids", process.pid + "\\n");
    const timer = setInterval(() => undefined, 1000);
    await new Promise((resolve) => stays === "politely" && signal.addEventListener("abort", resolve));
    clearInterval(timer);
    return {};
  })
  .addEdge(START, "begin").addEdge("begin", "work").addEdge("work", END)
  .compile();
`;
const CASES = (stays: string) => `graph: ./graph.ts
cases:
  - { name: one, input: { done: "" }, expect: { values: { done: "yes" } } }
  - { name: hangs, timeout: 600, input: { stays: ${stays} } }
  - { name: last, input: { done: "" } }
`;

let installed: string;
let project: Project;
beforeAll(async () => {
  installed = await installPackage();
}, 120_000);
afterAll(() => rm(installed, { recursive: true, force: true }));
beforeEach(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "politely.graph.yaml": CASES("politely"),
    "never.graph.yaml": CASES("never"),
    "child.graph.yaml": CASES("child"),
  });
});
afterEach(() => project.remove());

interface Running {
  child: ChildProcess;
  out: () => string;
  ended: Promise<[number | null, string | null]>;
}

function start(...argv: string[]): Running {
  const child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), "test", ...argv], {
    cwd: project.dir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += String(data)));
  return { child, out: () => text, ended: once(child, "close") as Running["ended"] };
}

/** The pids that the hanging node has written, once there are any. */
async function pids({ out, child }: Running): Promise<number[]> {
  const file = join(project.dir, "pids");
  const deadline = Date.now() + LONGEST;
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text !== "") return text.trim().split("\n").map(Number);
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`nothing hangs: ${out()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilGone(found: readonly number[]): Promise<void> {
  const deadline = Date.now() + LONGEST;
  while (found.some(isAlive)) {
    if (Date.now() > deadline) throw new Error(`left behind: ${found.filter(isAlive).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a stopped test run", () => {
  it.each([
    ["SIGINT", 130, "politely"],
    ["SIGTERM", 143, "politely"],
    ["SIGINT", 130, "never"],
  ] as const)(
    "by %s exits with code %i and prints the results so far, with a graph that stops %s",
    async (signal, code, how) => {
      const running = start(`${how}.graph.yaml`);
      const found = await pids(running);
      running.child.kill(signal);
      expect(await running.ended).toEqual([code, null]);
      expect(running.out()).toMatch(/ok {4}one .*\n {2}stop {2}hangs/);
      expect(running.out()).toContain(`stopped by ${signal}: these are the results so far`);
      expect(running.out()).toMatch(/1 passed, 1 skipped, 1 stopped in \d+ ms/);
      await untilGone(found);
    },
    60_000,
  );

  it("stops the child process that --fault started", async () => {
    const running = start(
      "child.graph.yaml",
      "-t",
      "hangs",
      "--timeout",
      "600",
      "--fault",
      "kill-after=work",
    );
    const found = await pids(running);
    expect(found).not.toContain(running.child.pid);
    running.child.kill("SIGINT");
    expect(await running.ended).toEqual([130, null]);
    await untilGone(found);
  }, 60_000);
});
