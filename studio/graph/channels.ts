/** Places the horizontal parts of edges between two layers, so that few edges cross and none overlap. */

/** The part of an edge between two layers. */
export interface Piece {
  /** Position at the upper and the lower layer. */
  from: number;
  to: number;
  /** Pieces that share their upper, or lower, end are drawn as one trunk. */
  upper: string;
  lower: string;
  /** Result: the track of its horizontal part; undefined if it is straight. */
  track?: number;
}

/** Pieces on one track. */
interface Net {
  pieces: Piece[];
  left: number;
  right: number;
  tops: number[];
  bottoms: number[];
}

/** Distance below which two vertical lines look like one. */
const NEAR = 5;
/** Distance between two horizontal lines on one track. */
const APART = 10;
const OVERLAP_COST = 3;

/** Sets the tracks of the pieces; returns the number of tracks. */
export function assignTracks(pieces: readonly Piece[]): number {
  const bent = pieces.filter(({ from, to }) => Math.abs(from - to) > 0.5);
  const nets = ordered(netsOf(bent));
  const tracks: number[] = [];
  nets.forEach((net, index) => {
    let track = 0;
    for (let other = 0; other < index; other += 1) {
      const before = nets[other];
      if (before && dependsOn(before, net)) track = Math.max(track, (tracks[other] ?? 0) + 1);
    }
    tracks[index] = track;
    for (const piece of net.pieces) piece.track = track;
  });
  return Math.max(-1, ...tracks) + 1;
}

/** Fan-outs of one source share a track, and fan-ins of one target. */
function netsOf(pieces: readonly Piece[]): Net[] {
  const counts = new Map<string, number>();
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { upper, lower } of pieces) {
    count(`u${upper}`);
    count(`l${lower}`);
  }
  const groups = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const [up, down] = [`u${piece.upper}`, `l${piece.lower}`];
    const key = (counts.get(up) ?? 0) >= (counts.get(down) ?? 0) ? up : down;
    groups.set(key, [...(groups.get(key) ?? []), piece]);
  }
  return [...groups.values()].map((group) => ({
    pieces: group,
    left: Math.min(...group.map(({ from, to }) => Math.min(from, to))),
    right: Math.max(...group.map(({ from, to }) => Math.max(from, to))),
    tops: group.map(({ from }) => from),
    bottoms: group.map(({ to }) => to),
  }));
}

const overlap = (a: Net, b: Net): boolean => a.left < b.right + APART && b.left < a.right + APART;

/** Whether the lower net must be on a lower track. */
const dependsOn = (upper: Net, lower: Net): boolean =>
  overlap(upper, lower) || near(upper.bottoms, lower.tops) || near(upper.tops, lower.bottoms);

const near = (some: readonly number[], others: readonly number[]): boolean =>
  some.some((x) => others.some((other) => Math.abs(x - other) < NEAR));

/** Crossings and overlaps if the first net is above the second. */
function cost(above: Net, below: Net): number {
  const through = (x: number, { left, right }: Net) => (x > left && x < right ? 1 : 0);
  let sum = 0;
  for (const x of above.bottoms) sum += through(x, below);
  for (const x of below.tops) sum += through(x, above);
  for (const x of new Set(above.bottoms))
    for (const other of new Set(below.tops)) if (Math.abs(x - other) < NEAR) sum += OVERLAP_COST;
  return sum;
}

/** Above this number of nets only neighbors are swapped. */
const MANY = 40;

/** Moves nets while that saves crossings. */
function ordered(nets: readonly Net[]): Net[] {
  const result = [...nets].sort((a, b) => a.right - a.left - (b.right - b.left) || a.left - b.left);
  const farthest = result.length > MANY ? 1 : result.length;
  for (let round = 0; round < result.length; round += 1) {
    let isChanged = false;
    for (let from = 0; from < result.length; from += 1) {
      const to = bestPlace(result, from, farthest);
      const [net] = to === from ? [] : result.splice(from, 1);
      if (!net) continue;
      result.splice(to, 0, net);
      isChanged = true;
    }
    if (!isChanged) break;
  }
  return result;
}

/** Index at which a net causes the least cost; its own, unless another one is better. */
function bestPlace(nets: readonly Net[], from: number, farthest: number): number {
  const net = nets[from];
  let best = { place: from, saved: 0 };
  for (const step of [-1, 1]) {
    let saved = 0;
    for (let place = from + step; Math.abs(place - from) <= farthest; place += step) {
      const passed = nets[place];
      if (!net || !passed) break;
      const [above, below] = [cost(net, passed), cost(passed, net)];
      saved += step < 0 ? below - above : above - below;
      if (saved > best.saved) best = { place, saved };
    }
  }
  return best.place;
}
