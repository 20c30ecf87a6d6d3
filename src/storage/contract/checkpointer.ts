import type { BaseCheckpointSaver, ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { RunHolder } from "./runs.js";

/**
 * A checkpointer with uniform behavior across savers (see `wrapCheckpointer`): `run_id` and the public scalar
 * configurable keys are added to the metadata of every checkpoint; `list` requires a thread, returns nothing for
 * `limit: 0` and filters by containment; namespaces are always explicit; writes of a fenced run are refused.
 * @example
 * ```ts
 * import type { Checkpointer } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const checkpointer: Checkpointer = storage.checkpointer;
 * await checkpointer.namespaces("thread-1"); // => []
 * await checkpointer.deleteThread("thread-1");
 * ```
 */
export interface Checkpointer extends BaseCheckpointSaver {
  /** Refuse all further writes of this run, until `unfence`. */
  fence(runId: string): void;
  unfence(runId: string): void;
  /**
   * Until `unfence`, this process writes for the run as this holder. The storage refuses a write with a RunTakenError if
   * the row of the run names another holder, or if the run has ended. Not needed by a storage without `RunTable.take`.
   */
  hold?(runId: string, holder: RunHolder): void;
  /**
   * Called under a thread's lease before an edit. The result is passed on with the checkpoints of the edit, so that the
   * storage can refuse them, in the same step, if a run or another edit has changed the thread since. Not needed by a
   * storage that only one process writes to.
   */
  guardEdit?(threadId: string): Promise<unknown>;
  /** Store a checkpoint copied from another storage, with its writes. `newVersions` are the versions its parent does not have. */
  store(tuple: CheckpointTuple, newVersions: ChannelVersions): Promise<void>;
  /**
   * Copy the latest checkpoint of `sourceId` in each of `namespaces`, with its pending writes, to `targetId`: without
   * history and run_id, and with `metadata.source` set to "fork" (docs/specification.md#threads, 3). For a checkpoint with
   * delta channels, the ancestors from which its values are rebuilt are copied as well. With `at`, the root checkpoint
   * with that id is copied instead of the latest, without later writes.
   */
  copyLatest(sourceId: string, targetId: string, namespaces: readonly string[], at?: string): Promise<void>;
  /** Namespaces with checkpoints of this thread, sorted. The root namespace is empty and comes first. */
  namespaces(threadId: string): Promise<string[]>;
  /** Delete the checkpoints that a run wrote, in all namespaces of its thread. */
  deleteRun(threadId: string, runId: string): Promise<void>;
  /** Delete all checkpoints of a thread except the latest in each of `namespaces` and those its delta channels need. */
  keepLatest(threadId: string, namespaces: readonly string[]): Promise<void>;
}
