/** Lists usage in the format of the API. */
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import type { Usage, UsageFilter, UsageGroup } from "../models/usage.js";
import { GraphServeError } from "../support/errors.js";
import { UNITS_PER_USD } from "../models/token-counts.js";
import type { Storage } from "./contract/storage.js";
import type { UsageSum } from "./contract/usage.js";

/**
 * @param scope only usage of users with this scope
 * @throws GraphServeError if the storage does not record usage (`unsupported_option`)
 */
export async function listUsage(
  { usage, scheme }: Pick<Storage, "usage" | "scheme">,
  filter: UsageFilter,
  scope?: string,
): Promise<Page<Usage>> {
  if (!usage)
    throw new GraphServeError("unsupported_option", `the storage ${scheme} does not record usage`, {
      hint: "its module can do so with a table `usage`: see the type Storage of graph-serve",
    });
  const { group_by = "model", since, until, thread_id, limit = DEFAULT_LIMIT, offset = 0 } = filter;
  const sums = await usage.sum({
    by: [...new Set(group_by.split(","))] as UsageGroup[],
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(thread_id !== undefined && { threadId: thread_id.toLowerCase() }),
    ...(scope !== undefined && { scope }),
    limit: limit + 1,
    offset,
  });
  const items = sums.slice(0, limit).map(usageOf);
  return { items, total: null, next: sums.length > limit ? offset + limit : null };
}

function usageOf({ cost, ...sum }: UsageSum): Usage {
  const isUnknown = sum.calls > 0 && sum.unpriced_calls === sum.calls;
  return { ...sum, cost_usd: isUnknown ? null : cost / UNITS_PER_USD };
}
