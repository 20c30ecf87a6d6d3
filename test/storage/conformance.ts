import { BaseCheckpointSaver, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import type { RunnableConfig } from "@langchain/core/runnables";
import { wrapCheckpointer } from "../../src/storage/saver/wrap.js";

/**
 * Runs LangGraph's own conformance suite against the wrapped saver. `checkpointerName` must be a name that the suite
 * knows.
 */
export function conformance(
  checkpointerName: string,
  create: () => BaseCheckpointSaver | Promise<BaseCheckpointSaver>,
): void {
  const initializer = { checkpointerName, createCheckpointer: async () => new PlainView(await create()) };
  validate(initializer);
  deltaChannelHistoryTests(initializer);
}

/**
 * The wrapped saver, without two deliberate differences that the suite does not expect: metadata is returned without
 * the stamps, and lists over all threads or namespaces, which the wrapper never requests, are read from the inner
 * saver directly.
 */
class PlainView extends BaseCheckpointSaver {
  readonly #saver: BaseCheckpointSaver;
  readonly #wrapped: BaseCheckpointSaver;

  constructor(saver: BaseCheckpointSaver) {
    super(saver.serde);
    this.#saver = saver;
    this.#wrapped = wrapCheckpointer(saver, { keepOnly: async () => undefined });
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await this.#wrapped.getTuple(config);
    return tuple && withoutStamps(tuple);
  }

  async *list(
    ...[config, options]: Parameters<BaseCheckpointSaver["list"]>
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns } = (config.configurable ?? {}) as Record<string, unknown>;
    const saver = thread_id === undefined || checkpoint_ns === undefined ? this.#saver : this.#wrapped;
    for await (const tuple of saver.list(config, options)) yield withoutStamps(tuple);
  }

  put(...args: Parameters<BaseCheckpointSaver["put"]>) {
    return this.#wrapped.put(...args);
  }

  putWrites(...args: Parameters<BaseCheckpointSaver["putWrites"]>) {
    return this.#wrapped.putWrites(...args);
  }

  deleteThread(threadId: string) {
    return this.#wrapped.deleteThread(threadId);
  }

  override getDeltaChannelHistory(...args: Parameters<BaseCheckpointSaver["getDeltaChannelHistory"]>) {
    return this.#wrapped.getDeltaChannelHistory(...args);
  }
}

function withoutStamps(tuple: CheckpointTuple): CheckpointTuple {
  if (!tuple.metadata) return tuple;
  const { source, step, parents } = tuple.metadata;
  return { ...tuple, metadata: { source, step, parents } };
}
