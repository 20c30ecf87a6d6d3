/** Searches runs across threads, with a fallback for storages that only list the runs of one thread. */
import { dueYield } from "../support/event-loop.js";
import { pagesOf } from "../support/read-ahead.js";
import { matchesRun, runOrder } from "./rows/rows.js";
import type { RunRow, RunSearch } from "./contract/runs.js";
import type { Storage } from "./contract/storage.js";

/** Maximum number of threads that the fallback walks: the most recently updated ones. */
const MAX_THREADS_WALKED = 1000;

type Rows = Pick<Storage, "threads" | "runs">;

/** One page of matching runs: by default, newest first. */
export async function searchRuns(rows: Rows, query: RunSearch): Promise<RunRow[]> {
  if (rows.runs.search) return rows.runs.search(query);
  const { threadIds, limit, offset } = query;
  const order = runOrder(query);
  let first: RunRow[] = [];
  for (const threadId of new Set(threadIds ?? (await latestThreads(rows)))) {
    first.push(...(await runsOf(rows, threadId, query)));
    first = first.sort(order).slice(0, offset + limit);
    await dueYield();
  }
  return first.slice(offset);
}

/** The thread's matching runs that could appear on the page, and possibly others. */
async function runsOf({ runs }: Rows, threadId: string, query: RunSearch): Promise<RunRow[]> {
  const { sortBy = "created_at", sortOrder } = query;
  const isListed = sortBy === "created_at" && sortOrder !== "asc";
  const most = isListed ? query.offset + query.limit : Infinity;
  const found: RunRow[] = [];
  const { status } = query;
  for await (const rows of pagesOf((page) => runs.list({ threadId, ...(status && { status }), ...page }))) {
    found.push(...rows.filter((run) => matchesRun(run, query)));
    if (found.length >= most) break;
  }
  return found.slice(0, most);
}

async function latestThreads({ threads }: Rows): Promise<string[]> {
  const { rows } = await threads.search({
    sortBy: "updated_at",
    sortOrder: "desc",
    limit: MAX_THREADS_WALKED,
    offset: 0,
  });
  return rows.map(({ thread_id }) => thread_id);
}
