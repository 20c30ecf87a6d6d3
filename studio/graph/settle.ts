/** Straightens a layout after dagre: nodes with one edge from above are placed below its source. */
import type { EdgeKind, LevelEdge, Route } from "./edges.js";
import type { Box } from "./geometry.js";
import { type Grid, Ports } from "./ports.js";

interface Range {
  left: number;
  right: number;
}

const GAP = 16;
/** Farthest that a node with edges to other nodes is moved. */
const NEAR = 48;
/** Vertical distance below the source, without and with a label. */
const BELOW = 36;
const BELOW_LABEL = 54;

type Kinds = ReadonlyMap<LevelEdge, EdgeKind>;

/** The only edge from above, and only if it comes from the layer before. */
function onlyEdgeTo(id: string, edges: readonly LevelEdge[], kinds: Kinds): LevelEdge | undefined {
  const [first, ...others] = edges.filter((edge) => edge.target === id && kinds.get(edge) === "down");
  return others.length === 0 ? first : undefined;
}

/** Distances from the source at which a node of a pair is tried. */
const PAIR_STEPS = [0, 10, -10, 20, -20, 30, -30, 40, -40, 50, -50, 60, -60];

/** Moves nodes sideways to the place below their source, where there is room. */
export function align(grid: Grid, edges: readonly LevelEdge[], kinds: Kinds): void {
  const ports = new Ports(grid, edges, kinds);
  const inOrder = [...grid.ranks.items].sort(([, a], [, b]) => a.layer - b.layer);
  for (const [id, place] of inOrder) {
    const edge = onlyEdgeTo(id, edges, kinds);
    const x = edge && placeBelow(grid, id, edge);
    if (!edge || x === undefined) continue;
    const isLeaf = !edges.some((each) => each.source === id && kinds.get(each) === "down");
    const isPair = edges.some(
      (each) => kinds.get(each) === "pair" && each.source === id && each.target === edge.source,
    );
    const before = place.x;
    const way = grid.ranks.ways.get(edge.key) ?? [];
    const points = way.map((point) => point.x);
    for (const step of isPair ? PAIR_STEPS : [0]) {
      if (!isLeaf && Math.abs(x + step - before) > NEAR) continue;
      if (!move(grid, id, edge, x + step)) continue;
      const { left, right } = isPair ? ports.pairRange(edge) : { left: 0, right: 0 };
      if (left <= right) break;
      place.x = before;
      way.forEach((point, index) => (point.x = points[index] ?? point.x));
    }
  }
}

/** Position at which the edge to an item is straight; undefined if the edge has bends of its own. */
function placeBelow({ items, ranks }: Grid, id: string, edge: LevelEdge): number | undefined {
  const source = ranks.items.get(edge.source);
  const [item, above] = [items.get(id), items.get(edge.source)];
  if (!source || !item || !above) return undefined;
  if ((ranks.ways.get(edge.key)?.length ?? 0) > 1) return undefined;
  return source.x - above.width / 2 + above.exit + item.width / 2 - item.entry;
}

/** Moves an item and the label of its edge; false if there is no room. */
function move(grid: Grid, id: string, edge: LevelEdge, x: number): boolean {
  const [item, place] = [grid.items.get(id), grid.ranks.items.get(id)];
  if (!item || !place) return false;
  const way = grid.ranks.ways.get(edge.key) ?? [];
  const half = item.width / 2 + item.loop;
  const own = new Set([id, edge.key]);
  if (!isFree(grid, place.layer, { left: x - half, right: x + half }, own)) return false;
  const port = x - item.width / 2 + item.entry;
  const label = { left: port - edge.label / 2, right: port + edge.label / 2 };
  if (way.some(({ layer }) => !isFree(grid, layer, label, own))) return false;
  place.x = x;
  for (const point of way) point.x = port;
  return true;
}

/** Whether no item, label or edge of a layer is in the range. */
function isFree({ items, ranks }: Grid, layer: number, range: Range, own: ReadonlySet<string>): boolean {
  const hits = (x: number, half: number) => x - half < range.right + GAP && x + half > range.left - GAP;
  for (const [id, place] of ranks.items) {
    const item = items.get(id);
    if (place.layer === layer && !own.has(id) && item && hits(place.x, item.width / 2 + item.loop))
      return false;
  }
  for (const [key, way] of ranks.ways) {
    if (own.has(key)) continue;
    if (way.some((point) => point.layer === layer && hits(point.x, point.isLabel ? 30 : 2))) return false;
  }
  return true;
}

interface Raising {
  edges: readonly LevelEdge[];
  kinds: Kinds;
  routes: readonly Route[];
  bottom: readonly number[];
}

/** Moves nodes up beside a tall subgraph, if their only edge is straight. */
export function raise(grid: Grid, boxes: ReadonlyMap<string, Box>, raising: Raising): void {
  const { edges, kinds, routes, bottom } = raising;
  const ports = new Ports(grid, edges, kinds);
  /** Layer in whose height an item is placed. */
  const bands = new Map<string, number>();
  const inOrder = [...grid.ranks.items].sort(([, a], [, b]) => a.layer - b.layer);
  for (const [id, { layer }] of inOrder) {
    bands.set(id, layer);
    const edge = onlyEdgeTo(id, edges, kinds);
    const [box, above] = [boxes.get(id), edge && boxes.get(edge.source)];
    if (!edge || !box || !above || grid.items.get(id)?.isBox === true) continue;
    const touching = routes.filter((route) => route.edge === edge || isPairOf(route.edge, edge));
    if (!touching.every(({ pieces }) => pieces.every(({ piece }) => Math.abs(piece.from - piece.to) < 1)))
      continue;
    if (edges.some((each) => kinds.get(each) === "back" && (each.source === id || each.target === id)))
      continue;
    const hasLabel = touching.some((route) => route.edge.label > 0);
    const y = above.y + above.height + (hasLabel ? BELOW_LABEL : BELOW);
    const band = bands.get(edge.source) ?? 0;
    if (y >= box.y || y + box.height > (bottom[band] ?? 0)) continue;
    const loop = grid.items.get(id)?.loop ?? 0;
    const range = { left: box.x - loop, right: box.x + box.width + loop };
    const own = new Set([id, edge.source, ...touching.map((route) => route.edge.key)]);
    const isCrossed = edges.some(
      (each) =>
        each.source === edge.source && !own.has(each.key) && within(ports.below(each.source, each), range),
    );
    if (isCrossed || !isFree(grid, band, range, own) || hasOther(bands, boxes, band, { ...range, own }))
      continue;
    box.y = y;
    bands.set(id, band);
  }
}

const within = (x: number, { left, right }: Range): boolean => x > left - 4 && x < right + 4;

const isPairOf = (one: LevelEdge, other: LevelEdge): boolean =>
  one.source === other.target && one.target === other.source;

/** Whether another raised item is in the range. */
function hasOther(
  bands: ReadonlyMap<string, number>,
  boxes: ReadonlyMap<string, Box>,
  band: number,
  { left, right, own }: Range & { own: ReadonlySet<string> },
): boolean {
  return [...bands].some(([id, each]) => {
    const box = boxes.get(id);
    if (each !== band || own.has(id) || !box) return false;
    return box.x < right + GAP && box.x + box.width > left - GAP;
  });
}
