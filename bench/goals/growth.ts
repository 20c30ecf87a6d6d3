/** P11: cost of a run on a long thread, and on a server that has executed many runs. */
import type { TimedRequest } from "../client-process.js";
import { QUESTION } from "../graphs.js";
import type { RunningServer, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median } from "../stats.js";
import { pair } from "./reads.js";
import { ourRound } from "./throughput.js";

export async function growth(goal: string, stage: Stage): Promise<Row[]> {
  return [await longThread(goal, stage), await manyRuns(goal, stage)];
}

/** One superstep on a thread with 1,000 checkpoints, and on a thread that is kept at 10. */
async function longThread(goal: string, stage: Stage): Promise<Row> {
  const [server, client] = [await stage.server(), stage.client()];
  const long = await server.call("createHistory", { graph: "g2", input: { n: 0 }, runs: 84 });
  const count = stage.scaled(150, 40);
  const short = await server.call("createHistory", { graph: "g2", input: { n: 0 }, runs: 1 });
  const figures = await pair(client, [run(server, short), run(server, long)], count);
  return ratioRow([goal, "a run at 1,000 checkpoints, against 10"], figures, { atMost: 1.15 });
}

/** From `n: 9`, one superstep ends a run of g2. */
function run(server: RunningServer, thread: string): TimedRequest {
  return { url: `${server.url}/threads/${thread}/runs`, body: { assistant_id: "g2", input: { n: 9 } } };
}

async function manyRuns(goal: string, stage: Stage): Promise<Row> {
  const [server, client] = [await stage.server(), stage.client()];
  const unit = { graph: "g1", input: QUESTION } as const;
  const rounds = async (): Promise<number> => {
    const figures: number[] = [];
    for (let round = 0; round < stage.options.rounds; round += 1) {
      figures.push((await ourRound(server, client, unit, stage.options.phaseMs / 4)).cpuPerRun);
    }
    return median(figures);
  };
  await server.call("createConversations", { count: stage.scaled(1000) });
  await rounds();
  const floor = await rounds();
  const count = stage.scaled(10_000);
  await server.call("createConversations", { count });
  const figures = { floor, ours: await rounds(), unit: "ms" };
  const what = `CPU per run of g1 after ${count.toLocaleString("en")} runs, against before`;
  return ratioRow([goal, what], figures, { atMost: 1.2 });
}
