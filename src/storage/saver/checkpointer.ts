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
  INTERRUPT,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { maskSecrets, namesSecret } from "../../support/secrets.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { errorMessage, errorName } from "../../support/errors/thrown.js";
import { callSafely } from "../../support/call-safely.js";
import { dueYield } from "../../support/event-loop.js";
import { findUnserializable, UnserializableError } from "../../support/unserializable.js";
import { withAppliedResults, type Edit } from "./applied-results.js";
import { copyCheckpoint, lineage, storeTuple } from "./checkpoint-copy.js";
import { type ExplainError, guarded, storageError } from "../driver/errors.js";
import { containing } from "../rows/rows.js";
import { type HeldRuns, NO_CHANNELS, ORIGIN_KEY, strictSerializer, withReading } from "./saver-parts.js";
import type { RunHolder } from "../contract/runs.js";
import type { Checkpointer } from "../contract/checkpointer.js";

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

  put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return callSafely(() => {
      this.#refuseFenced(config);
      const { channel_values: values } = checkpoint;
      const stamps = stamped(config, metadata);
      assertData(Object.keys(newVersions).map((channel) => [channel, values[channel]]));
      const place = withNamespace(config);
      const write = () =>
        metadata.source === "update"
          ? this.#putEdit(place, { checkpoint, newVersions }, stamps)
          : this.#saver.put(place, checkpoint, stamps, newVersions);
      return callSafely(write).catch((error: unknown) =>
        this.#failed(error, [...Object.entries(values), [METADATA, stamps]]),
      );
    });
  }

  async #putEdit(place: RunnableConfig, edit: Edit, stamps: CheckpointMetadata): Promise<RunnableConfig> {
    const { checkpoint, newVersions } = await withAppliedResults(this.#saver, place, edit);
    return this.#saver.put(place, checkpoint, stamps, newVersions);
  }

  putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return callSafely(() => {
      this.#refuseFenced(config);
      const limited = limitErrors(writes);
      const write = () => this.#saver.putWrites(withNamespace(config), limited, taskId);
      return callSafely(write).catch((error: unknown) => this.#failed(error, limited));
    });
  }

  async #failed(error: unknown, values: Parameters<typeof namedError>[2]): Promise<never> {
    throw storageError(await namedError(error, this.serde, values), this.#explain);
  }

  deleteThread(threadId: string): Promise<void> {
    return guarded(this.#explain, () => this.#saver.deleteThread(threadId));
  }

  store(tuple: CheckpointTuple, newVersions: ChannelVersions): Promise<void> {
    const { thread_id, checkpoint_ns = "" } = (tuple.config.configurable ?? {}) as Record<string, string>;
    const parent = tuple.parentConfig?.configurable?.checkpoint_id as string | undefined;
    const place = { thread_id, checkpoint_ns, checkpoint_id: parent };
    const write = () => storeTuple(this.#saver, tuple, place, newVersions);
    const { checkpoint, metadata, pendingWrites = [] } = tuple;
    return callSafely(write).catch((error: unknown) => {
      const writes = pendingWrites.map(([, channel, value]) => [channel, value] as const);
      return this.#failed(error, [
        ...Object.entries(checkpoint.channel_values),
        ...writes,
        [METADATA, metadata],
      ]);
    });
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
    if (this.#fenced.size === 0) return;
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

/** Checkpoints requested from the saver per call: some savers load all rows of a list before they yield the first. */
const BATCH = 100;

/** Checkpoints of one thread and namespace, newest first. Filters that savers treat differently are applied here. */
async function* listCheckpoints(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
  { limit = Infinity, before, filter = {} }: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const { pushed, rest } = splitFilter(filter);
  const wanted = config.configurable?.checkpoint_id as string | undefined;
  const hasMetadata = rest && containing(rest);
  let remaining = limit;
  let cursor = before;
  while (remaining > 0) {
    const size = rest || wanted ? BATCH : Math.min(remaining, BATCH);
    let read = 0;
    for await (const tuple of saver.list(config, { limit: size, before: cursor, filter: pushed })) {
      read += 1;
      cursor = tuple.config;
      await dueYield();
      if (hasMetadata && !hasMetadata(tuple.metadata)) continue;
      if (wanted && tuple.checkpoint.id !== wanted) continue;
      yield tuple;
      remaining -= 1;
      if (remaining <= 0) return;
    }
    if (read < size) return;
  }
}

/**
 * Splits a filter into the part that all savers match alike, strings and integers under plain keys, and the rest. Savers
 * match objects by identity or not at all, and interpret some keys as paths.
 */
function splitFilter(filter: Record<string, unknown>) {
  const pushed: [string, unknown][] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const isAgreed = typeof value === "string" || Number.isSafeInteger(value);
    if (isAgreed && /^[a-z]\w*$/i.test(key)) pushed.push([key, value]);
    else rest.push([key, value]);
  }
  return { pushed: Object.fromEntries(pushed), rest: rest.length > 0 ? Object.fromEntries(rest) : undefined };
}

// Run stamps in a checkpoint's metadata: the run's id, its metadata and the public keys of its configuration.

/** LangGraph's own metadata fields, and the ones that identify the checkpoint. */
const RESERVED = new Set([
  "source",
  "step",
  "parents",
  "writes",
  "counters_since_delta_snapshot",
  "checkpoint_ns",
  "checkpoint_id",
  "checkpoint_map",
  "run_id",
  ORIGIN_KEY,
]);
/** Prefixes of config keys that LangGraph and LangChain use internally. */
const INTERNAL_KEY = /^(__|langgraph_|ls_)/;

/** Id of the run that writes under this config; undefined for a write outside of runs. */
function runIdOf(config: RunnableConfig): string | undefined {
  const id: unknown = config.configurable?.run_id ?? config.metadata?.run_id;
  return typeof id === "string" ? id : undefined;
}

/**
 * The metadata with the config's stamps. A run id that LangGraph copied from the previous checkpoint is removed: it
 * belongs to another run.
 */
function stamped(config: RunnableConfig, metadata: CheckpointMetadata): CheckpointMetadata {
  const { run_id: _1, run_attempt: _2, ...own } = metadata as CheckpointMetadata<Record<string, unknown>>;
  const runId = runIdOf(config);
  const stamps = { ...publicKeys(config.configurable), ...publicKeys(config.metadata) };
  return { ...stamps, ...own, ...(runId !== undefined && { run_id: runId }) };
}

/** Scalars only: objects in a graph's configurable may be anything, including models and clients with their API keys. */
function publicKeys(entries: Record<string, unknown> = {}): Record<string, unknown> {
  const stamps: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entries)) {
    if (!INTERNAL_KEY.test(key) && isScalar(value) && !RESERVED.has(key) && !namesSecret(key))
      stamps[key] = maskSecrets(value);
  }
  return stamps;
}

const isScalar = (value: unknown) =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

// Errors that name the value that could not be stored.

type Entry = readonly [channel: string, value: unknown];

/** Pseudo channel for the metadata of a checkpoint. */
const METADATA = "__metadata__";

/** Descriptions of LangGraph's own channels, each with the root of the path to the value. */
const CHANNELS: Record<string, readonly [subject: string, name: string]> = {
  [INTERRUPT]: ["the value of interrupt()", "interrupt"],
  [TASKS]: ["the input of a Send", "send"],
  __start__: ["the input", "input"],
  __input__: ["the input", "input"],
  __return__: ["the result of a task", "result"],
  __end__: ["the result of the graph", "result"],
  __previous__: ["the saved value of the graph", "previous"],
  [METADATA]: ["the metadata of the checkpoint", "metadata"],
};

const describeChannel = (channel: string): readonly [string, string] =>
  CHANNELS[channel] ?? [`state key ${JSON.stringify(channel)}`, channel];

/** @throws UnserializableError for a function or a symbol, which would be stored as nothing (`invalid_request`) */
function assertData(entries: Iterable<Entry>): void {
  for (const [channel, value] of entries) {
    if (typeof value !== "function" && typeof value !== "symbol") continue;
    const [subject, name] = describeChannel(channel);
    throw new UnserializableError(
      `${subject} cannot be stored`,
      findUnserializable(value, { name }) ?? { path: name, what: "cannot be serialized" },
    );
  }
}

/** If `serde` rejects one of the values, an error that names it; otherwise the error unchanged. */
async function namedError(
  error: unknown,
  serde: SerializerProtocol,
  entries: Iterable<Entry>,
): Promise<unknown> {
  if (!(error instanceof UnserializableError)) return error;
  for (const [channel, value] of entries) {
    const rejection = await rejectionOf(serde, value);
    if (!rejection) continue;
    const [subject, name] = describeChannel(channel);
    const { path, what } = rejection.fault;
    // The path starts with the interrupt, or a list of interrupts, around the value.
    const inside = path.replace(channel === INTERRUPT ? /^value(\[\d+\])?(\.value)?/ : /^value/, "");
    return new UnserializableError(
      `${subject} cannot be stored`,
      { path: name + inside, what },
      rejection.cause,
    );
  }
  return error;
}

async function rejectionOf(
  serde: SerializerProtocol,
  value: unknown,
): Promise<UnserializableError | undefined> {
  try {
    await serde.dumpsTyped(value);
    return undefined;
  } catch (error) {
    return error instanceof UnserializableError ? error : undefined;
  }
}

/** Limits the name and message of errors that tasks threw: LangGraph stores them at any length. */
function limitErrors(writes: PendingWrite[]): PendingWrite[] {
  if (writes.every(([channel]) => channel !== ERROR)) return writes;
  return writes.map(([channel, value]): PendingWrite => [
    channel,
    channel === ERROR ? limitError(value) : value,
  ]);
}

function limitError(thrown: unknown): unknown {
  if (typeof thrown !== "object" || thrown === null) return thrown;
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return {
    message: message === undefined ? message : errorMessage({ message }),
    name: typeof name === "string" ? name.slice(0, 200) : errorName(thrown),
  };
}
