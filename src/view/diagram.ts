/** A graph to draw: what its drawing and, for a thread, its progress say. */
import type { GraphDrawing } from "../models/assistant.js";

/** LangGraph's own first node. */
const START = "__start__";

/** Nodes of the user's: LangGraph's own first one says nothing to a reader. */
export const userNodes = (nodes: readonly string[]): string[] => nodes.filter((name) => name !== START);

export type NodeMark = "done" | "next";

export interface DiagramNode {
  id: string;
  mark?: NodeMark;
}

export interface DiagramEdge {
  source: string;
  target: string;
  conditional: boolean;
  /** What a router answers to take this way, where it differs from the target. */
  labels: string[];
}

export interface Diagram {
  nodes: DiagramNode[];
  edges: DiagramEdge[];
}

/** Names a way from node to node. */
export const wayKey = (source: string, target: string): string => JSON.stringify([source, target]);

/** Nodes and edges, each way between two nodes once. */
export function diagramOf(drawing: GraphDrawing, marks: ReadonlyMap<string, NodeMark> = new Map()): Diagram {
  const nodes = drawing.nodes.map(({ id }) => {
    const name = String(id);
    const mark = marks.get(name);
    return { id: name, ...(mark && { mark }) };
  });
  const known = new Set(nodes.map(({ id }) => id));
  const edges = new Map<string, DiagramEdge>();
  for (const { source, target, conditional, data } of drawing.edges) {
    const [from, to, maybe] = [String(source), String(target), conditional === true];
    if (!known.has(from) || !known.has(to)) continue;
    const key = JSON.stringify([from, to, maybe]);
    const edge = edges.get(key) ?? { source: from, target: to, conditional: maybe, labels: [] };
    if (typeof data === "string" && data !== to && !edge.labels.includes(data)) edge.labels.push(data);
    edges.set(key, edge);
  }
  return { nodes, edges: [...edges.values()] };
}

/** A node as it is shown, with the mark before it. */
export function nodeLabel({ id, mark }: DiagramNode): string {
  return mark === undefined ? id : `${mark === "done" ? "✓" : "▸"} ${id}`;
}
