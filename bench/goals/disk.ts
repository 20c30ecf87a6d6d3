/** P15: disk size and read time of a long chat, compared with LangGraph's own saver. Both in process. */
import { stat } from "node:fs/promises";
import { QUESTION } from "../graphs.js";
import type { Floor, Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { median } from "../stats.js";

const TURNS = 200;
const CHAT = { graph: "g1", input: QUESTION, runs: TURNS } as const;
const MEGABYTE = 1024 * 1024;

interface Chat {
  process: Floor;
  thread: string;
  file: string;
}

export async function disk(goal: string, stage: Stage): Promise<Row[]> {
  const [ours, stock] = [await chat(stage, stage.options.dist), await chat(stage)];
  const [megabytes, theirs] = [await megabytesOf(ours.file), await megabytesOf(stock.file)];
  const [own, base]: [number[], number[]] = [[], []];
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const [other, times] = [await readings(stage, stock), await readings(stage, ours)];
    if (round === 0) continue;
    base.push(...other);
    own.push(...times);
  }
  const figures = { floor: median(base), ours: median(own), unit: "ms" };
  const what = `a chat of ${TURNS} turns on SQLite; LangGraph's saver: ${theirs.toFixed(0)} MB`;
  return [
    valueRow([goal, what], megabytes, "MB", { atMost: 10 }),
    ratioRow([goal, "reading its state, against LangGraph's saver"], figures, { atMost: 1.1 }),
  ];
}

async function chat(stage: Stage, dist?: string): Promise<Chat> {
  const [process, file] = [stage.floor(), await stage.file("chat.db")];
  await process.call("useSqlite", { file, dist });
  return { process, file, thread: await process.call("createHistory", CHAT) };
}

const readings = (stage: Stage, { process, thread }: Chat): Promise<number[]> =>
  process.call("timeState", { graph: "g1", thread, count: stage.scaled(50, 10) });

/** Size of the file and its write-ahead log, which exists while the file is open. */
async function megabytesOf(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / MEGABYTE;
}
