/** What the nodes of a run did, from its stored times: marks, edges taken, durations and tokens. */
import { signal } from "@preact/signals";
import type { Run, RunTask, RunTasks } from "../../src/models/run.js";
import { isFinished, type RunStatus } from "../../src/models/run-status.js";
import { ask } from "../api.js";
import type { Mark, NodeFacts, Progress } from "../graph/marks.js";
import { msText } from "../components/text.js";
import { strings } from "../strings.js";
import { onProgress } from "./live-run.js";
import { drawnNamespace, type NodeState, RunProgress } from "./run-progress.js";

interface StoredRun {
  threadId: string;
  runId: string;
  status: RunStatus;
  tasks: readonly RunTask[];
}

/** The run whose marks are shown: the last one of a thread, or that of a step. */
export const storedRun = signal<StoredRun | undefined>(undefined);

let generation = 0;
let wanted: { threadId: string; runId: string | undefined } | undefined;

/**
 * Loads the tasks of a run, and again at every step of it.
 * @param runId the last run if omitted
 */
export async function readRunFacts(threadId: string | undefined, runId?: string): Promise<void> {
  const mine = ++generation;
  wanted = threadId === undefined ? undefined : { threadId, runId };
  const known = storedRun.peek();
  if (known && (known.threadId !== threadId || (runId !== undefined && known.runId !== runId)))
    storedRun.value = undefined;
  if (threadId === undefined) return;
  const found = await read(threadId, runId).catch(() => undefined);
  if (mine === generation) storedRun.value = found;
}

onProgress((threadId) => {
  if (wanted?.threadId === threadId) void readRunFacts(threadId, wanted.runId);
});

/** Interval for runs whose stream contains no tasks. */
const UNSTREAMED_MS = 1000;

/** Follows the tasks of a run whose request selected stream modes without them. Returns a function that stops it. */
export function pollRunFacts(threadId: string, runId: string): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void readRunFacts(threadId, runId);
  }, UNSTREAMED_MS);
  void readRunFacts(threadId, runId);
  return () => clearInterval(timer);
}

type Listed = Pick<Run, "run_id" | "status">;

async function read(threadId: string, runId: string | undefined): Promise<StoredRun | undefined> {
  const path = `/threads/${encodeURIComponent(threadId)}/runs`;
  const one = async (): Promise<Listed | undefined> =>
    runId === undefined
      ? (await ask<Listed[]>("GET", `${path}?limit=1&select=run_id&select=status`)).body[0]
      : (await ask<Listed>("GET", `${path}/${encodeURIComponent(runId)}`)).body;
  const run = await one();
  if (!run) return undefined;
  const { body } = await ask<RunTasks>("GET", `${path}/${encodeURIComponent(run.run_id)}/tasks`);
  return { threadId, runId: run.run_id, status: run.status, tasks: body.tasks };
}

const MARKS: Readonly<Record<NodeState, Mark>> = {
  running: "running",
  done: "ran",
  failed: "failed",
  waits: "asks",
};

export function progressOf(nodes: ReadonlyMap<string, NodeState> = new Map()): Partial<Progress> {
  const progress: Partial<Record<Mark, Set<string>>> = {};
  for (const [id, state] of nodes) (progress[MARKS[state]] ??= new Set()).add(id);
  return progress;
}

/** Node of a task as the drawing names it. */
export function drawnId({ namespace, name }: Pick<RunTask, "namespace" | "name">): string {
  const around = drawnNamespace(namespace.split("|").slice(0, -1));
  return around === "" ? name : `${around}:${name}`;
}

export interface RunMarks {
  progress: Partial<Progress>;
  ways: ReadonlySet<string>;
}

/** Marks and edges of a stored run, as if it had been followed. */
export function marksOf(run: StoredRun, drawn: ReadonlySet<string>): RunMarks {
  const view = new RunProgress(drawn);
  for (const task of supersteps(nodesOf(run.tasks))) {
    const parts = task.task.namespace.split("|");
    const around = drawnNamespace(parts.slice(0, -1));
    if (task.isStart) view.begin(around, task.task.namespace, task.task.name);
    else {
      const { state } = task.task;
      if (state !== "running") view.end(around, task.task.namespace, task.task.name, state);
    }
  }
  if (isFinished(run)) view.finish(run.status);
  return { progress: progressOf(view.nodes), ways: view.ways };
}

const nodesOf = (tasks: readonly RunTask[]): RunTask[] => tasks.filter(({ kind }) => kind === "node");

/** Starts and ends in their order. A superstep ends before the next one begins. */
function supersteps(tasks: readonly RunTask[]): { task: RunTask; isStart: boolean }[] {
  return tasks
    .flatMap((task) => [
      { task, isStart: true, at: Date.parse(task.started_at) },
      { task, isStart: false, at: task.ended_at === null ? Infinity : Date.parse(task.ended_at) },
    ])
    .sort((a, b) => a.at - b.at || orderOf(a) - orderOf(b));
}

/** At the same time: ends of earlier steps first, and inner tasks between start and end of their node. */
function orderOf({ task, isStart }: { task: RunTask; isStart: boolean }): number {
  const depth = task.namespace.split("|").length;
  return (task.step ?? 0) * 100 + (isStart ? depth : 50 - depth);
}

interface Sums {
  /** Of the executions that have ended; undefined if there is none. */
  ms: number | undefined;
  tokens: number;
  count: number;
  isFailed: boolean;
}

/** Duration, tokens and number of executions of each node. */
export function factsOf({ tasks }: Pick<StoredRun, "tasks">): ReadonlyMap<string, NodeFacts> {
  const facts = new Map<string, Sums>();
  for (const task of nodesOf(tasks)) {
    const id = drawnId(task);
    const known = facts.get(id) ?? { ms: undefined, tokens: 0, count: 0, isFailed: false };
    if (task.ended_at !== null)
      known.ms = (known.ms ?? 0) + Date.parse(task.ended_at) - Date.parse(task.started_at);
    known.count += 1;
    known.isFailed = task.state === "failed";
    known.tokens += tokensOf(tasks, task.namespace);
    facts.set(id, known);
  }
  return new Map(
    [...facts].map(([id, { ms, tokens, count, isFailed }]) => {
      const time = ms === undefined ? "" : msText(ms);
      const parts = [isFailed ? strings.drawing.failed : "", time, tokens > 0 ? `${tokens} tok` : ""];
      return [id, { text: parts.filter(Boolean).slice(0, 2).join(" · "), count }];
    }),
  );
}

export const tokensOf = (tasks: readonly RunTask[], namespace: string): number =>
  tasks
    .filter((each) => each.kind === "model" && isWithin(each.namespace, namespace))
    .reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0);

export const isWithin = (namespace: string, outer: string): boolean =>
  namespace === outer || namespace.startsWith(`${outer}|`);
