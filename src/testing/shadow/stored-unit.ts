/** Reads a unit from the storage that is shadowed: its runs, its states, and what was there before it. */
import { INTERRUPT } from "../../models/channels.js";
import type { Client } from "../../client/client.js";
import { walkRuns, walkStates } from "../../client/walk.js";
import type { Run } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import {
  type StoredCheckpoint,
  THREAD_FILE_FORMAT,
  THREAD_FILE_VERSION,
  type ThreadFile,
} from "../../models/thread-file.js";
import { chosenCheckpoint, type UnitRef } from "./units.js";

export interface StoredUnit {
  thread_id: string;
  /** Oldest first. */
  runs: [Run, ...Run[]];
  /** The states that its runs wrote, oldest first. */
  states: ThreadState[];
  /** The state that it started from; undefined for the beginning of the thread. */
  base: ThreadState | undefined;
  /** Ids of the runs of the thread since its first one. */
  since: ReadonlySet<string>;
}

/** Why a unit cannot be executed again. */
export class NotRepeatable extends Error {}

const idOf = ({ checkpoint }: ThreadState): string | undefined => checkpoint?.checkpoint_id ?? undefined;
const parentIdOf = ({ parent_checkpoint }: ThreadState): string | undefined =>
  parent_checkpoint?.checkpoint_id ?? undefined;

/** @throws NotRepeatable if the states before the unit are gone, or were edited during it */
export async function readUnit(client: Client, { thread_id, run_ids }: UnitRef): Promise<StoredUnit> {
  const runs: Run[] = [];
  for (const id of run_ids) runs.push(await client.runs.get(thread_id, id));
  const [first, ...others] = runs;
  if (!first) throw new NotRepeatable("its runs were deleted");
  if (runs.some(({ status }) => status === "timeout")) throw new NotRepeatable("it timed out");
  const since = await runsSince(client, first);
  const { states, before } = await statesOf(client, first, new Set(run_ids), since);
  refuseEdited(states);
  const base = await baseOf(client, first, states[0], before);
  return { thread_id, runs: [first, ...others], states, base, since };
}

/** Ids of this run and of all later ones, by position: several runs can be created in the same millisecond. */
async function runsSince(client: Client, { thread_id, run_id: first }: Run): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { run_id } of walkRuns(client, thread_id)) {
    ids.add(run_id);
    if (run_id === first) break;
  }
  return ids;
}

/**
 * The states of these runs, and the newest state before them. If they wrote none, it is the newest one when the first of
 * them ended: earlier runs may have written their states after it was created, while it waited for its turn.
 */
async function statesOf(
  client: Client,
  { thread_id, created_at: start, updated_at: end }: Run,
  runIds: ReadonlySet<string>,
  since: ReadonlySet<string>,
): Promise<{ states: ThreadState[]; before: ThreadState | undefined }> {
  const states: ThreadState[] = [];
  let before: ThreadState | undefined;
  for await (const state of walkStates(client, thread_id)) {
    const runId = String(state.metadata.run_id);
    const createdAt = state.created_at ?? "";
    if (runIds.has(runId)) {
      states.unshift(state);
      before = undefined;
    } else if (!since.has(runId)) {
      if (createdAt <= end) before ??= state;
      // No older state is one of these runs.
      if (createdAt < start) break;
    }
  }
  return { states, before };
}

/** A state that a client wrote between two runs is not part of any request. */
function refuseEdited(states: readonly ThreadState[]): void {
  const ids = new Set(states.map(idOf));
  if (states.slice(1).some((state) => !ids.has(parentIdOf(state))))
    throw new NotRepeatable("its state was edited between its runs");
}

async function baseOf(
  client: Client,
  run: Run,
  first: ThreadState | undefined,
  before: ThreadState | undefined,
): Promise<ThreadState | undefined> {
  const id = chosenCheckpoint(run) ?? (first ? parentIdOf(first) : before && idOf(before));
  if (id === undefined) return undefined;
  if (before && idOf(before) === id) return before;
  try {
    return await client.threads.getState(run.thread_id, { checkpoint: { checkpoint_id: id } });
  } catch (error) {
    if ((error as { code?: unknown }).code === "checkpoint_not_found")
      throw new NotRepeatable("the state before it was deleted");
    throw error;
  }
}

/** The thread as it was before a unit, to import into another storage. */
export async function threadBefore(client: Client, unit: StoredUnit): Promise<ThreadFile> {
  const { thread_id, base, since } = unit;
  const thread = await client.threads.get(thread_id);
  const checkpoints =
    base && client.stored ? await checkpointsOf(client.stored(thread_id), base, since) : undefined;
  return {
    format: THREAD_FILE_FORMAT,
    version: THREAD_FILE_VERSION,
    thread: { ...thread, status: "idle", error: null },
    runs: [],
    states: base ? [base] : [],
    subgraphs: [],
    ...(checkpoints && { checkpoints }),
  };
}

/** Namespaces of subgraphs that keep their checkpoints from task to task have no task ids. */
const OF_A_TASK = /:[0-9a-f]{8}-[0-9a-f-]{27}/;

async function checkpointsOf(
  stored: AsyncIterable<StoredCheckpoint>,
  base: ThreadState,
  since: ReadonlySet<string>,
): Promise<StoredCheckpoint[]> {
  const found: StoredCheckpoint[] = [];
  for await (const checkpoint of stored) {
    const { checkpoint_ns: ns, checkpoint_id, ts, metadata, writes } = checkpoint;
    const isLater = ts > (base.created_at ?? "") || since.has(String(metadata.run_id));
    if (ns === "" ? checkpoint_id !== idOf(base) : OF_A_TASK.test(ns) || isLater) continue;
    // What tasks wrote after the checkpoint belongs to the unit; their questions say where it starts.
    const asked = writes.filter(([, channel]) => channel === INTERRUPT);
    found.push({ ...checkpoint, writes: ns === "" ? asked : writes });
  }
  return found;
}
