/**
 * Breakpoints of a run, including those in subgraphs. LangGraph applies a run's breakpoints only to the root graph. For a
 * subgraph that is a node, the run gets a copy of the root graph with a copy of the subgraph that has the breakpoints. A
 * graph that a node's function calls cannot be reached.
 */
import { InvalidRequestError } from "../support/errors.js";
import { didYouMean } from "../support/nearest.js";
import { type GraphConfig, graphIn, type ServedGraph, type Snapshot } from "./graph.js";
import { isSnapshot, readState } from "./snapshot.js";

type Nodes = readonly string[] | "*";

/** Breakpoints of a request: node names, `child:node` for a node in a subgraph, `child:*` for all nodes in a subgraph. */
interface BreakpointRequest {
  interrupt_before?: Nodes | null;
  interrupt_after?: Nodes | null;
}

const SIDES = [
  ["interrupt_before", "interruptBefore"],
  ["interrupt_after", "interruptAfter"],
] as const;
type Side = (typeof SIDES)[number][1];
/** Breakpoints in LangGraph's form. */
export type Breakpoints = Pick<ServedGraph, Side>;

/** The requested breakpoints in the root graph. `*` means all nodes, also as an item of a list. */
export function rootBreakpoints(nodes: Nodes): string[] | "*" {
  return nodes.includes("*") ? "*" : [...nodes].filter((name) => !name.includes(":"));
}

/** Breakpoints of a subgraph and of its own subgraphs. */
interface Inside extends Partial<Record<Side, string[]>> {
  graphs: Map<string, Inside>;
}

/**
 * The graph with the requested breakpoints in its subgraphs; the same graph if there are none. LangGraph rejects unknown
 * node names at compile time but ignores them for a run, which would then not stop. Here they are rejected, except
 * for a run that was already accepted: the graph may have changed since.
 * @throws InvalidRequestError for a name of a node that a run cannot stop at (`invalid_request`)
 */
export function withInnerBreakpoints(
  graph: ServedGraph,
  request: BreakpointRequest,
  isAccepted = false,
): ServedGraph {
  const root: Inside = { graphs: new Map() };
  for (const [field, side] of SIDES)
    for (const [index, name] of [...(request[field] ?? [])].entries()) {
      if (!listsNodes(graph) && !name.includes(":")) continue;
      const fault = note(root, graph, name.split(":"), side);
      if (fault !== undefined && !isAccepted)
        throw InvalidRequestError.at(["body", field, index], `${JSON.stringify(name)}: ${fault}`);
    }
  return root.graphs.size > 0 ? copyOf(graph, root) : graph;
}

/** False for a remote graph, and for a functional workflow, which does not list its tasks. */
const listsNodes = ({ nodes = {} }: ServedGraph): boolean => Object.hasOwn(nodes, "__start__");

/** Adds a breakpoint to `inside`. Returns why a run cannot stop there, or undefined on success. */
function note(inside: Inside, graph: ServedGraph, path: string[], side: Side): string | undefined {
  const [name = "", ...deeper] = path;
  const names = Object.keys(graph.nodes ?? {});
  if (deeper.length === 0) {
    if (name !== "*" && !names.includes(name)) return unknown(name, names);
    (inside[side] ??= []).push(name);
    return undefined;
  }
  if (!names.includes(name)) return unknown(name, names);
  const inner = graphIn(graph, name);
  if (!inner)
    return `the node ${JSON.stringify(name)} is not a subgraph; a graph that its function calls stops only at the breakpoints it was compiled with (interruptBefore, interruptAfter)`;
  if (inner.checkpointer === false)
    return `the graph of node ${JSON.stringify(name)} stores no checkpoints (checkpointer: false), so a run cannot resume inside it`;
  let place = inside.graphs.get(name);
  if (!place) inside.graphs.set(name, (place = { graphs: new Map() }));
  return note(place, inner, deeper, side);
}

/** Says that the graph has no node with this name, and which it has; undefined if it has it, or lists none. */
export function unknownNode(graph: ServedGraph, name: string): string | undefined {
  const names = Object.keys(graph.nodes ?? {});
  return listsNodes(graph) && !names.includes(name) ? unknown(name, names) : undefined;
}

function unknown(name: string, names: readonly string[]): string {
  const meant = didYouMean(name, names);
  return `there is no node ${JSON.stringify(name)}${meant ? `, ${meant}` : ""}; the nodes are ${names.filter((node) => node !== "__start__").join(", ")}`;
}

/** Copies the graph and only the nodes on the way to a breakpoint: other runs share the original. */
function copyOf(graph: ServedGraph, { graphs, ...own }: Inside): ServedGraph {
  const copy = graph.withConfig({});
  copy.checkpointer = graph.checkpointer;
  for (const [, side] of SIDES) {
    const nodes = own[side];
    if (nodes) copy[side] = nodes.includes("*") ? "*" : nodes;
  }
  const nodes = { ...graph.nodes };
  for (const [name, inside] of graphs) {
    const node = nodes[name] as object;
    const bound = copyOf(graphIn(graph, name) as ServedGraph, inside);
    nodes[name] = Object.assign(Object.create(Object.getPrototypeOf(node) as object), node, { bound });
  }
  copy.nodes = nodes;
  return copy;
}

/** Whether an interrupted run had stopped at a breakpoint, in the graph or in a subgraph. */
export async function isAtBreakpoint(
  graph: ServedGraph,
  given: Breakpoints,
  config: GraphConfig,
): Promise<boolean> {
  const { interruptBefore = graph.interruptBefore, interruptAfter = graph.interruptAfter } = given;
  const isInside = graphsIn(graph).some(stopsAnywhere);
  // Do not read subgraphs unless needed: a subgraph may be on another server.
  if (!isInside && !interruptBefore?.length && !interruptAfter?.length) return false;
  const holds = async (at: Snapshot, of: ServedGraph, stops: Breakpoints): Promise<boolean> => {
    if (at.next.length === 0) return false;
    if (holdsAny(stops.interruptBefore, at.next)) return true;
    const before = stops.interruptAfter?.length ? at.parentConfig : undefined;
    if (before && holdsAny(stops.interruptAfter, (await readState(graph, before)).next)) return true;
    for (const { name, state } of at.tasks) {
      const inner = graphIn(of, name);
      if (inner && isSnapshot(state) && (await holds(state, inner, inner))) return true;
    }
    return false;
  };
  const snapshot = await readState(graph, config, { subgraphs: isInside });
  return holds(snapshot, graph, { interruptBefore, interruptAfter });
}

const graphsIn = (graph: ServedGraph): ServedGraph[] =>
  Object.keys(graph.nodes ?? {}).flatMap((node) => graphIn(graph, node) ?? []);

/** Whether the graph or one of its subgraphs was compiled with breakpoints. */
const stopsAnywhere = (graph: ServedGraph): boolean =>
  [graph.interruptBefore, graph.interruptAfter].some((nodes) => nodes && nodes.length > 0) ||
  graphsIn(graph).some(stopsAnywhere);

const holdsAny = (breakpoints: Nodes | undefined, nodes: readonly string[]): boolean =>
  breakpoints === "*" ? nodes.length > 0 : nodes.some((node) => breakpoints?.includes(node));
