/** Computes the columns of boxes and edges in a layered diagram. */
import type { DiagramEdge } from "../../view/diagram.js";
import type { Layered } from "../../view/layers.js";

export interface Box {
  id: string;
  layer: number;
  /** Leftmost column, including the border. */
  x: number;
  /** Always odd, so that there is a middle column. */
  width: number;
}

/** The conditional or the unconditional edges of a node, which share one exit and then branch. */
interface Net {
  source: string;
  conditional: boolean;
  targets: string[];
  exit: number;
  /** Column to the right of all boxes for a net that passes layers; absent if it only leads to the next layer. */
  lane?: number;
}

/** The part of a net between two adjacent layers. */
export interface Strand {
  net: Net;
  /** Column at the upper layer. */
  top: number;
  /** Columns of its boxes in the lower layer. */
  arrivals: number[];
  /** Column in which it continues past the lower layer. */
  onward?: number;
}

export interface Placed {
  boxes: ReadonlyMap<string, Box>;
  /** Strands by the layer above them. */
  gaps: Strand[][];
  width: number;
}

const BOX_GAP = 3;
const MOST_WIDENINGS = 40;

/** Returns undefined if no layout is found, which happens only for very dense graphs. */
export function layOut(graph: Layered, widths: ReadonlyMap<string, number>): Placed | undefined {
  const current = new Map([...widths].map(([id, width]) => [id, width % 2 === 1 ? width : width + 1]));
  for (let attempt = 0; attempt < MOST_WIDENINGS; attempt += 1) {
    const boxes = placeBoxes(graph, current);
    const nets = netsOf(graph, boxes);
    const gaps = graph.layers.slice(1).map((_, layer) => strandsOf(graph, nets, layer));
    const crowded = gaps.map((strands, layer) => arrive(graph, boxes, strands, layer)).find((id) => id);
    if (crowded === undefined) {
      const right = [...boxes.values()].map(({ x, width }) => x + width);
      return { boxes, gaps, width: Math.max(...right, ...nets.map(({ lane = 0 }) => lane + 1)) };
    }
    current.set(crowded, (current.get(crowded) ?? 1) + 2);
  }
  return undefined;
}

function placeBoxes(graph: Layered, widths: ReadonlyMap<string, number>): Map<string, Box> {
  const boxes = new Map<string, Box>();
  for (const [layer, ids] of graph.layers.entries()) {
    const middles = ids.map((id) => middleOfSources(graph.down, boxes, id));
    let right = -Infinity;
    const row = ids.map((id, index): Box => {
      const width = widths.get(id) ?? 1;
      const wished = (middles[index] ?? 0) - (width - 1) / 2;
      const x = Math.max(Math.round(wished), right + BOX_GAP);
      right = x + width;
      return { id, layer, x, width };
    });
    // Boxes were only pushed to the right, so shift the row back by the average.
    const drift = row.map(({ x, width }, index) => x + (width - 1) / 2 - (middles[index] ?? 0));
    const shift = Math.round(drift.reduce((sum, each) => sum + each, 0) / Math.max(1, drift.length));
    for (const box of row) boxes.set(box.id, { ...box, x: box.x - shift });
  }
  const left = Math.min(...[...boxes.values()].map(({ x }) => x));
  for (const box of boxes.values()) box.x -= left;
  return boxes;
}

function middleOfSources(down: readonly DiagramEdge[], boxes: ReadonlyMap<string, Box>, id: string): number {
  const sources = down.flatMap(({ source, target }) => {
    const box = target === id ? boxes.get(source) : undefined;
    return box ? [middle(box)] : [];
  });
  return sources.length === 0 ? 0 : sources.reduce((sum, each) => sum + each, 0) / sources.length;
}

const middle = ({ x, width }: Box): number => x + (width - 1) / 2;

function netsOf({ down, layerOf }: Layered, boxes: ReadonlyMap<string, Box>): Net[] {
  const nets = new Map<string, Net>();
  for (const { source, target, conditional } of down) {
    const key = JSON.stringify([source, conditional]);
    const net = nets.get(key) ?? { source, conditional, targets: [], exit: 0 };
    net.targets.push(target);
    nets.set(key, net);
  }
  const all = [...nets.values()];
  for (const net of all) {
    const box = boxes.get(net.source);
    const isAlone = all.filter(({ source }) => source === net.source).length === 1;
    net.exit = (box ? middle(box) : 0) + (isAlone ? 0 : net.conditional ? 1 : -1);
  }
  const right = Math.max(...[...boxes.values()].map(({ x, width }) => x + width));
  const layer = (id: string) => layerOf.get(id) ?? 0;
  const end = (net: Net) => Math.max(...net.targets.map(layer));
  const long = all.filter((net) => end(net) - layer(net.source) > 1);
  // Shorter edges get inner lanes, longer ones outer lanes, to reduce crossings.
  long.sort((a, b) => end(a) - layer(a.source) - (end(b) - layer(b.source)));
  for (const [index, net] of long.entries()) net.lane = right + 2 + index * 3;
  return all;
}

/** Strands of the nets that cross the space below `layer`, without their arrivals. */
function strandsOf({ layerOf }: Layered, nets: readonly Net[], layer: number): Strand[] {
  return nets.flatMap((net): Strand[] => {
    const start = layerOf.get(net.source) ?? 0;
    const end = Math.max(...net.targets.map((id) => layerOf.get(id) ?? 0));
    if (start > layer || end <= layer) return [];
    const top = start === layer ? net.exit : (net.lane ?? net.exit);
    return [{ net, top, arrivals: [], ...(end > layer + 1 && { onward: net.lane ?? 0 }) }];
  });
}

/** Assigns each strand its columns at the boxes below; returns the id of a box that is too narrow. */
function arrive(
  { layers, layerOf }: Layered,
  boxes: ReadonlyMap<string, Box>,
  strands: Strand[],
  layer: number,
): string | undefined {
  for (const id of layers[layer + 1] ?? []) {
    const box = boxes.get(id);
    const arriving = strands.filter(({ net }) => net.targets.includes(id) && layerOf.get(id) === layer + 1);
    if (!box || arriving.length === 0) continue;
    const columns = entryColumns(box, arriving, strands);
    if (!columns) return id;
    arriving.forEach((strand, index) => strand.arrivals.push(columns[index] ?? 0));
  }
  return undefined;
}

/** A column for each arriving strand, close to its origin and not used by another strand. */
function entryColumns(box: Box, arriving: Strand[], strands: readonly Strand[]): number[] | undefined {
  arriving.sort((a, b) => a.top - b.top);
  const inner = Array.from({ length: box.width - 2 }, (_, index) => box.x + 1 + index);
  const spread = (index: number) => Math.round(middle(box) + (index - (arriving.length - 1) / 2) * 2);
  let left = -Infinity;
  const columns: number[] = [];
  for (const [index, strand] of arriving.entries()) {
    const wished = inner.includes(strand.top) ? strand.top : spread(index);
    const room = arriving.length - 1 - index;
    const free = inner.filter(
      (column) =>
        column > left + 1 &&
        column <= box.x + box.width - 2 - room * 2 &&
        !strands.some((other) => other !== strand && other.top === column),
    );
    if (free.length === 0) return undefined;
    const column = free.reduce((best, each) =>
      Math.abs(each - wished) < Math.abs(best - wished) ? each : best,
    );
    columns.push(column);
    left = column;
  }
  return columns;
}
