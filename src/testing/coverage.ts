/** Coverage of nodes and conditional edges by cases. */
import { edgesOf, edgeText, END, START, type Edge } from "./edges.js";
import type { GraphDrawing } from "../models/assistant.js";
import type { CaseOutcome } from "./case.js";

export interface GraphCoverage {
  graph: string;
  nodes: { total: number; reached: number; missing: string[] };
  /** Conditional edges. */
  edges: { total: number; reached: number; missing: string[] };
}

/** A graph whose coverage is counted. */
export interface Drawn {
  /** Name of the graph in results. */
  graph: string;
  drawing: GraphDrawing;
}

interface Reached {
  tested: Drawn;
  nodes: Set<string>;
  edges: Set<string>;
}

export class Coverage {
  readonly #graphs = new Map<string, Reached>();

  /** Adds the nodes and edges that a case reached. */
  take(tested: Drawn, { nodes, edges }: Pick<CaseOutcome, "nodes" | "edges">): void {
    const found = this.#graphs.get(tested.graph);
    const reached = found ?? { tested, nodes: new Set<string>(), edges: new Set<string>() };
    this.#graphs.set(tested.graph, reached);
    for (const node of nodes) reached.nodes.add(node);
    for (const edge of edges) reached.edges.add(edgeText(edge));
  }

  get graphs(): GraphCoverage[] {
    return Array.from(this.#graphs.values(), ({ tested, nodes, edges }) => {
      const names = tested.drawing.nodes.map(({ id }) => String(id));
      const all = names.filter((name) => name !== START && name !== END);
      const conditional = edgesOf(tested.drawing).filter((edge: Edge) => edge.conditional);
      return {
        graph: tested.graph,
        nodes: tally(all, nodes),
        edges: tally([...new Set(conditional.map(edgeText))], edges),
      };
    });
  }

  /** Percentage of reached nodes over all graphs; 100 if there are no nodes. */
  get nodePercent(): number {
    const { graphs } = this;
    const sum = (pick: (graph: GraphCoverage) => number) =>
      graphs.reduce((total, graph) => total + pick(graph), 0);
    const total = sum(({ nodes }) => nodes.total);
    return total === 0 ? 100 : (100 * sum(({ nodes }) => nodes.reached)) / total;
  }
}

function tally(all: readonly string[], reached: ReadonlySet<string>) {
  const missing = all.filter((one) => !reached.has(one));
  return { total: all.length, reached: all.length - missing.length, missing };
}
