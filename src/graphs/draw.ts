/** The structure of a graph: its drawing, its subgraphs and a short outline. */
import type { GraphDrawing, SubgraphSchemas } from "../models/assistant.js";
import type { JsonObject } from "../models/common.js";
import { InvalidRequestError } from "../support/errors.js";
import type { ServedGraph } from "./graph.js";
import { filterAt } from "./output-filter.js";
import type { BoundGraph } from "./registry.js";
import { schemaKeys } from "./schemas.js";
import { clientSchemas } from "./visible-schemas.js";

interface Drawing {
  nodes: JsonObject[];
  edges: JsonObject[];
}

export interface DrawOptions {
  xray: boolean | number;
  /** Namespace of the subgraph to draw, such as `child|leaf`; the whole graph if omitted. */
  namespace?: string;
}

/**
 * Nodes and edges of a graph. `xray` replaces a subgraph of more than one node with its nodes, under ids such as
 * `child:model`.
 * @throws InvalidRequestError if no subgraph has the namespace (`invalid_request`)
 */
export async function drawGraph(graph: ServedGraph, { xray, namespace }: DrawOptions): Promise<GraphDrawing> {
  const drawn = namespace === undefined ? graph : await subgraphAt(graph, namespace);
  const drawable = await drawn.getGraphAsync({ xray });
  const { nodes, edges } = JSON.parse(JSON.stringify(drawable)) as Drawing;
  return {
    nodes: nodes.map((node) => ({ ...node, data: node.data ?? {} })),
    edges: edges.map((edge) => ({ ...edge, conditional: edge.conditional === true })),
  };
}

async function subgraphAt(graph: ServedGraph, namespace: string): Promise<ServedGraph> {
  const names: string[] = [];
  for await (const [name, subgraph] of graph.getSubgraphsAsync(undefined, true)) {
    if (name === namespace) return subgraph;
    names.push(name);
  }
  const known = names.length === 0 ? "it has none" : `they are ${names.join(", ")}`;
  throw InvalidRequestError.at(
    ["query", "namespace"],
    `the graph has no subgraph ${JSON.stringify(namespace)}: ${known}`,
  );
}

/**
 * Schemas of the graph's subgraphs by namespace, such as `child|leaf`; with `recurse`, nested ones too. Only subgraphs
 * that are nodes can be found, not graphs that a node's function calls.
 */
export async function subgraphSchemas(
  { graph, filter }: BoundGraph,
  graphId: string,
  { recurse, namespace }: { recurse: boolean; namespace?: string },
): Promise<SubgraphSchemas> {
  const schemas: SubgraphSchemas = {};
  for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
    schemas[name] = await clientSchemas(subgraph, graphId, filterAt(filter, name));
  }
  return schemas;
}

export interface GraphOutline {
  /** Names of the nodes, without `__start__` and `__end__`. */
  nodes: string[];
  /** Keys of the input; empty if unknown. */
  inputKeys: string[];
}

export function graphSummary(graph: ServedGraph): GraphOutline {
  const nodes = Object.keys(graph.nodes ?? {}).filter((name) => name !== "__start__" && name !== "__end__");
  return { nodes, inputKeys: schemaKeys(graph).input ?? [] };
}
