/** Determines which edges of a graph a run took. */
import type { GraphDrawing } from "../models/assistant.js";
import type { Observation } from "./observation.js";

export interface Edge {
  source: string;
  target: string;
  conditional: boolean;
}

export const START = "__start__";
export const END = "__end__";

export function edgesOf({ edges }: GraphDrawing): Edge[] {
  return edges.map(({ source, target, conditional }) => ({
    source: String(source),
    target: String(target),
    conditional: conditional === true,
  }));
}

/** Formats an edge as `plan -> act`; start and end without underscores. */
export const edgeText = ({ source, target }: Pick<Edge, "source" | "target">): string =>
  `${plainName(source)} -> ${plainName(target)}`;

const plainName = (name: string): string => (name === START ? "start" : name === END ? "end" : name);

/**
 * The edges between consecutive supersteps, in order. A run with an input begins at the start node; a resumed run has no
 * first edge. A node without a successor took its edge to the end.
 */
export function edgesTaken(
  { supersteps, status }: Pick<Observation, "supersteps" | "status">,
  edges: readonly Edge[],
  { fromStart }: { fromStart: boolean },
): Edge[] {
  const taken = new Set<Edge>();
  const ended = status === "success";
  const steps = [...(fromStart ? [[START]] : []), ...supersteps];
  steps.forEach((sources, index) => {
    const targets = steps[index + 1];
    for (const source of sources) {
      const own = edges.filter((edge) => edge.source === source);
      const followed = own.filter(({ target }) => targets?.includes(target));
      const isDone = followed.length === 0 && (targets !== undefined || ended);
      for (const edge of isDone ? own.filter(({ target }) => target === END) : followed) taken.add(edge);
    }
  });
  return [...taken];
}
