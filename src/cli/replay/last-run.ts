/** Where a thread is run again from, and with what: as the run began that did it the last time. */
import type { Client } from "../../client/client.js";
import { walkRuns, walkStates } from "../../client/walk.js";
import { isRecord } from "../../models/common.js";
import type { CommandRequest, Run, RunCreateRequest } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import { InvalidRequestError } from "../../support/errors.js";

/** Input of the repeated run; empty to resume from the checkpoint as it is. */
export type AgainRequest = Pick<RunCreateRequest, "input" | "command">;

interface Beginning {
  /** The checkpoint that the run began at. */
  state: ThreadState;
  /** One after the other: a node that asks several questions stays at its checkpoint until the last is answered. */
  requests: AgainRequest[];
  /** The runs that were asked for them, oldest first. */
  runIds: string[];
}

/** Runs that are looked through for the one that began at a checkpoint. */
const MOST_RUNS = 100;

/** How the last run of a thread began; from the latest checkpoint, when no run is to be seen. */
export async function beginningOfLastRun(client: Client, threadId: string): Promise<Beginning> {
  const runs = await begunRuns(client, threadId);
  const [last] = runs;
  const start = last && (await startOf(client, last, runs));
  if (start) return { state: start.state, ...(await askedAt(client, start, runs)) };
  for await (const state of walkStates(client, threadId))
    if (state.metadata.source === "input") return { state, requests: [], runIds: [] };
  return { state: await client.threads.getState(threadId), requests: [], runIds: [] };
}

/**
 * How one of the runs of a thread began.
 * @throws InvalidRequestError where that is not to be seen any more (`invalid_request`)
 */
export async function beginningOfRun(client: Client, { thread_id, run_id }: Run): Promise<Beginning> {
  const runs = await begunRuns(client, thread_id);
  const run = runs.find((each) => each.run_id === run_id);
  const start = run && (await startOf(client, run, runs));
  if (start) return { state: start.state, ...(await askedAt(client, start, runs)) };
  throw new InvalidRequestError(
    `where run ${run_id} began is not kept: it never began, its checkpoints are gone, or ${MOST_RUNS} runs came after it`,
  );
}

/** The newest checkpoint that a run wrote; undefined where it wrote none. */
export async function tipOf(client: Client, { thread_id, run_id }: Run): Promise<string | undefined> {
  for await (const state of walkStates(client, thread_id, { metadata: { run_id }, limit: 1 }))
    return state.checkpoint?.checkpoint_id ?? undefined;
  return undefined;
}

/** How the thread last resumed from a checkpoint: with the answers to its interrupts, if it was answered. */
export async function beginningAt(client: Client, state: ThreadState): Promise<Beginning> {
  const { thread_id = "", checkpoint_id } = state.checkpoint ?? {};
  if (state.interrupts.length === 0) return { state, requests: [], runIds: [] };
  const runs = await begunRuns(client, thread_id);
  for (const run of runs) {
    if (commandOf(run)?.resume === undefined) continue;
    const start = await startOf(client, run, runs);
    if (start && start.state.checkpoint?.checkpoint_id === checkpoint_id)
      return { state, ...(await askedAt(client, start, runs)) };
  }
  return { state, requests: [], runIds: [] };
}

/** Newest first, without those that wait for their turn. */
async function begunRuns(client: Client, threadId: string): Promise<Run[]> {
  const runs: Run[] = [];
  for await (const run of walkRuns(client, threadId, { limit: MOST_RUNS }))
    if (run.status !== "pending") runs.push(run);
  return runs;
}

interface Start {
  run: Run;
  state: ThreadState;
  /** Whether the checkpoint holds the run's input already. */
  hasInput: boolean;
}

/** Where a run began; undefined when that is not to be seen any more, as on a pruned thread. */
async function startOf(client: Client, run: Run, runs: readonly Run[]): Promise<Start | undefined> {
  const first = await firstStateOf(client, run);
  if (first?.metadata.source === "input") return { run, state: first, hasInput: true };
  const id = selectedCheckpoint(run) ?? first?.parent_checkpoint?.checkpoint_id;
  if (id == null && first) return undefined;
  const state = id == null ? await stateBefore(client, run, runs) : await stateAt(client, run, id);
  return state && { run, state, hasInput: false };
}

/** Pruned threads keep their latest checkpoint only. */
async function stateAt(client: Client, { thread_id }: Run, id: string): Promise<ThreadState | undefined> {
  try {
    return await client.threads.getState(thread_id, { checkpoint: { checkpoint_id: id } });
  } catch (error) {
    if ((error as { code?: unknown }).code === "checkpoint_not_found") return undefined;
    throw error;
  }
}

/** The first checkpoint that a run wrote; undefined for one that wrote none. */
async function firstStateOf(client: Client, { thread_id, run_id }: Run): Promise<ThreadState | undefined> {
  let first: ThreadState | undefined;
  for await (const state of walkStates(client, thread_id, { metadata: { run_id } })) first = state;
  return first;
}

/** The latest checkpoint that was there when a run ended, of those that no later run wrote. */
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

/** What the run was asked for; before it, what those before it answered that came no further than its checkpoint. */
async function askedAt(
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
    const wentOn = answer ? answer.resume !== undefined : before.kwargs.input == null;
    if (!wentOn || (await firstStateOf(client, before))) break;
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
