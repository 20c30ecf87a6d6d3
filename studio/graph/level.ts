/** Lays out the items and edges of one level: layers from top to bottom, edges with right angles. */
import { type EdgeKind, kindsOf, type LevelEdge, type Route, routesOf } from "./edges.js";
import { assignTracks, type Piece } from "./channels.js";
import { type Box, crossingsOf, type Point, simplified } from "./geometry.js";
import { type Ranker, ranksOf } from "./ranks.js";
import { align, raise } from "./settle.js";

export type { LevelEdge };

/** Items that represent the box around the level. */
export const ENTRY = "\u0000entry";
export const EXIT = "\u0000exit";

export interface LevelItem {
  id: string;
  width: number;
  height: number;
  /** Where edges enter and leave, from its left side. */
  entry: number;
  exit: number;
  /** Space at each side for a self-loop. */
  loop: number;
  /** Whether it is an unfolded subgraph. */
  isBox: boolean;
  /** Distance by which it is moved down beside a subgraph, so that first rows are level. */
  sink: number;
}

export interface PlacedEdge {
  edge: LevelEdge;
  points: Point[];
  label?: Box;
}

export interface PlacedLevel {
  width: number;
  height: number;
  items: (Box & { id: string })[];
  edges: PlacedEdge[];
  entry: number | undefined;
  exit: number | undefined;
  crossings: number;
  /** Crossings, bends and size: lower is better. */
  cost: number;
}

/** One way to lay out a level; the one with the fewest crossings is used. */
export interface Attempt {
  ranker: Ranker;
  /** Whether long back edges run beside all items instead of between them. */
  isOutside: boolean;
  /** Whether dagre gets the items in reverse, which may lead to another order. */
  isReversed: boolean;
}

export const ATTEMPTS: readonly Attempt[] = [
  { ranker: "network-simplex", isOutside: true, isReversed: false },
  { ranker: "network-simplex", isOutside: true, isReversed: true },
  { ranker: "network-simplex", isOutside: false, isReversed: false },
  { ranker: "longest-path", isOutside: true, isReversed: false },
  { ranker: "longest-path", isOutside: true, isReversed: true },
];

/** Edges that dagre places. */
const RANKED: ReadonlySet<EdgeKind | undefined> = new Set(["down", "back"]);

export const LABEL_HEIGHT = 18;
const TRACK = 10;
const ABOVE = 16;
const BELOW = 20;
const SHORT = 8;
/** Height of a gap between layers without horizontal lines. */
const PLAIN = 34;

export function layoutLevel(
  items: readonly LevelItem[],
  edges: readonly LevelEdge[],
  { ranker, isOutside, isReversed }: Attempt,
): PlacedLevel {
  const kinds = kindsOf(items, edges);
  const between = isOutside ? edges.filter((edge) => kinds.get(edge) !== "back") : edges;
  const ranked = between.filter((edge) => RANKED.has(kinds.get(edge)));
  const sizes = items.map(({ id, width, height, loop }) => ({ id, width: width + 2 * loop, height }));
  const lines = ranked.map((edge) => ({
    key: edge.key,
    ...(kinds.get(edge) === "back"
      ? { source: edge.target, target: edge.source }
      : { source: edge.source, target: edge.target }),
    label: roomFor(edge, edges),
    weight: edge.weight,
  }));
  const ranks = isReversed
    ? ranksOf(sizes.reverse(), lines.reverse(), ranker)
    : ranksOf(sizes, lines, ranker);
  const grid = { items: new Map(items.map((item) => [item.id, item])), ranks };
  align(grid, edges, kinds);
  const routes = routesOf(grid, edges, kinds, isOutside);
  const rows = rowsOf(items, ranks.items, ranks.count, routes);
  const boxes = boxesIn(items, ranks.items, rows);
  raise(grid, boxes, { edges, kinds, routes, bottom: rows.bottom });
  return placed(boxes, rows, routes);
}

/** Width reserved for a label; an edge and its opposite have labels on both sides. */
function roomFor(edge: LevelEdge, edges: readonly LevelEdge[]): number {
  const opposite = edges.find(({ source, target }) => source === edge.target && target === edge.source);
  if (!opposite) return edge.label;
  const widest = Math.max(edge.label, opposite.label);
  return widest === 0 ? 0 : 2 * widest + 48;
}

interface Rows {
  top: number[];
  bottom: number[];
  /** Position of a horizontal line. */
  trackAt: (channel: number, track: number) => number;
  height: number;
}

/** Heights of the layers and of the channels between them. */
function rowsOf(
  items: readonly LevelItem[],
  places: ReadonlyMap<string, { layer: number }>,
  count: number,
  routes: readonly Route[],
): Rows {
  const heights = Array.from({ length: count }, () => LABEL_HEIGHT);
  const isItems = Array.from({ length: count }, () => false);
  for (const { id, height } of items) {
    const layer = places.get(id)?.layer ?? 0;
    if (id === ENTRY || id === EXIT) {
      // Alone in its layer, because all items are below the entry and above the exit.
      heights[layer] = 0;
      continue;
    }
    heights[layer] = isItems[layer] ? Math.max(heights[layer] ?? 0, height) : height;
    isItems[layer] = true;
  }
  sunk(items, places, heights);
  const channels = new Map<number, Piece[]>();
  for (const { pieces } of routes)
    for (const { channel, piece } of pieces) channels.set(channel, [...(channels.get(channel) ?? []), piece]);
  const starts = new Map<number, number>();
  const top: number[] = [];
  const bottom: number[] = [];
  let y = 0;
  for (let channel = -1; channel < count; channel += 1) {
    const tracks = assignTracks(channels.get(channel) ?? []);
    const above = isItems[channel] ? ABOVE : SHORT;
    const below = isItems[channel + 1] ? BELOW : SHORT;
    starts.set(channel, y + (channel < 0 ? SHORT : above));
    const isEdge = channel < 0 || channel === count - 1;
    const plain = isEdge ? 0 : isItems[channel] && isItems[channel + 1] ? PLAIN : PLAIN / 2;
    y += tracks === 0 ? plain : Math.max(plain, above + below + (tracks - 1) * TRACK);
    if (channel + 1 >= count) break;
    top.push(y);
    y += heights[channel + 1] ?? 0;
    bottom.push(y);
  }
  const trackAt = (channel: number, track: number) => (starts.get(channel) ?? 0) + track * TRACK;
  return { top, bottom, trackAt, height: y };
}

/** Makes room where items are moved down beside a subgraph. */
function sunk(
  items: readonly LevelItem[],
  places: ReadonlyMap<string, { layer: number }>,
  heights: number[],
): void {
  for (const { id, height, sink } of items) {
    const layer = places.get(id)?.layer ?? 0;
    if (sink > 0 && (heights[layer] ?? 0) > height)
      heights[layer] = Math.max(heights[layer] ?? 0, height + sink);
  }
}

function boxesIn(
  items: readonly LevelItem[],
  places: ReadonlyMap<string, { x: number; layer: number }>,
  rows: Rows,
): Map<string, Box & { id: string }> {
  return new Map(
    items.map((item) => {
      const { x, layer } = places.get(item.id) ?? { x: 0, layer: 0 };
      const room = (rows.bottom[layer] ?? 0) - (rows.top[layer] ?? 0) - item.height;
      const y = (rows.top[layer] ?? 0) + Math.min(item.sink, room);
      return [item.id, { id: item.id, x: x - item.width / 2, y, width: item.width, height: item.height }];
    }),
  );
}

function placed(
  boxes: ReadonlyMap<string, Box & { id: string }>,
  rows: Rows,
  routes: readonly Route[],
): PlacedLevel {
  const edges = routes.map((route): PlacedEdge => {
    const points = simplified(route.pointsIn({ boxes, trackAt: rows.trackAt }));
    const label = route.labelIn({ boxes, top: rows.top, bottom: rows.bottom, points });
    return { edge: route.edge, points: route.isUp ? points.reverse() : points, ...(label && { label }) };
  });
  return framed([...boxes.values()], edges, rows.height);
}

const CROSSING_COST = 10_000;
const BEND_COST = 12;

/** Moves everything so that it begins at 0. */
function framed(boxes: (Box & { id: string })[], edges: PlacedEdge[], height: number): PlacedLevel {
  const xs = [
    ...boxes.flatMap(({ x, width }) => [x, x + width]),
    ...edges.flatMap(({ points, label }) => [
      ...points.map(({ x }) => x),
      ...(label ? [label.x, label.x + label.width] : []),
    ]),
  ];
  const left = Math.min(...xs, Infinity);
  const move = <T extends Point>(point: T): T => ({ ...point, x: point.x - left });
  const moved = boxes.map(move);
  const portOf = (id: string) => {
    const box = moved.find((each) => each.id === id);
    return box && box.x + box.width / 2;
  };
  const width = xs.length === 0 ? 0 : Math.max(...xs) - left;
  const crossings = crossingsOf(
    edges.map(({ edge: { source, target }, points }) => ({ source, target, points })),
  );
  const bends = edges.reduce((sum, { points }) => sum + points.length - 2, 0);
  return {
    width,
    height,
    items: moved.filter(({ id }) => id !== ENTRY && id !== EXIT),
    edges: edges.map(({ edge, points, label }) => ({
      edge,
      points: points.map(move),
      ...(label && { label: move(label) }),
    })),
    entry: portOf(ENTRY),
    exit: portOf(EXIT),
    crossings,
    cost: crossings * CROSSING_COST + bends * BEND_COST + height + width / 3,
  };
}
