/** Sums time, tokens, costs, errors and retries by node from the stored times of runs. It reads no states. */
import type { Run, RunTask, RunTasks } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import { reportedTokens } from "../models/token-counts.js";
import type { NodeUsage, NodeUsageFilter, NodeUsageSums } from "../models/usage.js";
import type { OpsContext } from "../context/context.js";
import { nodePathOf } from "../graphs/output-filter.js";
import { readAhead } from "../support/read-ahead.js";
import { findRuns } from "./run-search.js";

/** Maximum number of runs whose times are read. */
const NEWEST_RUNS = 500;

type ListedRun = Pick<Run, "run_id" | "thread_id" | "status">;

interface Sums extends Omit<NodeUsage, "node" | "median_ms" | "p95_ms"> {
  durations: number[];
}

/** @throws InvalidRequestError (`invalid_request`) */
export async function sumByNode(context: OpsContext, filter: NodeUsageFilter): Promise<NodeUsageSums> {
  const { assistant_id, since, until } = filter;
  const { items, next } = await findRuns(context, {
    assistant_id,
    ...(since !== undefined && { created_after: since }),
    ...(until !== undefined && { created_before: until }),
    limit: NEWEST_RUNS,
    select: ["run_id", "thread_id", "status"],
  });
  // Times and usage are stored when a run ends: sums beside a number of runs that counts others would mislead.
  const ended = (items as ListedRun[]).filter(isFinished);
  const sums = new Map<string, Sums>();
  const { runs } = context.storage;
  const read = async ({ thread_id, run_id }: ListedRun) =>
    runs.tasks ? runs.tasks(thread_id, run_id) : (await runs.get(thread_id, run_id))?.tasks;
  for await (const tasks of readAhead(ended, read)) if (tasks) addRun(sums, tasks);
  const nodes = [...sums].map(([node, { durations, ...sum }]) => ({
    node,
    ...sum,
    ...durationsOf(durations),
  }));
  nodes.sort((a, b) => (a.node < b.node ? -1 : 1));
  return { runs: ended.length, is_complete: next === null, nodes };
}

/** Attempts of an execution have the same namespace. */
function addRun(sums: Map<string, Sums>, { tasks }: RunTasks): void {
  const executions = new Map<string, RunTask[]>();
  for (const task of tasks) {
    if (task.kind !== "node") continue;
    const attempts = executions.get(task.namespace);
    if (attempts) attempts.push(task);
    else executions.set(task.namespace, [task]);
  }
  for (const [namespace, attempts] of executions) {
    if (attempts.some(({ ended_at }) => ended_at === null)) continue;
    const node = nodePathOf(namespace).join(":");
    const sum = sums.get(node) ?? nothingYet();
    sum.count += 1;
    sum.retries += attempts.length - 1;
    if (attempts.at(-1)?.state === "failed") sum.errors += 1;
    sum.durations.push(
      attempts.reduce((ms, { started_at, ended_at }) => ms + between(started_at, ended_at), 0),
    );
    for (const { kind, namespace: of, usage } of tasks)
      if (kind === "model" && (of === namespace || of.startsWith(`${namespace}|`))) addCall(sum, usage);
    sums.set(node, sum);
  }
}

const between = (start: string, end: string | null): number =>
  Math.max(0, Date.parse(end ?? start) - Date.parse(start));

const nothingYet = (): Sums => ({
  ...{ count: 0, total_tokens: 0, cost_usd: null, unpriced_calls: 0, errors: 0, retries: 0, durations: [] },
});

/** Calls without tokens, such as failed ones, have no price. */
function addCall(sum: Sums, usage: RunTask["usage"]): void {
  const { total_tokens } = reportedTokens(usage);
  if (total_tokens === 0) return;
  sum.total_tokens += total_tokens;
  if (usage?.cost_usd === undefined) sum.unpriced_calls += 1;
  else sum.cost_usd = (sum.cost_usd ?? 0) + usage.cost_usd;
}

function durationsOf(durations: number[]): Pick<NodeUsage, "median_ms" | "p95_ms"> {
  const sorted = durations.sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
  return { median_ms: median, p95_ms: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0 };
}
