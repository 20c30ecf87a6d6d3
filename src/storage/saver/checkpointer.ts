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
import { errorMessage, errorName, GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { dueYield } from "../../support/event-loop.js";
import { findUnserializable, UnserializableError } from "../../support/unserializable.js";
import { copyCheckpoint, lineage, storeTuple } from "./checkpoint-copy.js";
import { type ExplainError, guarded, storageError } from "../driver/errors.js";
import { containing } from "../rows/rows.js";
import { type HeldRuns, strictSerializer } from "./saver-parts.js";
import type { Checkpointer, RunHolder } from "../contract/storage.js";

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
  /** See `Checkpointer.guardEdit`. */
  guardEdit?: (threadId: string) => Promise<unknown>;
  /** Filled with who writes for which run, for a saver that looks there before it writes; see `Checkpointer.hold`. */
  held?: HeldRuns;
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
    const { channel_values: values } = checkpoint;
    const stamps = stamped(config, metadata);
    assertData(Object.keys(newVersions).map((channel) => [channel, values[channel]]));
    try {
      return await this.#saver.put(withNamespace(config), checkpoint, stamps, newVersions);
    } catch (error) {
      const refusal = await namedRefusal(error, this.serde, [...Object.entries(values), [METADATA, stamps]]);
      throw storageError(refusal, this.#explain);
    }
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    this.#refuseFenced(config);
    const worded = wordedWrites(writes);
    try {
      await this.#saver.putWrites(withNamespace(config), worded, taskId);
    } catch (error) {
      throw storageError(await namedRefusal(error, this.serde, worded), this.#explain);
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
      for (const checkpoint_ns of namespaces) {
        const tuples = await lineage(this.#saver, { configurable: { thread_id: threadId, checkpoint_ns } });
        for (const { checkpoint } of tuples) keep.push({ checkpoint_ns, checkpoint_id: checkpoint.id });
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

/** Checkpoints asked of the saver at once: some savers load all rows of a list before they yield the first. */
const BATCH = 100;

/** Checkpoints of one thread and namespace, newest first: what every saver's `list` does alike, and the rest done here. */
async function* listCheckpoints(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
  { limit = Infinity, before, filter = {} }: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const { pushed, rest } = splitFilter(filter);
  const wanted = config.configurable?.checkpoint_id as string | undefined;
  const hasMetadata = rest && containing(rest);
  let left = limit;
  let cursor = before;
  while (left > 0) {
    const size = rest || wanted ? BATCH : Math.min(left, BATCH);
    let read = 0;
    for await (const tuple of saver.list(config, { limit: size, before: cursor, filter: pushed })) {
      read += 1;
      cursor = tuple.config;
      await dueYield();
      if (hasMetadata && !hasMetadata(tuple.metadata)) continue;
      if (wanted && tuple.checkpoint.id !== wanted) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
    if (read < size) return;
  }
}

/**
 * Savers agree on texts and whole numbers under plain keys. Objects they match by identity or not at all, and some keys
 * read as paths.
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

// What a checkpoint's metadata says of its run: its id, its own metadata, the public keys of its configuration.

/** Key of a checkpoint's metadata that the server alone writes, and no client sees. */
export const ORIGIN_KEY = "graph_serve";

/** LangGraph's own fields of the metadata, and those that name the checkpoint. */
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
/** What LangGraph and LangChain note in a config for themselves. */
const LIBRARYS_OWN = /^(__|langgraph_|ls_)/;

/** The run that writes under this config; undefined for a write outside of runs. */
function runIdOf(config: RunnableConfig): string | undefined {
  const id: unknown = config.configurable?.run_id ?? config.metadata?.run_id;
  return typeof id === "string" ? id : undefined;
}

/**
 * The metadata with the config's stamps. A run id that LangGraph carried over from the checkpoint before goes: it is
 * the id of another run.
 */
function stamped(config: RunnableConfig, metadata: CheckpointMetadata): CheckpointMetadata {
  const { run_id: _1, run_attempt: _2, ...own } = metadata as CheckpointMetadata<Record<string, unknown>>;
  const runId = runIdOf(config);
  const stamps = { ...publicKeys(config.configurable), ...publicKeys(config.metadata) };
  return { ...stamps, ...own, ...(runId !== undefined && { run_id: runId }) };
}

/** Scalars only: objects of a graph's configurable may be anything, models and clients with their keys included. */
function publicKeys(entries: Record<string, unknown> = {}): Record<string, unknown> {
  const stamps: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entries)) {
    if (!LIBRARYS_OWN.test(key) && isScalar(value) && !RESERVED.has(key) && !namesSecret(key))
      stamps[key] = maskSecrets(value);
  }
  return stamps;
}

const isScalar = (value: unknown) =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

// Which value it was that a saver could not store.

type Entry = readonly [channel: string, value: unknown];

/** Stands for the metadata among the channels of a checkpoint. */
const METADATA = "__metadata__";

/** LangGraph's own channels in words, with what their values go by. */
const CHANNELS: Record<string, readonly [subject: string, name: string]> = {
  [INTERRUPT]: ["what interrupt() asks", "interrupt"],
  [TASKS]: ["the input of a Send", "send"],
  __start__: ["the input", "input"],
  __input__: ["the input", "input"],
  __return__: ["what a task returned", "result"],
  __end__: ["what the graph returned", "result"],
  __previous__: ["what the graph saved", "previous"],
  [METADATA]: ["the metadata of the checkpoint", "metadata"],
};

const inWords = (channel: string): readonly [string, string] =>
  CHANNELS[channel] ?? [`state key ${JSON.stringify(channel)}`, channel];

/** @throws UnserializableError for a function or a symbol, of which nothing would be stored */
function assertData(entries: Iterable<Entry>): void {
  for (const [channel, value] of entries) {
    if (typeof value !== "function" && typeof value !== "symbol") continue;
    const [subject, name] = inWords(channel);
    throw new UnserializableError(
      `${subject} cannot be stored`,
      findUnserializable(value, { name }) ?? { path: name, what: "cannot be serialized" },
    );
  }
}

/** The error that names the value which `serde` refuses; any other error as it is. */
async function namedRefusal(
  error: unknown,
  serde: SerializerProtocol,
  entries: Iterable<Entry>,
): Promise<unknown> {
  if (!(error instanceof UnserializableError)) return error;
  for (const [channel, value] of entries) {
    const refusal = await refusalOf(serde, value);
    if (!refusal) continue;
    const [subject, name] = inWords(channel);
    const { path, what } = refusal.fault;
    // What is asked is the value of an interrupt, which stands alone or in a list of them.
    const inside = path.replace(channel === INTERRUPT ? /^value(\[\d+\])?(\.value)?/ : /^value/, "");
    return new UnserializableError(
      `${subject} cannot be stored`,
      { path: name + inside, what },
      refusal.cause,
    );
  }
  return error;
}

async function refusalOf(
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

/** The writes, with what a task threw in bounded words: LangGraph takes its name and message as they are. */
function wordedWrites(writes: PendingWrite[]): PendingWrite[] {
  if (writes.every(([channel]) => channel !== ERROR)) return writes;
  return writes.map(([channel, value]): PendingWrite => [channel, channel === ERROR ? worded(value) : value]);
}

function worded(thrown: unknown): unknown {
  if (typeof thrown !== "object" || thrown === null) return thrown;
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return {
    message: message === undefined ? message : errorMessage({ message }),
    name: typeof name === "string" ? name.slice(0, 200) : errorName(thrown),
  };
}
