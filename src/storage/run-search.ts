/** Runs of any thread, of every storage. */
import { dueYield } from "../support/event-loop.js";
import { matchesRun } from "./rows/rows.js";
import type { RunRow, RunSearch, Storage } from "./contract/storage.js";

/** Threads that are gone through where a storage knows the runs of a thread alone: those that changed last. */
const MOST_THREADS_WALKED = 1000;
/** Runs of a thread that are read at once. */
const PAGE = 100;

type Rows = Pick<Storage, "threads" | "runs">;

/** Newest first, one page. */
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

/** As many of a thread's runs as could be on the page. */
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
    limit: MOST_THREADS_WALKED,
    offset: 0,
  });
  return rows.map(({ thread_id }) => thread_id);
}

/** Newest first. */
function byCreation(a: RunRow, b: RunRow): number {
  const [first, second] = [`${a.created_at} ${a.run_id}`, `${b.created_at} ${b.run_id}`];
  return first < second ? 1 : first > second ? -1 : 0;
}
