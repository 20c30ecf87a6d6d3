/** studio: page performance in Chromium, compared with an empty page, a short thread and an idle page. */
import { type Browser, chromium, type Page } from "playwright-core";
import { layoutOf } from "../../studio/graph/layout.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row, type Target, valueRow } from "../report.js";
import { median, medianRatio, percentile } from "../stats.js";
import { lists } from "../studio/lists.js";
import { LONG, ranThread, startServer } from "../studio/server.js";

const SHORT = 50;
/** Frame time of a 60 Hz screen. */
const FRAME_MS = 1000 / 60;

interface Scene {
  stage: Stage;
  goal: string;
  url: string;
  page: Page;
}

export async function studio(goal: string, stage: Stage): Promise<Row[]> {
  const server = await startServer(stage, true);
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const scene: Scene = { stage, goal, url: server.url, page };
    return [
      ...(await firstPaint(scene)),
      ...(await longThread(scene)),
      ...(await largeStates(scene)),
      ...(await tokens(scene)),
      ...(await lists(goal, stage, page)),
      layout(goal, stage),
      ...(await starts(scene)),
    ];
  } finally {
    await browser.close();
    await server.end();
  }
}

const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.GRAPH_SERVE_TEST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });

// Measurements.

const PAINTED = `new Promise((resolve) => new PerformanceObserver((list, self) => {
  const [found] = list.getEntriesByName("first-contentful-paint");
  if (found) { self.disconnect(); resolve(found.startTime); }
}).observe({ type: "paint", buffered: true }))`;

async function firstPaint({ stage, goal, url, page }: Scene): Promise<Row[]> {
  await page.route(`${url}/empty`, (route) => route.fulfill({ contentType: "text/html", body: "<p>.</p>" }));
  const painted = async (address: string): Promise<number> => {
    await page.goto("about:blank");
    await page.goto(address);
    return page.evaluate<number>(PAINTED);
  };
  const [empty, ours]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < stage.scaled(9, 3); turn += 1) {
    empty.push(await painted(`${url}/empty`));
    ours.push(await painted(`${url}/studio/#/threads`));
  }
  const figures = { floor: median(empty), ours: median(ours), unit: "ms", ratio: medianRatio(ours, empty) };
  return [ratioRow([goal, "first paint, against an empty page"], figures, { atMost: 2 })];
}

const STEPS = '[role="listbox"] [role="option"]';
const LIST = `document.querySelector('[role="listbox"]')`;

async function longThread({ stage, goal, url, page }: Scene): Promise<Row[]> {
  const to = stage.scaled(LONG - 2, 500);
  const [short, long] = [
    await ranThread(url, "counter", { n: 0, to: SHORT }),
    await ranThread(url, "counter", { n: 0, to }),
  ];
  const opened = async (place: string, isThere: string): Promise<number> => {
    await page.goto("about:blank");
    const begin = performance.now();
    await page.goto(`${url}/studio/#/threads/${place}`);
    await page.locator(isThere).first().waitFor();
    return performance.now() - begin;
  };
  const [few, many, named]: [number[], number[], number[]] = [[], [], []];
  const first = await firstCheckpoint(url, long);
  for (let turn = 0; turn < stage.options.rounds; turn += 1) {
    few.push(await opened(short, STEPS));
    many.push(await opened(long, STEPS));
    named.push(await opened(`${long}/at/${first}?tab=raw`, 'pre:has-text("\\"n\\": 0")'));
  }
  const elements = await (async () => {
    await opened(long, STEPS);
    return page.locator("#app *").count();
  })();
  const jumps: number[] = [];
  for (const share of [0.5, 1, 0.1, 0.9, 0.3]) {
    jumps.push(await page.evaluate<number>(JUMP(share)));
  }
  const frames = await page.evaluate<number[]>(SCROLL);
  const name = (what: string): [string, string] => [goal, `${to + 2} steps: ${what}`];
  const against = (ours: number[], target: Target, what: string) =>
    ratioRow(
      name(what),
      { floor: median(few), ours: median(ours), unit: "ms", ratio: medianRatio(ours, few) },
      target,
    );
  return [
    against(many, { atMost: 1.5 }, `open, against ${SHORT + 2} steps`),
    against(named, { atMost: 2 }, `open the first step by URL, against ${SHORT + 2} steps`),
    valueRow(name("a scrollbar jump to steps that are not loaded"), median(jumps), "ms", {
      atMost: 300,
    }),
    valueRow(name("median frame while scrolling"), median(frames), "ms", { atMost: 1.5 * FRAME_MS }),
    valueRow(name("elements in the page"), elements, "", { atMost: 600 }),
  ];
}

async function firstCheckpoint(url: string, thread: string): Promise<string> {
  const body = JSON.stringify({ metadata: { step: 0 }, limit: 1, select: ["checkpoint"] });
  const answer = await fetch(`${url}/threads/${thread}/history`, { method: "POST", body });
  const [state] = (await answer.json()) as { checkpoint: { checkpoint_id: string } }[];
  return state?.checkpoint.checkpoint_id ?? "";
}

/** Milliseconds until the rows at another scroll position are loaded and drawn. */
const JUMP = (share: number): string => `new Promise((resolve) => {
  const list = ${LIST}, begin = performance.now();
  const before = list.querySelector('[role="option"]')?.id;
  list.scrollTop = list.scrollHeight * ${share};
  const look = () => list.querySelector('[role="option"]')?.id !== before && !list.querySelector(".is-unread")
    ? requestAnimationFrame(() => resolve(performance.now() - begin)) : requestAnimationFrame(look);
  look();
})`;

const SCROLL = `new Promise((resolve) => {
  const list = ${LIST}, frames = [];
  let last = performance.now();
  const step = (now) => {
    frames.push(now - last);
    last = now;
    list.scrollTop -= 120;
    frames.length < 180 ? requestAnimationFrame(step) : resolve(frames.slice(1));
  };
  requestAnimationFrame(step);
})`;

/** Records the longest time the page was blocked; the browser reports tasks over 50 ms. */
const WATCH_BLOCKS = `globalThis.blocks = [0];
  new PerformanceObserver((list) => blocks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask", buffered: true });`;

async function largeStates({ stage, goal, url, page }: Scene): Promise<Row[]> {
  const thread = await ranThread(url, "wide", { rows: [] });
  const shown = async (tab: string, isThere: string): Promise<{ ms: number; block: number }> => {
    await page.goto("about:blank");
    await page.goto(`${url}/studio/#/threads/${thread}?tab=meta`);
    await page.locator(STEPS).first().waitFor();
    // The panel waits for both states, so only the tab's own work is measured.
    await page.locator('#panel[aria-busy="false"] .meta').waitFor();
    await page.evaluate(WATCH_BLOCKS);
    const begin = performance.now();
    await page.evaluate(`location.hash = location.hash.replace("tab=meta", "tab=${tab}")`);
    await page.locator(isThere).first().waitFor();
    const ms = performance.now() - begin;
    return { ms, block: Math.max(...(await page.evaluate<number[]>("blocks"))) };
  };
  const [trees, changes, blocks]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < stage.options.rounds; turn += 1) {
    const tree = await shown("state", '[role="treeitem"]');
    const diff = await shown("changes", ".changes > .change");
    trees.push(tree.ms);
    changes.push(diff.ms);
    blocks.push(Math.max(tree.block, diff.block));
  }
  const name = (what: string): [string, string] => [goal, `states of 1 MB: ${what}`];
  return [
    valueRow(name("the tree opens"), median(trees), "ms", { atMost: 100 }),
    valueRow(name("what changed between two"), median(changes), "ms", { atMost: 300 }),
    valueRow(name("longest block of the page meanwhile"), median(blocks), "ms", { atMost: 100 }),
  ];
}

const FRAMES = (ms: number): string => `new Promise((resolve) => {
  const frames = [], begin = performance.now();
  let last = begin;
  const step = (now) => {
    frames.push(now - last);
    last = now;
    now - begin < ${ms} ? requestAnimationFrame(step) : resolve(frames.slice(1));
  };
  requestAnimationFrame(step);
})`;
const STREAM_MS = 9000;

async function tokens({ goal, url, page }: Scene): Promise<Row[]> {
  await page.goto("about:blank");
  await page.goto(`${url}/studio/#/run?graph=fast`);
  const field = page.getByRole("textbox", { name: "Message to the graph" });
  await field.waitFor();
  const idle = await page.evaluate<number[]>(FRAMES(STREAM_MS / 3));
  await field.fill("go");
  await page.keyboard.press("Enter");
  await page.getByText("word 1").first().waitFor();
  const busy = await page.evaluate<number[]>(FRAMES(STREAM_MS));
  const [rest, stream] = [idle, busy].map((frames) => percentile(frames, 0.99)) as [number, number];
  const slow = busy.filter((ms) => ms > 2 * FRAME_MS).length;
  return [
    ratioRow(
      [goal, "200 tokens a second: p99 of the frames, against a page at rest"],
      { floor: rest, ours: stream, unit: "ms" },
      { atMost: 1.5 },
    ),
    valueRow([goal, "200 tokens a second: frames over 33 ms of 1,000"], (slow / busy.length) * 1000, "", {
      atMost: 10,
    }),
  ];
}

/** 100 nodes in ten branches that join; the page lays them out in slices. */
function layout(goal: string, stage: Stage): Row {
  const nodes = Array.from({ length: 100 }, (_, id) => ({ id: `n${id}` }));
  const edges = nodes.slice(1).map(({ id }, index) => ({
    ...{ source: `n${Math.max(0, index + 1 - 10)}`, target: id, conditional: index % 3 === 0, labels: [] },
  }));
  const times: number[] = [];
  for (let turn = 0; turn <= stage.scaled(9, 3); turn += 1) {
    const begin = performance.now();
    layoutOf({ nodes, edges });
    if (turn > 0) times.push(performance.now() - begin);
  }
  return valueRow([goal, "a graph of 100 nodes is laid out"], median(times), "ms", { atMost: 150 });
}

async function starts({ stage, goal }: Scene): Promise<Row[]> {
  const [off, on]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < stage.scaled(9, 3); turn += 1) {
    for (const [list, isOn] of [
      [off, false],
      [on, true],
    ] as const) {
      const server = await startServer(stage, isOn);
      list.push(server.ms);
      await server.end();
    }
  }
  const figures = { floor: median(off), ours: median(on), unit: "ms", ratio: medianRatio(on, off) };
  return [ratioRow([goal, "ready with the Studio, against without"], figures, { atMost: 1.05 })];
}
