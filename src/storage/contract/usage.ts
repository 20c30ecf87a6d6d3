/** Usage rows: model calls, tokens and cost of runs. They contain no inputs or outputs, and outlive their threads. */
import type { UsageGroup } from "../../models/usage.js";

/**
 * The model calls of one attempt of a run with the same node, provider, model and day.
 * @example
 * ```ts
 * import type { UsageRow } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const total = (rows: UsageRow[]) => rows.reduce((sum, { input_tokens }) => sum + input_tokens, 0);
 * total((await storage.usage?.page({ limit: 10, offset: 0 })) ?? []); // => 0
 * ```
 */
export interface UsageRow {
  run_id: string;
  /** The attempt of the run, and the number of the row in it: together with `run_id`, they are unique. */
  attempt: number;
  seq: number;
  thread_id: string;
  graph_id: string;
  /** Identity of the user on whose behalf the run is executed; null without one. */
  user_id: string | null;
  /** Scope of that user, as for a thread. */
  scope: string | null;
  /** Name of the node, after those of the nodes that ran its graph: `child:node`. Empty outside nodes. */
  node: string;
  provider: string | null;
  model: string;
  /** UTC date of the calls, such as `2026-01-31`. */
  day: string;
  /** When the row was last stored, ISO 8601 UTC with milliseconds. */
  at: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  /** Input tokens that were read from or written to the provider's cache. Part of `input_tokens`. */
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Part of `output_tokens`. */
  reasoning_tokens: number;
  /** Cost in billionths of a US dollar, an integer. Leaves out calls without a known price. */
  cost: number;
  /** Calls whose price is unknown. */
  unpriced_calls: number;
}

/** What usage can be grouped by, and the column of each. */
export const USAGE_COLUMNS = {
  day: "day",
  user: "user_id",
  graph: "graph_id",
  node: "node",
  model: "model",
} as const satisfies Record<UsageGroup, keyof UsageRow>;

/** The fields of a row that are summed. */
export const USAGE_SUMS = [
  "calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost",
  "unpriced_calls",
] as const satisfies readonly (keyof UsageRow)[];

/** The sums of a group. The fields that it is not grouped by are missing. */
export type UsageSum = Pick<UsageRow, (typeof USAGE_SUMS)[number]> & {
  [group in UsageGroup]?: UsageRow[(typeof USAGE_COLUMNS)[group]];
};

/** Which rows are summed, and how they are grouped. */
export interface UsageQuery {
  /** No groups: one sum of all rows, also if there are none. */
  by: readonly UsageGroup[];
  /** Rows stored at or after `since`, and before `until`; ISO 8601 UTC with milliseconds. */
  since?: string;
  until?: string;
  day?: string;
  runId?: string;
  threadId?: string;
  userId?: string;
  /** Only rows with this scope. */
  scope?: string;
  /** Maximum number of groups. */
  limit: number;
  /** Number of groups to skip. */
  offset: number;
}

/**
 * The table of usage. Every method is atomic.
 * @example
 * ```ts
 * import type { UsageTable } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const usage: UsageTable | undefined = storage.usage;
 * await usage?.sum({ by: ["model"], limit: 10, offset: 0 }); // => []
 * ```
 */
export interface UsageTable {
  /** Insert rows. A row with the same run, attempt and number is replaced. */
  store(rows: readonly UsageRow[]): Promise<void>;
  /** Sums by group, sorted by the groups in the order of `by`; null first. */
  sum(query: UsageQuery): Promise<UsageSum[]>;
  /**
   * Remove rows stored before a time, ISO 8601 UTC with milliseconds.
   * @returns the number of removed rows, which can be a part of them: 0 if none are left
   */
  forget(before: string): Promise<number>;
  /** One page of all rows, ordered by run, attempt and number. */
  page(page: { limit: number; offset: number }): Promise<UsageRow[]>;
}
