/** A diagram as boxes and lines for the terminal, top to bottom; as a list where boxes do not fit. */
import { escapeControl } from "../escape.js";
import { Canvas } from "./canvas.js";
import { nodeLabel, type Diagram, type DiagramEdge } from "./diagram.js";
import { layered } from "./layers.js";
import { place, type Box, type Placed } from "./place.js";
import { textWidth } from "./text-width.js";
import { drawStrands } from "./tracks.js";

const BORDERS = 2;
const PADDING = 2;

/** The drawing, no line longer than `width`. */
export function drawAscii(diagram: Diagram, width: number): string {
  const shown = escaped(diagram);
  const lines = boxes(shown, width) ?? list(shown);
  return [...lines, ...legend(shown, lines.join("\n"))].join("\n");
}

/** Names from outside, safe to print and on one line. */
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
  const placed = place(graph, widths);
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

/** A line in the box for each edge that closes a loop. */
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

/** Lines of ways that go past a layer. */
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

/** Each node with the nodes it leads to. */
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

/** What the signs mean that occur, and the answers of routers. */
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
