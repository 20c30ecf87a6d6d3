/** Draws a diagram with boxes and lines, top to bottom; falls back to a list if the boxes do not fit. */
import { type Diagram, type DiagramEdge, nodeLabel } from "../../view/diagram.js";
import { layered } from "../../view/layers.js";
import { cells, escapeControl, textWidth } from "../../view/text.js";
import { type Box, layOut, type Placed, type Strand } from "./place.js";

const BORDERS = 2;
const PADDING = 2;

/** Draws the diagram; lines are at most `width` columns. */
export function drawAscii(diagram: Diagram, width: number): string {
  const shown = escaped(diagram);
  const lines = boxes(shown, width) ?? list(shown);
  return [...lines, ...legend(shown, lines.join("\n"))].join("\n");
}

/** Escapes control characters in node names and labels. */
function escaped({ nodes, edges }: Diagram): Diagram {
  const safe = (text: string) => escapeControl(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return {
    nodes: nodes.map((node) => ({ ...node, id: safe(node.id) })),
    edges: edges.map((edge) => ({
      ...edge,
      source: safe(edge.source),
      target: safe(edge.target),
      labels: edge.labels.map(safe),
    })),
  };
}

function boxes(diagram: Diagram, width: number): string[] | undefined {
  const graph = layered(diagram);
  const texts = new Map(
    diagram.nodes.map((node) => [node.id, [nodeLabel(node), ...returns(graph.back, node.id)]]),
  );
  const widths = new Map(
    [...texts].map(([id, lines]) => [id, Math.max(...lines.map(textWidth)) + BORDERS + PADDING]),
  );
  const placed = layOut(graph, widths);
  if (!placed || placed.width > width) return undefined;
  const canvas = new Canvas();
  let y = 0;
  for (const [layer, ids] of graph.layers.entries()) {
    const height = Math.max(...ids.map((id) => (texts.get(id)?.length ?? 1) + BORDERS));
    for (const id of ids) {
      const box = placed.boxes.get(id);
      if (box) drawBox(canvas, box, texts.get(id) ?? [], { y, height, placed });
    }
    drawPassing(canvas, placed, layer, { y, height });
    y += height;
    const strands = placed.gaps[layer];
    if (strands) y += drawStrands(canvas, strands, y);
  }
  return canvas.lines();
}

/** One line in the box for each edge that closes a loop. */
function returns(back: readonly DiagramEdge[], id: string): string[] {
  return back
    .filter(({ source }) => source === id)
    .map(({ target, conditional }) => `${conditional ? "╌" : "─"}↺ ${target}`);
}

function drawBox(
  canvas: Canvas,
  { x, width, id }: Box,
  texts: readonly string[],
  { y, height, placed }: { y: number; height: number; placed: Placed },
): void {
  const inner = width - BORDERS;
  canvas.write(x, y, `┌${"─".repeat(inner)}┐`);
  for (const [index, text] of texts.entries()) {
    const left = Math.floor((inner - textWidth(text)) / 2);
    canvas.write(x, y + 1 + index, `│${" ".repeat(inner)}│`);
    canvas.write(x + 1 + left, y + 1 + index, text);
  }
  const bottom = y + 1 + texts.length;
  canvas.write(x, bottom, `└${"─".repeat(inner)}┘`);
  const exits = placed.gaps.flat().filter(({ net, top }) => net.source === id && top === net.exit);
  for (const { top, net } of exits) {
    canvas.write(top, bottom, "┬");
    for (let row = bottom + 1; row < y + height; row += 1)
      canvas.write(top, row, net.conditional ? "┊" : "│");
  }
}

/** Draws edges that pass a layer without ending there. */
function drawPassing(
  canvas: Canvas,
  { gaps }: Placed,
  layer: number,
  { y, height }: { y: number; height: number },
): void {
  for (const { onward, net } of gaps[layer - 1] ?? []) {
    if (onward === undefined) continue;
    for (let row = y; row < y + height; row += 1) canvas.write(onward, row, net.conditional ? "┊" : "│");
  }
}

/** Lists each node with its successors. */
function list({ nodes, edges }: Diagram): string[] {
  return nodes.flatMap((node) => {
    const ways = edges.filter(({ source }) => source === node.id);
    return [
      nodeLabel(node),
      ...ways.map(({ target, conditional }, index) => {
        const corner = index === ways.length - 1 ? "└" : "├";
        return `  ${corner}${conditional ? "╌" : "─"}▶ ${target}`;
      }),
    ];
  });
}

/** Explains the symbols in the drawing, and lists router labels. */
function legend({ nodes, edges }: Diagram, drawing: string): string[] {
  const signs = [
    ...(edges.some(({ conditional }) => conditional) ? ["╌ conditional"] : []),
    ...(drawing.includes("↺") ? ["↺ goes back to"] : []),
    ...(nodes.some(({ mark }) => mark === "done") ? ["✓ done"] : []),
    ...(nodes.some(({ mark }) => mark === "next") ? ["▸ next"] : []),
  ];
  const answers = edges
    .filter(({ labels }) => labels.length > 0)
    .map(({ source, target, labels }) => `${source} ╌▶ ${target}   on ${labels.join(", ")}`);
  return [
    ...(signs.length > 0 ? ["", signs.join("   ")] : []),
    ...(answers.length > 0 ? ["", ...answers] : []),
  ];
}

/** A grid of cells; later writes overwrite earlier ones. */
class Canvas {
  readonly #rows: string[][] = [];

  write(x: number, y: number, text: string): void {
    const row = this.#row(y);
    let column = x;
    for (const { char, width } of cells(text)) {
      while (row.length < column) row.push(" ");
      row[column] = char;
      // The second half of a wide character is its own cell, and empty.
      if (width === 2) row[column + 1] = "";
      column += width;
    }
  }

  lines(): string[] {
    return Array.from(this.#rows, (row) => (row ?? []).join("").trimEnd());
  }

  #row(y: number): string[] {
    while (this.#rows.length <= y) this.#rows.push([]);
    return this.#rows[y] ?? [];
  }
}

// Draws the lines between two layers.

const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8];
// Indexed by the bitmask of sides on which lines leave a cell.
const JOINTS = " │││─┘┐┤─└┌├─┴┬┼";
const ARROW = "▼";

/** Draws strands starting at row `y`; returns the number of rows, including the row of arrows. */
function drawStrands(canvas: Canvas, strands: readonly Strand[], y: number): number {
  const tracks = assignTracks(strands);
  const trackRows = Math.max(1, ...[...tracks.values()].map((track) => track + 1));
  const height = trackRows + 1;
  for (const strand of strands) drawTrack(canvas, strand, y, tracks.get(strand));
  // Draw vertical lines last: at crossings they are drawn over horizontal ones.
  for (const strand of strands) drawDrops(canvas, strand, { y, height, track: tracks.get(strand) });
  return height;
}

const ends = ({ arrivals, onward }: Strand): number[] => [
  ...arrivals,
  ...(onward === undefined ? [] : [onward]),
];
const isStraight = (strand: Strand): boolean => ends(strand).every((column) => column === strand.top);

/** Assigns a row to each strand with a horizontal part; strands that do not overlap share a row. */
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

/** Reduces crossings: among strands to the right, the rightmost comes first; to the left, the leftmost. */
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
