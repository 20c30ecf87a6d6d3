/** Reads which runs of a server or a storage started, ran nodes and ended since the last look. */
import type { Client } from "../../client/client.js";
import { MAX_LIMIT } from "../../models/common.js";
import type { Run, RunTask } from "../../models/run.js";
import { isFinished, UNFINISHED } from "../../models/run-status.js";
import type { NodeActivity, RunActivity } from "../../models/run-activity.js";
import type { Interrupt } from "../../models/state.js";
import { reportedTokens } from "../../models/token-counts.js";
import { msBetween } from "../terminal/text.js";

/** `deleted`: the run is gone before its end was read, as a stateless run is after it ended. */
export type TailEvent = Exclude<RunActivity, { kind: "tool" }> | { kind: "deleted"; run: Run };

/** Processes that accept runs may differ in their clocks, and commit in another order. */
const OVERLAP_MS = 5_000;

interface Followed {
  run: Run;
  hasBegun: boolean;
  /** Keys of the tasks that were reported. */
  tasks: Set<string>;
}

export class RunFollower {
  readonly #take: (event: TailEvent) => void;
  /** Runs that have not ended, by id. */
  readonly #open = new Map<string, Followed>();
  /** When the runs that ended were accepted, by id; only runs that can be read again. */
  readonly #ended = new Map<string, string>();
  /** When the newest run was accepted; null if there was none. */
  #newest: string | null | undefined;

  constructor(take: (event: TailEvent) => void) {
    this.#take = take;
  }

  /** Whether no run is open: the next event is the start of one. */
  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** Reports what happened since the last call; at the first call only runs that have not ended. */
  async poll(client: Client): Promise<void> {
    const isFirst = this.#newest === undefined;
    const runs = await this.#read(client);
    for (const run of runs) {
      if (!isFinished(run)) this.#ended.delete(run.run_id);
      else if (isFirst) this.#ended.set(run.run_id, run.created_at);
      if (!this.#ended.has(run.run_id)) await this.#advance(client, run);
    }
    const read = new Set(runs.map(({ run_id }) => run_id));
    for (const { run } of [...this.#open.values()].filter((open) => !read.has(open.run.run_id))) {
      const now = await unlessMissing(client.runs.get(run.thread_id, run.run_id));
      if (now) await this.#advance(client, now);
      else this.#forget(run);
    }
    this.#newest = runs.reduce((latest, run) => maxTime(latest, run.created_at), this.#newest ?? null);
    for (const [id, createdAt] of this.#ended) if (createdAt < this.#since()) this.#ended.delete(id);
  }

  /** Runs accepted since the last call, and all runs that have not ended; oldest first. */
  async #read({ runs }: Client): Promise<Run[]> {
    const created_after = this.#since();
    const found = new Map<string, Run>();
    for (let offset = 0; ; offset += MAX_LIMIT) {
      const page = await runs.search({
        ...{ select, offset, limit: MAX_LIMIT },
        ...(created_after !== "" && { created_after }),
      });
      for (const run of page as Run[]) found.set(run.run_id, run);
      if (created_after === "" || page.length < MAX_LIMIT) break;
    }
    // Runs that were delayed, queued or requeued may have been accepted long ago.
    for (const status of UNFINISHED)
      for (const run of (await runs.search({ select, status, limit: MAX_LIMIT })) as Run[])
        found.set(run.run_id, run);
    const keyOf = ({ created_at, run_id }: Run) => `${created_at} ${run_id}`;
    return [...found.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** Start of the time in which runs are read again; empty if no run was read. */
  #since(): string {
    if (this.#newest == null) return "";
    return new Date(Date.parse(this.#newest) - OVERLAP_MS).toISOString();
  }

  async #advance(client: Client, run: Run): Promise<void> {
    const open = this.#open.get(run.run_id) ?? { run, hasBegun: false, tasks: new Set() };
    open.run = run;
    this.#open.set(run.run_id, open);
    if (run.status === "pending") return;
    if (!open.hasBegun) this.#take({ kind: "begin", run, stateless: false });
    open.hasBegun = true;
    const { tasks = [] } = (await unlessMissing(client.runs.tasks(run.thread_id, run.run_id))) ?? {};
    this.#takeNodes(open, tasks);
    if (!isFinished(run)) return;
    const ms = msBetween(tasks[0]?.started_at ?? run.created_at, run.updated_at) ?? 0;
    const interrupts = run.status === "interrupted" ? await openInterrupts(client, run.thread_id) : [];
    this.#take({ kind: "end", run, ms, interrupts });
    this.#open.delete(run.run_id);
    this.#ended.set(run.run_id, run.created_at);
  }

  #takeNodes({ run, tasks: reported }: Followed, tasks: readonly RunTask[]): void {
    const ended = tasks.filter(({ kind, ended_at }) => kind !== "model" && ended_at !== null);
    for (const task of ended.sort(byEnd(tasks))) {
      const key = JSON.stringify([task.kind, task.name, task.namespace, task.tool_call_id, task.started_at]);
      if (reported.has(key)) continue;
      reported.add(key);
      this.#take(nodeActivity(run, task, tasks));
    }
  }

  #forget(run: Run): void {
    if (this.#open.get(run.run_id)?.hasBegun) this.#take({ kind: "deleted", run });
    this.#open.delete(run.run_id);
  }
}

/** The input of a run can be megabytes. */
const select = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "error",
  "usage",
] satisfies (keyof Run)[];

const maxTime = (a: string | null, b: string): string => (a !== null && a > b ? a : b);

/**
 * Orders tasks by their ends. Those of one millisecond keep the order of their starts, but a node ends after the nodes and
 * tools inside it.
 */
function byEnd(started: readonly RunTask[]): (a: RunTask, b: RunTask) => number {
  const places = new Map<string, number>();
  for (const [index, task] of started.entries())
    for (const key of keysOf(task)) if (!places.has(key)) places.set(key, index);
  return (a, b) => {
    if (a.ended_at !== b.ended_at) return (a.ended_at ?? "") < (b.ended_at ?? "") ? -1 : 1;
    const [first, second] = [keysOf(a), keysOf(b)];
    const fork = first.findIndex((key, depth) => key !== second[depth]);
    if (fork === -1 || fork >= second.length) return second.length - first.length;
    return (places.get(first[fork] ?? "") ?? 0) - (places.get(second[fork] ?? "") ?? 0);
  };
}

/** Identifies the nodes around a task, outermost first, and the task. */
function keysOf({ kind, name, namespace, tool_call_id, started_at }: RunTask): string[] {
  const segments = namespace.split("|");
  const nodes = segments.map((_, depth) => segments.slice(0, depth + 1).join("|"));
  return kind === "node" ? nodes : [...nodes, JSON.stringify([namespace, name, tool_call_id, started_at])];
}

/** Names of the nodes around a task, and its own. */
function pathOf({ kind, name, namespace }: RunTask): string[] {
  const nodes = namespace.split("|").map((segment) => segment.replace(/:[^:]*$/, ""));
  return kind === "node" ? nodes : [...nodes, name];
}

function nodeActivity(run: Run, task: RunTask, tasks: readonly RunTask[]): NodeActivity {
  const { namespace, started_at, ended_at, state } = task;
  const calls = tasks.filter(
    (call) => task.kind === "node" && call.kind === "model" && call.namespace === namespace,
  );
  return {
    kind: "node",
    run,
    path: pathOf(task),
    ms: msBetween(started_at, ended_at) ?? 0,
    state: state === "running" ? "done" : state,
    tokens: calls.reduce((sum, { usage }) => sum + reportedTokens(usage).total_tokens, 0),
  };
}

async function openInterrupts({ threads }: Client, threadId: string): Promise<Interrupt[]> {
  const thread = await unlessMissing(threads.get(threadId));
  return Object.values(thread?.interrupts ?? {}).flat();
}

/** Undefined if the thread or the run was deleted. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "run_not_found" || code === "thread_not_found") return undefined;
    throw error;
  }
}
