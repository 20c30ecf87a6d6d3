/** Searches runs across threads, with a fallback for storages that only list the runs of one thread. */
import { dueYield } from "../support/event-loop.js";
import { matchesRun } from "./rows/rows.js";
import type { RunRow, RunSearch, Storage } from "./contract/storage.js";

/** Maximum number of threads that the fallback walks: the most recently updated ones. */
const MAX_THREADS_WALKED = 1000;
/** Runs of a thread read per call. */
const PAGE = 100;

type Rows = Pick<Storage, "threads" | "runs">;

/** One page of matching runs, newest first. */
export async function searchRuns(rows: Rows, query: RunSearch): Promise<RunRow[]> {
  if (rows.runs.search) return rows.runs.search(query);
  const { threadIds, limit, offset } = query;
  let newest: RunRow[] = [];
  for (const threadId of new Set(threadIds ?? (await latestThreads(rows)))) {
    newest.push(...(await runsOf(rows, threadId, query)));
    newest = newest.sort(byCreation).slice(0, offset + limit);
    await dueYield();
  }
  return newest.slice(offset);
}

/** The thread's matching runs, at most as many as could appear on the page. */
async function runsOf({ runs }: Rows, threadId: string, query: RunSearch): Promise<RunRow[]> {
  const most = query.offset + query.limit;
  const found: RunRow[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await runs.list({
      threadId,
      ...(query.status && { status: query.status }),
      limit: PAGE,
      offset,
    });
    found.push(...page.filter((run) => matchesRun(run, query)));
    if (page.length < PAGE || found.length >= most) return found.slice(0, most);
  }
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

/** Newest first. */
function byCreation(a: RunRow, b: RunRow): number {
  const [first, second] = [`${a.created_at} ${a.run_id}`, `${b.created_at} ${b.run_id}`];
  return first < second ? 1 : first > second ? -1 : 0;
}
