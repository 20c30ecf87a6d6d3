/** The list of threads: what it costs the server to show large threads, and the page to follow many runs. */
import type { Page } from "playwright-core";
import type { Stage } from "../processes.js";
import { type Row, valueRow } from "../report.js";
import { median } from "../stats.js";
import { post, ranThread, type Server, startServer } from "./server.js";

const LARGE = 50;
const RUNNING = 200;
const FOLLOWED_MS = 5_000;
const ROWS = "table tbody tr";

export async function lists(goal: string, stage: Stage, page: Page): Promise<Row[]> {
  const server = await startServer(stage, true);
  try {
    return [
      ...(await largeThreads(goal, stage, page, server)),
      ...(await runningThreads(goal, stage, page, server)),
    ];
  } finally {
    await server.end();
  }
}

async function largeThreads(goal: string, stage: Stage, page: Page, { url, cpu }: Server): Promise<Row[]> {
  for (let count = 0; count < LARGE; count += 1) await ranThread(url, "wide", { rows: [] });
  const spent: number[] = [];
  for (let turn = 0; turn <= stage.scaled(5, 2); turn += 1) {
    await page.goto("about:blank");
    const before = cpu();
    await page.goto(`${url}/studio/#/threads`);
    await page
      .locator(ROWS)
      .nth(LARGE - 1)
      .waitFor();
    await page.getByText("Live").waitFor();
    // The first view fills caches.
    if (turn > 0) spent.push(cpu() - before);
  }
  return [
    valueRow([goal, `${LARGE} threads of 1 MB: CPU of the server for one view`], median(spent), "ms", {
      atMost: 50,
    }),
  ];
}

async function runningThreads(goal: string, stage: Stage, page: Page, { url }: Server): Promise<Row[]> {
  const run = async () => {
    const { thread_id = "" } = await post(url, "/threads", {});
    const begun = performance.now();
    const headers = { prefer: "respond-async" };
    const body = JSON.stringify({ assistant_id: "slow", input: { n: 0 } });
    const answer = await fetch(`${url}/threads/${thread_id}/runs`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    return { thread_id, begun };
  };
  await page.goto(`${url}/studio/#/threads`);
  await page.getByText("Live").waitFor();
  await Promise.all(Array.from({ length: stage.scaled(RUNNING, 20) }, run));
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const busySeconds = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  };
  const [before, begin] = [await busySeconds(), performance.now()];
  await page.waitForTimeout(FOLLOWED_MS);
  const share = (1000 * ((await busySeconds()) - before)) / (performance.now() - begin);
  const delays: number[] = [];
  for (let turn = 0; turn < stage.scaled(5, 2); turn += 1) {
    const { thread_id, begun } = await run();
    await page
      .locator(ROWS)
      .filter({ has: page.locator(`[href*="${thread_id}"]`) })
      .getByText("busy")
      .waitFor();
    delays.push(performance.now() - begun);
  }
  const name = (what: string): [string, string] => [goal, `${RUNNING} running threads: ${what}`];
  return [
    valueRow(name("a new one is in the list"), median(delays), "ms", { atMost: 1000 }),
    valueRow(name("share of the page's main thread"), 100 * share, "%", { atMost: 5 }),
  ];
}
