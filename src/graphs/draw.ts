/** The shape of a graph: its drawing, its subgraphs, and the line that sums it up. */
import type { GraphDrawing, SubgraphSchemas } from "../models/assistant.js";
import type { JsonObject } from "../models/common.js";
import type { ServedGraph } from "./graph.js";
import { filterAt } from "./output-filter.js";
import type { BoundGraph } from "./registry.js";
import { graphSchemas, schemaKeys } from "./schemas.js";
import { visibleSchemas } from "./visible-schemas.js";

interface Drawing {
  nodes: JsonObject[];
  edges: JsonObject[];
}

/** Nodes and edges; `xray` draws the nodes of subgraphs in their place, under ids such as `child:model`. */
export async function drawGraph(
  graph: ServedGraph,
  { xray }: { xray: boolean | number },
): Promise<GraphDrawing> {
  const drawable = await graph.getGraphAsync({ xray });
  const { nodes, edges } = JSON.parse(JSON.stringify(drawable)) as Drawing;
  return {
    nodes: nodes.map((node) => ({ ...node, data: node.data ?? {} })),
    edges: edges.map((edge) => ({ ...edge, conditional: edge.conditional === true })),
  };
}

/**
 * Schemas of the graph's subgraphs by namespace, such as `child|leaf`; nested ones with `recurse`. Only subgraphs that
 * are nodes are found: one that a node's function calls is not visible.
 */
export async function subgraphSchemas(
  { graph, filter }: BoundGraph,
  graphId: string,
  { recurse, namespace }: { recurse: boolean; namespace?: string },
): Promise<SubgraphSchemas> {
  const schemas: SubgraphSchemas = {};
  for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
    schemas[name] = visibleSchemas(await graphSchemas(subgraph, graphId), filterAt(filter, name));
  }
  return schemas;
}

export interface GraphOutline {
  /** Without the start and end that every graph has. */
  nodes: string[];
  /** Keys of the input; empty when unknown. */
  inputKeys: string[];
}

export function graphSummary(graph: ServedGraph): GraphOutline {
  const nodes = Object.keys(graph.nodes ?? {}).filter((name) => name !== "__start__" && name !== "__end__");
  return { nodes, inputKeys: schemaKeys(graph).input ?? [] };
}
