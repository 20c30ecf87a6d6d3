/** tracing: a server that exports traces compared with one that does not. The collector is this process. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { QUESTION } from "../graphs.js";
import type { Client, RunningServer, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { compared, measureRounds } from "../rounds.js";
import { median } from "../stats.js";
import { firstEvent } from "./response.js";
import { ourRound, type Work, WORKS } from "./throughput.js";

const GOALS = ["P1", "P2", "P3"];
const AGENT: Pick<Work, "what" | "unit"> = {
  what: "an agent, two model calls and a tool",
  unit: { graph: "agent", input: QUESTION },
};

/** What a collector answers: it accepts, refuses for now, or never answers. */
const COLLECTORS = { accepts: 200, refuses: 429, hangs: undefined } as const;
type CollectorKind = keyof typeof COLLECTORS;

export async function tracing(goal: string, stage: Stage): Promise<Row[]> {
  const collectors: Server[] = [];
  let batches = 0;
  try {
    const traced = async (kind: CollectorKind) => {
      const collector = await listen(COLLECTORS[kind]);
      collector.on("request", () => (batches += 1));
      collectors.push(collector);
      const { port } = collector.address() as AddressInfo;
      return stage.server("memory", { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    };
    const [plain, accepting] = [await stage.server(), await traced("accepts")];
    const client = stage.client();
    const rows = await cost(goal, stage, { plain, traced: accepting, client });
    // A server that exported nothing would meet every target.
    if (batches === 0) throw new Error("the collector received no spans");
    for (const kind of ["refuses", "hangs"] as const)
      rows.push(await delay(goal, stage, { plain: accepting, traced: await traced(kind), client, kind }));
    return rows;
  } finally {
    for (const collector of collectors) {
      collector.closeAllConnections();
      collector.close();
    }
  }
}

interface Sides {
  /** Exports nothing, or to a collector that accepts. */
  plain: RunningServer;
  traced: RunningServer;
  client: Client;
}

async function cost(goal: string, stage: Stage, { plain, traced, client }: Sides): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { what, unit } of [...GOALS.flatMap((name) => WORKS[name] ?? []), AGENT]) {
    const rounds = await measureRounds(stage, {
      plain: (ms) => ourRound(plain, client, unit, ms),
      traced: (ms) => ourRound(traced, client, unit, ms),
    });
    const figures = compared("cpuPerRun", rounds.traced, rounds.plain);
    rows.push(ratioRow([goal, `${what}: CPU per run with an exporter`], figures, { atMost: 1.03 }));
  }
  return rows;
}

/** In turns, so that other load on the machine affects both. */
async function delay(
  goal: string,
  stage: Stage,
  { plain, traced, client, kind }: Sides & { kind: CollectorKind },
): Promise<Row> {
  const requests = [plain, traced].map((server) => firstEvent(server, "g1", QUESTION));
  // The engine has compiled the other server already.
  await ourRound(traced, client, { graph: "g1", input: QUESTION }, 3 * stage.options.phaseMs);
  const times = await client.call("time", { requests, count: stage.scaled(300, 15) });
  const [floor = NaN, ours = NaN] = times.map(median);
  return ratioRow(
    [goal, `first event while the collector ${kind}`],
    { floor, ours, unit: "ms" },
    { atMost: 1.02 },
  );
}

async function listen(status: number | undefined): Promise<Server> {
  const collector = createServer((request, response) => {
    request.resume();
    if (status !== undefined) request.on("end", () => response.writeHead(status).end("{}"));
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  return collector;
}
