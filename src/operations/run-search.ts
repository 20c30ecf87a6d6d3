/** Searches runs on all threads that the caller may read. */
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import { type Run, RUN_FIELDS, type RunSearchRequest } from "../models/run.js";
import { containing } from "../storage/rows/rows.js";
import { searchRuns } from "../storage/run-search.js";
import type { RunRow, RunSearch } from "../storage/contract/runs.js";
import { canonicalUuid, requireUuid } from "../support/ids.js";
import { inPagesByOffset } from "../support/read-ahead.js";
import type { OpsContext } from "../context/context.js";
import { assertFilter } from "../context/request-limits.js";
import { ownThread, scopeFilter } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";
import { selectFields } from "../threads/thread-search.js";

/** For a caller with up to this many threads, the query names them. For more, the thread of each run is checked. */
const NAMED_THREADS = 1000;

type Query = Omit<RunSearch, "limit" | "offset">;
type Test = (run: RunRow) => boolean | Promise<boolean>;

/** Finds runs in the order of the request; `total` is not computed. @throws InvalidRequestError (`invalid_request`) */
export async function findRuns(context: OpsContext, request: RunSearchRequest): Promise<Page<Partial<Run>>> {
  const limit = request.limit ?? DEFAULT_LIMIT;
  const offset = request.offset ?? 0;
  const { query, tests } = await filterOf(context, request);
  // One run beyond the page shows whether there is a next page.
  const found: Partial<Run>[] = [];
  // Without tests per run, the storage skips the offset itself.
  let toSkip = tests.length > 0 ? offset : 0;
  for await (const run of runsOf(context, query, offset - toSkip)) {
    if (!(await passes(run, tests))) continue;
    if (toSkip > 0) toSkip -= 1;
    else if (found.push(selectFields(runModel(run), request.select, RUN_FIELDS)) > limit) break;
  }
  return { items: found.slice(0, limit), total: null, next: found.length > limit ? offset + limit : null };
}

/** The part of the filter that the storage applies, and the tests for each run. */
async function filterOf(
  context: OpsContext,
  request: RunSearchRequest,
): Promise<{ query: Query; tests: Test[] }> {
  const { assistant_id, metadata, status, created_after, created_before } = request;
  const { sort_by, sort_order } = request;
  if (metadata) assertFilter(metadata, ["body", "metadata"]);
  const threadIds = await threadsOf(context, request);
  return {
    query: {
      ...(threadIds && { threadIds }),
      ...(assistant_id != null && { assistantIds: namesOf(context, assistant_id) }),
      ...(status && { status }),
      ...(created_after != null && { createdAfter: rowTime(created_after) }),
      ...(created_before != null && { createdBefore: rowTime(created_before) }),
      ...(sort_by != null && { sortBy: sort_by }),
      ...(sort_order != null && { sortOrder: sort_order }),
    },
    tests: [
      ...(metadata ? [hasMetadata(metadata)] : []),
      ...(context.caller && !threadIds ? [isOfOwnThread(context)] : []),
    ],
  };
}

/** Ids of the caller's threads to search; undefined for all threads, or for too many to name in a query. */
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

/** All names by which requests may refer to the assistant. */
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

/** Runs from the offset `start`. */
async function* runsOf(
  { storage }: OpsContext,
  query: Query,
  start: number,
): AsyncGenerator<RunRow, void, undefined> {
  if (query.threadIds?.length === 0) return;
  yield* inPagesByOffset(
    (page) => searchRuns(storage, { ...query, ...page }),
    ({ run_id }) => run_id,
    start,
  );
}
