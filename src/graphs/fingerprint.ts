/** The version of a graph: a hash of what stored threads depend on. */
import { createHash } from "node:crypto";
import { byKey, isRecord } from "../models/common.js";
import { type ServedGraph, subgraphsOf } from "./graph.js";
import { graphSchemas } from "./schemas.js";

/** Hexadecimal characters of a version. */
const LENGTH = 12;
/** Versions kept for factories, which can return a graph of another structure in each call. */
const MOST_STRUCTURES = 100;

/** Computes versions of graphs. The schemas are derived once for each structure: factories make a graph for each run. */
export class Fingerprints {
  readonly #name: string;
  readonly #known = new Map<string, Promise<string>>();

  /** @param name names the code of the graphs, such as a commit; part of every version */
  constructor(name = "") {
    this.#name = name;
  }

  /** Undefined for a graph that does not list its nodes, such as a remote one. */
  async of(graph: ServedGraph): Promise<string | undefined> {
    if (!graph.nodes) return undefined;
    const structure = JSON.stringify(structureOf(graph));
    let version = this.#known.get(structure);
    if (!version) {
      if (this.#known.size >= MOST_STRUCTURES) this.#known.clear();
      version = this.#hash(graph, structure);
      this.#known.set(structure, version);
    }
    return version;
  }

  async #hash(graph: ServedGraph, structure: string): Promise<string> {
    const { input_schema, output_schema, state_schema, context_schema } = await graphSchemas(graph, "");
    const schemas = byKey({ input_schema, output_schema, state_schema, context_schema });
    const text = [this.#name, structure, JSON.stringify(schemas, inOrder)].join("\n");
    return createHash("sha256").update(text).digest("hex").slice(0, LENGTH);
  }
}

/** Lists of required keys are in the order of declaration. */
const inOrder = (key: string, value: unknown): unknown =>
  key === "required" && Array.isArray(value) ? [...(value as unknown[])].sort() : value;

/** Nodes, edges and channels in an order that does not depend on the order of declaration. */
function structureOf(graph: ServedGraph): unknown {
  const { edges, waitingEdges, branches } = isRecord(graph.builder) ? graph.builder : {};
  return {
    nodes: Object.keys(graph.nodes ?? {})
      .sort()
      .map((name) => [name, subgraphsOf(graph, name).map(structureOf)]),
    edges: [...itemsOf(edges), ...itemsOf(waitingEdges)].map((edge) => JSON.stringify(edge)).sort(),
    branches: isRecord(branches)
      ? Object.entries(byKey(branches)).map(([from, to]) => [from, endsOf(to)])
      : [],
    channels: Object.entries(graph.channels ?? {})
      .map(([name, channel]) => [name, ...kindOf(channel)])
      .sort(),
  };
}

const itemsOf = (set: unknown): unknown[] => (set instanceof Set ? [...(set as Set<unknown>)] : []);

/** The nodes that conditional edges name. */
const endsOf = (branches: unknown): unknown[] =>
  isRecord(branches)
    ? Object.entries(branches)
        .map(([name, branch]) => [
          name,
          isRecord(branch) && isRecord(branch.ends) ? byKey(branch.ends) : null,
        ])
        .sort()
    : [];

/** The class of a channel and the name of its reducer. */
function kindOf(channel: unknown): string[] {
  if (!isRecord(channel)) return [];
  const { lc_graph_name, operator } = channel;
  return [String(lc_graph_name), ...(typeof operator === "function" ? [operator.name] : [])];
}
