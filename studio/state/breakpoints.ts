/** Breakpoints of runs, and how runs resume from them. */
import { computed, effect, signal } from "@preact/signals";
import type { ThreadState } from "../../src/models/state.js";
import type { RunWish } from "./copy-as.js";
import { graphId, diagram } from "./graphs.js";

export type Side = "before" | "after";

export const breakpoints = signal<Readonly<Record<Side, ReadonlySet<string>>>>(none());

function none(): Record<Side, ReadonlySet<string>> {
  return { before: new Set(), after: new Set() };
}

// Breakpoints belong to one graph.
let of = "";
effect(() => {
  if (graphId.value === of) return;
  of = graphId.value;
  breakpoints.value = none();
});

/** Nodes that can have breakpoints, in drawing order. Nodes of a subgraph are named `child:node`. */
export const nodes = computed(() => {
  const ids = (diagram.value?.nodes ?? []).map(({ id }) => id).filter(isStoppable);
  const around = ids.flatMap((id) =>
    id.split(":").map((_, index, parts) => parts.slice(0, index + 1).join(":")),
  );
  return [...new Set(around)];
});

/** Start and end markers of graphs are not executed. */
export const isStoppable = (id: string): boolean => !/(^|:)__(start|end)__$/.test(id);

/** Nodes at which a thread stopped, including those of subgraphs. */
export const placesOf = ({ next, tasks }: ThreadState): string[] =>
  next.flatMap((node) => {
    const inside = tasks.find(({ name, state }) => name === node && state && state.next.length > 0)?.state;
    return inside ? placesOf(inside).map((place) => `${node}:${place}`) : [node];
  });

/** As text: a node that runs several times, for example by `Send`, is named once. */
export function placesText(places: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1);
  return [...counts].map(([place, count]) => (count === 1 ? place : `${place} ×${count}`)).join(", ");
}

/** `child:leaf:write` -> `child:*`, `child:leaf:*`. */
const graphsAround = (place: string): string[] =>
  place
    .split(":")
    .slice(0, -1)
    .map((_, index, parts) => `${parts.slice(0, index + 1).join(":")}:*`);

export function toggle(node: string, side: Side): void {
  const marked = new Set(breakpoints.value[side]);
  if (!marked.delete(node)) marked.add(node);
  breakpoints.value = { ...breakpoints.value, [side]: marked };
}

/** Breakpoint fields of a run request; empty if there are no breakpoints. */
export function stops(): Pick<RunWish, "interrupt_before" | "interrupt_after"> {
  const { before, after } = breakpoints.value;
  return {
    ...(before.size > 0 && { interrupt_before: [...before] }),
    ...(after.size > 0 && { interrupt_after: [...after] }),
  };
}

/** Resume the thread. */
export const GO_ON: RunWish = { input: null };

/** Resume for one superstep, also inside a subgraph. */
export const step = (places: readonly string[]): RunWish => ({
  input: null,
  interrupt_after: ["*", ...new Set(places.flatMap(graphsAround))],
});
