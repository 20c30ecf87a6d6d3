/**
 * The checkpointer for graphs. It wraps the storage's checkpointer and reports failed writes of runs. It also stores the
 * origin of each checkpoint, and hides it from graphs, so that it cannot reach clients.
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
import { readingOf, withoutUpdates } from "../storage/saver/reading.js";
import type { CheckpointRef, NamespaceRef } from "../storage/saver/ref.js";
import { ORIGIN_KEY } from "../storage/saver/stamps.js";
import { ThreadChangedError } from "../support/errors.js";
import { withKnownHead } from "../storage/saver/known-head.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunHolder } from "../storage/contract/runs.js";
import type { Checkpointer } from "../storage/contract/checkpointer.js";
import { MessageCounter } from "./message-counter.js";
import { advance, type Heads, noteHead } from "./thread-heads.js";
import { hideOrigin, type Origin, withOrigin } from "./checkpoint-origin.js";

interface Watched {
  /** Called with the error of the first failed write. */
  onFailure: (error: unknown) => void;
  /** The lease that covers the writes. */
  lease: ThreadLease;
  /** Lease owner of the run: the storage rejects its writes after another process has taken the run over. */
  holder?: RunHolder;
  /** Stored with its checkpoints. */
  origin: Origin;
  /** Waits for data that has to be stored before the next write; undefined if there is none. */
  before?: () => Promise<void> | undefined;
}

interface WatchedRun extends Watched {
  /** Pending writes. */
  writes: Set<Promise<unknown>>;
  heads: Heads;
  messages: MessageCounter;
  /** Superstep of the latest checkpoint of the root graph. */
  step?: number;
}

/** A write to a thread outside of runs. */
interface Edit {
  origin: Origin;
  /** The lease that covers it. */
  lease: ThreadLease;
  heads: Heads;
  messages: MessageCounter;
  guard: unknown;
  /** The newest checkpoint by namespace: read under the lease, or stored by the edit. */
  newest: Map<string, string | undefined>;
}

/** What a config names, and the run or the edit that reads or writes it in this process. */
interface Access extends CheckpointRef {
  /** Undefined outside of runs. */
  runId: string | undefined;
  /** Undefined for a run that has ended. */
  run: WatchedRun | undefined;
  edit: Edit | undefined;
}

/** Attempts to store an edit while requests keep changing the row of its thread. */
const EDIT_ATTEMPTS = 20;

export class RunCheckpointer extends BaseCheckpointSaver {
  readonly #inner: Checkpointer;
  readonly #watched = new Map<string, WatchedRun>();
  /** By thread id. */
  readonly #edits = new Map<string, Edit>();

  constructor(inner: Checkpointer) {
    super(inner.serde);
    this.#inner = inner;
    this.getNextVersion = inner.getNextVersion.bind(inner);
  }

  /**
   * Accepts writes of a run while its lease is valid, until `unwatch`. Later writes of a stopped graph are dropped.
   * The first failed write is reported to `onFailure`, and failed writes seem to succeed: LangGraph awaits them only at the
   * end of the run, and until then a rejection would be unhandled and terminate the process. Writes after a failed one are
   * rejected, so that no checkpoint has a missing parent.
   */
  watch(runId: string, watched: Watched): void {
    const messages = new MessageCounter();
    this.#watched.set(runId, { ...watched, writes: new Set(), heads: new Map(), messages });
    if (watched.holder) this.#inner.hold?.(runId, watched.holder);
  }

  /** Whether the run's graph may still be executing in this process. */
  isWatched(runId: string): boolean {
    return this.#watched.has(runId);
  }

  /**
   * Resolves when the run has no pending write. LangGraph ends an aborted run immediately, while the checkpoints of its
   * finished supersteps are still being written one after the other.
   */
  async drained(runId: string): Promise<void> {
    const writes = this.#watched.get(runId)?.writes ?? new Set<Promise<unknown>>();
    do {
      await Promise.all(writes);
      await nextTurn();
    } while (writes.size > 0);
  }

  /** @returns the superstep of the run's latest checkpoint; undefined if it wrote none */
  unwatch(runId: string): number | undefined {
    const step = this.#watched.get(runId)?.step;
    this.#watched.delete(runId);
    return step;
  }

  /**
   * Executes `work`, which writes to a thread outside of runs, under the caller's lease.
   * @throws ThreadChangedError if the lease was lost, or another writer has changed the thread (`thread_changed`)
   * @throws ClockBehindError if the clock does not pass the thread's newest checkpoint in time (`clock_behind`)
   */
  async edit<T>(
    { thread_id, checkpoint_ns }: NamespaceRef,
    { origin, lease }: Pick<Edit, "origin" | "lease">,
    work: () => Promise<T>,
  ): Promise<T> {
    const guard = await this.#inner.guardEdit?.(thread_id);
    const heads: Heads = new Map();
    const newest = new Map<string, string | undefined>();
    for (const namespace of new Set(["", checkpoint_ns])) {
      const id = await this.#newestIn(thread_id, namespace);
      await noteHead(heads, { thread_id, checkpoint_ns: namespace }, id);
      newest.set(namespace, id);
    }
    this.#edits.set(thread_id, { origin, lease, heads, guard, newest, messages: new MessageCounter() });
    try {
      return await work();
    } finally {
      this.#edits.delete(thread_id);
    }
  }

  async #newestIn(thread_id: string, checkpoint_ns: string): Promise<string | undefined> {
    const head = await this.#inner.getTuple({ configurable: { thread_id, checkpoint_ns } });
    return head?.checkpoint.id;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await this.#inner.getTuple(config);
    const access = this.#accessOf(config);
    const { run, edit, thread_id, checkpoint_ns, checkpoint_id } = access;
    // Other readers of the thread may read some channels only.
    if (!readingOf(config).channels) (run ?? edit)?.messages.note(checkpoint_ns, tuple?.checkpoint);
    // A run reads each namespace before its first write there. The result is the head under its lease.
    if (run && !run.heads.has(checkpoint_ns)) {
      const id = checkpoint_id ? await this.#newestIn(thread_id, checkpoint_ns) : tuple?.checkpoint.id;
      const isPast = noteHead(run.heads, access, id);
      if (isPast) await isPast;
    }
    return tuple && hideOrigin(tuple);
  }

  async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    // The origin is hidden here, so a filter by it matches nothing.
    if (options?.filter && ORIGIN_KEY in options.filter) return;
    const { channels, onRead } = readingOf(config);
    for await (const tuple of this.#inner.list(config, options)) {
      onRead?.(tuple);
      yield hideOrigin(channels ? withoutUpdates(tuple, channels) : tuple);
    }
  }

  put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const access = this.#accessOf(config);
    const { run, edit, thread_id, checkpoint_ns, checkpoint_id } = access;
    const { id } = checkpoint;
    const dropped = { configurable: { thread_id, checkpoint_ns, checkpoint_id: id } };
    // With durability exit, LangGraph stores the checkpoint that a run started from again if no superstep has ended: as its
    // own parent, with the id of this run, and with updates that are stored as its writes too.
    if (run && checkpoint_id === id) return Promise.resolve(dropped);
    if (run && checkpoint_ns === "") run.step = metadata.step;
    const { origin, heads, messages } = run ?? edit ?? {};
    const counts = messages?.next(checkpoint_ns, checkpoint_id, checkpoint);
    const stored = origin ? withOrigin(metadata, origin, counts) : metadata;
    const write = async () => {
      const head = heads?.get(checkpoint_ns);
      if (head) advance(head, thread_id, id);
      const guarded = head ? withKnownHead(config, head, edit?.guard) : config;
      const written = await this.#inner.put(guarded, checkpoint, stored, newVersions);
      if (head) edit?.newest.set(checkpoint_ns, id);
      return written;
    };
    return this.#write(access, write, dropped);
  }

  putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const access = this.#accessOf(config);
    const { run, checkpoint_ns, checkpoint_id = "" } = access;
    const head = run?.heads.get(checkpoint_ns);
    // They may be stored before their checkpoint.
    if (head && checkpoint_id > head.greatest) head.greatest = checkpoint_id;
    return this.#write(access, async () => this.#inner.putWrites(config, writes, taskId), undefined);
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

  #accessOf({ configurable }: RunnableConfig): Access {
    const place = (configurable ?? {}) as Record<string, string | undefined>;
    const { thread_id = "", checkpoint_ns = "", checkpoint_id } = place;
    const runId = typeof place.run_id === "string" ? place.run_id : undefined;
    const run = this.#watched.get(runId ?? "");
    const edit = run ? undefined : this.#edits.get(thread_id);
    return { runId, run, edit, thread_id, checkpoint_ns, checkpoint_id };
  }

  /** Rejects only for state writes outside of runs. A write of a run that failed or was dropped returns `dropped`. */
  #write<T>(access: Access, work: () => Promise<T>, dropped: T): Promise<T> {
    const { runId, run } = access;
    if (runId === undefined) return this.#writeEdit(access, work);
    if (!run) return Promise.resolve(dropped);
    const { before, lease, writes } = run;
    const pending = before?.();
    // A lost lease fences its run.
    const ready = pending ? pending.then(() => lease.confirm?.()) : lease.confirm?.();
    const isWatched = () => this.#watched.get(runId) === run;
    const started = ready ? ready.then(() => (isWatched() ? work() : dropped)) : work();
    // Not an async function: these callbacks take fewer promises, once for each write of a run.
    const write: Promise<T> = started.then(
      (result) => {
        writes.delete(write);
        return result;
      },
      (error: unknown) => {
        writes.delete(write);
        if (isWatched()) {
          this.#inner.fence(runId);
          run.onFailure(error);
        }
        return dropped;
      },
    );
    writes.add(write);
    return write;
  }

  async #writeEdit<T>({ edit, thread_id }: Access, work: () => Promise<T>): Promise<T> {
    await edit?.lease.confirm?.();
    const requireLease = () => {
      if (edit?.lease.lost?.aborted) throw new ThreadChangedError(thread_id);
    };
    requireLease();
    const written = await (edit ? this.#guarded(thread_id, edit, work) : work());
    // Not every storage can reject a late write. It must not be acknowledged, because newer checkpoints supersede it.
    requireLease();
    return written;
  }

  /**
   * A storage may guard an edit by the row of its thread. The row also changes when a run is accepted or metadata are
   * patched; only a newer checkpoint is a conflict.
   */
  async #guarded<T>(threadId: string, edit: Edit, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ThreadChangedError) || attempt === EDIT_ATTEMPTS) throw error;
        edit.guard = await this.#inner.guardEdit?.(threadId);
        // Without a guard, the thread was deleted, or the storage guards edits by checkpoints only.
        if (edit.guard === undefined) throw error;
        for (const [namespace, id] of edit.newest)
          if ((await this.#newestIn(threadId, namespace)) !== id) throw error;
        await edit.lease.confirm?.();
      }
    }
  }
}
