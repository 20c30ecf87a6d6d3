/**
 * processes: `start --processes 2` on PostgreSQL compared with two servers of one process each, which share nothing and
 * serve half of the clients each. Two processes on two cores that also run the clients and the database take more CPU time
 * for the same work than one, whether they belong together or not; the comparisons with one process show how much.
 */
import { join } from "node:path";
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import { createSchema } from "../postgres.js";
import { freePort } from "../../test/helpers/free-port.js";
import { ProcessGroup } from "../process-group.js";
import type { Client, Stage } from "../processes.js";
import { ratioRow, type Row, type Target } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";
import { CLIENTS } from "./throughput.js";

const FOLDER = join(import.meta.dirname, "../ready");
/** Phases of load before the rounds, per process: each process compiles the code for itself. */
const WARM_UP_PHASES = 4;
const UNIT = { graph: "agent", input: QUESTION };

const FIGURES = { cpuPerRun: "CPU per run", perSecond: `throughput at ${CLIENTS} clients` };
const SIDES = { one: "one process", two: "two processes", apart: "two servers that share nothing" };

interface Started {
  count: number;
  url: string;
  group: ProcessGroup;
  close: () => Promise<void>;
}

export async function processes(goal: string, stage: Stage): Promise<Row[]> {
  const started: Started[] = [];
  try {
    for (const count of [1, 1, 2]) {
      const server = await start(stage.options.dist, count);
      if (!server) return [];
      started.push(server);
    }
    const [one, other, two] = started as [Started, Started, Started];
    const client = stage.client();
    for (const server of started)
      await roundOf([server], client, stage.options.phaseMs * WARM_UP_PHASES * server.count);
    const rounds = await measureRounds(stage, {
      one: (ms) => roundOf([one], client, ms),
      apart: (ms) => roundOf([one, other], client, ms),
      two: (ms) => roundOf([two], client, ms),
    });
    const row = (
      figure: keyof Round,
      side: keyof typeof SIDES,
      floor: keyof typeof SIDES,
      target: Target = {},
    ) =>
      ratioRow(
        [goal, `one node on PostgreSQL: ${FIGURES[figure]} of ${SIDES[side]}, against ${SIDES[floor]}`],
        compared(figure, rounds[side], rounds[floor]),
        target,
      );
    return [
      row("cpuPerRun", "two", "apart", { atMost: 1.1 }),
      row("cpuPerRun", "two", "one"),
      row("cpuPerRun", "apart", "one"),
      row("perSecond", "two", "apart", { atLeast: 0.9 }),
      row("perSecond", "two", "one"),
    ];
  } finally {
    for (const { close } of started) await close();
  }
}

async function start(dist: string, count: number): Promise<Started | undefined> {
  const created = await createSchema();
  if (!created) return undefined;
  const port = String(await freePort());
  const options = JSON.stringify({ schema: created.schema });
  const command = [process.execPath, join(dist, "cli/main.js"), "start", "./graph.mjs:graph"];
  const flags = ["--db", created.uri, "--port", port, "--processes", String(count)];
  const group = new ProcessGroup([...command, ...flags], FOLDER, {
    GRAPH_SERVE_CHECKPOINTER_OPTIONS: options,
    GRAPH_SERVE_STREAM: "postgres",
  });
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    await group.stop();
    await created.drop();
  };
  try {
    await group.ready(`${url}/ready`);
  } catch (error) {
    await close();
    throw error;
  }
  return { count, url, group, close };
}

/** Shares the clients out among the servers, which are loaded at the same time. */
async function roundOf(servers: readonly Started[], client: Client, ms: number): Promise<Round> {
  const cpuMs = () => servers.reduce((sum, { group }) => sum + group.cpuMs(), 0);
  const clients = CLIENTS / servers.length;
  const before = cpuMs();
  const done = await Promise.all(
    servers.map(({ url }) => client.call("load", { ...(UNIT as FloorUnit), url, clients, ms })),
  );
  const units = done.reduce((sum, load) => sum + load.units, 0);
  return {
    perSecond: (units / Math.max(...done.map((load) => load.ms))) * 1000,
    cpuPerRun: (cpuMs() - before) / units,
  };
}
