/** The checkpoints of a thread by the run that has written them. */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { OpsContext } from "../context/context.js";
import type { RunKey } from "../storage/contract/runs.js";

/** The config of the latest checkpoint of the root graph. */
export const rootOf = ({ thread_id }: Pick<RunKey, "thread_id">) => ({
  configurable: { thread_id, checkpoint_ns: "" },
});

/** The id of the run that has written a checkpoint; undefined for an edit. */
export const writerOf = ({ metadata }: CheckpointTuple): unknown =>
  (metadata as { run_id?: unknown } | undefined)?.run_id;

/** Whether the run has written checkpoints. */
export async function hasWritten({ storage: { checkpointer } }: OpsContext, row: RunKey): Promise<boolean> {
  for await (const _ of checkpointer.list(rootOf(row), { filter: { run_id: row.run_id }, limit: 1 }))
    return true;
  return false;
}

/** Whether a later run or an edit of the thread is based on checkpoints of the run. */
export async function isContinued(context: OpsContext, row: RunKey): Promise<boolean> {
  const latest = await context.storage.checkpointer.getTuple(rootOf(row));
  return latest !== undefined && writerOf(latest) !== row.run_id && (await hasWritten(context, row));
}
