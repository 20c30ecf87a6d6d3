/** Reads the output schema of a compiled graph and its subgraphs. */
import { isRecord } from "../models/common.js";
import type { ServedGraph } from "./graph.js";
import { KeyFilter, type GraphOutput, type OutputFilterOptions } from "./output-filter.js";
import { stateTypes } from "./schemas.js";

/**
 * Create the output filter of a graph. Output channels are an allow-list. If they cannot be introspected, all values are
 * dropped.
 */
export async function createOutputFilter(
  graph: ServedGraph,
  onUnknown?: OutputFilterOptions["onUnknown"],
): Promise<KeyFilter> {
  return new KeyFilter(await outputOf(graph, []), { onUnknown });
}

async function outputOf(graph: ServedGraph, around: readonly ServedGraph[]): Promise<GraphOutput> {
  const visible = visibleOf(graph.outputChannels);
  const streamed = streamedOf(graph);
  // A graph around this one may hide keys that this one shows.
  const hides = around.length > 0 || [streamed].flat().some((key) => !visible?.has(key));
  return {
    visible,
    streamed,
    nodes: new Set(Object.keys(graph.nodes ?? {})),
    // A subgraph cannot show more than the graph around it, so skip subgraphs of an unknown graph.
    inner: visible ? await innerOf(graph, [...around, graph]) : new Map<string, GraphOutput[]>(),
    textless: hides ? await textlessOf(graph) : new Set<string>(),
  };
}

function visibleOf(outputs: unknown): Set<string> | undefined {
  if (typeof outputs === "string") return new Set([outputs]);
  return Array.isArray(outputs) ? new Set(outputs.map(String)) : undefined;
}

/** The streamed channels; all channels, including LangGraph's own, if the graph does not declare them. */
function streamedOf({ streamChannels, channels }: ServedGraph): string[] | string {
  if (typeof streamChannels === "string") return streamChannels;
  return Array.isArray(streamChannels) ? streamChannels.map(String) : Object.keys(channels ?? {});
}

async function innerOf(
  graph: ServedGraph,
  around: readonly ServedGraph[],
): Promise<Map<string, GraphOutput[]>> {
  const inner = new Map<string, GraphOutput[]>();
  if (typeof graph.getSubgraphsAsync !== "function") return inner;
  for await (const [node, subgraph] of graph.getSubgraphsAsync(undefined, false)) {
    // A recursive graph shows no more than its outer instance.
    if (around.includes(subgraph)) continue;
    inner.set(node, [...(inner.get(node) ?? []), await outputOf(subgraph, around)]);
  }
  return inner;
}

const TEXTLESS = new Set(["number", "integer", "boolean", "null"]);

/** Keys that hold numbers, booleans or enums, and therefore no free text. */
async function textlessOf(graph: ServedGraph): Promise<Set<string>> {
  const keys = Object.entries(await stateTypes(graph)).filter(([, type]) => isTextless(type));
  return new Set([...keys.map(([key]) => key), ...routesOf(graph)]);
}

function isTextless(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type, enum: words, const: word, anyOf } = schema;
  if (Array.isArray(anyOf)) return anyOf.every(isTextless);
  return Array.isArray(words) || word !== undefined || (typeof type === "string" && TEXTLESS.has(type));
}

/** The untyped key in which createAgent stores the name of the node that middleware jumps to. */
function routesOf({ channels = {} }: ServedGraph): string[] {
  const { jumpTo } = channels;
  return isRecord(jumpTo) && jumpTo.lc_graph_name === "UntrackedValue" ? ["jumpTo"] : [];
}
