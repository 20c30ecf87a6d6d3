import type { GraphSummary } from "../service.js";

/** A graph in one line: file, number of nodes, keys of its input. */
export function describeGraph(graph: GraphSummary): string {
  const nodes = `${graph.nodes.length} ${graph.nodes.length === 1 ? "node" : "nodes"}`;
  const input = graph.inputKeys.length > 0 ? `, input {${graph.inputKeys.join(", ")}}` : "";
  return `${graph.source === undefined ? "" : `${graph.source}   `}${nodes}${input}`;
}
