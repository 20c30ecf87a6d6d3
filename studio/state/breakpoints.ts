/** Where runs are to stop by themselves, and how they go on from there. */
import { computed, effect, signal } from "@preact/signals";
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

/** Nodes of the graph itself: a run does not stop inside of its subgraphs. */
export const nodes = computed(() => {
  const ids = (diagram.value?.nodes ?? []).map(({ id }) => id.split(":", 1)[0] ?? "");
  return [...new Set(ids)].filter((id) => !/^__(start|end)__$/.test(id));
});

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

/** Go on from where the run stopped, to the next breakpoint, or for one superstep alone. */
export const onward = (isStep: boolean): RunWish =>
  isStep ? { input: null, interrupt_after: "*" as const } : { input: null, ...stops() };
