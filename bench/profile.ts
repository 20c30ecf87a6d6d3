/** `node --import tsx bench/profile.ts P1 [dist]`: where the server spends CPU under the load of a goal. */
import { join, resolve } from "node:path";
import { ourRound, WORKS } from "./goals/throughput.js";
import { Stage } from "./processes.js";
import type { ProfileEntry } from "./read-profile.js";

const SHOWN = 40;

const [goal = "P1", dist = join(import.meta.dirname, "../dist")] = process.argv.slice(2);
process.stdout.write(await profile(goal, resolve(dist)));

async function profile(goal: string, dist: string): Promise<string> {
  const work = WORKS[goal];
  if (!work) throw new Error(`cannot profile ${goal}; goals: ${Object.keys(WORKS).join(", ")}`);
  const stage = new Stage({ dist, rounds: 1, phaseMs: 5000, scale: 1 });
  try {
    const [server, client] = [await stage.server(), stage.client()];
    await ourRound(server, client, work.unit, stage.options.phaseMs * 2);
    await server.call("startProfile");
    const round = await ourRound(server, client, work.unit, stage.options.phaseMs);
    const entries = await server.call("stopProfile");
    return `${work.what}: ${round.cpuPerRun.toFixed(2)} ms per run\n\n${parts(entries)}\n\n${functions(entries)}\n`;
  } finally {
    await stage.close();
  }
}

function parts(entries: readonly ProfileEntry[]): string {
  const sums = new Map<string, number>();
  for (const { part, ms } of entries) sums.set(part, (sums.get(part) ?? 0) + ms);
  const total = entries.reduce((sum, { ms }) => sum + ms, 0);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .map(([part, ms]) => `${share(ms, total)}  ${part}`)
    .join("\n");
}

function functions(entries: readonly ProfileEntry[]): string {
  const total = entries.reduce((sum, { ms }) => sum + ms, 0);
  const lines = entries.slice(0, SHOWN);
  return lines
    .map(({ part, name, place, ms }) => `${share(ms, total)}  ${part}  ${name}  ${place}`)
    .join("\n");
}

function share(ms: number, total: number): string {
  return `${((100 * ms) / total).toFixed(1).padStart(5)}%`;
}
