/**
 * Breakpoints of a run, also inside of its graph's graphs. LangGraph gives a run's breakpoints to the graph that is called
 * alone. A graph that is a node can be reached: the run is given a copy of the graph, in which that node holds a copy with
 * breakpoints of its own. A graph that a node's function calls cannot.
 */
import { InvalidRequestError } from "../support/errors.js";
import { didYouMean } from "../support/nearest.js";
import { type GraphConfig, isServedGraph, type ServedGraph, type Snapshot } from "./graph.js";
import { isSnapshot, readState } from "./snapshot.js";

type Nodes = readonly string[] | "*";

/** As a request has them: names of nodes, `child:node` for one inside of a node's graph, `child:*` for all in there. */
interface Asked {
  interrupt_before?: Nodes | null;
  interrupt_after?: Nodes | null;
}

const SIDES = [
  ["interrupt_before", "interruptBefore"],
  ["interrupt_after", "interruptAfter"],
] as const;
type Side = (typeof SIDES)[number][1];
/** As LangGraph has them. */
export type Breakpoints = Pick<ServedGraph, Side>;

/** What a request says of the graph itself; `*` is all nodes, also inside a list. */
export function rootBreakpoints(nodes: Nodes): string[] | "*" {
  return nodes.includes("*") ? "*" : [...nodes].filter((name) => !name.includes(":"));
}

/** The breakpoints of one graph inside of another, and of those inside of it. */
interface Inside extends Partial<Record<Side, string[]>> {
  graphs: Map<string, Inside>;
}

/**
 * The graph with the request's breakpoints inside of its graphs; itself where there are none. LangGraph refuses names of
 * no node when it compiles a graph, and of a run takes them for nothing: whoever wants to look first would see it pass.
 * For a run that was accepted, perhaps when the graph was another, they are nothing here, too.
 * @throws InvalidRequestError for a name that leads to no node that a run could stop at (`invalid_request`)
 */
export function withInnerBreakpoints(graph: ServedGraph, request: Asked, isAccepted = false): ServedGraph {
  const root: Inside = { graphs: new Map() };
  for (const [field, side] of SIDES)
    for (const [index, name] of [...(request[field] ?? [])].entries()) {
      if (!tellsNodes(graph) && !name.includes(":")) continue;
      const fault = note(root, graph, name.split(":"), side);
      if (fault !== undefined && !isAccepted)
        throw InvalidRequestError.at(["body", field, index], `${JSON.stringify(name)}: ${fault}`);
    }
  return root.graphs.size > 0 ? copyOf(graph, root) : graph;
}

/** Another server's graph does not tell its nodes, nor a workflow of functions its tasks. */
const tellsNodes = ({ nodes = {} }: ServedGraph): boolean => Object.hasOwn(nodes, "__start__");

/** Why no run can stop there; undefined where it is noted. */
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
    return `the node ${JSON.stringify(name)} is no graph; a graph that its function calls stops where it was compiled to (interruptBefore, interruptAfter)`;
  if (inner.checkpointer === false)
    return `the graph of node ${JSON.stringify(name)} keeps no checkpoints (checkpointer: false), so that no run goes on inside of it`;
  let place = inside.graphs.get(name);
  if (!place) inside.graphs.set(name, (place = { graphs: new Map() }));
  return note(place, inner, deeper, side);
}

function unknown(name: string, names: readonly string[]): string {
  const meant = didYouMean(name, names);
  return `there is no node ${JSON.stringify(name)}${meant ? `, ${meant}` : ""}; there are ${names.filter((node) => node !== "__start__").join(", ")}`;
}

/** The graph that a node is. */
function graphIn(graph: ServedGraph, node: string): ServedGraph | undefined {
  const { bound } = (graph.nodes?.[node] ?? {}) as { bound?: unknown };
  return isServedGraph(bound) && bound.nodes ? bound : undefined;
}

/** Whatever else runs the graph has its own: only the nodes on the way are copied. */
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

/** Whether a run that was cut off there had stopped for somebody to look, in the graph or inside of it. */
export async function isAtBreakpoint(
  graph: ServedGraph,
  given: Breakpoints,
  config: GraphConfig,
): Promise<boolean> {
  const { interruptBefore = graph.interruptBefore, interruptAfter = graph.interruptAfter } = given;
  const isInside = graphsIn(graph).some(stopsAnywhere);
  // Reading a graph inside may be a call to another server.
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

/** Whether a run may stop in the graph for somebody to look, or inside of it. */
const stopsAnywhere = (graph: ServedGraph): boolean =>
  [graph.interruptBefore, graph.interruptAfter].some((nodes) => nodes && nodes.length > 0) ||
  graphsIn(graph).some(stopsAnywhere);

const holdsAny = (breakpoints: Nodes | undefined, nodes: readonly string[]): boolean =>
  breakpoints === "*" ? nodes.length > 0 : nodes.some((node) => breakpoints?.includes(node));
