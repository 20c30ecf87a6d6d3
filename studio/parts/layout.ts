/** Lays out a diagram in layers from top to bottom, with back edges at the side. */
import type { Diagram, DiagramEdge } from "../../src/view/diagram.js";
import { layered } from "../../src/view/layers.js";

export interface PlacedNode {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface PlacedEdge {
  edge: DiagramEdge;
  /** SVG path data. */
  path: string;
  /** Position of the label. */
  x: number;
  y: number;
}

interface Layout {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

const NODE_HEIGHT = 36;
const LAYER_GAP = 52;
const NODE_GAP = 32;
const CHARACTER = 8;
const PADDING = 34;
const MARGIN = 16;
const LANE = 22;
/** Vertical distance between a node and the turn of an edge. */
const TURN = 18;
/** Corner radius. */
const ROUND = 14;

const widthOf = (id: string): number => Math.max(64, Math.min(id.length, 40) * CHARACTER + PADDING);

export function layoutOf(diagram: Diagram): Layout {
  const { layers, down, back } = layered(diagram);
  const widths = layers.map((ids) => ids.reduce((sum, id) => sum + widthOf(id) + NODE_GAP, -NODE_GAP));
  const inner = Math.max(0, ...widths);
  const placed = new Map<string, PlacedNode>();
  layers.forEach((ids, layer) => {
    let x = MARGIN + (inner - (widths[layer] ?? 0)) / 2;
    const y = MARGIN + layer * (NODE_HEIGHT + LAYER_GAP);
    for (const id of ids) {
      placed.set(id, { id, x, y, width: widthOf(id), height: NODE_HEIGHT });
      x += widthOf(id) + NODE_GAP;
    }
  });
  const right = MARGIN + inner;
  const edges = [
    ...down.map((edge) => forward(edge, placed, right)),
    ...back.map((edge, lane) => backward(edge, placed, right + (lane + 1) * LANE)),
  ];
  const lanes = back.length + down.length;
  return {
    nodes: [...placed.values()],
    edges: edges.filter((edge) => edge !== undefined),
    width: right + MARGIN + Math.min(lanes, back.length + 2) * LANE,
    height: MARGIN * 2 + layers.length * (NODE_HEIGHT + LAYER_GAP) - LAYER_GAP + (back.length > 0 ? TURN : 0),
  };
}

function forward(
  edge: DiagramEdge,
  placed: ReadonlyMap<string, PlacedNode>,
  right: number,
): PlacedEdge | undefined {
  const [from, to] = [placed.get(edge.source), placed.get(edge.target)];
  if (!from || !to) return undefined;
  const [x1, y1] = [from.x + from.width / 2, from.y + from.height];
  const [x2, y2] = [to.x + to.width / 2, to.y];
  // Edges that span several layers are routed around nodes in their way.
  const isLong = y2 - y1 > LAYER_GAP + 1;
  const isBlocked = [...placed.values()].some(
    ({ x, y, width }) => y > y1 && y < y2 - 1 && x - 8 < Math.max(x1, x2) && x + width + 8 > Math.min(x1, x2),
  );
  if (isLong && isBlocked) {
    const side = right + LANE / 2;
    const path = `M${x1},${y1} C${x1},${y1 + 40} ${side},${y1 + 10} ${side},${y1 + 50} L${side},${y2 - 50} C${side},${y2 - 10} ${x2},${y2 - 40} ${x2},${y2}`;
    return { edge, path, x: side, y: (y1 + y2) / 2 };
  }
  const bend = (y2 - y1) / 2;
  const path = `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`;
  return { edge, path, x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
}

/** A back edge: leaves the node, runs up in a side lane, and enters its target. */
function backward(
  edge: DiagramEdge,
  placed: ReadonlyMap<string, PlacedNode>,
  lane: number,
): PlacedEdge | undefined {
  const [from, to] = [placed.get(edge.source), placed.get(edge.target)];
  if (!from || !to) return undefined;
  const [below, above] = [exitOf(from, placed, 1), exitOf(to, placed, -1)];
  const path = [
    `M${below.start}`,
    below.corner,
    `L${lane - ROUND},${below.y} Q${lane},${below.y} ${lane},${below.y - ROUND}`,
    `L${lane},${above.y + ROUND} Q${lane},${above.y} ${lane - ROUND},${above.y}`,
    above.corner === ""
      ? `L${above.start}`
      : `L${above.x + ROUND},${above.y} Q${above.x},${above.y} ${above.start}`,
  ].join(" ");
  return { edge, path, x: lane, y: (below.y + above.y) / 2 };
}

/**
 * Point where an edge leaves a node for its lane: the side of the rightmost node of a layer, else below or
 * above.
 */
function exitOf({ x, y, width }: PlacedNode, placed: ReadonlyMap<string, PlacedNode>, down: 1 | -1) {
  const isLast = ![...placed.values()].some((other) => other.y === y && other.x > x);
  const middle = { x: x + width / 2, y: y + NODE_HEIGHT / 2 };
  if (isLast) {
    const side = middle.y + down * 6;
    return { start: `${x + width},${side}`, x: x + width, y: side, corner: "" };
  }
  const edge = down === 1 ? y + NODE_HEIGHT : y;
  const turn = edge + down * TURN;
  return {
    start: `${middle.x},${edge}`,
    x: middle.x,
    y: turn,
    corner: `Q${middle.x},${turn} ${middle.x + ROUND},${turn}`,
  };
}
