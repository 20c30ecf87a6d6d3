/** A diagram as a tree: subgraphs are boxes that contain nodes. */
import type { Diagram, DiagramEdge } from "../../src/view/diagram.js";

/** A node, or a subgraph with the nodes in it. */
export interface TreeItem {
  /** Id in the diagram; of a subgraph, the common start of its ids, such as `child:leaf`. */
  id: string;
  /** Undefined for a node and for a folded subgraph. */
  inside: TreeLevel | undefined;
  /** Number of nodes in the subgraph; 0 for a node. */
  count: number;
}

/** One connection between two items of a level. */
export interface TreeEdge {
  /** Undefined: the edge of the box around this level. */
  source: string | undefined;
  target: string | undefined;
  labels: string[];
  isConditional: boolean;
  /** The edges of the diagram that it covers. */
  edges: DiagramEdge[];
}

export interface TreeLevel {
  items: TreeItem[];
  edges: TreeEdge[];
}

const INNER_END = /:__(start|end)__$/;

/** True for LangGraph's start and end markers of a subgraph: its box shows the same. */
export const isInnerEnd = (id: string): boolean => INNER_END.test(id);

/**
 * The diagram without the start and end markers of subgraphs: edges through them lead from node to node.
 */
export function withoutInnerEnds(diagram: Diagram): Diagram {
  const nodes = diagram.nodes.filter(({ id }) => !isInnerEnd(id));
  if (nodes.length === diagram.nodes.length) return diagram;
  let edges = diagram.edges;
  for (const { id } of diagram.nodes) {
    if (!isInnerEnd(id)) continue;
    const into = edges.filter(({ target }) => target === id);
    const out = edges.filter(({ source }) => source === id);
    const through = into.flatMap((first) =>
      out.map((second): DiagramEdge => ({
        source: first.source,
        target: second.target,
        conditional: first.conditional || second.conditional,
        labels: [...new Set([...first.labels, ...second.labels])],
      })),
    );
    edges = [...edges.filter(({ source, target }) => source !== id && target !== id), ...through];
  }
  return { nodes, edges };
}

/** Ids of the subgraphs around a node, outermost first. */
export function boxesAround(id: string): string[] {
  const parts = id.split(":");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(":"));
}

/** All subgraphs of a diagram. */
export const boxesOf = ({ nodes }: Diagram): string[] => [
  ...new Set(nodes.flatMap(({ id }) => boxesAround(id))),
];

/** @param folded subgraphs that are drawn as one node */
export function treeOf(diagram: Diagram, folded: ReadonlySet<string> = new Set()): TreeLevel {
  const plain = withoutInnerEnds(diagram);
  const levels = new Map<string, TreeLevel>([["", { items: [], edges: [] }]]);
  const items = new Map<string, TreeItem>();
  const levelOf = (id: string): TreeLevel | undefined => levels.get(id);
  for (const { id } of plain.nodes) {
    const around = boxesAround(id);
    let outer = "";
    let isHidden = false;
    for (const box of around) {
      if (!isHidden && !items.has(box)) {
        const isFolded = folded.has(box);
        const inside: TreeLevel | undefined = isFolded ? undefined : { items: [], edges: [] };
        const item: TreeItem = { id: box, inside, count: 0 };
        items.set(box, item);
        levelOf(outer)?.items.push(item);
        if (inside) levels.set(box, inside);
      }
      const item = items.get(box);
      if (item) item.count += 1;
      isHidden ||= folded.has(box);
      outer = box;
    }
    if (isHidden || items.has(id)) continue;
    const item: TreeItem = { id, inside: undefined, count: 0 };
    items.set(id, item);
    levelOf(outer)?.items.push(item);
  }
  const merged = new Map<string, TreeEdge>();
  const add = (level: string, source: string | undefined, target: string | undefined, edge: DiagramEdge) => {
    const key = JSON.stringify([level, source ?? null, target ?? null]);
    let known = merged.get(key);
    if (!known) {
      known = { source, target, labels: [], isConditional: true, edges: [] };
      merged.set(key, known);
      levelOf(level)?.edges.push(known);
    }
    known.edges.push(edge);
    known.isConditional &&= edge.conditional;
    if (source === undefined || target === undefined) return;
    for (const label of edge.labels) if (!known.labels.includes(label)) known.labels.push(label);
  };
  for (const edge of plain.edges) addEdge(edge, items, add);
  return levels.get("") ?? { items: [], edges: [] };
}

type Add = (level: string, source: string | undefined, target: string | undefined, edge: DiagramEdge) => void;

/** Adds the part of an edge in each level that it crosses. */
function addEdge(edge: DiagramEdge, items: ReadonlyMap<string, TreeItem>, add: Add): void {
  const [from, to] = [pathOf(edge.source, items), pathOf(edge.target, items)];
  let common = 0;
  while (common < Math.min(from.length, to.length) - 1 && from[common] === to[common]) common += 1;
  const [first, last] = [from[common], to[common]];
  // Inside a folded subgraph.
  if (first === undefined || last === undefined || (first === last && first !== edge.source)) return;
  add(from[common - 1] ?? "", first, last, edge);
  for (let depth = common + 1; depth < from.length; depth += 1)
    add(from[depth - 1] ?? "", from[depth], undefined, edge);
  for (let depth = common + 1; depth < to.length; depth += 1)
    add(to[depth - 1] ?? "", undefined, to[depth], edge);
}

/** The drawn items around and including a node, outermost first. */
const pathOf = (id: string, items: ReadonlyMap<string, TreeItem>): string[] =>
  [...boxesAround(id), id].filter((each) => items.has(each));
