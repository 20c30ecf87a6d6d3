/** Times and token usage of the thread's runs. */
import { computed, effect, signal } from "@preact/signals";
import type { Run, RunTask, RunTasks } from "../../src/models/run.js";
import { reportedTokens } from "../../src/models/token-counts.js";
import { ask } from "../api.js";
import { added, type Cost, costOf } from "../components/prices.js";
import { load, loading } from "./loading.js";
import { prices } from "./prices.js";
import type { Step } from "./step-list.js";
import { chosenStep, namespace, row, threadId } from "./thread.js";

type ListedRun = Pick<Run, "run_id" | "usage" | "status">;

/** Maximum number of runs to sum up. */
const MOST_RUNS = 1000;

const runPath = (thread = threadId.value) => `/threads/${encodeURIComponent(thread)}/runs`;

export const chosenRun = computed(() => chosenStep.value?.runId);
export const times = loading<{ of: string; tasks: RunTasks }>();
export const runs = loading<{ of: string; runs: ListedRun[] }>();
const known = new Map<string, RunTasks>();

export async function tasksOf(runId: string, thread = threadId.peek()): Promise<RunTasks> {
  const kept = known.get(runId);
  if (kept) return kept;
  const { body } = await ask<RunTasks>("GET", `${runPath(thread)}/${encodeURIComponent(runId)}/tasks`);
  if (body.tasks.every(({ ended_at }) => ended_at !== null)) known.set(runId, body);
  return body;
}

/** Durations by checkpoint id, see `measure`. */
const measured = signal<ReadonlyMap<string, number | undefined>>(new Map());
export const measuredOf = (step: Step): number | undefined => measured.value.get(step.id);

/**
 * Measure the superstep after an edit or an answer from the tasks of its run: the previous step belongs to no run or
 * to an earlier one, so the time between both is not its duration.
 */
export async function measure({ id, runId, number, createdAt, source }: Step): Promise<void> {
  if (source !== "loop" || runId === undefined || createdAt === null || measured.peek().has(id)) return;
  measured.value = new Map(measured.peek()).set(id, undefined);
  const { tasks } = await tasksOf(runId).catch((): Pick<RunTasks, "tasks"> => ({ tasks: [] }));
  const starts = tasks
    .filter((task) => task.kind === "node" && task.step === number && isIn(task, namespace.peek()))
    .map(({ started_at }) => Date.parse(started_at));
  if (starts.length === 0) return;
  const ms = Math.max(0, Date.parse(createdAt) - Math.min(...starts));
  measured.value = new Map(measured.peek()).set(id, ms);
}

const isIn = (task: RunTask, around: string): boolean =>
  task.namespace.split("|").slice(0, -1).join("|") === around;

/** Load the tasks of the selected step's run and the thread's runs. Call it in an effect. */
export function readTimes(): void {
  const run = chosenRun.value;
  const thread = threadId.value;
  const updated = row.value.value?.updated_at;
  if (updated === undefined) return;
  const of = `${thread} ${updated}`;
  if (runs.value.peek()?.of !== of)
    void load(
      runs,
      async () => ({ of, runs: await listRuns() }),
      () => thread !== threadId.peek(),
    );
  if (run === undefined) return;
  if (row.value.value?.status === "busy") known.delete(run);
  void load(
    times,
    async () => ({ of: run, tasks: await tasksOf(run) }),
    () => run !== chosenRun.peek(),
  );
}

async function listRuns(): Promise<ListedRun[]> {
  const select = ["run_id", "usage", "status"].map((name) => `select=${name}`).join("&");
  return (await ask<ListedRun[]>("GET", `${runPath()}?limit=${MOST_RUNS}&${select}`)).body;
}

/** Tokens of all runs, as reported by models. */
export const threadTokens = computed(() =>
  (runs.value.value?.runs ?? [])
    .map(({ usage }) => reportedTokens(usage))
    .reduce(added, reportedTokens(null)),
);

/** Maximum number of runs for which the thread's cost is computed. */
const MOST_PRICED = 50;

/** Tasks of all runs of the thread; undefined above `MOST_PRICED` runs. */
export const threadTasks = loading<RunTask[]>();

effect(() => {
  const all = runs.value.value;
  threadTasks.value.value = undefined;
  if (all === undefined || all.runs.length > MOST_PRICED) return;
  // The reader may leave the thread meanwhile.
  const thread = threadId.peek();
  const read = async () => {
    const tasks = [];
    for (const { run_id } of all.runs) tasks.push(...(await tasksOf(run_id, thread)).tasks);
    return tasks;
  };
  void load(threadTasks, read, () => runs.value.peek() !== all);
});

/** Cost of all runs of the thread. */
export const threadCost = computed((): Cost | undefined => {
  const tasks = threadTasks.value.value;
  return tasks && costOf(tasks, prices.value);
});
