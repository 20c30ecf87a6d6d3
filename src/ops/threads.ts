/** Threads: create, find, change, copy, delete (spec, Threads). */
import { NotFoundError, ThreadBusyError, ThreadExistsError } from "../errors.js";
import { assertPlainData } from "../graphs/coerce.js";
import { requireUuid } from "../ids.js";
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import type {
  Superstep,
  Thread,
  ThreadCountRequest,
  ThreadCreateRequest,
  ThreadPatchRequest,
  ThreadPruneRequest,
  ThreadPruneResult,
  ThreadSearchRequest,
} from "../models/thread.js";
import type { StoredCheckpoint, ThreadFile } from "../models/thread-file.js";
import type { ThreadRow } from "../storage/storage.js";
import { checkpointConfigurable, requireCheckpoint } from "./checkpoint.js";
import { now, type OpsContext } from "./context.js";
import { refusedUpdate } from "./refused-update.js";
import { acquireStopped } from "./remote-runs.js";
import type { RunTasks } from "./run-tasks.js";
import { assertNotForeign, withoutScope } from "./scope.js";
import { keepLatest } from "./thread-prune.js";
import { restoreThread } from "./thread-restore.js";
import { coerceSupersteps } from "./supersteps.js";
import { storedCheckpoints } from "./thread-stored.js";
import { newThreadRow, ownThread, threadRow } from "./thread-rows.js";
import { ThreadSearch } from "./thread-search.js";
import {
  graphOf,
  latestSnapshot,
  liveNamespaces,
  readableContent,
  restingStatus,
  threadModel,
} from "./thread-state.js";
import { ttlOf } from "./ttl.js";

const EMPTY = { values: {}, interrupts: {} };

export class Threads {
  readonly #context: OpsContext;
  readonly #tasks: RunTasks;
  readonly #search: ThreadSearch;

  constructor(context: OpsContext, tasks: RunTasks) {
    this.#context = context;
    this.#tasks = tasks;
    this.#search = new ThreadSearch(context);
  }

  /**
   * @throws ThreadExistsError when the id is taken and `if_exists` is `raise` (`thread_exists`)
   * @throws InvalidRequestError when a superstep cannot be applied; then nothing is left behind (`invalid_request`)
   */
  async create(request: ThreadCreateRequest): Promise<Thread> {
    const { metadata } = this.#context.storage;
    const row = newThreadRow(this.#context, request);
    if (!(await metadata.insertThread(row))) {
      if (request.if_exists !== "do_nothing") throw new ThreadExistsError(row.thread_id);
      await assertNotForeign(this.#context, row.thread_id);
      return this.get(row.thread_id);
    }
    if (!request.supersteps?.length) return threadModel(row, EMPTY);
    return this.#seed(row, request.supersteps);
  }

  async search(request: ThreadSearchRequest): Promise<Page<Partial<Thread>>> {
    return this.#search.page(request, {
      limit: request.limit ?? DEFAULT_LIMIT,
      offset: request.offset ?? 0,
    });
  }

  async count(request: ThreadCountRequest): Promise<number> {
    return this.#search.count(request);
  }

  /** @throws NotFoundError (`thread_not_found`) */
  async get(threadId: string): Promise<Thread> {
    const row = await threadRow(this.#context, threadId);
    return threadModel(row, await readableContent(this.#context, row));
  }

  /** Metadata is merged key by key; whose thread it is stays. @throws NotFoundError (`thread_not_found`) */
  async update(threadId: string, request: ThreadPatchRequest): Promise<Thread> {
    const id = requireUuid(threadId, ["path", "thread_id"]);
    if (request.metadata) assertPlainData(request.metadata, ["body", "metadata"]);
    if (this.#context.caller) await threadRow(this.#context, id);
    const row = await this.#context.storage.metadata.updateThread(id, {
      updated_at: now(),
      ...(request.metadata && { mergeMetadata: withoutScope(this.#context, request.metadata) }),
      ...(request.ttl != null && { ttl: ttlOf(request.ttl) }),
    });
    if (!row) throw new NotFoundError("thread", id);
    return threadModel(row, await readableContent(this.#context, row));
  }

  /** Ends the run in flight and waits for it. @throws NotFoundError (`thread_not_found`) */
  async delete(threadId: string): Promise<void> {
    const { thread_id } = await threadRow(this.#context, threadId);
    this.#tasks.abort(thread_id, "deleted");
    const lease = await acquireStopped(this.#context, thread_id);
    try {
      if (this.#context.caller) await threadRow(this.#context, thread_id);
      if (!(await this.remove(thread_id))) throw new NotFoundError("thread", thread_id);
    } finally {
      await lease?.release();
    }
  }

  /**
   * Delete checkpoints, runs and row of a thread whose lock the caller holds, in an order that lets a delete that was
   * cut off be repeated. False when there was no such thread.
   */
  async remove(threadId: string): Promise<boolean> {
    const { storage } = this.#context;
    await storage.checkpointer.deleteThread(threadId);
    return storage.metadata.deleteThread(threadId);
  }

  /**
   * A new thread with the source's latest state, or the one of `checkpoint_id`, and its metadata, stamped with
   * `forked_from`; no history.
   * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
   */
  async copy(threadId: string, { checkpoint_id }: { checkpoint_id?: string } = {}): Promise<Thread> {
    const { storage } = this.#context;
    const source = await threadRow(this.#context, threadId);
    const bound = await graphOf(this.#context, source);
    await requireCheckpoint(this.#context, checkpointConfigurable(source.thread_id, { checkpoint_id }));
    const copy: ThreadRow = {
      ...newThreadRow(this.#context, {}),
      metadata: { ...source.metadata, forked_from: source.thread_id },
      config: source.config,
      state_updated_at: source.state_updated_at === null ? null : now(),
    };
    try {
      await storage.checkpointer.copyLatest(
        source.thread_id,
        copy.thread_id,
        await liveNamespaces(bound, source.thread_id, checkpoint_id),
        checkpoint_id,
      );
      copy.status = restingStatus(await latestSnapshot(bound, copy.thread_id));
      await storage.metadata.insertThread(copy);
    } catch (error) {
      await this.#forget(copy.thread_id);
      throw error;
    }
    return threadModel(copy, await readableContent(this.#context, copy));
  }

  /**
   * The thread's checkpoints as they are stored, less what its graph hides: namespace by namespace, oldest first.
   * @throws NotFoundError (`thread_not_found`)
   */
  async *stored(threadId: string): AsyncGenerator<StoredCheckpoint> {
    yield* storedCheckpoints(this.#context, await threadRow(this.#context, threadId));
  }

  /**
   * Store a thread that was exported, under its own id or another.
   * @throws ThreadExistsError (`thread_exists`)
   * @throws InvalidRequestError when a state of it cannot be stored (`invalid_request`)
   */
  async restore(file: ThreadFile, threadId?: string): Promise<Thread> {
    const row = await restoreThread(this.#context, file, threadId);
    return threadModel(row, await readableContent(this.#context, row));
  }

  /** Delete threads, or drop their history; those that are unknown, or busy under `keep_latest`, do not count. */
  async prune({ thread_ids, strategy }: ThreadPruneRequest): Promise<ThreadPruneResult> {
    let pruned_count = 0;
    for (const id of new Set(
      thread_ids.map((text, index) => requireUuid(text, ["body", "thread_ids", index])),
    )) {
      if (!(await ownThread(this.#context, id))) continue;
      const done = strategy === "keep_latest" ? await this.#keepLatest(id) : await this.#deleteIfThere(id);
      if (done) pruned_count += 1;
    }
    return { pruned_count };
  }

  async #deleteIfThere(threadId: string): Promise<boolean> {
    try {
      await this.delete(threadId);
      return true;
    } catch (error) {
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }

  async #keepLatest(threadId: string): Promise<boolean> {
    const lease = await this.#context.storage.locks.acquire(threadId, { wait: false });
    if (!lease) return false;
    try {
      const row = await ownThread(this.#context, threadId);
      if (row) await keepLatest(this.#context, row);
      return row !== undefined;
    } finally {
      await lease.release();
    }
  }

  async #seed(row: ThreadRow, supersteps: readonly Superstep[]): Promise<Thread> {
    const { storage } = this.#context;
    const lease = await storage.locks.acquire(row.thread_id, { wait: false });
    if (!lease) throw new ThreadBusyError(row.thread_id);
    try {
      const { graph } = await graphOf(this.#context, row);
      const updates = coerceSupersteps(supersteps);
      await graph.bulkUpdateState({ configurable: { thread_id: row.thread_id, checkpoint_ns: "" } }, updates);
      const at = now();
      const seeded = await storage.metadata.updateThread(row.thread_id, {
        updated_at: at,
        state_updated_at: at,
      });
      const content = seeded ?? row;
      return threadModel(content, await readableContent(this.#context, content));
    } catch (error) {
      await this.#forget(row.thread_id);
      throw refusedUpdate(error, ["body", "supersteps"]);
    } finally {
      await lease.release();
    }
  }

  /** Take back a thread that could not be completed; the first error is the one to report. */
  async #forget(threadId: string): Promise<void> {
    try {
      await this.remove(threadId);
    } catch (error) {
      this.#context.logger.error(
        { err: error, thread_id: threadId },
        "an incomplete thread could not be removed",
      );
    }
  }
}
