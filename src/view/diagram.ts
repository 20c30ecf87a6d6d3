/** Diagram of a graph, optionally marked with the progress of a thread. */
import type { GraphDrawing } from "../models/assistant.js";

/** LangGraph's internal first node. */
const START = "__start__";

/** Node names without LangGraph's internal first node. */
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
  /** Return values of the router for this edge, if they differ from the target. */
  labels: string[];
}

export interface Diagram {
  nodes: DiagramNode[];
  edges: DiagramEdge[];
}

/** Identifies the edge between two nodes. */
export const wayKey = (source: string, target: string): string => JSON.stringify([source, target]);

/** Merges parallel edges of the same kind between two nodes. */
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

/** Node name with its mark. */
export function nodeLabel({ id, mark }: DiagramNode): string {
  return mark === undefined ? id : `${mark === "done" ? "✓" : "▸"} ${id}`;
}
