/** T1: a suite of 200 small cases in `graph-serve test`, compared with invoking the same graph 200 times by hand. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median, medianRatio } from "../stats.js";

const GRAPH = join(import.meta.dirname, "../ready/graph.mjs");
const INPUT = { messages: [{ role: "user", content: "How are you today?" }] };
const FILES = 4;

/** What a careful developer would write: import, invoke on a new thread, check the result. */
const BY_HAND = `
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { MemorySaver } from "@langchain/langgraph";
import { graph } from ${JSON.stringify(GRAPH)};
graph.checkpointer = new MemorySaver();
for (let turn = 0; turn < Number(process.env.CASES); turn += 1) {
  const values = await graph.invoke(${JSON.stringify(INPUT)}, { configurable: { thread_id: randomUUID() } });
  assert.equal(values.messages.length, 2);
}`;

export async function suite(goal: string, stage: Stage): Promise<Row[]> {
  const count = stage.scaled(200, 40);
  const folder = await writeCases(stage, count);
  const command = [join(stage.options.dist, "cli/main.js"), "test", ".", "--reporter", "dot"];
  const byHand = ["--input-type=module", "-e", BY_HAND];
  const handStarts: number[] = [];
  const starts: number[] = [];
  const own: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < stage.options.rounds; round += 1) {
    const [handOne, handAll] = [await run(byHand, GRAPH, 1), await run(byHand, GRAPH, count)];
    const one = await run([...command, "-t", "/^case 0$/"], folder);
    const all = await run(command, folder);
    handStarts.push(handOne);
    starts.push(one);
    own.push((handAll - handOne) / (count - 1));
    ours.push((all - one) / (count - 1));
  }
  return [
    row([goal, `a case of ${count}, against invoking the graph by hand`], ours, own, 3),
    row([goal, "one case from start to end, against importing and invoking by hand"], starts, handStarts, 2),
  ];
}

const row = (name: [string, string], ours: number[], floor: number[], atMost: number): Row =>
  ratioRow(
    name,
    { floor: median(floor), ours: median(ours), unit: "ms", ratio: medianRatio(ours, floor) },
    { atMost },
  );

async function writeCases(stage: Stage, count: number): Promise<string> {
  const folder = dirname(await stage.file("cases"));
  const cases = Array.from({ length: count }, (_, index) => ({
    name: `case ${index}`,
    input: INPUT,
    expect: { status: "success", values: { messages: { length: 2 } } },
  }));
  for (let file = 0; file < FILES; file += 1) {
    const own = cases.filter((_, index) => index % FILES === file);
    await writeFile(join(folder, `${file}.graph.json`), JSON.stringify({ graph: GRAPH, cases: own }));
  }
  return folder;
}

/** Milliseconds from the start to the end of a Node process. */
async function run(args: readonly string[], place: string, cases?: number): Promise<number> {
  const cwd = place === GRAPH ? dirname(GRAPH) : place;
  const begin = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...(cases !== undefined && { CASES: String(cases) }) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${args.join(" ")} exited with code ${code}`);
  return performance.now() - begin;
}
