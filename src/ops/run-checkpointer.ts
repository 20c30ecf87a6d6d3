/** The checkpointer that graphs get: the storage's, with an ear for the writes of runs that fail. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { Checkpointer } from "../storage/storage.js";

export class RunCheckpointer extends BaseCheckpointSaver {
  readonly #inner: Checkpointer;
  readonly #watched = new Map<string, (error: unknown) => void>();

  constructor(inner: Checkpointer) {
    super(inner.serde);
    this.#inner = inner;
    this.getNextVersion = inner.getNextVersion.bind(inner);
  }

  /**
   * Tell `onFailure` of the first write of this run that fails, and let the failed writes seem to succeed: LangGraph
   * looks at them at the run's end only, and a rejection that nobody has heard by then ends the process. What the run
   * writes afterwards is refused, so that no checkpoint stands on one that is missing.
   */
  watch(runId: string, onFailure: (error: unknown) => void): void {
    this.#watched.set(runId, onFailure);
  }

  unwatch(runId: string): void {
    this.#watched.delete(runId);
  }

  getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#inner.getTuple(config);
  }

  list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#inner.list(config, options);
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    try {
      return await this.#inner.put(config, checkpoint, metadata, newVersions);
    } catch (error) {
      this.#failed(config, error);
      const { thread_id, checkpoint_ns = "" } = (config.configurable ?? {}) as Record<string, unknown>;
      return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
    }
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    try {
      await this.#inner.putWrites(config, writes, taskId);
    } catch (error) {
      this.#failed(config, error);
    }
  }

  deleteThread(threadId: string): Promise<void> {
    return this.#inner.deleteThread(threadId);
  }

  override getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    return this.#inner.getDeltaChannelHistory(options);
  }

  /** Rethrows where no run is watched: state writes wait for what they write. */
  #failed({ configurable }: RunnableConfig, error: unknown): void {
    const runId = configurable?.run_id as unknown;
    const onFailure = typeof runId === "string" ? this.#watched.get(runId) : undefined;
    if (!onFailure) throw error;
    this.#inner.fence(runId as string);
    onFailure(error);
  }
}
