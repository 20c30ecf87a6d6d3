/**
 * Runs the tasks after a checkpoint again for the Studio of `dev`, on a copy of the thread. Calls of models and tools that
 * were recorded get the recorded responses.
 */
import type { Client } from "../../client/client.js";
import { graphIdOf } from "../../client/client.js";
import { localClient } from "../../client/local.js";
import { RunSoFar } from "../../client/run-events.js";
import { walkRuns } from "../../client/walk.js";
import type { NodeRunRequest } from "../../http/studio/helpers.js";
import type { RunTask } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import type { StudioNodeRun } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { InvalidRequestError } from "../../support/errors.js";
import { createRedaction } from "../../testing/cases/redact.js";
import { callsInFolder, storedCalls } from "../../testing/recording/production.js";
import { answerRecorded } from "../../testing/recording/recorder.js";
import type { RecordedCall } from "../../testing/recording/recording.js";
import { fork } from "../fork/branch.js";
import { type AgainRequest, beginningAt } from "../replay/last-run.js";

interface Project {
  readonly service: Service;
  /** Folders of recordings: of `dev --record`, and of the setting `recording`. */
  readonly recordings: readonly string[];
  /** Whether the setting `recording` keeps recordings in the storage. */
  readonly recordsInStorage: boolean;
  /** Regular expressions of texts that the recordings do not contain. */
  readonly redact: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Time to live of a copy in minutes, if this process ends before it deletes the copy. */
const TTL_MINUTES = 60;

/**
 * Runs the tasks with the current code, and with the stored answers to their interrupts. Tasks of the superstep that had
 * succeeded are not repeated if another one failed. The copy is deleted, so nothing is written to the thread.
 * @throws NotFoundError (`checkpoint_not_found`), InvalidRequestError if nothing runs after the checkpoint
 */
export async function runNode(
  project: Project,
  { thread_id, checkpoint_id, step_id, shows = "clients" }: NodeRunRequest,
  left: AbortSignal,
): Promise<StudioNodeRun> {
  const { service, env, redact } = project;
  const client = localClient(service);
  const states = service.statesShowing(shows === "all");
  const stateAt = (id: string) => states.get(thread_id, { checkpoint: { checkpoint_id: id } });
  const original = await client.threads.get(thread_id);
  const state = await stateAt(checkpoint_id);
  if (state.next.length === 0)
    throw InvalidRequestError.at(
      ["body", "checkpoint_id"],
      "is the end of the thread: nothing runs after it",
    );
  const step = step_id === undefined ? undefined : await stateAt(step_id);
  const { requests } = await beginningAt(client, state);
  const recorded = await recordedCalls(client, project, state, step);
  const afresh = !state.tasks.some(({ error }) => error !== null);
  const { thread } = await fork(client, state, { branch: false, afresh });
  const copy = thread.thread_id;
  const stop =
    recorded.length > 0 ? await answerRecorded(copy, recorded, createRedaction(env, redact)) : () => 0;
  try {
    await client.threads.update(copy, { metadata: { rerun_of: thread_id }, ttl: TTL_MINUTES });
    const start = performance.now();
    // A subgraph runs to its end: until then, the state of the graph does not contain what its nodes wrote.
    const stops = [...new Set(state.tasks.map(({ name }) => name))];
    const wish = { graph: graphIdOf(original) ?? "", requests, stops, left };
    const runs = await runThrough(client, copy, wish);
    const ms = Math.round(performance.now() - start);
    const answered = stop();
    const last = runs.at(-1);
    return {
      status: last?.status ?? "error",
      error: last?.error ?? null,
      ms,
      before: state.values,
      after: (await states.get(copy)).values,
      stored: step?.values ?? null,
      asks: last !== undefined && last.interrupts.length > 0,
      calls: Math.max(0, (await callsOf(client, copy, runs)) - answered),
      recorded: answered,
    };
  } finally {
    stop();
    await client.threads.delete(copy);
  }
}

interface Wish {
  graph: string;
  /** Answers to interrupts, in order. */
  requests: readonly AgainRequest[];
  /** Nodes after which the run stops. */
  stops: string[];
  left: AbortSignal;
}

/** Answers the interrupts of the tasks one by one. */
async function runThrough(
  client: Client,
  threadId: string,
  { graph, requests, stops, left }: Wish,
): Promise<RunSoFar[]> {
  const runs: RunSoFar[] = [];
  for (const request of requests.length > 0 ? requests : [{ input: null }]) {
    if (left.aborted || runs.at(-1)?.interrupts.length === 0) break;
    const body = {
      assistant_id: graph,
      ...request,
      interrupt_after: stops,
      if_not_exists: "reject" as const,
      stream_mode: ["values" as const],
    };
    const run = new RunSoFar();
    for await (const event of client.runs.stream(threadId, body, left)) run.take(event);
    runs.push(run);
  }
  return runs;
}

async function callsOf(client: Client, threadId: string, runs: readonly RunSoFar[]): Promise<number> {
  let calls = 0;
  for (const { runId } of runs) {
    if (runId === undefined) continue;
    const { tasks } = await client.runs.tasks(threadId, runId);
    calls += tasks.filter(({ kind }) => kind !== "node").length;
  }
  return calls;
}

/** Maximum number of runs whose recordings are read, newest first. */
const MOST_RUNS = 100;

/**
 * The recorded calls of a thread. Those of the step come first, because a later step can repeat a request of an earlier
 * one.
 * @param step the stored result; undefined if the step failed, as the newest run did
 */
async function recordedCalls(
  client: Client,
  project: Project,
  { checkpoint, created_at }: ThreadState,
  step: ThreadState | undefined,
): Promise<RecordedCall[]> {
  const threadId = checkpoint?.thread_id ?? "";
  const runs = new Map<string, RecordedCall[]>();
  for await (const { run_id } of walkRuns(client, threadId, { limit: MOST_RUNS })) {
    const recorded = await callsOfRun(project, threadId, run_id);
    if (recorded) runs.set(run_id, recorded);
  }
  const own = step === undefined ? runs.keys().next().value : step.metadata.run_id;
  const calls: RecordedCall[] = [];
  for (const [id, recorded] of runs) {
    if (id !== own) calls.push(...recorded);
    else {
      const { tasks } = await client.runs.tasks(threadId, id);
      calls.unshift(...laterFirst(recorded, tasks, Date.parse(created_at ?? "")));
    }
  }
  return calls;
}

async function callsOfRun(
  { service, recordings, recordsInStorage }: Project,
  threadId: string,
  runId: string,
): Promise<RecordedCall[] | undefined> {
  for (const folder of recordings) {
    const calls = await callsInFolder(folder, threadId, runId);
    if (calls) return calls;
  }
  return recordsInStorage && service.recordings ? storedCalls(service.recordings, runId) : undefined;
}

/** The calls of a run in the order of their ends, with those of its earlier steps last. */
function laterFirst(
  calls: readonly RecordedCall[],
  tasks: readonly RunTask[],
  since: number,
): RecordedCall[] {
  const counts = new Map<string, number>();
  for (const { kind, name, ended_at } of tasks)
    if (kind !== "node" && ended_at !== null && Date.parse(ended_at) <= since)
      counts.set(`${kind} ${name}`, (counts.get(`${kind} ${name}`) ?? 0) + 1);
  const earlier: RecordedCall[] = [];
  const later = calls.filter((call) => {
    const key = `${call.kind} ${call.name}`;
    const count = counts.get(key) ?? 0;
    if (count === 0) return true;
    counts.set(key, count - 1);
    earlier.push(call);
    return false;
  });
  return [...later, ...earlier];
}
