/**
 * `node --import tsx bench/profile.ts P1 [dist] [storage]`: where the server and the graph in process spend CPU under the
 * load of a goal, in milliseconds per run and as a share of the run in process. The server stores in memory, or in SQLite
 * or PostgreSQL; the graph in process always stores in memory.
 */
import { join, resolve } from "node:path";
import { floorRound, ourRound, WORKS } from "./goals/throughput.js";
import { Stage, type RunningServer } from "./processes.js";
import type { Round } from "./rounds.js";
import type { ProfileEntry } from "./read-profile.js";

const SHOWN = 25;
const ROUNDS = 3;

const [goal = "P1", dist = join(import.meta.dirname, "../dist"), storage = "memory"] = process.argv.slice(2);
/** What one side spent. */
interface Side {
  runs: number;
  cpuMs: number;
  entries: ProfileEntry[];
}

interface Profiled {
  call(name: "startProfile"): Promise<void>;
  call(name: "stopProfile"): Promise<ProfileEntry[]>;
}

async function profile(goal: string, dist: string, storage: string): Promise<string> {
  const work = WORKS[goal];
  if (!work) throw new Error(`cannot profile ${goal}; goals: ${Object.keys(WORKS).join(", ")}`);
  const stage = new Stage({ dist, rounds: 1, phaseMs: 3000, scale: 1 });
  try {
    const [server, client, floor] = [await serverOn(stage, storage), stage.client(), stage.floor()];
    const sides: Record<"floor" | "ours", Side> = { floor: newSide(), ours: newSide() };
    const { phaseMs } = stage.options;
    for (let round = 0; round <= ROUNDS; round += 1) {
      const isCounted = round > 0;
      const floorLoad = () => floorRound(floor, work.unit, phaseMs);
      const ourLoad = () => ourRound(server, client, work.unit, phaseMs);
      await measure(sides.floor, { peer: floor, load: floorLoad, phaseMs, isCounted });
      await measure(sides.ours, { peer: server, load: ourLoad, phaseMs, isCounted });
    }
    return `${work.what}; storage: ${storage}\n\n${comparison(sides)}\n\n${functions(sides.ours)}\n`;
  } finally {
    await stage.close();
  }
}

async function serverOn(stage: Stage, storage: string): Promise<RunningServer> {
  if (storage === "memory" || storage === "sqlite") return stage.server(storage);
  if (storage !== "postgres")
    throw new Error(`cannot profile on ${storage}; storages: memory, sqlite, postgres`);
  const server = await stage.postgresServer();
  if (!server) throw new Error("PostgreSQL does not answer; start it, or profile on sqlite");
  return server;
}

const newSide = (): Side => ({ runs: 0, cpuMs: 0, entries: [] });

async function measure(
  side: Side,
  options: { peer: Profiled; load: () => Promise<Round>; phaseMs: number; isCounted: boolean },
): Promise<void> {
  await options.peer.call("startProfile");
  const { perSecond, cpuPerRun } = await options.load();
  const entries = await options.peer.call("stopProfile");
  if (!options.isCounted) return;
  const runs = (perSecond * options.phaseMs) / 1000;
  side.runs += runs;
  side.cpuMs += cpuPerRun * runs;
  side.entries.push(...entries);
}

/** One line per part: milliseconds per run of both sides, and their difference in floors. */
function comparison({ floor, ours }: Record<"floor" | "ours", Side>): string {
  const [own, more] = [partsOf(floor), partsOf(ours)];
  const whole = sum(own);
  const differences = [...new Set([...more.keys(), ...own.keys()])]
    .map((part) => ({ part, own: own.get(part) ?? 0, more: more.get(part) ?? 0 }))
    .sort((a, b) => b.more - b.own - (a.more - a.own));
  const line = (own: number, more: number, part: string) =>
    `${own.toFixed(2).padStart(8)}  ${more.toFixed(2).padStart(8)}  ${((more - own) / whole).toFixed(2).padStart(8)}  ${part}`;
  return [
    ["in process", "server", "floors", ""].map((head) => head.padStart(8)).join("  "),
    ...differences.map(({ part, own, more }) => line(own, more, part)),
    line(whole, sum(more), "all"),
  ].join("\n");
}

/** Idle time, and the calls that start and stop the profile. */
const UNCOUNTED = new Set(["(idle)", "dispatch"]);

/** Milliseconds of CPU per run by part. */
function partsOf({ entries, runs }: Side): Map<string, number> {
  const parts = new Map<string, number>();
  for (const { part, name, ms } of entries)
    if (!UNCOUNTED.has(name)) parts.set(part, (parts.get(part) ?? 0) + ms / runs);
  return parts;
}

function functions({ entries }: Side): string {
  const merged = new Map<string, ProfileEntry>();
  for (const entry of entries) {
    const key = `${entry.part} ${entry.name} ${entry.place}`;
    const before = merged.get(key)?.ms ?? 0;
    merged.set(key, { ...entry, ms: before + entry.ms });
  }
  const total = entries.reduce((all, { ms }) => all + ms, 0);
  return [...merged.values()]
    .sort((a, b) => b.ms - a.ms)
    .slice(0, SHOWN)
    .map(({ part, name, place, ms }) => `${share(ms, total)}  ${part}  ${name}  ${place}`)
    .join("\n");
}

const sum = (parts: ReadonlyMap<string, number>): number =>
  [...parts.values()].reduce((all, ms) => all + ms, 0);

const share = (ms: number, total: number): string => `${((100 * ms) / total).toFixed(1).padStart(5)}%`;

process.stdout.write(await profile(goal, resolve(dist), storage));
