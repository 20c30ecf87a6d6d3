/** The quantile `part` (0 to 1) of the values; NaN if there are none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Median of the per-round ratios, measured side by side: steadier than a ratio of medians. */
export const medianRatio = (ours: readonly number[], floor: readonly number[]): number =>
  median(ours.map((value, round) => value / (floor[round] ?? NaN)));
