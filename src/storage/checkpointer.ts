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
import type { RunnableConfig } from "@langchain/core/runnables";
import { GraphServeError, InvalidRequestError } from "../errors.js";
import { copyCheckpoint, storeTuple } from "./checkpoint-copy.js";
import { listCheckpoints } from "./checkpoint-list.js";
import { guarded, storageError, type ExplainError } from "./driver-errors.js";
import { lineage } from "./lineage.js";
import { runIdOf, stamped } from "./stamp.js";
import type { Checkpointer } from "./storage.js";

/** Names a stored checkpoint of a thread. */
export interface CheckpointKey {
  checkpoint_ns: string;
  checkpoint_id: string;
}

export interface WrapOptions {
  /** Delete a thread's checkpoints and writes but these, in one step; parents that are gone are forgotten. */
  keepOnly: (threadId: string, keep: readonly CheckpointKey[]) => Promise<void>;
  /** Namespaces of a thread's checkpoints, where they can be had without reading these. */
  namespaces?: (threadId: string) => Promise<string[]>;
  /** Which errors are the driver's, and what they mean; none when left out. */
  explain?: ExplainError;
}

/** The saver with its quirks hidden; see `Checkpointer`. */
export function wrapCheckpointer(saver: BaseCheckpointSaver, options: WrapOptions): Checkpointer {
  return new WrappedCheckpointer(saver, options);
}

class WrappedCheckpointer extends BaseCheckpointSaver implements Checkpointer {
  readonly #saver: BaseCheckpointSaver;
  readonly #keepOnly: WrapOptions["keepOnly"];
  readonly #namespaces: NonNullable<WrapOptions["namespaces"]>;
  readonly #explain: ExplainError;
  readonly #fenced = new Set<string>();

  constructor(
    saver: BaseCheckpointSaver,
    {
      keepOnly,
      namespaces = (threadId) => listedNamespaces(saver, threadId),
      explain = () => undefined,
    }: WrapOptions,
  ) {
    super(saver.serde);
    this.#saver = saver;
    this.#keepOnly = keepOnly;
    this.#namespaces = namespaces;
    this.#explain = explain;
    // LangGraph binds this method to other objects than the saver it takes it from.
    this.getNextVersion = saver.getNextVersion.bind(saver);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    try {
      return await this.#saver.getTuple(withNamespace(config));
    } catch (error) {
      throw storageError(error, this.#explain);
    }
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    if (!config.configurable?.thread_id) {
      throw InvalidRequestError.at(["configurable", "thread_id"], "is needed to list checkpoints", "missing");
    }
    try {
      yield* listCheckpoints(this.#saver, withNamespace(config), options);
    } catch (error) {
      throw storageError(error, this.#explain);
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#refuseFenced(config);
    try {
      return await this.#saver.put(withNamespace(config), checkpoint, stamped(config, metadata), newVersions);
    } catch (error) {
      throw storageError(error, this.#explain);
    }
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    this.#refuseFenced(config);
    try {
      await this.#saver.putWrites(withNamespace(config), writes, taskId);
    } catch (error) {
      throw storageError(error, this.#explain);
    }
  }

  deleteThread(threadId: string): Promise<void> {
    return guarded(this.#explain, () => this.#saver.deleteThread(threadId));
  }

  store(tuple: CheckpointTuple, newVersions: ChannelVersions): Promise<void> {
    const { thread_id, checkpoint_ns = "" } = (tuple.config.configurable ?? {}) as Record<string, string>;
    const parent = tuple.parentConfig?.configurable?.checkpoint_id as string | undefined;
    const place = { thread_id, checkpoint_ns, checkpoint_id: parent };
    return guarded(this.#explain, () => storeTuple(this.#saver, tuple, place, newVersions));
  }

  override getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const config = withNamespace(options.config);
    return guarded(this.#explain, () => this.#saver.getDeltaChannelHistory({ ...options, config }));
  }

  fence(runId: string): void {
    this.#fenced.add(runId);
  }

  unfence(runId: string): void {
    this.#fenced.delete(runId);
  }

  copyLatest(sourceId: string, targetId: string, namespaces: readonly string[], at?: string): Promise<void> {
    return guarded(this.#explain, async () => {
      for (const namespace of namespaces) {
        const root = namespace === "" ? at : undefined;
        await copyCheckpoint(this.#saver, { sourceId, targetId, namespace, at: root });
      }
    });
  }

  keepLatest(threadId: string, namespaces: readonly string[]): Promise<void> {
    return guarded(this.#explain, async () => {
      const keep: CheckpointKey[] = [];
      for (const checkpoint_ns of namespaces) {
        const tuples = await lineage(this.#saver, { configurable: { thread_id: threadId, checkpoint_ns } });
        keep.push(...tuples.map(({ checkpoint }) => ({ checkpoint_ns, checkpoint_id: checkpoint.id })));
      }
      await this.#keepOnly(threadId, keep);
    });
  }

  namespaces(threadId: string): Promise<string[]> {
    return guarded(this.#explain, async () => (await this.#namespaces(threadId)).sort());
  }

  deleteRun(threadId: string, runId: string): Promise<void> {
    return guarded(this.#explain, async () => {
      const keep: CheckpointKey[] = [];
      // Without a namespace savers list all of them.
      for await (const { config, checkpoint, metadata } of this.#saver.list({
        configurable: { thread_id: threadId },
      })) {
        if ((metadata as { run_id?: unknown } | undefined)?.run_id === runId) continue;
        const checkpoint_ns = String(config.configurable?.checkpoint_ns ?? "");
        keep.push({ checkpoint_ns, checkpoint_id: checkpoint.id });
      }
      await this.#keepOnly(threadId, keep);
    });
  }

  #refuseFenced(config: RunnableConfig): void {
    if (this.#fenced.size === 0) return;
    const runId = runIdOf(config);
    if (runId !== undefined && this.#fenced.has(runId)) {
      throw new GraphServeError("run_failed", `run "${runId}" has ended: its late write is refused`);
    }
  }
}

/** Without a namespace savers list all of them. */
async function listedNamespaces(saver: BaseCheckpointSaver, threadId: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const { config } of saver.list({ configurable: { thread_id: threadId } }))
    found.add(String(config.configurable?.checkpoint_ns ?? ""));
  return [...found];
}

/** Without a namespace some savers list all of them, and SqliteSaver reads the whole thread to sort it. */
function withNamespace(config: RunnableConfig): RunnableConfig {
  if (typeof config.configurable?.checkpoint_ns === "string") return config;
  return { ...config, configurable: { ...config.configurable, checkpoint_ns: "" } };
}
