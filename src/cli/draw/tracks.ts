/** The lines in the space between two layers, as rows of characters. */
import type { Canvas } from "./canvas.js";
import type { Strand } from "./place.js";

const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8];
// Indexed by the sides that a line leaves a cell on.
const JOINTS = " │││─┘┐┤─└┌├─┴┬┼";
const ARROW = "▼";

/** Draw strands from row `y` on; returns the number of rows, the arrows' row included. */
export function drawStrands(canvas: Canvas, strands: readonly Strand[], y: number): number {
  const tracks = assignTracks(strands);
  const trackRows = Math.max(1, ...[...tracks.values()].map((track) => track + 1));
  const height = trackRows + 1;
  for (const strand of strands) drawTrack(canvas, strand, y, tracks.get(strand));
  // Lines down come last: where two lines cross, the one that goes down is seen whole.
  for (const strand of strands) drawDrops(canvas, strand, { y, height, track: tracks.get(strand) });
  return height;
}

const ends = ({ arrivals, onward }: Strand): number[] => [
  ...arrivals,
  ...(onward === undefined ? [] : [onward]),
];
const isStraight = (strand: Strand): boolean => ends(strand).every((column) => column === strand.top);

/** The row of each strand that goes sideways. Those that do not meet share one. */
function assignTracks(strands: readonly Strand[]): Map<Strand, number> {
  const sideways = strands.filter((strand) => !isStraight(strand));
  sideways.sort((a, b) => priority(a) - priority(b));
  const rows: [number, number][][] = [];
  const tracks = new Map<Strand, number>();
  for (const strand of sideways) {
    const [from, to] = [Math.min(strand.top, ...ends(strand)), Math.max(strand.top, ...ends(strand))];
    let track = rows.findIndex((row) => row.every(([start, end]) => to + 1 < start || from - 1 > end));
    if (track < 0) track = rows.push([]) - 1;
    rows[track]?.push([from, to]);
    tracks.set(strand, track);
  }
  return tracks;
}

/** Of those that go to the right the rightmost comes first, of those to the left the leftmost: they cross less. */
function priority(strand: Strand): number {
  const columns = ends(strand);
  const aim = columns.reduce((sum, column) => sum + column, 0) / columns.length;
  return aim > strand.top ? -strand.top : strand.top;
}

function drawTrack(canvas: Canvas, strand: Strand, y: number, track: number | undefined): void {
  if (track === undefined) return;
  const columns = [strand.top, ...ends(strand)];
  const [from, to] = [Math.min(...columns), Math.max(...columns)];
  canvas.write(from, y + track, (strand.net.conditional ? "╌" : "─").repeat(to - from + 1));
}

function drawDrops(
  canvas: Canvas,
  strand: Strand,
  { y, height, track }: { y: number; height: number; track: number | undefined },
): void {
  const line = strand.net.conditional ? "┊" : "│";
  const bottoms = ends(strand);
  const down = (column: number, from: number, to: number) => {
    for (let row = from; row < to; row += 1) canvas.write(column, y + row, line);
  };
  if (track === undefined) down(strand.top, 0, height);
  else {
    down(strand.top, 0, track);
    for (const column of bottoms) down(column, track + 1, height);
    const columns = [strand.top, ...bottoms];
    for (const column of new Set(columns)) {
      const sides =
        (column === strand.top ? UP : 0) |
        (bottoms.includes(column) ? DOWN : 0) |
        (column > Math.min(...columns) ? LEFT : 0) |
        (column < Math.max(...columns) ? RIGHT : 0);
      canvas.write(column, y + track, JOINTS.charAt(sides));
    }
  }
  for (const column of strand.arrivals) canvas.write(column, y + height - 1, ARROW);
}
