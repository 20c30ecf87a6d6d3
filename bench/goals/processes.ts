/**
 * processes: `start --processes 2` on PostgreSQL compared with one process, and with two servers of one process each,
 * which share nothing. Client and database use the same cores. Once these are busy, all CPU time counts for less work,
 * so two processes are compared with one at few clients, and at many clients with the two servers.
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

/** Leaves the cores time to spare. */
const FEW_CLIENTS = 4;

const FIGURES = { cpuPerRun: "CPU per run", perSecond: "throughput" };
const FLOORS = { one: "one process", apart: "two servers that share nothing" };

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
      await roundOf([server], client, {
        ms: stage.options.phaseMs * WARM_UP_PHASES * server.count,
        clients: CLIENTS,
      });
    const few = await measure(stage, { one, other, two }, FEW_CLIENTS);
    const many = await measure(stage, { one, other, two }, CLIENTS);
    return [
      row(goal, few, ["cpuPerRun", "one"], { atMost: 1.1 }),
      row(goal, many, ["cpuPerRun", "one"]),
      row(goal, many, ["cpuPerRun", "apart"], { atMost: 1.1 }),
      row(goal, many, ["perSecond", "one"]),
      row(goal, many, ["perSecond", "apart"], { atLeast: 0.9 }),
    ];
  } finally {
    for (const { close } of started) await close();
  }
}

interface Measured extends Record<"two" | keyof typeof FLOORS, Round[]> {
  clients: number;
}

async function measure(
  stage: Stage,
  { one, other, two }: Record<"one" | "other" | "two", Started>,
  clients: number,
): Promise<Measured> {
  const client = stage.client();
  const rounds = await measureRounds(stage, {
    one: (ms) => roundOf([one], client, { ms, clients }),
    apart: (ms) => roundOf([one, other], client, { ms, clients }),
    two: (ms) => roundOf([two], client, { ms, clients }),
  });
  return { ...rounds, clients };
}

function row(
  goal: string,
  { clients, two, ...floors }: Measured,
  [figure, floor]: [keyof Round, keyof typeof FLOORS],
  target: Target = {},
): Row {
  return ratioRow(
    [goal, `${FIGURES[figure]} at ${clients} clients of two processes, against ${FLOORS[floor]}`],
    compared(figure, two, floors[floor]),
    target,
  );
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
async function roundOf(
  servers: readonly Started[],
  client: Client,
  load: { ms: number; clients: number },
): Promise<Round> {
  const cpuMs = () => servers.reduce((sum, { group }) => sum + group.cpuMs(), 0);
  const clients = load.clients / servers.length;
  const before = cpuMs();
  const done = await Promise.all(
    servers.map(({ url }) => client.call("load", { ...(UNIT as FloorUnit), url, clients, ms: load.ms })),
  );
  const units = done.reduce((sum, load) => sum + load.units, 0);
  return {
    perSecond: (units / Math.max(...done.map((load) => load.ms))) * 1000,
    cpuPerRun: (cpuMs() - before) / units,
  };
}
