/** A value as its difference from an earlier one: states grow at their ends, and most of a value was stored before. */

/** `base` with everything between its first `head` and its last `tail` bytes replaced by `middle`. */
export interface ByteDelta {
  head: number;
  tail: number;
  middle: Buffer;
}

export function byteDelta(base: Buffer, value: Buffer): ByteDelta {
  const shortest = Math.min(base.length, value.length);
  const head = longest(shortest, (length) => equalAt(base, 0, value, 0, length));
  const tail = longest(shortest - head, (length) =>
    equalAt(base, base.length - length, value, value.length - length, length),
  );
  return { head, tail, middle: value.subarray(head, value.length - tail) };
}

export function applyDelta(base: Buffer, { head, tail, middle }: ByteDelta): Buffer {
  return Buffer.concat([base.subarray(0, head), middle, base.subarray(base.length - tail)]);
}

/** The greatest length up to `limit` that `holds`, which holds for every lesser one too. */
function longest(limit: number, holds: (length: number) => boolean): number {
  let [least, most] = [0, limit];
  while (least < most) {
    const length = Math.ceil((least + most) / 2);
    if (holds(length)) least = length;
    else most = length - 1;
  }
  return least;
}

const equalAt = (one: Buffer, start: number, other: Buffer, otherStart: number, length: number): boolean =>
  one.compare(other, otherStart, otherStart + length, start, start + length) === 0;
