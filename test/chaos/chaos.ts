/**
 * Runs on several servers while processes are killed, frozen or shut down and the database restarts. Uses
 * only HTTP and signals: `npm run test:all:chaos -- [--runs 1000] [--seconds 60] [--seed 31]`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { isFinished } from "../../src/models/run-status.js";
import { Stopwatch } from "../../src/support/stopwatch.js";
import type { PostgresCluster } from "../helpers/postgres-cluster.js";
import { Fleet, type Role } from "./fleet.js";
import { type Evidence, judge, type Verdict } from "./judge.js";
import { type Random, randomOf } from "./random.js";
import { type Accepted, Traffic } from "./traffic.js";

export interface ChaosOptions {
  database: PostgresCluster;
  settings?: Partial<Settings>;
  /** Number of processes. `workers` of them only execute runs; the others then only accept requests. */
  servers: number;
  /** Largest clock difference between servers, in seconds. */
  skewSeconds?: number;
  workers?: number;
  runs: number;
  threads: number;
  seconds: number;
  seed: number;
  restarts: number;
  /** Whether servers are replaced one by one by the next release, instead of other faults. */
  isDeploy?: boolean;
  /** Time for all runs to end after the last fault, in seconds. */
  settleSeconds: number;
  /** Arguments of node for the command line; that of the sources by default. */
  program?: readonly string[];
  say?: (text: string) => void;
}

const FAULTS = ["SIGKILL", "SIGSTOP", "SIGTERM"] as const;
/** Time between two faults, in ms. */
const FAULT_MS = 3000;
const FROZEN_MS = 8000;

export async function chaos(options: ChaosOptions): Promise<Verdict> {
  const { database, seconds, seed, settleSeconds, servers, workers = 0 } = options;
  const stored = { checkpointer_scheme: "postgres", checkpointer_uri: database.uri };
  const roles = Array.from({ length: servers }, (_, index): Role =>
    workers === 0 ? "all" : index < servers - workers ? "api" : "worker",
  );
  const settings = { ...stored, ...options.settings };
  const fleet = await Fleet.start(roles, settings, options.skewSeconds ?? 0, options.program);
  try {
    const random = randomOf(seed);
    const ms = seconds * 1000;
    const traffic = new Traffic({ ...options, urls: fleet.asked.map(({ url }) => url), random, ms });
    const made = traffic.make();
    const befell = options.isDeploy
      ? await deploy(fleet, options)
      : await disturb(fleet, options, randomOf(seed + 1));
    // A frozen server may still accept runs after the last fault.
    await made;
    options.say?.(`faults are over, ${traffic.accepted.length} runs were accepted`);
    const last = new Stopwatch();
    const end = AbortSignal.timeout(settleSeconds * 1000);
    const rows = await settled(fleet, traffic.accepted, end);
    options.say?.(`${rows.size} run rows read ${(last.elapsed() / 1000).toFixed(1)} s later`);
    await traffic.followers(end);
    options.say?.(`readers finished ${(last.elapsed() / 1000).toFixed(1)} s later`);
    return judge({
      ...traffic,
      ...befell,
      rows,
      // PostgreSQL empties the unlogged frame tables after a crash.
      lossesAt: options.settings?.stream === "postgres" ? befell.restartsAt : [],
      trails: await trailsOf(fleet, traffic.accepted),
      turns: fleet.turns(),
    });
  } finally {
    await fleet.stop();
  }
}

interface Befell {
  /** Processes that were disturbed, and those of them that ended. */
  disturbed: Set<number>;
  ended: Set<number>;
  /** Times at which the database was available again. */
  restartsAt: number[];
}

/** Kills every other server, and shuts the others down; each is replaced by one of the next release. */
async function deploy(fleet: Fleet, { seconds, say }: ChaosOptions): Promise<Befell> {
  const befell: Befell = { disturbed: new Set(), ended: new Set(), restartsAt: [] };
  await fleet.release();
  for (const [index, server] of fleet.servers.entries()) {
    await sleep((seconds * 1000) / (fleet.servers.length + 1));
    const signal = index % 2 === 0 ? "SIGKILL" : "SIGTERM";
    say?.(`${signal} and the next release at ${server.url}`);
    const pid = await server.replace(signal);
    befell.disturbed.add(pid);
    befell.ended.add(pid);
  }
  return befell;
}

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
      say("the database restarts");
      await database.restart();
      befell.restartsAt.push(Date.now());
      continue;
    }
    // At least one server stays undisturbed.
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
    // The rejection is reported at the end.
    isOver.catch(() => undefined);
    faults.push(isOver);
  }
  await Promise.all(faults);
  return befell;
}

/** Reads the rows of all runs until each has ended or `end` aborts, then reads all of them once more. */
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

const isUnfinished = (run: Run | undefined): boolean => !run || !isFinished(run);

/** Any server may be down, so each is tried twice. */
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
