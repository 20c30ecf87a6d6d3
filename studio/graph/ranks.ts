/** Orders the items of one level into layers with dagre. Only order and horizontal positions are used. */
import { Graph, layout } from "@dagrejs/dagre";

export interface RankItem {
  id: string;
  width: number;
  height: number;
}

export interface RankEdge {
  key: string;
  source: string;
  target: string;
  /** Width of the label; 0 without one. */
  label: number;
  weight: number;
}

/** A point of an edge between its ends. */
export interface Waypoint {
  x: number;
  layer: number;
  /** Whether the label is placed here. */
  isLabel: boolean;
}

export interface Ranks {
  /** Number of layers. */
  count: number;
  /** Center and layer of each item. */
  items: ReadonlyMap<string, { x: number; layer: number }>;
  /** Points of each edge from source to target, without its ends. */
  ways: ReadonlyMap<string, Waypoint[]>;
}

const NODE_GAP = 28;
const EDGE_GAP = 18;
const RANK_GAP = 40;
/** Above this number of items, the order of layers is searched with less effort. */
const MANY = 150;

export type Ranker = "network-simplex" | "tight-tree" | "longest-path";

/** @param edges without cycles */
export function ranksOf(items: readonly RankItem[], edges: readonly RankEdge[], ranker: Ranker): Ranks {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: NODE_GAP, edgesep: EDGE_GAP, ranksep: RANK_GAP, ranker });
  for (const { id, width, height } of items) graph.setNode(id, { width, height });
  for (const { key, source, target, label, weight } of edges) {
    const size = label > 0 ? { width: label, height: 1, labelpos: "c" } : { width: 0, height: 0 };
    graph.setEdge(source, target, { ...size, weight }, key);
  }
  layout(graph, { disableOptimalOrderHeuristic: items.length > MANY });
  return read(graph, edges);
}

interface Point {
  x: number;
  y: number;
}

function read(graph: Graph, edges: readonly RankEdge[]): Ranks {
  // The package's types are not resolved by Node.
  const ids: string[] = graph.nodes();
  const nodes = ids.map((id) => ({ id, ...(graph.node(id) as Point) }));
  const inner = edges.map((edge) => {
    const { points } = graph.edge({ v: edge.source, w: edge.target, name: edge.key }) as { points: Point[] };
    return { edge, points: points.slice(1, -1) };
  });
  const ofNodes = new Set(nodes.map(({ y }) => rounded(y)));
  const withLabel = new Set<number>();
  for (const { edge, points } of inner) {
    const place = edge.label > 0 ? labelPlace(points) : undefined;
    if (place !== undefined) withLabel.add(rounded(place.y));
  }
  const heights = [...new Set([...ofNodes, ...withLabel])].sort((a, b) => a - b);
  const layers = new Map(heights.map((y, index) => [y, index]));
  const layerOf = (y: number) => layers.get(rounded(y));
  return {
    count: heights.length,
    items: new Map(nodes.map(({ id, x, y }) => [id, { x, layer: layerOf(y) ?? 0 }])),
    ways: new Map(
      inner.map(({ edge, points }) => {
        const label = edge.label > 0 ? labelPlace(points) : undefined;
        const kept = points.flatMap((point): Waypoint[] => {
          const layer = layerOf(point.y);
          return layer === undefined ? [] : [{ x: point.x, layer, isLabel: point === label }];
        });
        return [edge.key, kept];
      }),
    ),
  };
}

const rounded = (y: number): number => Math.round(y * 4) / 4;

/** Dagre reserves room for the label in the middle of the edge. */
const labelPlace = (points: readonly Point[]): Point | undefined => points[(points.length - 1) >> 1];
