/** The installed executable (bin/ next to dist/), run as a child process. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../src/support/own-package.js";
import { installPackage } from "../helpers/compiled.js";
import { createProject, echoGraph, type Project } from "./harness.js";
import { itSqlite } from "../helpers/with-sqlite.js";

let installed: string;
let project: Project;

beforeAll(async () => {
  installed = await installPackage();
  project = await createProject({ "graph.ts": echoGraph() });
});
afterAll(async () => {
  await rm(installed, { recursive: true, force: true });
  await project.remove();
});

const graphServe = (...argv: string[]): ChildProcess =>
  spawn(process.execPath, [join(installed, "bin/graph-serve.js"), ...argv], {
    cwd: project.dir,
    stdio: ["ignore", "pipe", "pipe"],
  });

async function finish(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

async function untilListening(child: ChildProcess): Promise<string> {
  let seen = "";
  for await (const chunk of child.stderr!.iterator({ destroyOnReturn: false })) {
    seen += String(chunk);
    const match = /(http:\/\/[\d.]+:\d+)/.exec(seen);
    if (match?.[1]) return match[1];
  }
  throw new Error(`the server did not start listening: ${seen}`);
}

/** Prints on import and during a run, with console and process.stdout. */
const printing = `
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
console.log("loaded");
const State = Annotation.Root({ n: Annotation() });
export const graph = new StateGraph(State)
  .addNode("count", ({ n }) => {
    console.log("counts\\non from %d", n);
    process.stdout.write("half a line, ");
    process.stdout.write(Buffer.from("and the rest\\n"));
    return { n: n + 1 };
  })
  .addEdge(START, "count")
  .addEdge("count", END)
  .compile();
`;
const CASE =
  "graph: ./printing.ts\ncases:\n  - { name: adds, input: { n: 1 }, expect: { values: { n: 2 } } }\n";

describe("output printed by a graph", () => {
  beforeAll(async () => {
    await project.put("printing.ts", printing);
    await project.put("printing.graph.yaml", CASE);
  });

  it("graph output goes to stderr with a prefix, and stdout contains only data", async () => {
    const run = await finish(
      graphServe("run", "./printing.ts", "--input", '{"n":1}', "--json", "--db", "memory"),
    );
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ values: { n: 2 } });
    expect(run.stderr).toContain("print  loaded\n");
    expect(run.stderr).toContain("print  counts\nprint  on from 1\nprint  half a line, and the rest\n");
  });

  it("graph output in a test names its case", async () => {
    const { code, stdout, stderr } = await finish(graphServe("test", "printing.graph.yaml", "--json"));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveProperty("cases");
    expect(stderr).toContain("print  adds: counts\nprint  adds: on from 1\n");
  });
});

describe("the executable", () => {
  it("--version prints the version", async () => {
    expect(await finish(graphServe("--version"))).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  it("a usage error sets the exit code", async () => {
    const { code, stderr } = await finish(graphServe("strat"));
    expect(code).toBe(2);
    expect(stderr).toContain("did you mean start?");
  });

  itSqlite("the process exits even if the graph leaves a timer running", async () => {
    await project.put("timer.ts", `${echoGraph()}\nsetInterval(() => undefined, 1000);\n`);
    const { code, stdout } = await finish(graphServe("run", "./timer.ts", "--message", "hi", "--json"));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "success" });
  });

  itSqlite.each(["dev", "start"])("%s serves requests and exits with code 0 on SIGTERM", async (command) => {
    const child = graphServe(command, "./graph.ts", "-p", "0");
    const url = await untilListening(child);
    expect(await (await fetch(`${url}/ok`)).json()).toEqual({ ok: true });
    child.stderr!.resume();
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("a closed stdout ends the command without an error", async () => {
    const child = graphServe("openapi");
    const stderr = text(child.stderr!);
    child.stdout!.destroy();
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(await stderr).toBe("");
  });
});

it.runIf(process.platform === "linux")("output to a full disk is an error with a fix", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), "config", "schema"], {
    cwd: project.dir,
    stdio: ["ignore", full, "pipe"],
  });
  const [stderr, [code]] = await Promise.all([
    text(child.stderr!),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  closeSync(full);
  expect(stderr).toBe(
    "error  stdout cannot be written: ENOSPC: no space left on device, write\n  fix  free some space on the disk\n",
  );
  expect(code).toBe(2);
});
