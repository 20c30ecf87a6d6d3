/** Assigns the nodes of a diagram to layers from top to bottom, and finds the edges that close loops. */
import type { Diagram, DiagramEdge } from "./diagram.js";

export interface Layered {
  /** Node ids of each layer, from left to right. */
  layers: string[][];
  layerOf: ReadonlyMap<string, number>;
  /** Edges that lead at least one layer down. */
  down: DiagramEdge[];
  /** Edges that close a loop. */
  back: DiagramEdge[];
}

const SWEEPS = 8;

export function layered(diagram: Diagram): Layered {
  const back = new Set(backEdges(diagram));
  const down = diagram.edges.filter((edge) => !back.has(edge));
  const layerOf = longestPaths(diagram, down);
  const layers: string[][] = Array.from({ length: Math.max(0, ...layerOf.values()) + 1 }, () => []);
  for (const { id } of diagram.nodes) layers[layerOf.get(id) ?? 0]?.push(id);
  return { layers: ordered(layers, layerOf, down), layerOf, down, back: [...back] };
}

/** Edges to a node on the current path of a depth-first search in node order. */
function backEdges({ nodes, edges }: Diagram): DiagramEdge[] {
  const found: DiagramEdge[] = [];
  const state = new Map<string, "open" | "done">();
  const visit = (id: string): void => {
    state.set(id, "open");
    for (const edge of edges) {
      if (edge.source !== id) continue;
      if (state.get(edge.target) === "open") found.push(edge);
      else if (!state.has(edge.target)) visit(edge.target);
    }
    state.set(id, "done");
  };
  for (const { id } of nodes) if (!state.has(id)) visit(id);
  return found;
}

function longestPaths({ nodes }: Diagram, down: readonly DiagramEdge[]): Map<string, number> {
  const depths = new Map<string, number>();
  const depthOf = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const above = down.filter(({ target }) => target === id).map(({ source }) => depthOf(source));
    const depth = Math.max(-1, ...above) + 1;
    depths.set(id, depth);
    return depth;
  };
  for (const { id } of nodes) depthOf(id);
  return depths;
}

/**
 * Repeatedly sorts each layer by the positions of its neighbors; keeps the order with the fewest crossings.
 */
function ordered(
  layers: string[][],
  layerOf: ReadonlyMap<string, number>,
  down: readonly DiagramEdge[],
): string[][] {
  let best = layers;
  let current = layers;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    current = current.map((layer) => [...layer]);
    const places = new Map(current.flatMap((layer) => relativePlaces(layer)));
    for (const [index, layer] of isDown ? [...current.entries()] : [...current.entries()].reverse()) {
      const weight = new Map(layer.map((id) => [id, neighbourPlace(id, isDown, places, down)]));
      layer.sort((a, b) => (weight.get(a) ?? 0) - (weight.get(b) ?? 0));
      for (const [id, place] of relativePlaces(layer)) places.set(id, place);
      current[index] = layer;
    }
    if (crossings(current, layerOf, down) < crossings(best, layerOf, down)) best = current;
  }
  return best;
}

/** Positions from 0 (left) to 1 (right). */
function relativePlaces(layer: readonly string[]): [string, number][] {
  return layer.map((id, index) => [id, (index + 0.5) / layer.length]);
}

function neighbourPlace(
  id: string,
  above: boolean,
  places: ReadonlyMap<string, number>,
  down: readonly DiagramEdge[],
): number {
  const neighbours = down.flatMap(({ source, target }) => {
    if (above) return target === id ? [source] : [];
    return source === id ? [target] : [];
  });
  if (neighbours.length === 0) return places.get(id) ?? 0;
  return neighbours.reduce((sum, each) => sum + (places.get(each) ?? 0), 0) / neighbours.length;
}

function crossings(
  layers: readonly string[][],
  layerOf: ReadonlyMap<string, number>,
  down: readonly DiagramEdge[],
): number {
  const index = new Map(layers.flatMap((layer) => layer.map((id, place): [string, number] => [id, place])));
  const at = (id: string) => index.get(id) ?? 0;
  const short = down.filter(
    ({ source, target }) => (layerOf.get(target) ?? 0) - (layerOf.get(source) ?? 0) === 1,
  );
  let count = 0;
  for (const one of short) {
    for (const other of short) {
      if (layerOf.get(one.source) !== layerOf.get(other.source)) continue;
      if (at(one.source) < at(other.source) && at(one.target) > at(other.target)) count += 1;
    }
  }
  return count;
}
