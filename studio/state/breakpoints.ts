/** Breakpoints of runs, and how runs resume from them. */
import { computed, effect, signal } from "@preact/signals";
import type { ThreadState } from "../../src/models/state.js";
import type { RunWish } from "./copy-as.js";
import { graphId, diagram } from "./graphs.js";

export type Side = "before" | "after";

/** Nodes that runs stop before, and after. */
export const breakpoints = signal<Readonly<Record<Side, ReadonlySet<string>>>>(none());

function none(): Record<Side, ReadonlySet<string>> {
  return { before: new Set(), after: new Set() };
}

// Another graph has other nodes.
let of = "";
effect(() => {
  if (graphId.value === of) return;
  of = graphId.value;
  breakpoints.value = none();
});

/** Nodes that a run can stop at, those inside of a node's graph as `child:node`, in the order of the drawing. */
export const nodes = computed(() => {
  const ids = (diagram.value?.nodes ?? []).map(({ id }) => id).filter(isStoppable);
  const around = ids.flatMap((id) =>
    id.split(":").map((_, index, parts) => parts.slice(0, index + 1).join(":")),
  );
  return [...new Set(around)];
});

/** Where graphs begin and end nothing runs. */
export const isStoppable = (id: string): boolean => !/(^|:)__(start|end)__$/.test(id);

/** Where a thread stopped: the nodes that run next, inside of the graphs that they are, too. */
export const placesOf = ({ next, tasks }: ThreadState): string[] =>
  next.flatMap((node) => {
    const inside = tasks.find(({ name, state }) => name === node && state && state.next.length > 0)?.state;
    return inside ? placesOf(inside).map((place) => `${node}:${place}`) : [node];
  });

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

/** What a request to run says of it; nothing where there are none. */
export function stops(): Pick<RunWish, "interrupt_before" | "interrupt_after"> {
  const { before, after } = breakpoints.value;
  return {
    ...(before.size > 0 && { interrupt_before: [...before] }),
    ...(after.size > 0 && { interrupt_after: [...after] }),
  };
}

/** Resume to the next breakpoint. */
export const goOn = (): RunWish => ({ input: null, ...stops() });

/** Resume for one superstep, also inside a subgraph. */
export const step = (places: readonly string[]): RunWish => ({
  input: null,
  interrupt_after: ["*", ...new Set(places.flatMap(graphsAround))],
});
