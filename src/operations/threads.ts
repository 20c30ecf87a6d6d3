/** Thread operations: create, search, update, copy, delete (docs/specification.md#threads). */
import {
  assertPlainData,
  coerceCommand,
  coerceValues,
  type MessageRule,
  messageRules,
} from "../graphs/coerce.js";
import { previewOfState } from "../graphs/thread-preview.js";
import type { BoundGraph } from "../graphs/registry.js";
import { DEFAULT_LIMIT, isRecord, type LazyPage, type Page } from "../models/common.js";
import type { StoredCheckpoint, ThreadFile } from "../models/thread-file.js";
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
import { collect, pagesOf } from "../support/read-ahead.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { NotFoundError, ThreadExistsError } from "../support/errors.js";
import { dueYield } from "../support/event-loop.js";
import { requireUuid } from "../support/ids.js";
import { now } from "../storage/rows/rows.js";
import { deleteThread } from "../coordination/delete-thread.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { assertMetadataKeys } from "../context/request-limits.js";
import {
  createThread,
  forgetThread,
  latestSnapshot,
  liveNamespaces,
  newThreadRow,
  readableContent,
  readerOf,
  refusedUpdate,
  restingStatus,
  threadModel,
  ttlOf,
} from "../threads/thread-state.js";
import { idleLease } from "../threads/idle-lease.js";
import { ThreadSearch } from "../threads/thread-search.js";
import {
  claim,
  noteWriter,
  ownThread,
  scopeOf,
  stampScope,
  visibleThread,
  withoutScope,
  writersOf,
} from "../threads/thread-origin.js";
import { restoreThread, storedCheckpoints } from "../threads/thread-transfer.js";
import { checkpointConfigurable, requireCheckpoint } from "../context/checkpoint-selector.js";

export class Threads {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * @throws ThreadExistsError if the id exists and `if_exists` is `raise` (`thread_exists`)
   * @throws InvalidRequestError if a superstep cannot be applied; the thread is then deleted again (`invalid_request`)
   */
  async create(request: ThreadCreateRequest): Promise<Thread> {
    const row = await createThread(this.#context, request);
    if (!row) {
      const id = String(request.thread_id);
      if (request.if_exists !== "do_nothing") throw new ThreadExistsError(id.toLowerCase());
      return this.get(id);
    }
    if (request.supersteps?.length) return this.#seed(row, request.supersteps);
    return threadModel(row, await readableContent(this.#context, row));
  }

  async search(request: ThreadSearchRequest): Promise<Page<Partial<Thread>>> {
    const { items, ...page } = await this.find(request);
    return { items: await collect(items), ...page };
  }

  /** Like `search`, for a page that may not fit into memory. */
  async find(request: ThreadSearchRequest): Promise<LazyPage<Partial<Thread>>> {
    return new ThreadSearch(this.#context).page(request, {
      limit: request.limit ?? DEFAULT_LIMIT,
      offset: request.offset ?? 0,
    });
  }

  async count(request: ThreadCountRequest): Promise<number> {
    return new ThreadSearch(this.#context).count(request);
  }

  /** @throws NotFoundError (`thread_not_found`) */
  async get(threadId: string): Promise<Thread> {
    const row = await visibleThread(this.#context, threadId);
    return threadModel(row, await readableContent(this.#context, row));
  }

  /** Merges metadata key by key; the owner of the thread stays the same. @throws NotFoundError (`thread_not_found`) */
  async update(threadId: string, request: ThreadPatchRequest): Promise<Thread> {
    const id = requireUuid(threadId, ["path", "thread_id"]);
    if (request.metadata) assertPlainData(request.metadata, ["body", "metadata"]);
    if (request.metadata)
      assertMetadataKeys(request.metadata, (await visibleThread(this.#context, id)).metadata);
    else if (this.#context.caller) await visibleThread(this.#context, id);
    const row = await this.#context.storage.threads.update(id, {
      updated_at: now(),
      ...(request.metadata && { mergeMetadata: withoutScope(this.#context, request.metadata) }),
      ...(request.ttl != null && { ttl: ttlOf(request.ttl) }),
      ...(this.#context.caller && claim(this.#context.caller)),
    });
    if (!row) throw new NotFoundError("thread", id);
    return threadModel(row, await readableContent(this.#context, row));
  }

  /** Aborts the run in flight, waits for its end, and deletes the thread. @throws NotFoundError (`thread_not_found`) */
  async delete(threadId: string): Promise<void> {
    await deleteThread(this.#context, threadId);
  }

  /**
   * Creates a thread with the latest state of the source, or the state at `checkpoint_id`, without history. Copies the
   * metadata and adds `forked_from`.
   * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
   */
  async copy(threadId: string, { checkpoint_id }: { checkpoint_id?: string } = {}): Promise<Thread> {
    const copy = await copyThread(this.#context, threadId, checkpoint_id);
    return threadModel(copy, await readableContent(this.#context, copy));
  }

  /**
   * The stored checkpoints of the thread without hidden state keys, by namespace, oldest first.
   * @throws NotFoundError (`thread_not_found`)
   */
  async *stored(threadId: string): AsyncGenerator<StoredCheckpoint> {
    yield* storedCheckpoints(this.#context, await visibleThread(this.#context, threadId));
  }

  /**
   * Imports an exported thread, under its own id or another.
   * @throws ThreadExistsError (`thread_exists`)
   * @throws InvalidRequestError if one of its states cannot be stored (`invalid_request`)
   */
  async restore(file: ThreadFile, threadId?: string): Promise<Thread> {
    const row = await restoreThread(this.#context, file, threadId);
    return threadModel(row, await readableContent(this.#context, row));
  }

  /** Deletes threads or their history. Skips unknown threads and, with `keep_latest`, those whose runs need the history. */
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
      // A run that its process has left may be rolled back, to a checkpoint before it.
      if (!row || row.status === "busy") return false;
      if (await hasSelected(this.#context, row.thread_id)) return false;
      await keepLatest(this.#context, row);
      return true;
    } finally {
      await lease.release();
    }
  }

  async #seed(row: ThreadRow, supersteps: readonly Superstep[]): Promise<Thread> {
    const { storage } = this.#context;
    const lease = await idleLease(this.#context, row.thread_id);
    try {
      const reader = await readerOf(this.#context, row, { writes: true });
      const { id, graph } = reader;
      const origin = { graphs: await noteWriter(this.#context, row, id), scope: row.scope };
      await this.#context.checkpointer.edit(
        { thread_id: row.thread_id, checkpoint_ns: "" },
        { origin, lease },
        () => applySupersteps(graph, row.thread_id, supersteps),
      );
      const preview = previewOfState(await latestSnapshot(reader, row.thread_id), await reader.filter());
      const at = now();
      const seeded = await storage.threads.update(row.thread_id, {
        updated_at: at,
        state_updated_at: at,
        ...(preview && { preview }),
      });
      const content = seeded ?? row;
      return threadModel(content, await readableContent(this.#context, content));
    } catch (error) {
      await forgetThread(this.#context, row.thread_id);
      throw refusedUpdate(error, ["body", "supersteps"]);
    } finally {
      await lease.release();
    }
  }
}

/**
 * Seeds a thread. Yields to the event loop between supersteps.
 * @throws InvalidRequestError that names the first invalid update (`invalid_request`); nothing is applied then
 */
async function applySupersteps(
  graph: BoundGraph["graph"],
  threadId: string,
  supersteps: readonly Superstep[],
): Promise<void> {
  const { write } = await messageRules(graph);
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  for (const superstep of coerceSupersteps(supersteps, write)) {
    await graph.bulkUpdateState(config, [superstep]);
    await dueYield();
  }
}

/** Converts the updates to the form that graphs accept. */
function coerceSupersteps(supersteps: readonly Superstep[], rule: MessageRule) {
  return supersteps.map(({ updates }, step) => ({
    updates: updates.map(({ values, command, as_node }, index) => {
      const loc = ["body", "supersteps", step, "updates", index];
      const written = command
        ? coerceCommand(command, [...loc, "command"], rule)
        : coerceValues(values, [...loc, "values"], rule);
      return { values: written, ...(as_node != null && { asNode: as_node }) };
    }),
  }));
}

/**
 * See `Threads.copy`.
 * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
 */
async function copyThread(
  context: OpsContext,
  threadId: string,
  checkpointId: string | undefined,
): Promise<ThreadRow> {
  const { storage } = context;
  const source = await visibleThread(context, threadId);
  const reader = await readerOf(context, source);
  const selected = checkpointConfigurable(source.thread_id, { checkpoint_id: checkpointId });
  await requireCheckpoint(context, selected);
  const fresh = newThreadRow(context, {});
  try {
    const namespaces = await liveNamespaces(context, reader, source.thread_id, checkpointId);
    await storage.checkpointer.copyLatest(source.thread_id, fresh.thread_id, namespaces, checkpointId);
    const snapshot = await latestSnapshot(reader, fresh.thread_id);
    // The state of the source is gone: if a deletion is in progress, its row follows before the lock is released.
    const isMissing = source.state_updated_at !== null && snapshot.createdAt === undefined;
    if (isMissing && source.status !== "busy")
      await (await storage.locks.acquire(source.thread_id, { wait: true, first: true }))?.release();
    const preview = previewOfState(snapshot, await reader.filter());
    const copy: ThreadRow = {
      ...fresh,
      ...(preview && { preview }),
      metadata: stampScope(context, { ...source.metadata, forked_from: source.thread_id }),
      scope: scopeOf(context) ?? source.scope,
      // Read again: a run of another graph may have written to the source before it was copied.
      graphs: await writersOf(context, await visibleThread(context, source.thread_id)),
      config: source.config,
      state_updated_at: snapshot.createdAt === undefined ? null : now(),
      status: restingStatus(snapshot),
    };
    await storage.threads.insert(copy);
    return copy;
  } catch (error) {
    await forgetThread(context, fresh.thread_id);
    throw error;
  }
}

/** Whether a queued or delayed run of the thread starts from a checkpoint that its request selects. */
async function hasSelected({ storage }: OpsContext, threadId: string): Promise<boolean> {
  const selects = ({ kwargs: { checkpoint_id, checkpoint } }: RunRow) =>
    Boolean(checkpoint_id || (isRecord(checkpoint) && checkpoint.checkpoint_id));
  for await (const rows of pagesOf((page) => storage.runs.list({ threadId, status: "pending", ...page })))
    if (rows.some(selects)) return true;
  return false;
}

/** Deletes all checkpoints of a thread except the latest. The caller holds its lock. */
export async function keepLatest(context: OpsContext, row: ThreadRow): Promise<void> {
  const namespaces = await liveNamespaces(context, await readerOf(context, row), row.thread_id);
  await context.storage.checkpointer.keepLatest(row.thread_id, namespaces);
}
