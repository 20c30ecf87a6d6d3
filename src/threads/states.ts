/** Reads and edits the state of a thread and reads its history (docs/specification.md#threads). */
import { unknownNode } from "../graphs/breakpoints.js";
import { assertPlainData, coerceValues, messageRules } from "../graphs/coerce.js";
import type { GraphConfig, Snapshot, SnapshotTask } from "../graphs/graph.js";
import { filterAt, keysOnly, PASS_ALL, type OutputFilter } from "../graphs/output-filter.js";
import { hasWrites } from "../graphs/open-tasks.js";
import { checkpointRefOf, readState, threadStateOf, writeState } from "../graphs/snapshot.js";
import { previewOfState } from "../graphs/thread-preview.js";
import { DEFAULT_LIMIT, isRecord, type JsonObject } from "../models/common.js";
import {
  CHANGE_FIELDS,
  type CheckpointLike,
  type CheckpointSelector,
  type SelectedState,
  STATE_FIELDS,
  type StateWriteResult,
  type ThreadState,
  type ThreadStateSearchRequest,
  type ThreadStateUpdateRequest,
  type UnfinishedStep,
} from "../models/state.js";
import { collect } from "../support/read-ahead.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { InvalidRequestError, NotFoundError, ThreadBusyError } from "../support/errors.js";
import { now } from "../storage/rows/rows.js";
import { ONLY_RESULTS, type Reading, withReading } from "../storage/saver/reading.js";
import type { OpsContext } from "../context/context.js";
import { assertFilter } from "../context/request-limits.js";
import {
  checkpointConfigurable,
  type CheckpointConfigurable,
  requireCheckpoint,
} from "../context/checkpoint-selector.js";
import { neededChannels, oneBehind, StepChanges } from "./history.js";
import { idleLease } from "./idle-lease.js";
import { claim, noteWriter, scopeOf, visibleThread } from "./thread-origin.js";
import { CLOCK_WAIT_MS, clockPastRow } from "../context/thread-heads.js";
import { runOfStep } from "./step-run.js";
import { selectFields } from "./thread-search.js";
import { latestSnapshot, type Reader, readerOf, refusedUpdate, restingStatus } from "./thread-state.js";

export class States {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /**
   * The state at a checkpoint, the latest by default.
   * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
   */
  async get(
    threadId: string,
    options: { checkpoint?: CheckpointSelector; subgraphs?: boolean } = {},
  ): Promise<ThreadState> {
    const row = await visibleThread(this.#context, threadId);
    const reader = await readerOf(this.#context, row);
    const configurable = checkpointConfigurable(row.thread_id, options.checkpoint);
    const snapshot = await readState(
      reader.graph,
      { configurable },
      { subgraphs: options.subgraphs ?? false },
    );
    const { checkpoint_id } = configurable;
    if (checkpoint_id !== undefined && snapshot.createdAt === undefined) {
      throw new NotFoundError("checkpoint", checkpoint_id);
    }
    const unfinished_step = await unfinishedStep(this.#context, row.thread_id, snapshot);
    const filter = await this.#filterAt(reader, configurable.checkpoint_ns);
    return { ...threadStateOf(snapshot, filter), ...(unfinished_step && { unfinished_step }) };
  }

  /**
   * Writes values under the thread's lock.
   * @throws ThreadBusyError while a run is active, or waits to be resumed after a crash (`thread_busy`)
   * @throws ThreadChangedError if another writer has changed the thread (`thread_changed`), ClockBehindError (`clock_behind`)
   * @throws InvalidRequestError if the graph rejects the write (`invalid_request`)
   * @throws GraphChangedError if a migration of the thread fails (`graph_changed`)
   */
  async update(threadId: string, request: ThreadStateUpdateRequest): Promise<StateWriteResult> {
    const { thread_id } = await visibleThread(this.#context, threadId);
    const configurable = checkpointConfigurable(thread_id, request.checkpoint, request.checkpoint_id);
    const lease = await idleLease(this.#context, thread_id);
    try {
      const row = await visibleThread(this.#context, thread_id);
      // A run that a dead process left continues from the state that it wrote last.
      if (row.status === "busy") throw new ThreadBusyError(thread_id);
      await clockPastRow(row, CLOCK_WAIT_MS);
      return await this.#write(row, lease, configurable, request);
    } finally {
      await lease.release();
    }
  }

  async #write(
    row: ThreadRow,
    lease: ThreadLease,
    selected: CheckpointConfigurable,
    request: ThreadStateUpdateRequest,
  ): Promise<StateWriteResult> {
    const { thread_id } = row;
    let configurable = selected;
    const reader = await readerOf(this.#context, row, { writes: true });
    if (this.#context.migrations) configurable = await this.#migrated(row, lease, configurable, reader);
    const { write } = await messageRules(reader.graph);
    const values = coerceValues(request.values ?? null, ["body", "values"], write);
    await requireCheckpoint(this.#context, configurable);
    const graphs = await noteWriter(this.#context, row, reader.id);
    const origin = { graphs, scope: scopeOf(this.#context) ?? row.scope };
    let written: GraphConfig;
    try {
      written = await this.#context.checkpointer.edit(configurable, { origin, lease }, () =>
        writeState(reader.graph, { configurable }, values, request.as_node ?? undefined),
      );
    } catch (error) {
      const fault = request.as_node == null ? undefined : unknownNode(reader.graph, request.as_node);
      if (fault !== undefined)
        throw InvalidRequestError.at(["body", "as_node"], fault, "update_refused", error);
      throw refusedUpdate(error, ["body"]);
    }
    const snapshot = await latestSnapshot(reader, thread_id);
    const preview = previewOfState(snapshot, await reader.filter(), row.preview);
    const at = now();
    await this.#context.storage.threads.update(thread_id, {
      updated_at: at,
      state_updated_at: at,
      status: restingStatus(snapshot),
      ...(preview && { preview }),
      error: null,
      ...(this.#context.caller && claim(this.#context.caller)),
    });
    const checkpoint = checkpointRefOf(written) ?? {
      thread_id,
      checkpoint_ns: "",
      checkpoint_id: null,
      checkpoint_map: null,
    };
    return { ...checkpoint, checkpoint, configurable: checkpoint };
  }

  /** Values are written to the state of the current version. */
  async #migrated(
    row: ThreadRow,
    lease: ThreadLease,
    configurable: CheckpointConfigurable,
    reader: Reader,
  ): Promise<CheckpointConfigurable> {
    const { migrateThread } = await import("./thread-migration.js");
    const use = { input: undefined, configurable };
    const { configurable: moved } = await migrateThread(this.#context, row, reader, lease, use);
    return { ...configurable, ...moved };
  }

  /**
   * The output filter of a namespace. An undeclared subgraph shows nothing. With the `langgraph` defaults it shows its
   * messages, which are streamed anyway: chat pages read finished subagents here instead of keeping a stream open.
   */
  async #filterAt(reader: Reader, namespace: string): Promise<OutputFilter> {
    const root = await reader.filter();
    const filter = filterAt(root, namespace);
    const { compat, hold_messages } = this.#context.settings;
    const isShown = compat === "langgraph" && !hold_messages && root.shows(MESSAGES);
    return !filter.known && isShown ? MESSAGES_ONLY : filter;
  }

  /** States, newest first. @throws NotFoundError (`thread_not_found`) */
  async history(threadId: string, request: ThreadStateSearchRequest): Promise<ThreadState[]> {
    return collect(this.walk(threadId, request));
  }

  /** Like `history`, but reads states one at a time, for histories that do not fit into memory. Ignores `select`. */
  async *walk(threadId: string, request: ThreadStateSearchRequest): AsyncGenerator<ThreadState> {
    const { reader, namespace, snapshots } = await this.#openHistory(threadId, request);
    yield* this.#shown(snapshots({}), { reader, namespace, request });
  }

  /** Like `walk`, with the fields in `select`. Without `select`, all fields except the changes. */
  async *walkSelected(threadId: string, request: ThreadStateSearchRequest): AsyncGenerator<SelectedState> {
    const { select } = request;
    if (!select?.length) {
      yield* this.walk(threadId, request);
      return;
    }
    const { reader, namespace, snapshots } = await this.#openHistory(threadId, request);
    const channels = neededChannels(select, reader.graph, namespace);
    const selectsChanges = CHANGE_FIELDS.some((field) => select.includes(field));
    const changes = selectsChanges ? new StepChanges(this.#context.checkpointer, select) : undefined;
    const read = snapshots({ channels, ...(changes && { onRead: (tuple) => changes.note(tuple) }) });
    // The parent of a checkpoint is usually the next item.
    const shown = select.includes("changed_keys") ? oneBehind(read) : read;
    const options = { reader, namespace, request, ...(changes && { changes }) };
    for await (const state of this.#shown(shown, options))
      yield selectFields<SelectedState>(state, select, STATE_FIELDS);
  }

  async #openHistory(threadId: string, request: ThreadStateSearchRequest) {
    if (request.metadata) assertFilter(request.metadata, ["body", "metadata"]);
    const row = await visibleThread(this.#context, threadId);
    const reader = await readerOf(this.#context, row);
    const { thread_id } = row;
    const { checkpoint_ns = "", checkpoint_map } = checkpointConfigurable(thread_id, request.checkpoint);
    if (request.metadata) assertSearchable(request.metadata, await reader.filter());
    const before =
      request.before == null ? undefined : checkpointConfigurable(thread_id, selectorOf(request.before));
    const place = { thread_id, checkpoint_ns, ...(checkpoint_map && { checkpoint_map }) };
    const options = {
      limit: request.limit ?? DEFAULT_LIMIT,
      ...(before?.checkpoint_id && { before: { configurable: { ...before, checkpoint_ns } } }),
      ...(request.metadata && { filter: request.metadata }),
    };
    const snapshots = (reading: Reading) =>
      reader.graph.getStateHistory({ configurable: withReading(place, reading) }, options);
    return { reader, namespace: checkpoint_ns, snapshots };
  }

  async *#shown(
    snapshots: AsyncIterable<Snapshot>,
    { reader, namespace, request, changes }: ShownOptions,
  ): AsyncGenerator<ThreadState & SelectedState> {
    // One filter for all: it covers the writers of older states. Only the newest state can have an unfinished superstep.
    let filter: OutputFilter | undefined;
    for await (const snapshot of snapshots) {
      const isNewest = filter === undefined && request.before == null;
      filter ??= await this.#filterAt(reader, namespace);
      const { thread_id } = snapshot.config.configurable ?? {};
      const unfinished_step = isNewest
        ? await unfinishedStep(this.#context, String(thread_id), snapshot)
        : undefined;
      yield {
        ...threadStateOf(snapshot, filter),
        ...(unfinished_step && { unfinished_step }),
        ...(await changes?.of(snapshot, filter)),
      };
    }
  }
}

const MESSAGES = "messages";
const MESSAGES_ONLY = keysOnly(new Set([MESSAGES]));

interface ShownOptions {
  reader: Reader;
  /** Empty for the root graph. */
  namespace: string;
  request: ThreadStateSearchRequest;
  changes?: StepChanges;
}

/** Metadata of old checkpoints contains the writes of nodes: a search must not reveal hidden ones. */
function assertSearchable(metadata: JsonObject, filter: OutputFilter): void {
  assertPlainData(metadata, ["body", "metadata"]);
  if (metadata.writes === undefined || filter === PASS_ALL) return;
  throw InvalidRequestError.at(["body", "metadata", "writes"], "the writes of nodes cannot be searched");
}

/** Normalizes the forms of a checkpoint selector that clients send. */
function selectorOf(like: CheckpointLike): CheckpointSelector {
  if (typeof like === "string") return { checkpoint_id: like };
  if (!isRecord(like)) throw InvalidRequestError.at(["body", "before"], "must be a checkpoint id or config");
  return like.configurable ?? like.checkpoint ?? like;
}

// The unfinished superstep of a state.

/**
 * The superstep after a checkpoint, if some of its tasks have ended and it has not. A task whose edge failed after its
 * node wrote has ended too: LangGraph does not run it again, and its writes are part of the state.
 */
async function unfinishedStep(
  context: OpsContext,
  threadId: string,
  { config, metadata, tasks }: Snapshot,
): Promise<UnfinishedStep | undefined> {
  // Most states with tasks are those of one open interrupt. They need no second read.
  if (tasks.length === 0 || (tasks.length === 1 && isWaiting(tasks[0]))) return undefined;
  const { checkpoint_ns, checkpoint_id } = config.configurable ?? {};
  const latest = await context.storage.checkpointer.getTuple({
    configurable: withReading({ thread_id: threadId, checkpoint_ns }, { channels: ONLY_RESULTS }),
  });
  // The superstep after an older checkpoint has ended or was abandoned.
  if (!latest || latest.checkpoint.id !== checkpoint_id) return undefined;
  const ended = tasks.filter((task) => hasWrites(latest, task)).map(({ id }) => id);
  if (ended.length === 0) return undefined;
  return { run_id: await runOfStep(context, threadId, metadata?.run_id), tasks: ended };
}

const isWaiting = (task: SnapshotTask | undefined): boolean => (task?.interrupts ?? []).length > 0;
