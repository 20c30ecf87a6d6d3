/**
 * The checkpointer that graphs get: the storage's, with an ear for the writes of runs that fail. It notes the origin of
 * each checkpoint, and keeps it to itself: what graphs do not see, no client can be shown.
 */
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
import { nextTurn } from "../support/event-loop.js";
import { ORIGIN_KEY } from "../storage/saver/checkpointer.js";
import { isNeeded, type NeededChannels, readingOf } from "../storage/saver/saver-parts.js";
import { assertPlainData } from "../graphs/coerce.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { CheckpointSelector } from "../models/state.js";
import { InvalidRequestError, NotFoundError, ThreadChangedError } from "../support/errors.js";
import { withKnownHead } from "../storage/saver/known-head.js";
import type { Checkpointer, RunHolder, Storage, ThreadLease } from "../storage/contract/storage.js";
import { ThreadHeads } from "./thread-heads.js";

interface Watched {
  threadId: string;
  /** Told of the first write that fails. */
  onFailure: (error: unknown) => void;
  /** The lease that covers the writes. */
  lease: ThreadLease;
  /** Who writes: the storage refuses what comes after the run was taken over. */
  holder?: RunHolder;
  /** What its checkpoints say of themselves. */
  origin: Origin;
  /** What has to be stored before what it writes now; undefined for nothing. */
  before?: () => Promise<void> | undefined;
}

interface WatchedRun extends Watched {
  /** Its writes that are under way. */
  writes: Set<Promise<unknown>>;
  heads: ThreadHeads;
}

/** A write to a thread outside of runs. */
interface Edit {
  origin: Origin;
  /** The lease that covers it. */
  lease: ThreadLease;
  heads: ThreadHeads;
  guard: unknown;
}

export class RunCheckpointer extends BaseCheckpointSaver {
  readonly #inner: Checkpointer;
  readonly #watched = new Map<string, WatchedRun>();
  /** By thread. */
  readonly #edits = new Map<string, Edit>();

  constructor(inner: Checkpointer) {
    super(inner.serde);
    this.#inner = inner;
    this.getNextVersion = inner.getNextVersion.bind(inner);
  }

  /**
   * Write for this run as long as its lease stands, and until `unwatch`: what a graph that was stopped still writes
   * then is dropped. Tell `onFailure` of the first write that fails, and let the failed writes seem to succeed: LangGraph
   * looks at them at the run's end only, and a rejection that nobody has heard by then ends the process. What the run
   * writes afterwards is refused, so that no checkpoint stands on one that is missing.
   */
  watch(runId: string, watched: Watched): void {
    const heads = new ThreadHeads(watched.threadId);
    this.#watched.set(runId, { ...watched, writes: new Set(), heads });
    if (watched.holder) this.#inner.hold?.(runId, watched.holder);
  }

  /** Whether the run's graph may still be at work here. */
  isWatched(runId: string): boolean {
    return this.#watched.has(runId);
  }

  /**
   * Resolves when no write of the run is under way: LangGraph gives a run that is stopped up at once, while the
   * checkpoints of its ended supersteps are still being written, each when the one before it is stored.
   */
  async drained(runId: string): Promise<void> {
    const writes = this.#watched.get(runId)?.writes ?? new Set<Promise<unknown>>();
    do {
      await Promise.all(writes);
      await nextTurn();
    } while (writes.size > 0);
  }

  unwatch(runId: string): void {
    this.#watched.delete(runId);
  }

  /**
   * Write to a thread outside of runs, under a lease of the caller.
   * @throws ThreadChangedError if the lease was lost, or somebody else has written meanwhile (`thread_changed`)
   * @throws ClockBehindError (`clock_behind`)
   */
  async edit<T>(
    { thread_id, checkpoint_ns }: CheckpointConfigurable,
    { origin, lease }: Pick<Edit, "origin" | "lease">,
    work: () => Promise<T>,
  ): Promise<T> {
    const guard = await this.#inner.guardEdit?.(thread_id);
    const heads = new ThreadHeads(thread_id);
    for (const namespace of new Set(["", checkpoint_ns])) {
      const head = await this.#inner.getTuple({ configurable: { thread_id, checkpoint_ns: namespace } });
      await heads.note(namespace, head?.checkpoint.id);
    }
    this.#edits.set(thread_id, { origin, lease, heads, guard });
    try {
      return await work();
    } finally {
      this.#edits.delete(thread_id);
    }
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await this.#inner.getTuple(config);
    const heads = this.#runOf(config)?.heads;
    const noted = heads && this.#noteHead(heads, config, tuple);
    if (noted) await noted;
    return tuple && unsigned(tuple);
  }

  /** A run reads each of its namespaces once before it writes there: what it finds is the head under its lease. */
  #noteHead(
    heads: ThreadHeads,
    { configurable = {} }: RunnableConfig,
    read: CheckpointTuple | undefined,
  ): Promise<void> | undefined {
    const {
      thread_id,
      checkpoint_ns = "",
      checkpoint_id,
    } = configurable as Record<string, string | undefined>;
    if (heads.has(checkpoint_ns)) return undefined;
    if (!checkpoint_id) return heads.note(checkpoint_ns, read?.checkpoint.id);
    return this.#inner
      .getTuple({ configurable: { thread_id, checkpoint_ns } })
      .then((head) => heads.note(checkpoint_ns, head?.checkpoint.id));
  }

  async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    // No checkpoint that is seen here has it.
    if (options?.filter && ORIGIN_KEY in options.filter) return;
    const { channels, onRead } = readingOf(config);
    for await (const tuple of this.#inner.list(config, options)) {
      onRead?.(tuple.checkpoint);
      yield unsigned(channels ? withoutUpdates(tuple, channels) : tuple);
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const run = this.#runOf(config);
    const edit = run ? undefined : this.#edits.get(String(config.configurable?.thread_id));
    const { origin, heads } = run ?? edit ?? {};
    const signed = origin ? withOrigin(metadata, origin) : metadata;
    const written = await this.#write(config, () => {
      const known = heads?.advance(String(config.configurable?.checkpoint_ns ?? ""), checkpoint.id);
      const guarded = known ? withKnownHead(config, known, edit?.guard) : config;
      return this.#inner.put(guarded, checkpoint, signed, newVersions);
    });
    if (written) return written;
    const { thread_id, checkpoint_ns = "" } = (config.configurable ?? {}) as Record<string, unknown>;
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { checkpoint_ns = "", checkpoint_id = "" } = (config.configurable ?? {}) as Record<string, string>;
    this.#runOf(config)?.heads.seeWrites(checkpoint_ns, checkpoint_id);
    await this.#write(config, () => this.#inner.putWrites(config, writes, taskId));
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

  /** The run that this config belongs to, if it is in flight here. */
  #runOf({ configurable }: RunnableConfig): WatchedRun | undefined {
    const runId: unknown = configurable?.run_id;
    return typeof runId === "string" ? this.#watched.get(runId) : undefined;
  }

  /** Undefined when the write of a run failed or was dropped. Rejects only for state writes, which are no run's. */
  async #write<T>({ configurable }: RunnableConfig, work: () => Promise<T>): Promise<T | undefined> {
    const runId = configurable?.run_id as unknown;
    if (typeof runId !== "string") {
      const edit = this.#edits.get(String(configurable?.thread_id));
      await edit?.lease.confirm?.();
      const requireLease = () => {
        if (edit?.lease.lost?.aborted) throw new ThreadChangedError(String(configurable?.thread_id));
      };
      requireLease();
      const written = await work();
      // Not every storage can refuse a write that arrives late. It is below what follows, and must not be acknowledged.
      requireLease();
      return written;
    }
    const watched = this.#watched.get(runId);
    if (!watched) return undefined;
    const write = this.#writeFor(runId, watched, work);
    watched.writes.add(write);
    try {
      return await write;
    } finally {
      watched.writes.delete(write);
    }
  }

  async #writeFor<T>(runId: string, watched: WatchedRun, work: () => Promise<T>): Promise<T | undefined> {
    const isOver = () => this.#watched.get(runId) !== watched;
    const before = watched.before?.();
    if (before) await before;
    const confirmed = watched.lease.confirm?.();
    // A lease that is lost fences its run.
    if (confirmed) await confirmed;
    if (isOver()) return undefined;
    try {
      return await work();
    } catch (error) {
      if (isOver()) return undefined;
      this.#inner.fence(runId);
      watched.onFailure(error);
      return undefined;
    }
  }
}

const unsigned = (tuple: CheckpointTuple): CheckpointTuple =>
  tuple.metadata ? { ...tuple, metadata: withoutOrigin(tuple.metadata) } : tuple;

/** Whose writes a command's update are: no task's. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

/** LangGraph reduces a command's update into the channels: those that were not read are empty, and may refuse it. */
const withoutUpdates = (tuple: CheckpointTuple, read: NeededChannels): CheckpointTuple => ({
  ...tuple,
  pendingWrites: tuple.pendingWrites?.filter(
    ([taskId, channel]) => taskId !== NO_TASK || isNeeded(channel, read),
  ),
});

// What a checkpoint says of its origin.

/** Where a checkpoint comes from; so that it is known as well where the thread's row is gone. */
export interface Origin {
  /** Graphs that had written to the thread by then, this checkpoint's own among them. */
  graphs: readonly string[];
  /** Whose thread it is, as rows have it. */
  scope: string | null;
}

/** What a checkpoint's metadata says of its origin; undefined for one that was stored without. */
export function originOf(metadata: object | undefined): Origin | undefined {
  const origin = (metadata as Record<string, unknown> | undefined)?.[ORIGIN_KEY];
  if (!isRecord(origin)) return undefined;
  const { graphs, scope } = origin;
  if (!Array.isArray(graphs) || !graphs.every((id) => typeof id === "string")) return undefined;
  return { graphs, scope: typeof scope === "string" ? scope : null };
}

/** The metadata as graphs and clients may see it. */
export function withoutOrigin<T extends object>(metadata: T): T {
  const { [ORIGIN_KEY]: _servers, ...rest } = metadata as T & Record<string, unknown>;
  return rest as T;
}

/** The metadata with this origin in the place of any other. */
export const withOrigin = <T extends object>(metadata: T, { graphs, scope }: Origin): T => ({
  ...metadata,
  [ORIGIN_KEY]: { graphs: [...graphs], scope },
});

// Checkpoint selectors of requests -> the `configurable` that LangGraph reads.

export interface CheckpointConfigurable extends JsonObject {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id?: string;
  checkpoint_map?: JsonObject;
}

/**
 * The selected checkpoint of a thread; absent, null and empty fields select nothing. Only the four fields of a
 * checkpoint are taken over: nothing else of a client's object reaches LangGraph's config.
 * @throws InvalidRequestError when the selector names another thread (`invalid_request`)
 */
export function checkpointConfigurable(
  threadId: string,
  selector: CheckpointSelector | null | undefined,
  checkpointId?: string | null,
): CheckpointConfigurable {
  const { thread_id, checkpoint_ns, checkpoint_id, checkpoint_map } = selector ?? {};
  if (thread_id && thread_id.toLowerCase() !== threadId) {
    throw InvalidRequestError.at(
      ["body", "checkpoint", "thread_id"],
      `names another thread than the path, ${threadId}`,
    );
  }
  const id = checkpoint_id || checkpointId;
  if (checkpoint_map) assertPlainData(checkpoint_map, ["body", "checkpoint", "checkpoint_map"]);
  return {
    thread_id: threadId,
    checkpoint_ns: checkpoint_ns ?? "",
    ...(id && { checkpoint_id: id }),
    ...(isRecord(checkpoint_map) && { checkpoint_map }),
  };
}

/**
 * A run or a write from a checkpoint that is not there would start an empty history.
 * @throws NotFoundError (`checkpoint_not_found`)
 */
export async function requireCheckpoint(
  { storage }: { storage: Pick<Storage, "checkpointer"> },
  selected: CheckpointConfigurable,
): Promise<void> {
  const { thread_id, checkpoint_ns, checkpoint_id } = selected;
  if (checkpoint_id === undefined) return;
  const tuple = await storage.checkpointer.getTuple({
    configurable: { thread_id, checkpoint_ns, checkpoint_id },
  });
  if (!tuple) throw new NotFoundError("checkpoint", checkpoint_id);
}
