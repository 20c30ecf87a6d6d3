/** `versions check` reports 10,000 threads exactly, and its memory does not grow with their number. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { installedCli } from "../helpers/compiled.js";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import type { ThreadCheck } from "../../src/models/version.js";
import { openSqlite } from "../../src/storage/sqlite/open.js";
import { openTestService } from "../helpers/service.js";
import { release } from "../fixtures/graphs/releases.js";
import { createProject } from "./harness.js";

const THREADS = 10_000;
const FEW = 500;
/** Every tenth thread waits in the node that the next release renames. */
const WAITING = 10;
const LONG = { timeout: 1_200_000 };

/**
 * Writes the process's peak memory, in KB, as the last line of stderr. On Linux `maxRSS` is at least that of the process that
 * started this one, here the tests, which use more memory than the command.
 */
const TELL_PEAK = `data:text/javascript,${encodeURIComponent(`
import { readFileSync } from "node:fs";
const ownPeak = () => /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1];
const peak = () => (process.platform === "linux" ? ownPeak() : process.resourceUsage().maxRSS);
process.on("exit", () => process.stderr.write("\\n" + peak()));`)}`;

const graphOf = (change: string) => `
import { release } from ${JSON.stringify(join(process.cwd(), "test/fixtures/graphs/releases.ts"))};
export const graph = release("interrupt", "${change}");
`;

/** Copies two threads, one that waits and one that has ended, until there are so many. */
async function fill(file: string, count: number): Promise<string[]> {
  const storage = await openSqlite({ ...SQLITE, checkpointer_uri: file });
  const service = await openTestService({ graphs: { agent: release("interrupt", "none") }, storage });
  const waiting: string[] = [];
  try {
    const [ended, open] = [
      (await service.threads.create({})).thread_id,
      (await service.threads.create({})).thread_id,
    ];
    const run = { assistant_id: "agent", input: { log: [] } };
    await service.runs.create(open, run);
    await service.runs.create(ended, run);
    await service.runs.create(ended, { assistant_id: "agent", command: { resume: "yes" } });
    waiting.push(open);
    for (let made = 2; made < count; made += 1) {
      const waits = made % WAITING === 0;
      const { thread_id } = await service.threads.copy(waits ? open : ended);
      if (waits) waiting.push(thread_id);
    }
  } finally {
    await service.close(0);
  }
  return waiting;
}

const SQLITE = { checkpointer_scheme: "sqlite", checkpointer_options: {}, max_queued_runs: 10 };

interface Checked {
  code: number;
  items: ThreadCheck[];
  peakMb: number;
}

async function check(cwd: string, uri: string): Promise<Checked> {
  const argv = ["versions", "check", "--json", "--against", "./new.ts:graph", "--db", uri];
  const node = ["--import", TELL_PEAK, await installedCli()];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...node, ...argv], { cwd, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      if (stdout === "") return reject(new Error(stderr));
      const { items } = JSON.parse(stdout) as { items: ThreadCheck[] };
      const peakMb = Number(stderr.trim().split("\n").at(-1)) / 1024;
      resolve({ code: Number(error?.code ?? 0), items, peakMb });
    });
  });
}

it(`the report over ${THREADS} threads names exactly those that cannot continue`, LONG, async () => {
  const project = await createProject({
    ...{ "graph.ts": graphOf("none"), "new.ts": graphOf("renamed") },
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
  try {
    await fill(join(project.dir, "few.db"), FEW);
    const waiting = await fill(join(project.dir, "many.db"), THREADS);
    const few = await check(project.dir, "few.db");
    const many = await check(project.dir, "many.db");
    expect([few.items.length, many.items.length]).toEqual([FEW, THREADS]);
    expect(many.code).toBe(1);
    const failing = many.items.filter(({ problems }) => problems.length > 0);
    expect(failing.map(({ thread_id }) => thread_id).sort()).toEqual(waiting.sort());
    expect(new Set(failing.flatMap(({ problems }) => problems.map(({ message }) => message)))).toEqual(
      new Set(['waits in node "ask", which is gone; the nodes are first, last, question']),
    );
    expect(many.items.filter(({ unchecked }) => unchecked !== null)).toEqual([]);
    // The compiler of TypeScript accounts for most of both.
    expect(many.peakMb).toBeLessThan(few.peakMb * 1.5);
  } finally {
    await project.remove();
  }
});
