/** The value below which the share `part` of the values lies; NaN when there are none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The steadier measure of a ratio: the median over rounds whose two halves were measured side by side. */
export const medianRatio = (ours: readonly number[], floor: readonly number[]): number =>
  median(ours.map((value, round) => value / (floor[round] ?? NaN)));
