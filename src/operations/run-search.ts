/** Runs across threads, as far as the caller may know of their threads. */
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import { type Run, RUN_FIELDS, type RunSearchRequest } from "../models/run.js";
import { containing } from "../storage/rows/rows.js";
import { searchRuns } from "../storage/run-search.js";
import type { RunRow, RunSearch } from "../storage/contract/storage.js";
import { canonicalUuid, requireUuid } from "../support/ids.js";
import { inPages } from "../support/read-ahead.js";
import type { OpsContext } from "../context/context.js";
import { assertFilter } from "../context/request-limits.js";
import { ownThread, runModel, scopeFilter } from "../threads/thread-origin.js";
import { selectFields } from "../threads/thread-search.js";

/** The runs of a caller of up to so many threads are looked up; of one with more, each run is asked whose it is. */
const NAMED_THREADS = 1000;

type Wanted = Omit<RunSearch, "limit" | "offset">;
type Test = (run: RunRow) => boolean | Promise<boolean>;

/** Newest first; they are not counted. @throws InvalidRequestError (`invalid_request`) */
export async function findRuns(context: OpsContext, request: RunSearchRequest): Promise<Page<Partial<Run>>> {
  const limit = request.limit ?? DEFAULT_LIMIT;
  const offset = request.offset ?? 0;
  const { wanted, tests } = await filterOf(context, request);
  // One run more than asked for tells whether there are more.
  const found: Partial<Run>[] = [];
  // What the storage finds alone, it also skips.
  let left = tests.length > 0 ? offset : 0;
  for await (const run of runsOf(context, wanted, offset - left)) {
    if (!(await passes(run, tests))) continue;
    if (left > 0) left -= 1;
    else if (found.push(selectFields(runModel(run), request.select, RUN_FIELDS)) > limit) break;
  }
  return { items: found.slice(0, limit), total: null, next: found.length > limit ? offset + limit : null };
}

/** What a storage looks up, and what has to be asked of each run. */
async function filterOf(
  context: OpsContext,
  request: RunSearchRequest,
): Promise<{ wanted: Wanted; tests: Test[] }> {
  const { assistant_id, metadata, status, created_after, created_before } = request;
  if (metadata) assertFilter(metadata, ["body", "metadata"]);
  const threadIds = await threadsOf(context, request);
  return {
    wanted: {
      ...(threadIds && { threadIds }),
      ...(assistant_id != null && { assistantIds: namesOf(context, assistant_id) }),
      ...(status && { status }),
      ...(created_after != null && { createdAfter: rowTime(created_after) }),
      ...(created_before != null && { createdBefore: rowTime(created_before) }),
    },
    tests: [
      ...(metadata ? [hasMetadata(metadata)] : []),
      ...(context.caller && !threadIds ? [isOfOwnThread(context)] : []),
    ],
  };
}

/** The threads whose runs are meant, the caller's alone; undefined for those of any, or of too many to name. */
async function threadsOf(
  context: OpsContext,
  { thread_id, thread_ids }: RunSearchRequest,
): Promise<string[] | undefined> {
  const ids = thread_ids?.map((each, index) => requireUuid(each, ["body", "thread_ids", index]));
  if (thread_id != null) {
    const id = requireUuid(thread_id, ["body", "thread_id"]);
    return (ids?.includes(id) ?? true) && (await ownThread(context, id)) ? [id] : [];
  }
  if (!context.caller || ids?.length === 0) return ids;
  const { rows, total } = await context.storage.threads.search({
    ...scopeFilter(context, ids ? { ids } : {}),
    sortBy: "updated_at",
    sortOrder: "desc",
    limit: NAMED_THREADS,
    offset: 0,
  });
  return total > rows.length ? undefined : rows.map((row) => row.thread_id);
}

/** All that requests may have called the assistant. */
function namesOf({ registry }: OpsContext, name: string): string[] {
  const uuid = canonicalUuid(name);
  const graphId = registry.ids.find((id) => id === name || registry.uuidOf(id) === uuid);
  return graphId === undefined ? [name] : [...new Set([name, graphId, registry.uuidOf(graphId)])];
}

const rowTime = (time: string): string => new Date(time).toISOString();

function hasMetadata(filter: object): Test {
  const contains = containing(filter);
  return ({ metadata }) => contains(metadata);
}

function isOfOwnThread(context: OpsContext): Test {
  const known = new Map<string, boolean>();
  return async ({ thread_id }) => {
    const own = known.get(thread_id) ?? (await ownThread(context, thread_id)) !== undefined;
    known.set(thread_id, own);
    return own;
  };
}

async function passes(run: RunRow, tests: readonly Test[]): Promise<boolean> {
  for (const test of tests) if (!(await test(run))) return false;
  return true;
}

/** From the one at `start` on. A run that comes meanwhile moves the others on: none is given twice. */
async function* runsOf(
  { storage }: OpsContext,
  wanted: Wanted,
  start: number,
): AsyncGenerator<RunRow, void, undefined> {
  if (wanted.threadIds?.length === 0) return;
  const given = new Set<string>();
  let offset = start;
  const rows = inPages<RunRow>(async (_, limit) => {
    const page = await searchRuns(storage, { ...wanted, limit, offset });
    offset += page.length;
    return page;
  });
  for await (const run of rows) {
    if (!given.has(run.run_id)) yield run;
    given.add(run.run_id);
  }
}
