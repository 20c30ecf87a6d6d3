/** Reads what a compiled graph, and every graph inside of it, says of its output. */
import { isRecord } from "../models/common.js";
import type { ServedGraph } from "./graph.js";
import { KeyFilter, type GraphOutput, type OutputFilterOptions } from "./output-filter.js";
import { stateTypes } from "./schemas.js";

/**
 * The filter of a graph. Output channels are an allow-list, one channel or several; anything else cannot be
 * introspected, and all values are dropped.
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
  // Inside of another graph, keys may be hidden that this one shows.
  const hides = around.length > 0 || [streamed].flat().some((key) => !visible?.has(key));
  return {
    visible,
    streamed,
    nodes: new Set(Object.keys(graph.nodes ?? {})),
    // Nothing inside shows more than what is around it, so there is no need to look.
    inner: visible ? await innerOf(graph, [...around, graph]) : new Map<string, GraphOutput[]>(),
    textless: hides ? await textlessOf(graph) : new Set<string>(),
  };
}

function visibleOf(outputs: unknown): Set<string> | undefined {
  if (typeof outputs === "string") return new Set([outputs]);
  return Array.isArray(outputs) ? new Set(outputs.map(String)) : undefined;
}

/** All channels are streamed, LangGraph's own too, when the graph does not say which. */
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
    // A graph inside of itself shows no more than it does further out.
    if (around.includes(subgraph)) continue;
    inner.set(node, [...(inner.get(node) ?? []), await outputOf(subgraph, around)]);
  }
  return inner;
}

const TEXTLESS = new Set(["number", "integer", "boolean", "null"]);

/** Keys that hold numbers, truth values or a choice of words. */
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

/** Where createAgent keeps the name of the node that middleware jumps to, without a type of its own. */
function routesOf({ channels = {} }: ServedGraph): string[] {
  const { jumpTo } = channels;
  return isRecord(jumpTo) && jumpTo.lc_graph_name === "UntrackedValue" ? ["jumpTo"] : [];
}
