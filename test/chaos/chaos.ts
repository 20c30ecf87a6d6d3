/**
 * Runs on several servers while processes are killed, stand still or are told to end, and the database fails. By HTTP
 * and by signals alone: `npm run test:all:chaos -- [--runs 1000] [--seconds 60] [--seed 31]`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { Stopwatch } from "../../src/support/stopwatch.js";
import type { PostgresCluster } from "../helpers/postgres-cluster.js";
import { Fleet, type Role } from "./fleet.js";
import { type Evidence, judge, type Verdict } from "./judge.js";
import { type Random, randomOf } from "./random.js";
import { type Accepted, Traffic } from "./traffic.js";

export interface ChaosOptions {
  database: PostgresCluster;
  settings?: Partial<Settings>;
  /** How many processes, and how many that execute runs alone; the others take requests, and execute none then. */
  servers: number;
  /** How far the clocks of the servers are apart, at most. */
  skewSeconds?: number;
  workers?: number;
  runs: number;
  threads: number;
  seconds: number;
  seed: number;
  /** How often the database fails. */
  restarts: number;
  /** Time for everything to end after the last fault. */
  settleSeconds: number;
  /** Hears what is done. */
  say?: (text: string) => void;
}

const FAULTS = ["SIGKILL", "SIGSTOP", "SIGTERM"] as const;
/** Between two faults. */
const FAULT_MS = 3000;
const FROZEN_MS = 8000;

/** What became of the runs. */
export async function chaos(options: ChaosOptions): Promise<Verdict> {
  const { database, seconds, seed, settleSeconds, servers, workers = 0 } = options;
  const stored = { checkpointer_scheme: "postgres", checkpointer_uri: database.uri };
  const roles = Array.from({ length: servers }, (_, index): Role =>
    workers === 0 ? "all" : index < servers - workers ? "api" : "worker",
  );
  const fleet = await Fleet.start(roles, { ...stored, ...options.settings }, options.skewSeconds ?? 0);
  try {
    const random = randomOf(seed);
    const ms = seconds * 1000;
    const traffic = new Traffic({ ...options, urls: fleet.asked.map(({ url }) => url), random, ms });
    const made = traffic.make();
    const befell = await disturb(fleet, options, randomOf(seed + 1));
    // Who was frozen may accept some when the last fault is over.
    await made;
    options.say?.(`the last fault is over, ${traffic.accepted.length} runs were accepted`);
    const last = new Stopwatch();
    const end = AbortSignal.timeout(settleSeconds * 1000);
    const rows = await settled(fleet, traffic.accepted, end);
    options.say?.(`${rows.size} runs were read until ${(last.elapsed() / 1000).toFixed(1)} s after`);
    await traffic.followers(end);
    options.say?.(`their readers are done ${(last.elapsed() / 1000).toFixed(1)} s after`);
    return judge({
      ...traffic,
      ...befell,
      rows,
      // Its tables are empty after a crash.
      lossesAt: options.settings?.stream === "postgres" ? befell.restartsAt : [],
      trails: await trailsOf(fleet, traffic.accepted),
      turns: fleet.turns(),
    });
  } finally {
    await fleet.stop();
  }
}

interface Befell {
  /** The processes that faults befell, and those of them that ended. */
  disturbed: Set<number>;
  ended: Set<number>;
  /** When the database was there again. */
  restartsAt: number[];
}

/** One fault after another until the time is over. */
async function disturb(fleet: Fleet, options: ChaosOptions, random: Random): Promise<Befell> {
  const { database, seconds, restarts, say = () => undefined } = options;
  const befell: Befell = { disturbed: new Set(), ended: new Set(), restartsAt: [] };
  const faults: Promise<void>[] = [];
  const count = Math.floor((seconds * 1000) / FAULT_MS);
  const restartAt = new Set(
    Array.from({ length: restarts }, (_, index) => Math.floor(((index + 1) * count) / (restarts + 1))),
  );
  const free = new Set(fleet.servers);
  for (let index = 0; index < count; index += 1) {
    await sleep(FAULT_MS);
    if (restartAt.has(index)) {
      say("the database fails");
      await database.restart();
      befell.restartsAt.push(Date.now());
      continue;
    }
    // One is left that nothing befalls at the time.
    const choice = [...free];
    if (choice.length < 2) continue;
    const server = choice[Math.floor(random() * choice.length)];
    const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? "SIGKILL";
    if (!server) continue;
    free.delete(server);
    say(`${fault} ${server.url}`);
    const done = fault === "SIGSTOP" ? server.freeze(FROZEN_MS) : server.replace(fault);
    const isOver = done.then((pid) => {
      befell.disturbed.add(pid);
      if (fault !== "SIGSTOP") befell.ended.add(pid);
      free.add(server);
    });
    // A rejection is heard of at the end.
    isOver.catch(() => undefined);
    faults.push(isOver);
  }
  await Promise.all(faults);
  return befell;
}

/** The rows of all runs once each has ended, or the time is over; and all of them once more. */
async function settled(
  fleet: Fleet,
  accepted: readonly Accepted[],
  end: AbortSignal,
): Promise<Evidence["rows"]> {
  const seen = new Map<string, Run | undefined>();
  for (let open = accepted; open.length > 0 && !end.aborted;) {
    const rows = await rowsOf(fleet, open);
    open.forEach(({ run }, index) => seen.set(run, rows[index]));
    open = open.filter((_, index) => isUnfinished(rows[index]));
    await sleep(500);
  }
  const again = await rowsOf(fleet, accepted);
  return new Map(accepted.map(({ run }, index) => [run, [seen.get(run), again[index]]]));
}

const isUnfinished = (run: Run | undefined): boolean => !run || ["pending", "running"].includes(run.status);

/** A server may stand at the time: another is asked then. */
async function ask<T>(fleet: Fleet, path: string): Promise<T | undefined> {
  for (const { url } of [...fleet.asked, ...fleet.asked]) {
    try {
      const answer = await fetch(url + path, { signal: AbortSignal.timeout(10_000) });
      if (answer.ok) return (await answer.json()) as T;
      if (answer.status === 404) return undefined;
    } catch {
      continue;
    }
  }
  throw new Error(`no server answers ${path}`);
}

const rowsOf = (fleet: Fleet, accepted: readonly Accepted[]): Promise<(Run | undefined)[]> =>
  Promise.all(accepted.map(({ thread, run }) => ask<Run>(fleet, `/threads/${thread}/runs/${run}`)));

async function trailsOf(fleet: Fleet, accepted: readonly Accepted[]): Promise<Map<string, string[]>> {
  const trails = new Map<string, string[]>();
  for (const thread of new Set(accepted.map((one) => one.thread))) {
    const state = await ask<{ values?: { trail?: string[] } }>(fleet, `/threads/${thread}/state`);
    trails.set(thread, state?.values?.trail ?? []);
  }
  return trails;
}
