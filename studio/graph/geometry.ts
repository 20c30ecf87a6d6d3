/** Points, boxes and crossings of a drawing. */

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

/** A drawn edge as far as crossings are concerned. */
export interface Line {
  source: string;
  target: string;
  points: readonly Point[];
}

/** Corner radius of edges. */
const ROUND = 10;

/** SVG path data with round corners. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = [`M${at(first)}`];
  rest.forEach((point, index) => {
    const before = points[index];
    const after = rest[index + 1];
    if (!before || !after) return parts.push(`L${at(point)}`);
    const radius = Math.min(ROUND, distance(before, point) / 2, distance(point, after) / 2);
    parts.push(
      `L${at(towards(point, before, radius))}`,
      `Q${at(point)} ${at(towards(point, after, radius))}`,
    );
  });
  return parts.join(" ");
}

const at = ({ x, y }: Point): string => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to) || 1;
  return { x: from.x + ((to.x - from.x) * length) / whole, y: from.y + ((to.y - from.y) * length) / whole };
}

/** Removes points on a straight line. */
export function simplified(points: readonly Point[]): Point[] {
  const result: Point[] = [];
  for (const point of points) {
    const [before, last] = [result.at(-2), result.at(-1)];
    if (last && distance(last, point) < 0.5) continue;
    if (before && last && Math.abs(turn(before, last, point)) < 0.5) result.pop();
    result.push(point);
  }
  return result;
}

const turn = (a: Point, b: Point, c: Point): number => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);

/** Number of pairs of segments that cross, and of unrelated edges that lie on each other. */
export function crossingsOf(lines: readonly Line[]): number {
  const all = lines.map((line) => segmentsOf(line.points));
  let sum = 0;
  for (let one = 0; one < lines.length; one += 1)
    for (let other = one + 1; other < lines.length; other += 1) {
      const isRelated = areRelated(lines[one], lines[other]);
      for (const first of all[one] ?? [])
        for (const second of all[other] ?? [])
          if (cross(first, second) || (!isRelated && cover(first, second))) sum += 1;
    }
  return sum;
}

/** Edges with a common end may share a trunk. */
const areRelated = (a: Line | undefined, b: Line | undefined): boolean =>
  a !== undefined && b !== undefined && [a.source, a.target].some((id) => id === b.source || id === b.target);

type Segment = readonly [Point, Point];

const segmentsOf = (points: readonly Point[]): Segment[] =>
  points.slice(1).map((point, index): Segment => [points[index] ?? point, point]);

const EPSILON = 1e-3;

function cross([a, b]: Segment, [c, d]: Segment): boolean {
  const sides = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
  if (sides.some((side) => Math.abs(side) < EPSILON)) return false;
  const [first = 0, second = 0, third = 0, fourth = 0] = sides;
  return first > 0 !== second > 0 && third > 0 !== fourth > 0;
}

/** Length from which two collinear segments count as lying on each other. */
const COVERED = 4;

function cover([a, b]: Segment, [c, d]: Segment): boolean {
  const isUpright = Math.abs(a.x - b.x) < EPSILON;
  const axis = isUpright ? "x" : "y";
  const along = isUpright ? "y" : "x";
  if ([b, c, d].some((point) => Math.abs(point[axis] - a[axis]) > 1)) return false;
  const length =
    Math.min(Math.max(a[along], b[along]), Math.max(c[along], d[along])) -
    Math.max(Math.min(a[along], b[along]), Math.min(c[along], d[along]));
  return length > COVERED;
}
