/** Derives a diagram from the history of a thread whose graph is not available. */
import { type Diagram, type DiagramEdge, wayKey } from "../../src/view/diagram.js";
import type { Progress } from "../graph/marks.js";

interface SeenStep {
  id: string;
  parent: string | undefined;
  source: string;
  next: readonly string[];
}

const [START, END] = ["__start__", "__end__"];

/** Nodes that ran or run next, and the edges taken between them. */
export function historyDiagram(steps: readonly SeenStep[]): Diagram {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const nodes = new Set<string>([START]);
  const edges = new Map<string, DiagramEdge>();
  const join = (source: string, target: string) => {
    nodes.add(source).add(target);
    edges.set(JSON.stringify([source, target]), { source, target, conditional: false, labels: [] });
  };
  for (const step of [...steps].reverse()) {
    const before = step.parent === undefined ? undefined : byId.get(step.parent);
    if (step.source !== "loop" || before === undefined) continue;
    for (const source of before.next)
      for (const target of step.next.length === 0 ? [END] : step.next) join(source, target);
  }
  if (edges.size === 0) return { nodes: [], edges: [] };
  // As in drawings of graphs, the end comes last.
  const ids = [...nodes].filter((id) => id !== END).concat(nodes.has(END) ? [END] : []);
  return { nodes: ids.map((id) => ({ id })), edges: [...edges.values()] };
}

/** Edges that led to the tasks of the step, and from there to the next tasks. */
export function takenEdges(
  { edges }: Diagram,
  { ran, next }: Pick<Progress, "ran" | "next">,
  before: ReadonlySet<string>,
): ReadonlySet<string> {
  const to = next.size === 0 ? new Set([END]) : next;
  const taken = edges.filter(
    ({ source, target }) => (before.has(source) && ran.has(target)) || (ran.has(source) && to.has(target)),
  );
  return new Set(taken.map(({ source, target }) => wayKey(source, target)));
}
