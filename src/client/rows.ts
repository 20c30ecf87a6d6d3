/** Reads the rows of a storage for lists, without loading LangGraph or a graph. */
import { DEFAULT_LIMIT } from "../models/common.js";
import type { Run, RunFilter, RunSearchRequest } from "../models/run.js";
import type { Thread, ThreadSearchRequest } from "../models/thread.js";
import type { Usage, UsageFilter } from "../models/usage.js";
import { listUsage } from "../storage/usage-list.js";
import { type OpenOptions, openRows } from "../storage/open.js";
import { runModel } from "../storage/rows/run-rows.js";
import { searchRuns } from "../storage/run-search.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { RowStorage } from "../storage/contract/storage.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { NotFoundError } from "../support/errors.js";

export { sqliteFault } from "../storage/open.js";

/** A run without its invocation parameters, which may contain secrets. */
export type ListedRun = Omit<Run, "kwargs">;

/** The part of a `Client` that rows can serve. */
export interface RowsClient {
  readonly threads: { search(request: ThreadSearchRequest): Promise<Partial<Thread>[]> };
  readonly runs: {
    list(threadId: string, filter: RunFilter): Promise<ListedRun[]>;
    search(request: RunSearchRequest): Promise<Partial<ListedRun>[]>;
    /** The inputs of runs, newest first; undefined if `list` returns them. */
    inputs?(threadId: string, page: Pick<RunFilter, "limit" | "offset">): Promise<unknown[]>;
  };
  usage(filter: UsageFilter): Promise<Usage[]>;
  readonly place: string;
  close(): Promise<void>;
}

/** @throws StorageUnavailableError (`storage_unavailable`), ConfigError (`config_invalid`) */
export async function openRowsClient(options: OpenOptions): Promise<RowsClient> {
  const rows = await openRows(options);
  const { scheme, location } = rows;
  return {
    threads: { search: (request) => searchThreads(rows, request) },
    runs: {
      list: async (threadId, { status, ...page }) => {
        if (!(await rows.threads.get(threadId))) throw new NotFoundError("thread", threadId);
        const query = { threadId, ...pageOf(page), ...(status && { status }) };
        return (await rows.runs.list(query)).map(listedRun);
      },
      inputs: async (threadId, page) =>
        (await rows.runs.list({ threadId, ...pageOf(page) })).map(({ kwargs }) => kwargs.input),
      search: async ({ status, limit, offset }) =>
        (await searchRuns(rows, { ...pageOf({ limit, offset }), ...(status && { status }) })).map(listedRun),
    },
    usage: async (filter) => (await listUsage(rows, filter)).items,
    place: location === undefined ? scheme : `${scheme} ${location}`,
    close: () => rows.close(),
  };
}

async function searchThreads(
  { threads }: RowStorage,
  { ids, metadata, status, sort_by, sort_order, limit, offset }: ThreadSearchRequest,
): Promise<Partial<Thread>[]> {
  const found = await threads.search({
    ...(ids && { ids }),
    ...(metadata && { metadata }),
    ...(status && { status }),
    sortBy: sort_by ?? "updated_at",
    sortOrder: sort_order ?? "desc",
    limit: limit ?? DEFAULT_LIMIT,
    offset: offset ?? 0,
  });
  return found.rows.map(listedThread);
}

const listedThread = ({ thread_id, created_at, updated_at, status, metadata, error }: ThreadRow) => ({
  thread_id,
  created_at,
  updated_at,
  status,
  metadata,
  error,
});

const pageOf = ({ limit, offset }: Pick<RunSearchRequest, "limit" | "offset">) => ({
  limit: limit ?? DEFAULT_LIMIT,
  offset: offset ?? 0,
});

function listedRun(row: RunRow): ListedRun {
  const { kwargs: _, attempt = 1, ...run } = runModel(row);
  return { ...run, attempt };
}
