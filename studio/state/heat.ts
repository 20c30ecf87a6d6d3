/** Heat map of a graph: time, tokens, cost, errors and retries of its nodes over the runs of a period. */
import { computed } from "@preact/signals";
import type { NodeUsage, NodeUsageSums } from "../../src/models/usage.js";
import { ask } from "../api.js";
import { sumText } from "../components/costs.js";
import { dollars, msText } from "../components/text.js";
import { place } from "../router.js";
import { SINCE } from "./all-runs.js";
import { load, loading } from "./loading.js";

const AMOUNTS = {
  time: "median_ms",
  p95: "p95_ms",
  tokens: "total_tokens",
  cost: "cost_usd",
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

/** An unknown cost counts as 0, but is shown as unknown. */
export const amountOf = (node: NodeUsage, of: Measure): number => node[AMOUNTS[of]] ?? 0;

/** Such as `1.2 s`, `340` or `$0.02`. */
export function amountText(amount: number, of: Measure): string {
  if (of === "time" || of === "p95") return msText(amount);
  return of === "cost" ? dollars(amount) : amount.toLocaleString("en");
}

export const nodeText = (node: NodeUsage, of: Measure): string =>
  of === "cost" ? sumText(node.cost_usd, node.unpriced_calls) : amountText(amountOf(node, of), of);

export const highest = (nodes: readonly NodeUsage[], of: Measure): number =>
  Math.max(0, ...nodes.map((node) => amountOf(node, of)));
