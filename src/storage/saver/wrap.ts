/** Wraps a saver of LangGraph to fulfil the contract of `Checkpointer`. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  ERROR,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { withAppliedResults, type Edit } from "./applied-results.js";
import { copyCheckpoint, lineage, storeTuple } from "./checkpoint-copy.js";
import { type ExplainError, guarded, storageError } from "../driver/errors.js";
import type { HeldRuns } from "./held-run.js";
import { NO_CHANNELS, withReading } from "./reading.js";
import { strictSerializer } from "./serializer.js";
import type { RunHolder } from "../contract/runs.js";
import type { Checkpointer } from "../contract/checkpointer.js";
import { runIdOf, stamped } from "./stamps.js";
import { METADATA, assertData, namedError } from "./unstorable.js";
import { limitError } from "./writes.js";
import { listCheckpoints } from "./list.js";

/**
 * Names a stored checkpoint of a thread.
 * @example
 * ```ts
 * import type { CheckpointKey } from "graph-serve";
 * import { saver } from "./tables.js";
 *
 * const kept: CheckpointKey[] = [{ checkpoint_ns: "", checkpoint_id: "checkpoint-1" }];
 * const newest: CheckpointKey[] = [{ checkpoint_ns: "", checkpoint_id: "checkpoint-2" }];
 * saver.keepOnly("thread-1", kept, newest);
 * ```
 */
export interface CheckpointKey {
  /** Namespace; empty for the root graph. */
  checkpoint_ns: string;
  /** Id of the checkpoint, unique within its namespace. */
  checkpoint_id: string;
}

/**
 * What `wrapCheckpointer` needs in addition to the saver.
 * @example
 * ```ts
 * import type { WrapOptions } from "graph-serve";
 * import { saver } from "./tables.js";
 *
 * const options: WrapOptions = {
 *   keepOnly: async (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
 * };
 * ```
 */
export interface WrapOptions {
  /**
   * Atomically delete all checkpoints and writes of a thread except those in `keep`; references to deleted parents are
   * removed. `newest` is the newest checkpoint of each namespace that was read. Checkpoints with a higher id, and those
   * of other namespaces, stay: another process has written them since.
   */
  keepOnly: (
    threadId: string,
    keep: readonly CheckpointKey[],
    newest: readonly CheckpointKey[],
  ) => Promise<void>;
  /** Namespaces of a thread's checkpoints, for savers that can list them without reading the checkpoints. */
  namespaces?: (threadId: string) => Promise<string[]>;
  /** Explains the driver's errors; if omitted, errors are passed through. */
  explain?: ExplainError;
  /** See `Checkpointer.guardEdit`. */
  guardEdit?: (threadId: string) => Promise<unknown>;
  /** Filled with the lease owner of each run, for a saver that checks it before it writes; see `Checkpointer.hold`. */
  held?: HeldRuns;
}

/**
 * Wraps a saver to fulfil the contract of `Checkpointer`.
 * @param saver a checkpointer of LangGraph
 * @param options how to delete checkpoints, and how to explain the driver's errors
 * @returns the checkpointer of a custom storage
 * @example
 * ```ts
 * import { wrapCheckpointer } from "graph-serve";
 * import { saver } from "./tables.js";
 *
 * const checkpointer = wrapCheckpointer(saver, {
 *   keepOnly: async (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
 * });
 * await checkpointer.namespaces("thread-1"); // => []
 * ```
 */
export function wrapCheckpointer(saver: BaseCheckpointSaver, options: WrapOptions): Checkpointer {
  return new WrappedCheckpointer(saver, options);
}

class WrappedCheckpointer extends BaseCheckpointSaver implements Checkpointer {
  readonly #saver: BaseCheckpointSaver;
  readonly #keepOnly: WrapOptions["keepOnly"];
  readonly #namespaces: NonNullable<WrapOptions["namespaces"]>;
  readonly #explain: ExplainError;
  readonly #fenced = new Set<string>();
  readonly #held: HeldRuns | undefined;
  readonly #guardEdit: WrapOptions["guardEdit"];

  constructor(
    saver: BaseCheckpointSaver,
    {
      keepOnly,
      namespaces = (threadId) => listedNamespaces(saver, threadId),
      explain = () => undefined,
      held,
      guardEdit,
    }: WrapOptions,
  ) {
    saver.serde = strictSerializer(saver.serde);
    super(saver.serde);
    this.#saver = saver;
    this.#keepOnly = keepOnly;
    this.#namespaces = namespaces;
    this.#explain = explain;
    this.#held = held;
    this.#guardEdit = guardEdit;
    // LangGraph calls this method with a different `this`.
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
    if (this.#fenced.size > 0) this.#refuseFenced(config);
    const { channel_values: values } = checkpoint;
    const stamps = stamped(config, metadata);
    assertData(Object.keys(newVersions), values);
    const place = withNamespace(config);
    try {
      return await (metadata.source === "update"
        ? this.#putEdit(place, { checkpoint, newVersions }, stamps)
        : this.#saver.put(place, checkpoint, stamps, newVersions));
    } catch (error) {
      return await this.#failed(error, [...Object.entries(values), [METADATA, stamps]]);
    }
  }

  async #putEdit(place: RunnableConfig, edit: Edit, stamps: CheckpointMetadata): Promise<RunnableConfig> {
    const { checkpoint, newVersions } = await withAppliedResults(this.#saver, place, edit);
    return this.#saver.put(place, checkpoint, stamps, newVersions);
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    if (this.#fenced.size > 0) this.#refuseFenced(config);
    const limited: PendingWrite[] = [];
    for (const [channel, value] of writes)
      limited.push([channel, channel === ERROR ? limitError(value) : value]);
    try {
      await this.#saver.putWrites(withNamespace(config), limited, taskId);
    } catch (error) {
      await this.#failed(error, limited);
    }
  }

  async #failed(error: unknown, values: Parameters<typeof namedError>[2]): Promise<never> {
    throw storageError(await namedError(error, this.serde, values), this.#explain);
  }

  deleteThread(threadId: string): Promise<void> {
    return guarded(this.#explain, () => this.#saver.deleteThread(threadId));
  }

  async store(tuple: CheckpointTuple, newVersions: ChannelVersions): Promise<void> {
    const { thread_id, checkpoint_ns = "" } = (tuple.config.configurable ?? {}) as Record<string, string>;
    const parent = tuple.parentConfig?.configurable?.checkpoint_id as string | undefined;
    const place = { thread_id, checkpoint_ns, checkpoint_id: parent };
    const { checkpoint, metadata, pendingWrites = [] } = tuple;
    try {
      await storeTuple(this.#saver, tuple, place, newVersions);
    } catch (error) {
      const writes = pendingWrites.map(([, channel, value]) => [channel, value] as const);
      await this.#failed(error, [
        ...Object.entries(checkpoint.channel_values),
        ...writes,
        [METADATA, metadata],
      ]);
    }
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
    this.#held?.delete(runId);
  }

  async guardEdit(threadId: string): Promise<unknown> {
    return guarded(this.#explain, async () => this.#guardEdit?.(threadId));
  }

  hold(runId: string, holder: RunHolder): void {
    this.#held?.set(runId, holder);
  }

  copyLatest(sourceId: string, targetId: string, namespaces: readonly string[], at?: string): Promise<void> {
    return guarded(this.#explain, async () => {
      for (const namespace of namespaces) {
        await copyCheckpoint(this.#saver, { sourceId, targetId, namespace, ...(at !== undefined && { at }) });
      }
    });
  }

  keepLatest(threadId: string, namespaces: readonly string[]): Promise<void> {
    return guarded(this.#explain, async () => {
      const keep: CheckpointKey[] = [];
      const newest: CheckpointKey[] = [];
      for (const checkpoint_ns of new Set([...namespaces, ...(await this.#namespaces(threadId))])) {
        const place = { thread_id: threadId, checkpoint_ns };
        const isKept = namespaces.includes(checkpoint_ns);
        const tuples = isKept
          ? await lineage(this.#saver, { configurable: place })
          : [await this.#saver.getTuple({ configurable: withReading(place, { channels: NO_CHANNELS }) })];
        const keys = tuples.flatMap((tuple) =>
          tuple ? [{ checkpoint_ns, checkpoint_id: tuple.checkpoint.id }] : [],
        );
        newest.push(...keys.slice(0, 1));
        if (isKept) keep.push(...keys);
      }
      await this.#keepOnly(threadId, keep, newest);
    });
  }

  namespaces(threadId: string): Promise<string[]> {
    return guarded(this.#explain, async () => (await this.#namespaces(threadId)).sort());
  }

  deleteRun(threadId: string, runId: string): Promise<void> {
    return guarded(this.#explain, async () => {
      const keep: CheckpointKey[] = [];
      const newest = new Map<string, CheckpointKey>();
      // Without a namespace, savers list all namespaces.
      for await (const { config, checkpoint, metadata } of this.#saver.list({
        configurable: { thread_id: threadId },
      })) {
        const checkpoint_ns = String(config.configurable?.checkpoint_ns ?? "");
        const key = { checkpoint_ns, checkpoint_id: checkpoint.id };
        if (key.checkpoint_id > (newest.get(checkpoint_ns)?.checkpoint_id ?? ""))
          newest.set(checkpoint_ns, key);
        if ((metadata as { run_id?: unknown } | undefined)?.run_id !== runId) keep.push(key);
      }
      await this.#keepOnly(threadId, keep, [...newest.values()]);
    });
  }

  #refuseFenced(config: RunnableConfig): void {
    const runId = runIdOf(config);
    if (runId !== undefined && this.#fenced.has(runId)) {
      throw new GraphServeError("run_failed", `run "${runId}" has ended: its late write is refused`);
    }
  }
}

/** Without a namespace, savers list all namespaces. */
async function listedNamespaces(saver: BaseCheckpointSaver, threadId: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const { config } of saver.list({ configurable: { thread_id: threadId } }))
    found.add(String(config.configurable?.checkpoint_ns ?? ""));
  return [...found];
}

/** Without a namespace, some savers list all namespaces, and SqliteSaver reads and sorts the whole thread. */
function withNamespace(config: RunnableConfig): RunnableConfig {
  if (typeof config.configurable?.checkpoint_ns === "string") return config;
  return { ...config, configurable: { ...config.configurable, checkpoint_ns: "" } };
}
