/** Usage of models: sums by the group of the address, and by day. */
import { computed } from "@preact/signals";
import type { Usage, UsageGroup } from "../../src/models/usage.js";
import { ask } from "../api.js";
import { place } from "../router.js";
import { load, loading } from "./loading.js";

export const GROUPS = ["model", "user", "graph", "day"] as const satisfies readonly UsageGroup[];
export type Group = (typeof GROUPS)[number];

/** Periods in days, today included. */
export const PERIODS = { day: 1, week: 7, month: 30, quarter: 90 } as const;
export type Period = keyof typeof PERIODS;

/** Maximum number of groups to read: the highest limit of a request. */
const MOST_GROUPS = 1000;
const DAY_MS = 86_400_000;

export const group = computed(() => GROUPS.find((each) => each === place.value.query.by) ?? "model");
/** Undefined for all usage. */
export const period = computed((): Period | undefined => {
  const { since = "month" } = place.value.query;
  return since in PERIODS ? (since as Period) : undefined;
});

export interface ReadUsage {
  group: Group;
  rows: readonly Usage[];
  /** Ascending, without days that have no usage. */
  days: readonly Usage[];
  /** False if there are more groups than can be read. */
  isComplete: boolean;
}

export const usage = loading<ReadUsage>();
let generation = 0;

/** Read usage for the address. */
export async function reloadUsage(): Promise<void> {
  const mine = ++generation;
  await load(usage, readUsage, () => mine !== generation);
}

async function readUsage(): Promise<ReadUsage> {
  const by = group.peek();
  const read = async (group_by: Group) => {
    const query = new URLSearchParams({ group_by, limit: String(MOST_GROUPS), ...since() });
    const { body, headers } = await ask<Usage[]>("GET", `/usage?${query.toString()}`);
    return { rows: body, isComplete: !headers.has("x-pagination-next") };
  };
  const readDays = read("day");
  const [days, rows] = await Promise.all([readDays, by === "day" ? readDays : read(by)]);
  return { group: by, ...rows, days: days.rows };
}

/** From the beginning of a UTC day, because usage is summed by UTC days. */
function since(): { since?: string } {
  const chosen = period.peek();
  return chosen === undefined ? {} : { since: `${dayAgo(PERIODS[chosen] - 1)}T00:00:00.000Z` };
}

const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Every day of the period, or from the first day with usage, up to today. */
export function daysOf({ days }: ReadUsage): { day: string; usage: Usage | undefined }[] {
  const chosen = period.value;
  const byDay = new Map(days.map((each) => [each.day, each]));
  const first = chosen === undefined ? (days[0]?.day ?? dayAgo(0)) : dayAgo(PERIODS[chosen] - 1);
  const count = Math.round((Date.parse(dayAgo(0)) - Date.parse(first)) / DAY_MS) + 1;
  const length = Math.max(1, Math.min(count, MOST_GROUPS));
  return Array.from({ length }, (_, index) => {
    const day = dayAgo(length - 1 - index);
    return { day, usage: byDay.get(day) };
  });
}

export const tokensOf = ({ input_tokens, output_tokens }: Usage): number => input_tokens + output_tokens;

/** The sum of all groups. */
export function totalOf(rows: readonly Usage[]): Usage {
  const total: Usage = {
    ...{ calls: 0, input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ reasoning_tokens: 0, unpriced_calls: 0, cost_usd: null },
  };
  for (const row of rows) {
    total.calls += row.calls;
    total.input_tokens += row.input_tokens;
    total.output_tokens += row.output_tokens;
    total.cache_read_tokens += row.cache_read_tokens;
    total.cache_write_tokens += row.cache_write_tokens;
    total.reasoning_tokens += row.reasoning_tokens;
    total.unpriced_calls += row.unpriced_calls;
    if (row.cost_usd !== null) total.cost_usd = (total.cost_usd ?? 0) + row.cost_usd;
  }
  return total;
}
