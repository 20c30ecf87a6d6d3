/** Lays out a graph with its subgraphs, in slices that do not block the page. */
import type { Diagram, DiagramEdge } from "../../src/view/diagram.js";
import { loopRoom } from "./edges.js";
import { isEnd, labelText, nameOf } from "./layout-names.js";
import { type Box, type Point } from "./geometry.js";
import {
  ATTEMPTS,
  ENTRY,
  EXIT,
  layoutLevel,
  type LevelEdge,
  type LevelItem,
  type PlacedLevel,
} from "./level.js";
import { type TreeEdge, type TreeItem, type TreeLevel, treeOf } from "./tree.js";

export interface DrawnNode extends Box {
  id: string;
  /** Number of nodes of a folded subgraph; 0 for a node. */
  count: number;
}

/** An unfolded subgraph. */
export interface DrawnBox extends Box {
  id: string;
  count: number;
  depth: number;
}

export interface DrawnEdge {
  points: Point[];
  isConditional: boolean;
  /** Whether it ends at a node; inside a box it may end at the frame. */
  hasTip: boolean;
  /** Whether it is the part of an edge inside a subgraph. */
  isStub: boolean;
  /** The edges of the diagram that it covers. */
  edges: readonly DiagramEdge[];
  /** Ids of the items that it connects. */
  source: string;
  target: string;
  label?: Box & { text: string };
}

export interface GraphLayout {
  width: number;
  height: number;
  nodes: DrawnNode[];
  boxes: DrawnBox[];
  edges: DrawnEdge[];
  /** Crossings of edges, including edges that lie on each other. */
  crossings: number;
}

const MARGIN = 20;
export const NODE_HEIGHT = 44;
const END_HEIGHT = 28;
const CHARACTER = 7.4;
const LABEL_CHARACTER = 6.6;
/** Space for the mark at the left and the padding at both sides. */
const PADDING = 48;
const BOX_HEAD = 34;
/** First row of a subgraph below its upper side. */
const FIRST_ROW = BOX_HEAD + 17;
const BOX_SIDE = 18;
const BOX_FOOT = 16;
/** Above this number of items of a level only one layout is tried. */
const MANY = 30;

/** All at once. */
export function layoutOf(diagram: Diagram, folded?: ReadonlySet<string>): GraphLayout {
  const slices = layoutSlices(diagram, folded);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** Each step lays out one level once: the caller may pause between steps. */
export function* layoutSlices(
  diagram: Diagram,
  folded: ReadonlySet<string> = new Set(),
): Generator<void, GraphLayout> {
  const root = yield* levelLayout(treeOf(diagram, folded));
  const layout: GraphLayout = {
    width: root.width + 2 * MARGIN,
    height: root.height + 2 * MARGIN,
    nodes: [],
    boxes: [],
    edges: [],
    crossings: 0,
  };
  flatten(root, { x: MARGIN, y: MARGIN }, 0, layout);
  return layout;
}

interface Laid extends PlacedLevel {
  tree: TreeLevel;
  /** Layouts of the subgraphs. */
  inside: ReadonlyMap<string, Laid>;
  /** Distance of the content from the left side of its box. */
  inset: number;
}

const EMPTY: PlacedLevel = {
  ...{ width: 0, height: 0, items: [], edges: [], entry: undefined, exit: undefined, crossings: 0, cost: 0 },
};

function* levelLayout(tree: TreeLevel): Generator<void, Laid> {
  const inside = new Map<string, Laid>();
  for (const item of tree.items) if (item.inside) inside.set(item.id, yield* levelLayout(item.inside));
  const edges = tree.edges.map(levelEdge);
  const items = [
    ...(edges.some(({ source }) => source === ENTRY) ? [port(ENTRY)] : []),
    ...tree.items.map((item) => levelItem(item, inside.get(item.id), edges)),
    ...(edges.some(({ target }) => target === EXIT) ? [port(EXIT)] : []),
  ];
  const hasBoxes = inside.size > 0;
  const level = hasBoxes ? items.map(sunkBeside) : items;
  let best: PlacedLevel | undefined;
  for (const attempt of items.length > MANY ? ATTEMPTS.slice(0, 1) : ATTEMPTS) {
    const next = layoutLevel(level, edges, attempt);
    if (!best || next.cost < best.cost) best = next;
    yield;
    if (best.crossings === 0) break;
  }
  return { ...(best ?? EMPTY), tree, inside, inset: 0 };
}

/** First rows of a subgraph and of the nodes beside it are level. */
const sunkBeside = (item: LevelItem): LevelItem =>
  item.height === NODE_HEIGHT ? { ...item, sink: FIRST_ROW } : item;

function levelEdge({ source = ENTRY, target = EXIT, labels, isConditional }: TreeEdge): LevelEdge {
  const text = labelText(labels);
  return {
    key: JSON.stringify([source, target]),
    source,
    target,
    label: text === "" ? 0 : Math.ceil(text.length * LABEL_CHARACTER) + 10,
    weight: target === "__end__" ? 1 : isConditional ? 6 : 3,
  };
}

const port = (id: string): LevelItem => ({
  ...{ id, width: 2, height: 0, entry: 1, exit: 1, loop: 0, sink: 0, isBox: false },
});

function levelItem(item: TreeItem, laid: Laid | undefined, edges: readonly LevelEdge[]): LevelItem {
  const { id } = item;
  if (laid) return { ...boxSize(item, laid), id, loop: loopOf(id, edges), sink: 0, isBox: true };
  const width = isEnd(id) ? 60 : Math.max(112, Math.ceil(nameOf(id).length * CHARACTER) + PADDING);
  const height = isEnd(id) ? END_HEIGHT : NODE_HEIGHT;
  return {
    id,
    width,
    height,
    entry: width / 2,
    exit: width / 2,
    loop: loopOf(id, edges),
    sink: 0,
    isBox: false,
  };
}

function loopOf(id: string, edges: readonly LevelEdge[]): number {
  const loop = edges.find(({ source, target }) => source === id && target === id);
  return loop ? loopRoom(loop.label) : 0;
}

/** The content is centered below the name, and the name is left of the edge that enters. */
function boxSize(item: TreeItem, laid: Laid): Pick<LevelItem, "width" | "height" | "entry" | "exit"> {
  const name = nameOf(item.id).length * CHARACTER + 44;
  const entry = laid.entry ?? laid.width / 2;
  const inset = Math.max(BOX_SIDE, name - entry);
  laid.inset = inset;
  return {
    width: Math.max(inset + laid.width + BOX_SIDE, name + 76),
    height: laid.height + BOX_HEAD + BOX_FOOT,
    entry: inset + entry,
    exit: inset + (laid.exit ?? laid.width / 2),
  };
}

function flatten(level: Laid, at: Point, depth: number, layout: GraphLayout): void {
  layout.crossings += level.crossings;
  for (const item of level.items) {
    const own = level.tree.items.find(({ id }) => id === item.id);
    const count = own?.count ?? 0;
    const box = { id: item.id, x: at.x + item.x, y: at.y + item.y, width: item.width, height: item.height };
    const inner = level.inside.get(item.id);
    if (!inner) {
      layout.nodes.push({ ...box, count });
      continue;
    }
    layout.boxes.push({ ...box, count, depth });
    flatten(inner, { x: box.x + inner.inset, y: box.y + BOX_HEAD }, depth + 1, layout);
    stretch(inner, layout, box);
  }
  const trees = new Map(level.tree.edges.map((edge) => [levelEdge(edge).key, edge]));
  for (const { edge, points, label } of level.edges) {
    const tree = trees.get(edge.key);
    if (!tree) continue;
    layout.edges.push({
      points: points.map(({ x, y }) => ({ x: at.x + x, y: at.y + y })),
      isConditional: tree.isConditional,
      hasTip: edge.target !== EXIT && !level.inside.has(edge.target),
      isStub: edge.source === ENTRY || edge.target === EXIT,
      edges: tree.edges,
      source: edge.source,
      target: edge.target,
      ...(label && {
        label: { ...label, x: at.x + label.x, y: at.y + label.y, text: labelText(tree.labels) },
      }),
    });
  }
}

/** Connects edges at the frame of a box with those inside. */
function stretch(_inner: Laid, layout: GraphLayout, box: Box): void {
  for (const edge of layout.edges) {
    const [first, last] = [edge.points[0], edge.points.at(-1)];
    if (edge.source === ENTRY && first && isInside(first, box)) {
      first.y = box.y;
      edge.source = "";
    }
    if (edge.target === EXIT && last && isInside(last, box)) {
      last.y = box.y + box.height;
      edge.target = "";
    }
  }
}

const isInside = ({ x, y }: Point, box: Box): boolean =>
  x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
