/** Rounds of the sides that a goal compares. */
import type { Stage } from "./processes.js";
import { median, medianRatio } from "./stats.js";

export interface Round {
  perSecond: number;
  /** Milliseconds of CPU. */
  cpuPerRun: number;
}

const UNITS: Record<keyof Round, string> = { perSecond: "runs/s", cpuPerRun: "ms" };

/**
 * Measures the sides in turn, in their order. The first round, twice as long, warms up the processes and is left out:
 * the engine keeps recompiling the busiest functions at first.
 */
export async function measureRounds<Side extends string>(
  { options: { rounds, phaseMs } }: Stage,
  sides: Readonly<Record<Side, (ms: number) => Promise<Round>>>,
): Promise<Record<Side, Round[]>> {
  const measured = Object.fromEntries(Object.keys(sides).map((side) => [side, []])) as unknown as Record<
    Side,
    Round[]
  >;
  for (let round = 0; round <= rounds; round += 1)
    for (const side of Object.keys(sides) as Side[]) {
      const done = await sides[side](round === 0 ? 2 * phaseMs : phaseMs);
      if (round > 0) measured[side].push(done);
    }
  return measured;
}

/** The figures of a row that compares two sides. */
export function compared(figure: keyof Round, ours: readonly Round[], floor: readonly Round[]) {
  const [own, base] = [ours, floor].map((rounds) => rounds.map((round) => round[figure])) as [
    number[],
    number[],
  ];
  return { ours: median(own), floor: median(base), unit: UNITS[figure], ratio: medianRatio(own, base) };
}

/** Median duration of `work` in milliseconds. A first call, which fills caches, is left out. */
export async function medianTime(repeats: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat <= repeats; repeat += 1) {
    const start = performance.now();
    await work();
    if (repeat > 0) times.push(performance.now() - start);
  }
  return median(times);
}
