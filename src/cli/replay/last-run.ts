/** Determines the checkpoint and the requests to run a thread or a run again. */
import type { Client } from "../../client/client.js";
import { walkRuns, walkStates } from "../../client/walk.js";
import { isRecord } from "../../models/common.js";
import type { Run, RunCreateRequest } from "../../models/run.js";
import type { CommandRequest } from "../../models/command.js";
import type { ThreadState } from "../../models/state.js";
import { InvalidRequestError } from "../../support/errors.js";

/** Input of the repeated run; empty to resume from the checkpoint without new input. */
export type AgainRequest = Pick<RunCreateRequest, "input" | "command">;

interface Beginning {
  /** The checkpoint that the run started from. */
  state: ThreadState;
  /** Consecutive requests: a node with several interrupts stays at its checkpoint until the last one is answered. */
  requests: AgainRequest[];
  /** The runs of these requests, oldest first. */
  runIds: string[];
}

/** Maximum number of runs searched. */
const MOST_RUNS = 100;

/** The start of the last run of a thread; the latest input checkpoint if its run is not found. */
export async function beginningOfLastRun(client: Client, threadId: string): Promise<Beginning> {
  const runs = await begunRuns(client, threadId);
  const [last] = runs;
  const start = last && (await startOf(client, last, runs));
  if (start) return { state: start.state, ...(await requestsAt(client, start, runs)) };
  for await (const state of walkStates(client, threadId))
    if (state.metadata.source === "input") return { state, requests: [], runIds: [] };
  return { state: await client.threads.getState(threadId), requests: [], runIds: [] };
}

/**
 * The start of a run of a thread.
 * @throws InvalidRequestError if it is no longer stored (`invalid_request`)
 */
export async function beginningOfRun(client: Client, { thread_id, run_id }: Run): Promise<Beginning> {
  const runs = await begunRuns(client, thread_id);
  const run = runs.find((each) => each.run_id === run_id);
  const start = run && (await startOf(client, run, runs));
  if (start) return { state: start.state, ...(await requestsAt(client, start, runs)) };
  throw new InvalidRequestError(
    `the start of run ${run_id} is not stored: the run never started, its checkpoints were deleted, or ${MOST_RUNS} newer runs exist`,
  );
}

/** The newest checkpoint of a run; undefined if it wrote none. */
export async function tipOf(client: Client, { thread_id, run_id }: Run): Promise<string | undefined> {
  for await (const state of walkStates(client, thread_id, { metadata: { run_id }, limit: 1 }))
    return state.checkpoint?.checkpoint_id ?? undefined;
  return undefined;
}

/** How the thread last resumed from a checkpoint, including answers to its interrupts. */
export async function beginningAt(client: Client, state: ThreadState): Promise<Beginning> {
  const { thread_id = "", checkpoint_id } = state.checkpoint ?? {};
  if (state.interrupts.length === 0) return { state, requests: [], runIds: [] };
  const runs = await begunRuns(client, thread_id);
  for (const run of runs) {
    if (commandOf(run)?.resume === undefined) continue;
    const start = await startOf(client, run, runs);
    if (start && start.state.checkpoint?.checkpoint_id === checkpoint_id)
      return { state, ...(await requestsAt(client, start, runs)) };
  }
  return { state, requests: [], runIds: [] };
}

/** Started runs, newest first. */
async function begunRuns(client: Client, threadId: string): Promise<Run[]> {
  const runs: Run[] = [];
  for await (const run of walkRuns(client, threadId, { limit: MOST_RUNS }))
    if (run.status !== "pending") runs.push(run);
  return runs;
}

interface Start {
  run: Run;
  state: ThreadState;
  /** Whether the checkpoint already contains the run's input. */
  hasInput: boolean;
}

/** The start of a run; undefined if it is no longer stored, for example on a pruned thread. */
async function startOf(client: Client, run: Run, runs: readonly Run[]): Promise<Start | undefined> {
  const first = await firstStateOf(client, run);
  if (first?.metadata.source === "input") return { run, state: first, hasInput: true };
  const id = selectedCheckpoint(run) ?? first?.parent_checkpoint?.checkpoint_id;
  if (id == null && first) return undefined;
  const state = id == null ? await stateBefore(client, run, runs) : await stateAt(client, run, id);
  return state && { run, state, hasInput: false };
}

/** Returns undefined for deleted checkpoints: pruned threads keep only the latest one. */
async function stateAt(client: Client, { thread_id }: Run, id: string): Promise<ThreadState | undefined> {
  try {
    return await client.threads.getState(thread_id, { checkpoint: { checkpoint_id: id } });
  } catch (error) {
    if ((error as { code?: unknown }).code === "checkpoint_not_found") return undefined;
    throw error;
  }
}

/** The first checkpoint of a run; undefined if it wrote none. */
async function firstStateOf(client: Client, { thread_id, run_id }: Run): Promise<ThreadState | undefined> {
  let first: ThreadState | undefined;
  for await (const state of walkStates(client, thread_id, { metadata: { run_id } })) first = state;
  return first;
}

/** The latest checkpoint at the end of a run, except those written by later runs. */
async function stateBefore(
  client: Client,
  { thread_id, run_id, updated_at }: Run,
  runs: readonly Run[],
): Promise<ThreadState | undefined> {
  const later = new Set<unknown>();
  for (const run of runs) {
    if (run.run_id === run_id) break;
    later.add(run.run_id);
  }
  for await (const state of walkStates(client, thread_id))
    if (!later.has(state.metadata.run_id) && (state.created_at ?? "") <= updated_at) return state;
  return undefined;
}

/** The run's request, preceded by the answers of earlier runs that did not advance past its checkpoint. */
async function requestsAt(
  client: Client,
  { run, hasInput }: Start,
  runs: readonly Run[],
): Promise<Pick<Beginning, "requests" | "runIds">> {
  const { input } = run.kwargs;
  const runIds = [run.run_id];
  if (hasInput) return { requests: [], runIds };
  const command = commandOf(run);
  if (!command && input != null) return { requests: [{ input }], runIds };
  const commands = command ? [command] : [];
  for (const before of runs.slice(runs.indexOf(run) + 1)) {
    const answer = commandOf(before);
    const isResume = answer ? answer.resume !== undefined : before.kwargs.input == null;
    if (!isResume || (await firstStateOf(client, before))) break;
    runIds.unshift(before.run_id);
    if (answer) commands.unshift(answer);
  }
  return { requests: commands.map((each) => ({ command: each })), runIds };
}

function commandOf({ kwargs: { command } }: Run): CommandRequest | undefined {
  return isRecord(command) && Object.values(command).some((value) => value !== undefined)
    ? command
    : undefined;
}

function selectedCheckpoint({ kwargs: { checkpoint, checkpoint_id } }: Run): string | undefined {
  const id = checkpoint_id ?? (isRecord(checkpoint) ? checkpoint.checkpoint_id : undefined);
  return typeof id === "string" ? id : undefined;
}
