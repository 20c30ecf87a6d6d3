/** processes: `start --processes 2` on PostgreSQL compared with one process. Client and database use the same cores. */
import { join } from "node:path";
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import { createSchema } from "../postgres.js";
import { freePort } from "../../test/helpers/free-port.js";
import { ProcessGroup } from "../process-group.js";
import type { Client, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";
import { CLIENTS } from "./throughput.js";

const FOLDER = join(import.meta.dirname, "../ready");
/** Phases of load before the rounds, per process: each process compiles the code for itself. */
const WARM_UP_PHASES = 4;
const UNIT = { graph: "agent", input: QUESTION };

interface Started {
  url: string;
  group: ProcessGroup;
  close: () => Promise<void>;
}

export async function processes(goal: string, stage: Stage): Promise<Row[]> {
  const started: Started[] = [];
  try {
    for (const count of [1, 2]) {
      const server = await start(stage.options.dist, count);
      if (!server) return [];
      started.push(server);
    }
    const [one, two] = started as [Started, Started];
    const client = stage.client();
    for (const [index, server] of started.entries())
      await roundOf(server, client, stage.options.phaseMs * WARM_UP_PHASES * (index + 1));
    const rounds = await measureRounds(stage, {
      one: (ms) => roundOf(one, client, ms),
      two: (ms) => roundOf(two, client, ms),
    });
    const row = (figure: keyof Round, what: string, target: Row["target"]) =>
      ratioRow(
        [goal, `two processes against one, one node on PostgreSQL: ${what}`],
        compared(figure, rounds.two, rounds.one),
        target,
      );
    return [
      row("cpuPerRun", "CPU per run", { atMost: 1.1 }),
      row("perSecond", `throughput at ${CLIENTS} clients`, { atLeast: 1 }),
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
  return { url, group, close };
}

async function roundOf({ url, group }: Started, client: Client, ms: number): Promise<Round> {
  const before = group.cpuMs();
  const done = await client.call("load", { ...(UNIT as FloorUnit), url, clients: CLIENTS, ms });
  return {
    perSecond: (done.units / done.ms) * 1000,
    cpuPerRun: (group.cpuMs() - before) / done.units,
  };
}
