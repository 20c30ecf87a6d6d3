/** Sums time, tokens, errors and retries by node from the stored times of runs. It reads no states. */
import type { RunTask, RunTasks } from "../models/run.js";
import { reportedTokens } from "../models/token-counts.js";
import type { NodeUsage, NodeUsageFilter, NodeUsageSums } from "../models/usage.js";
import type { OpsContext } from "../context/context.js";
import { nodePathOf } from "../graphs/output-filter.js";
import { readAhead } from "../support/read-ahead.js";
import { findRuns } from "./run-search.js";

/** Maximum number of runs whose times are read. */
const NEWEST_RUNS = 500;

interface Sums extends Omit<NodeUsage, "node" | "median_ms"> {
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
    select: ["run_id", "thread_id"],
  });
  const sums = new Map<string, Sums>();
  const { runs } = context.storage;
  const read = async ({ thread_id = "", run_id = "" }: (typeof items)[number]) =>
    runs.tasks ? runs.tasks(thread_id, run_id) : (await runs.get(thread_id, run_id))?.tasks;
  for await (const tasks of readAhead(items, read)) if (tasks) addRun(sums, tasks);
  const nodes = [...sums].map(([node, { durations, ...sum }]) => ({
    node,
    ...sum,
    median_ms: medianOf(durations),
  }));
  nodes.sort((a, b) => (a.node < b.node ? -1 : 1));
  return { runs: items.length, is_complete: next === null, nodes };
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
    const sum = sums.get(node) ?? { count: 0, total_tokens: 0, errors: 0, retries: 0, durations: [] };
    sum.count += 1;
    sum.retries += attempts.length - 1;
    if (attempts.at(-1)?.state === "failed") sum.errors += 1;
    sum.durations.push(
      attempts.reduce((ms, { started_at, ended_at }) => ms + between(started_at, ended_at), 0),
    );
    for (const { kind, namespace: of, usage } of tasks)
      if (kind === "model" && (of === namespace || of.startsWith(`${namespace}|`)))
        sum.total_tokens += reportedTokens(usage).total_tokens;
    sums.set(node, sum);
  }
}

const between = (start: string, end: string | null): number =>
  Math.max(0, Date.parse(end ?? start) - Date.parse(start));

function medianOf(durations: number[]): number {
  const sorted = durations.sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
