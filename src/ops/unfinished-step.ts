/** What a state shows of a superstep that has not ended: whose it is. */
import { endedTasks } from "../graphs/snapshot.js";
import type { Snapshot } from "../graphs/graph.js";
import type { UnfinishedStep } from "../models/state.js";
import type { RunRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";

/** Runs that are looked through for the one that executed the superstep. */
const MOST_RUNS = 10;

/** The superstep after a thread's latest checkpoint, when tasks of it have ended though it has not. */
export async function unfinishedStep(
  context: OpsContext,
  threadId: string,
  snapshot: Snapshot,
): Promise<UnfinishedStep | undefined> {
  const tasks = endedTasks(snapshot);
  if (tasks.length === 0) return undefined;
  return { run_id: await runOf(context, threadId, snapshot.metadata?.run_id), tasks };
}

/** As `unfinishedStep`, for a checkpoint that was asked for by its id and may not be the latest. */
export async function unfinishedStepAt(
  context: OpsContext,
  threadId: string,
  snapshot: Snapshot,
): Promise<UnfinishedStep | undefined> {
  const { checkpoint_ns, checkpoint_id } = snapshot.config.configurable ?? {};
  if (endedTasks(snapshot).length === 0) return undefined;
  const latest = await context.storage.checkpointer.getTuple({
    configurable: { thread_id: threadId, checkpoint_ns },
  });
  // The step of any other has ended, or is given up.
  return latest?.checkpoint.id === checkpoint_id ? unfinishedStep(context, threadId, snapshot) : undefined;
}

/**
 * The run that wrote the checkpoint, or a later one that went on from it: with new input it would have begun by writing
 * a checkpoint of its own.
 */
async function runOf(
  { storage: { runs } }: OpsContext,
  threadId: string,
  writer: unknown,
): Promise<string | null> {
  const newestFirst = await runs.list({ threadId, limit: MOST_RUNS, offset: 0 });
  const run = newestFirst.find((row) => row.run_id === writer || wentOn(row));
  return run?.run_id ?? (typeof writer === "string" ? writer : null);
}

function wentOn({ status, kwargs: { input, command } }: RunRow): boolean {
  return status !== "pending" && (command != null || input == null);
}
