/** Aligns two branches: common steps first, then matching steps side by side. */

export interface Named {
  id: string;
  /** Node names, or the kind of the step. */
  title: string;
}

export interface Pair<T> {
  left: T | undefined;
  right: T | undefined;
}

export interface Aligned<T> {
  common: T[];
  pairs: Pair<T>[];
}

/** Limit of the alignment table; longer branches are paired by position. */
const MOST_CELLS = 1_000_000;

/** Both lists start at the first step. */
export function aligned<T extends Named>(left: readonly T[], right: readonly T[]): Aligned<T> {
  let start = 0;
  while (start < left.length && left[start]?.id === right[start]?.id) start += 1;
  return { common: left.slice(0, start), pairs: paired(left.slice(start), right.slice(start)) };
}

/**
 * Pairs as many steps with equal titles as possible, in order. The steps between two matches are paired by
 * position.
 */
function paired<T extends Named>(left: readonly T[], right: readonly T[]): Pair<T>[] {
  const pairs: Pair<T>[] = [];
  let [at, other] = [0, 0];
  const gap = (end: number, otherEnd: number) => {
    while (at < end || other < otherEnd) {
      pairs.push({
        left: at < end ? left[at++] : undefined,
        right: other < otherEnd ? right[other++] : undefined,
      });
    }
  };
  for (const [index, otherIndex] of anchors(left, right)) {
    gap(index, otherIndex);
    pairs.push({ left: left[at++], right: right[other++] });
  }
  gap(left.length, right.length);
  return pairs;
}

function anchors(left: readonly Named[], right: readonly Named[]): [number, number][] {
  const width = right.length + 1;
  if (left.length * right.length > MOST_CELLS) return [];
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  const isSame = (row: number, column: number) => left[row]?.title === right[column]?.title;
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      lengths[row * width + column] = isSame(row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < left.length && column < right.length;) {
    if (isSame(row, column)) found.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return found;
}
