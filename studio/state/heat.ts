/** Heat map of a graph: time, tokens, errors and retries of its nodes over the runs of a period. */
import { computed } from "@preact/signals";
import type { NodeUsage, NodeUsageSums } from "../../src/models/usage.js";
import { ask } from "../api.js";
import { msText } from "../parts/text.js";
import { place } from "../router.js";
import { SINCE } from "./all-runs.js";
import { load, loading } from "./loading.js";

const AMOUNTS = {
  time: "median_ms",
  tokens: "total_tokens",
  errors: "errors",
  retries: "retries",
} as const satisfies Record<string, keyof NodeUsage>;
export type Measure = keyof typeof AMOUNTS;
export const MEASURES = Object.keys(AMOUNTS) as Measure[];

/** Undefined without a heat map. */
export const measure = computed(() => MEASURES.find((each) => each === place.value.query.heat));
export const heatPeriod = computed((): keyof typeof SINCE => {
  const { since = "day" } = place.value.query;
  return since in SINCE ? (since as keyof typeof SINCE) : "day";
});

export const heat = loading<NodeUsageSums>();
let generation = 0;

/** Reads the sums of the period in the address. */
export async function reloadHeat(graph: string): Promise<void> {
  const mine = ++generation;
  const since = new Date(Date.now() - SINCE[heatPeriod.peek()] * 60_000).toISOString();
  const query = new URLSearchParams({ assistant_id: graph, since });
  const read = async () => (await ask<NodeUsageSums>("GET", `/usage/nodes?${query.toString()}`)).body;
  await load(heat, read, () => mine !== generation);
}

export const amountOf = (node: NodeUsage, of: Measure): number => node[AMOUNTS[of]];

/** Such as `1.2 s` or `340`. */
export const amountText = (amount: number, of: Measure): string =>
  of === "time" ? msText(amount) : amount.toLocaleString("en");

export const highest = (nodes: readonly NodeUsage[], of: Measure): number =>
  Math.max(0, ...nodes.map((node) => amountOf(node, of)));
