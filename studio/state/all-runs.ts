/** Runs of all threads: paginated, in the order of the address. */
import { batch, computed, signal } from "@preact/signals";
import type { Run } from "../../src/models/run.js";
import type { RunStatus } from "../../src/models/run-status.js";
import type { ThreadState } from "../../src/models/state.js";
import { ask } from "../api.js";
import { href, place } from "../router.js";
import { idle, load, loading } from "./loading.js";
import { parseMeta } from "./threads.js";

const PAGE = 50;
/** Maximum rows per request. */
const MOST_ROWS = 1000;
export const RUN_STATUSES = [
  "pending",
  "running",
  "success",
  "interrupted",
  "error",
  "timeout",
] as const satisfies readonly RunStatus[];

/** Order of the list: a field, after `-` in descending order. */
export const DEFAULT_SORT = "-created_at";

/** Age filters in minutes. */
export const SINCE = { hour: 60, day: 1440, week: 10_080 } as const;

const SELECT = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "error",
  "usage",
] as const satisfies readonly (keyof Run)[];
export type ListedRun = Pick<Run, (typeof SELECT)[number]>;

export const runs = signal<readonly ListedRun[]>([]);
export const runPage = loading<void>();
/** Offset of the next page; null at the end. */
const next = signal<number | null>(0);
export const hasMoreRuns = computed(() => next.value !== null);
let generation = 0;

/** Reload the list with the filters of the address. */
export async function reloadRuns(): Promise<void> {
  const mine = ++generation;
  next.value = 0;
  runPage.busy.value = false;
  await loadMoreRuns(mine, true);
}

export async function loadMoreRuns(mine = generation, isReload = false): Promise<void> {
  const offset = next.value;
  if (offset === null || runPage.busy.value) return;
  const isStale = () => mine !== generation;
  const body = { ...searchOf(place.value.query), limit: PAGE, offset, select: SELECT };
  const read = async () => {
    const answer = await ask<ListedRun[]>("POST", "/runs/search", { body });
    if (isStale()) return;
    const after = answer.headers.get("X-Pagination-Next");
    batch(() => {
      runs.value = isReload ? answer.body : withNew(runs.value, answer.body);
      next.value = after === null ? null : Number(after);
    });
  };
  await load(runPage, read, isStale);
}

/** Reloads the loaded rows after a change, without a sign of loading. */
export async function refreshRuns(): Promise<void> {
  // A request in flight may have been answered before the change.
  await idle(runPage);
  const mine = generation;
  if (runs.value.length > MOST_ROWS) return;
  const limit = Math.max(PAGE, runs.value.length);
  const body = { ...searchOf(place.value.query), limit, select: SELECT };
  const answer = await ask<ListedRun[]>("POST", "/runs/search", { body });
  if (mine !== generation) return;
  const after = answer.headers.get("X-Pagination-Next");
  batch(() => {
    runs.value = answer.body;
    next.value = after === null ? null : Number(after);
  });
}

/** New runs shift the pages: skip rows that are already loaded. */
function withNew(known: readonly ListedRun[], more: readonly ListedRun[]): ListedRun[] {
  const ids = new Set(known.map(({ run_id }) => run_id));
  return [...known, ...more.filter(({ run_id }) => !ids.has(run_id))];
}

function searchOf({
  status,
  graph,
  meta = "",
  since,
  sort = DEFAULT_SORT,
}: Readonly<Record<string, string>>): object {
  const metadata = parseMeta(meta);
  const minutes = SINCE[since as keyof typeof SINCE] as number | undefined;
  return {
    ...(status && { status }),
    ...(graph && { assistant_id: graph }),
    ...(metadata && { metadata }),
    ...(minutes && { created_after: new Date(Date.now() - minutes * 60_000).toISOString() }),
    sort_by: sort.replace(/^-/, ""),
    sort_order: sort.startsWith("-") ? "desc" : "asc",
  };
}

export async function cancelRun({ thread_id, run_id }: ListedRun): Promise<void> {
  await ask("POST", `/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
  await reloadRuns();
}

/** Address of the last step of a run, or of its thread if the run stored no step. */
export async function placeOfRun({ thread_id, run_id }: ListedRun): Promise<string> {
  const body = { limit: 1, metadata: { run_id }, select: ["checkpoint"] };
  const { body: states } = await ask<Pick<ThreadState, "checkpoint">[]>(
    "POST",
    `/threads/${thread_id}/history`,
    { body },
  );
  const id = states[0]?.checkpoint?.checkpoint_id;
  return href(["threads", thread_id, ...(id ? ["at", id] : [])]);
}
