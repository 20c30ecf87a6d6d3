/** Finds the way of each edge through the layers of a level. */
import type { Piece } from "./channels.js";
import type { Box, Point } from "./geometry.js";
import { ENTRY, EXIT, LABEL_HEIGHT } from "./level.js";
import { type Grid, HALF_PAIR, Ports } from "./ports.js";
import type { Waypoint } from "./ranks.js";

export interface LevelEdge {
  key: string;
  source: string;
  target: string;
  /** Width of the label; 0 without one. */
  label: number;
  weight: number;
}

/**
 * `pair`: opposite of an edge, drawn beside it; `both`: opposite of an edge, drawn on the same line because its item
 * has several; `back`: another edge that closes a loop.
 */
export type EdgeKind = "down" | "back" | "pair" | "both" | "loop";

interface Placing {
  boxes: ReadonlyMap<string, Box>;
  trackAt: (channel: number, track: number) => number;
}

interface LabelPlacing {
  boxes: ReadonlyMap<string, Box>;
  top: readonly number[];
  bottom: readonly number[];
  points: readonly Point[];
}

export interface Route {
  edge: LevelEdge;
  /** Whether the points lead from the target to the source. */
  isUp: boolean;
  /** Parts between layers; channel 0 is below layer 0. */
  pieces: { channel: number; piece: Piece }[];
  pointsIn: (placing: Placing) => Point[];
  labelIn: (placing: LabelPlacing) => Box | undefined;
}

/** Depth-first from the first items: an edge to an open item closes a loop. */
export function kindsOf(
  items: readonly { id: string; isBox: boolean }[],
  edges: readonly LevelEdge[],
): ReadonlyMap<LevelEdge, EdgeKind> {
  const kinds = loopsOf(items, edges);
  const boxes = new Set(items.flatMap(({ id, isBox }) => (isBox ? [id] : [])));
  const pairs = edges.filter((edge) => kinds.get(edge) === "pair");
  // Edges leave a subgraph below and enter it above.
  for (const edge of pairs) if (boxes.has(edge.source) || boxes.has(edge.target)) kinds.set(edge, "back");
  const left = pairs.filter((edge) => kinds.get(edge) === "pair");
  const hubs = (id: string) => left.filter(({ source, target }) => source === id || target === id).length > 1;
  for (const edge of left) if (hubs(edge.source) || hubs(edge.target)) kinds.set(edge, "both");
  return kinds;
}

function loopsOf(items: readonly { id: string }[], edges: readonly LevelEdge[]): Map<LevelEdge, EdgeKind> {
  const out = new Map<string, LevelEdge[]>(items.map(({ id }) => [id, []]));
  const pairs = new Map(edges.map((edge) => [`${edge.source}\n${edge.target}`, edge]));
  for (const edge of edges) out.get(edge.source)?.push(edge);
  const kinds = new Map<LevelEdge, EdgeKind>();
  const state = new Map<string, "open" | "done">();
  for (const { id } of items) {
    if (state.has(id)) continue;
    const stack = [{ id, next: 0 }];
    state.set(id, "open");
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = out.get(top.id)?.[top.next];
      top.next += 1;
      if (!edge) {
        state.set(top.id, "done");
        stack.pop();
      } else if (edge.source === edge.target) kinds.set(edge, "loop");
      else if (state.get(edge.target) === "open")
        kinds.set(edge, pairs.has(`${edge.target}\n${edge.source}`) ? "pair" : "back");
      else {
        kinds.set(edge, "down");
        if (!state.has(edge.target)) {
          state.set(edge.target, "open");
          stack.push({ id: edge.target, next: 0 });
        }
      }
    }
  }
  return kinds;
}

/** Distance of an edge that goes up from the middle of an item. */
const ASIDE = 18;
const LOOP_WIDTH = 22;
const LANE = 16;
/** Farthest that the end of an edge is moved to make it straight. */
const SLACK = 14;

export function routesOf(
  grid: Grid,
  edges: readonly LevelEdge[],
  kinds: ReadonlyMap<LevelEdge, EdgeKind>,
  isOutside: boolean,
): Route[] {
  const opposite = new Map<string, LevelEdge>();
  for (const edge of edges)
    if (isOpposite(kinds.get(edge))) opposite.set(`${edge.target}\n${edge.source}`, edge);
  const ports = new Ports(grid, edges, kinds);
  const routes = edges.flatMap((edge): Route[] => {
    const kind = kinds.get(edge);
    if (kind === "loop") return [loopRoute(edge)];
    if (kind === "back") return isOutside ? [] : [wayRoute(grid, ports, edge, { kind })];
    if (isOpposite(kind)) return [];
    const back = opposite.get(`${edge.source}\n${edge.target}`);
    if (!back) return [wayRoute(grid, ports, edge, { kind: "down" })];
    const way = grid.ranks.ways.get(edge.key);
    const backKind = kinds.get(back) ?? "pair";
    return [
      wayRoute(grid, ports, edge, { kind: "down", way, beside: backKind }),
      wayRoute(grid, ports, back, { kind: backKind, way, beside: backKind }),
    ];
  });
  const outside = isOutside ? edges.filter((edge) => kinds.get(edge) === "back") : [];
  return [...routes, ...outerRoutes(grid, outside, routes)];
}

const isOpposite = (kind: EdgeKind | undefined): boolean => kind === "pair" || kind === "both";

interface WayOptions {
  kind: EdgeKind;
  /** Points of the opposite edge. */
  way?: readonly Waypoint[] | undefined;
  /** Kind of the opposite edge. */
  beside?: EdgeKind;
}

/** An edge through the layers between its ends. Its points always lead down. */
function wayRoute(grid: Grid, ports: Ports, edge: LevelEdge, options: WayOptions): Route {
  const { ranks } = grid;
  const isUp = options.kind !== "down";
  const isPair = options.beside === "pair";
  const [upper, lower] = isUp ? [edge.target, edge.source] : [edge.source, edge.target];
  const shift = isPair ? (isUp ? HALF_PAIR : -HALF_PAIR) : 0;
  const known = options.way ?? ranks.ways.get(edge.key) ?? [];
  const isOwn = options.kind === "back" || isPair;
  const ownKey = isOwn ? `\n${edge.key}` : "";
  const layerOf = (id: string) => ranks.items.get(id)?.layer ?? 0;
  const line = options.beside === "both" ? [upper, lower].join("\n") : edge.key;
  const stops = [
    { x: ports.below(upper, edge), layer: layerOf(upper), key: `${upper}${ownKey}` },
    ...known.map(({ x, layer }, index) => ({ x, layer, key: `${line}\n${index}` })),
    { x: ports.above(lower, edge), layer: layerOf(lower), key: `${lower}${ownKey}` },
  ].map((stop) => ({ ...stop, x: stop.x + shift }));
  const isFixed = (id: string) => id === ENTRY || id === EXIT || grid.items.get(id)?.isBox === true;
  const fixed = [
    isFixed(upper) || ports.isShared(upper, "below"),
    isFixed(lower) || ports.isShared(lower, "above"),
  ];
  if (isPair) straightenPair(stops, ports.pairRange(edge), shift);
  else straighten(stops, { isAside: options.kind === "back", fixed });
  const pieces = stops.slice(1).map((to, index) => {
    const from = stops[index] ?? to;
    const piece: Piece = { from: from.x, to: to.x, upper: from.key, lower: to.key };
    return { channel: from.layer, piece };
  });
  const labelStop = known.findIndex(({ isLabel }) => isLabel) + 1;
  return {
    edge,
    isUp,
    pieces,
    pointsIn({ boxes, trackAt }) {
      const [above, below] = [boxes.get(upper), boxes.get(lower)];
      return [
        { x: stops[0]?.x ?? 0, y: above ? above.y + above.height : 0 },
        ...pieces.flatMap(({ channel, piece }) => horizontal(piece, trackAt(channel, piece.track ?? 0))),
        { x: stops.at(-1)?.x ?? 0, y: below?.y ?? 0 },
      ];
    },
    labelIn({ top, bottom, points }) {
      if (edge.label === 0) return undefined;
      const stop = stops[labelStop];
      const isStraight = pieces.every(({ piece }) => Math.abs(piece.from - piece.to) < 1);
      const y =
        stop && labelStop > 0 && !isStraight
          ? ((top[stop.layer] ?? 0) + (bottom[stop.layer] ?? 0)) / 2
          : middleOf(points).y;
      const x = stop && labelStop > 0 ? stop.x : middleOf(points).x;
      const isBeside = options.beside !== undefined;
      const left = isBeside ? (isUp ? x + 6 : x - 6 - edge.label) : x - edge.label / 2;
      return { x: left, y: y - LABEL_HEIGHT / 2, width: edge.label, height: LABEL_HEIGHT };
    },
  };
}

const horizontal = ({ from, to, track }: Piece, y: number): Point[] =>
  track === undefined
    ? []
    : [
        { x: from, y },
        { x: to, y },
      ];

interface Stop {
  x: number;
  layer: number;
}

interface Straightening {
  /** Whether the ends are moved beside the other edges of their items. */
  isAside: boolean;
  /** Whether the first and the last point must stay. */
  fixed: readonly boolean[];
}

/** Moves the ends of an edge a little, so that it has fewer bends. */
function straighten(stops: Stop[], { isAside, fixed }: Straightening): void {
  const [first, last] = [stops[0], stops.at(-1)];
  if (!first || !last) return;
  const ends = [
    [first, stops[1], fixed[0]],
    [last, stops.at(-2), fixed[1]],
  ] as const;
  for (const [end, next, isFixed] of ends) {
    if (!next) continue;
    if (isAside) end.x += next.x < end.x ? -ASIDE : ASIDE;
    if (stops.length <= 2 || Math.abs(end.x - next.x) > SLACK) continue;
    if (isFixed) next.x = end.x;
    else end.x = next.x;
  }
  if (stops.length !== 2 || Math.abs(first.x - last.x) > SLACK || (fixed[0] && fixed[1])) return;
  const x = fixed[0] ? first.x : fixed[1] ? last.x : (first.x + last.x) / 2;
  first.x = x;
  last.x = x;
}

/** Makes both lines of a pair straight if the items are above each other. */
function straightenPair(stops: readonly Stop[], range: { left: number; right: number }, shift: number): void {
  if (range.left > range.right) return;
  const wanted = ((stops[0]?.x ?? 0) + (stops.at(-1)?.x ?? 0)) / 2 - shift;
  const x = Math.max(range.left, Math.min(range.right, wanted));
  for (const stop of stops) stop.x = x + shift;
}

/** Middle of the longest straight part in the middle. */
const middleOf = (points: readonly Point[]): Point => {
  const index = Math.max(0, Math.floor(points.length / 2) - 1);
  const [a, b] = [points[index] ?? { x: 0, y: 0 }, points[index + 1] ?? points[index] ?? { x: 0, y: 0 }];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
};

function loopRoute(edge: LevelEdge): Route {
  const sideOf = (boxes: ReadonlyMap<string, Box>) =>
    boxes.get(edge.source) ?? { x: 0, y: 0, width: 0, height: 0 };
  return {
    edge,
    isUp: false,
    pieces: [],
    pointsIn({ boxes }) {
      const { x, y, width, height } = sideOf(boxes);
      const [right, middle] = [x + width, y + height / 2];
      return [
        { x: right, y: middle + 9 },
        { x: right + LOOP_WIDTH, y: middle + 9 },
        { x: right + LOOP_WIDTH, y: middle - 9 },
        { x: right, y: middle - 9 },
      ];
    },
    labelIn({ boxes }) {
      if (edge.label === 0) return undefined;
      const { x, y, width, height } = sideOf(boxes);
      return {
        x: x + width + LOOP_WIDTH + 4,
        y: y + height / 2 - LABEL_HEIGHT / 2,
        width: edge.label,
        height: LABEL_HEIGHT,
      };
    },
  };
}

/** Space beside an item for its self-loop. */
export const loopRoom = (label: number): number => LOOP_WIDTH + 4 + label;

// Back edges beside all items.

interface Extent {
  left: number;
  right: number;
}

function outerRoutes(grid: Grid, edges: readonly LevelEdge[], routes: readonly Route[]): Route[] {
  const extents = extentsOf(grid, routes);
  const all: Extent = {
    left: Math.min(...extents.map(({ left }) => left)),
    right: Math.max(...extents.map(({ right }) => right)),
  };
  const middle = (all.left + all.right) / 2;
  const layerOf = (id: string) => grid.ranks.items.get(id)?.layer ?? 0;
  const centerOf = (id: string) => grid.ranks.items.get(id)?.x ?? 0;
  const span = ({ source, target }: LevelEdge) => Math.abs(layerOf(source) - layerOf(target));
  const lanes = { left: all.left, right: all.right };
  return [...edges]
    .sort((a, b) => span(a) - span(b))
    .map((edge) => {
      const side = centerOf(edge.source) + centerOf(edge.target) < 2 * middle - 1 ? "left" : "right";
      const sign = side === "left" ? -1 : 1;
      const lane = lanes[side] + sign * (LANE + edge.label / 2);
      lanes[side] = lane + (sign * edge.label) / 2;
      return outerRoute(grid, edge, { side, lane, extents });
    });
}

/** Leftmost and rightmost position of each layer. */
function extentsOf({ items, ranks }: Grid, routes: readonly Route[]): Extent[] {
  const extents = Array.from({ length: ranks.count }, (): Extent => ({ left: Infinity, right: -Infinity }));
  const widen = (layer: number, left: number, right: number) => {
    const extent = extents[layer];
    if (!extent) return;
    extent.left = Math.min(extent.left, left);
    extent.right = Math.max(extent.right, right);
  };
  for (const { id, width, loop } of items.values()) {
    const { x, layer } = ranks.items.get(id) ?? { x: 0, layer: 0 };
    widen(layer, x - width / 2 - loop, x + width / 2 + loop);
  }
  for (const { edge, pieces } of routes) {
    const room = edge.label > 0 ? edge.label + 8 : 0;
    for (const { channel, piece } of pieces)
      widen(channel, Math.min(piece.from, piece.to) - room, Math.max(piece.from, piece.to) + room);
  }
  return extents;
}

interface OuterOptions {
  side: "left" | "right";
  lane: number;
  extents: readonly Extent[];
}

/** Leaves the source at its outer side or below, runs up beside everything, and enters at the side or above. */
function outerRoute({ items, ranks }: Grid, edge: LevelEdge, { side, lane, extents }: OuterOptions): Route {
  const portOf = (id: string, port: "entry" | "exit"): Stop => {
    const { x, layer } = ranks.items.get(id) ?? { x: 0, layer: 0 };
    const item = items.get(id);
    return { x: item ? x - item.width / 2 + item[port] : x, layer };
  };
  const [from, to] = [portOf(edge.source, "exit"), portOf(edge.target, "entry")];
  const isFree = (id: string, layer: number) => {
    const item = items.get(id);
    const extent = extents[layer];
    const edgeOf = (ranks.items.get(id)?.x ?? 0) + ((side === "left" ? -1 : 1) * (item?.width ?? 0)) / 2;
    return extent !== undefined && item?.loop === 0 && !item.isBox && Math.abs(extent[side] - edgeOf) < 1;
  };
  const [isFreeBelow, isFreeAbove] = [isFree(edge.source, from.layer), isFree(edge.target, to.layer)];
  const out: Piece = { from: from.x, to: lane, upper: edge.source, lower: `lane ${edge.key}` };
  const into: Piece = { from: lane, to: to.x, upper: `lane ${edge.key}`, lower: edge.target };
  const pieces = [
    ...(isFreeBelow ? [] : [{ channel: from.layer, piece: out }]),
    ...(isFreeAbove ? [] : [{ channel: to.layer - 1, piece: into }]),
  ];
  return {
    edge,
    isUp: false,
    pieces,
    pointsIn({ boxes, trackAt }) {
      const [source, target] = [boxes.get(edge.source), boxes.get(edge.target)];
      if (!source || !target) return [];
      const sideAt = ({ x, width }: Box) => (side === "left" ? x : x + width);
      const exit = { x: sideAt(source), y: source.y + source.height / 2 + 6 };
      const entry = { x: sideAt(target), y: target.y + target.height / 2 - 6 };
      const below = trackAt(from.layer, out.track ?? 0);
      const above = trackAt(to.layer - 1, into.track ?? 0);
      return [
        ...(isFreeBelow
          ? [exit, { x: lane, y: exit.y }]
          : [
              { x: from.x, y: source.y + source.height },
              { x: from.x, y: below },
              { x: lane, y: below },
            ]),
        ...(isFreeAbove
          ? [{ x: lane, y: entry.y }, entry]
          : [
              { x: lane, y: above },
              { x: to.x, y: above },
              { x: to.x, y: target.y },
            ]),
      ];
    },
    labelIn({ points }) {
      if (edge.label === 0) return undefined;
      const ys = points.filter(({ x }) => Math.abs(x - lane) < 1).map(({ y }) => y);
      const y = (Math.min(...ys) + Math.max(...ys)) / 2;
      return { x: lane - edge.label / 2, y: y - LABEL_HEIGHT / 2, width: edge.label, height: LABEL_HEIGHT };
    },
  };
}
