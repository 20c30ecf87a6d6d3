/** State of a thread: read it, edit it, walk its history (spec, Threads). */
import { InvalidRequestError, NotFoundError, ThreadBusyError } from "../errors.js";
import { assertPlainData, coerceValues } from "../graphs/coerce.js";
import type { GraphConfig } from "../graphs/graph.js";
import { checkpointOf, threadStateOf } from "../graphs/snapshot.js";
import { DEFAULT_LIMIT, isRecord } from "../models/common.js";
import type {
  CheckpointLike,
  CheckpointSelector,
  StateWriteResult,
  ThreadState,
  ThreadStateSearchRequest,
  ThreadStateUpdateRequest,
} from "../models/state.js";
import type { ThreadRow } from "../storage/storage.js";
import { checkpointConfigurable, requireCheckpoint, type CheckpointConfigurable } from "./checkpoint.js";
import { now, type OpsContext } from "./context.js";
import { refusedUpdate } from "./refused-update.js";
import { threadRow } from "./thread-rows.js";
import { graphOf, latestSnapshot, restingStatus } from "./thread-state.js";

export class States {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /**
   * The state at a checkpoint, the latest when none is named.
   * @throws NotFoundError (`thread_not_found`, `checkpoint_not_found`)
   */
  async get(
    threadId: string,
    options: { checkpoint?: CheckpointSelector; subgraphs?: boolean } = {},
  ): Promise<ThreadState> {
    const row = await threadRow(this.#context, threadId);
    const { graph, filter } = await graphOf(this.#context, row);
    const configurable = checkpointConfigurable(row.thread_id, options.checkpoint);
    const snapshot = await graph.getState({ configurable }, { subgraphs: options.subgraphs ?? false });
    const { checkpoint_id } = configurable;
    if (checkpoint_id !== undefined && snapshot.createdAt === undefined) {
      throw new NotFoundError("checkpoint", checkpoint_id);
    }
    return threadStateOf(snapshot, filter);
  }

  /**
   * Write values under the thread's lock.
   * @throws ThreadBusyError while a run is in flight (`thread_busy`)
   * @throws InvalidRequestError when the graph refuses the write (`invalid_request`)
   */
  async update(threadId: string, request: ThreadStateUpdateRequest): Promise<StateWriteResult> {
    const { storage } = this.#context;
    const { thread_id } = await threadRow(this.#context, threadId);
    const values = coerceValues(request.values ?? null, ["body", "values"]);
    const configurable = checkpointConfigurable(thread_id, request.checkpoint, request.checkpoint_id);
    const lease = await storage.locks.acquire(thread_id, { wait: false });
    if (!lease) throw new ThreadBusyError(thread_id);
    try {
      return await this.#write(
        await threadRow(this.#context, thread_id),
        configurable,
        values,
        request.as_node ?? undefined,
      );
    } finally {
      await lease.release();
    }
  }

  async #write(
    row: ThreadRow,
    configurable: CheckpointConfigurable,
    values: unknown,
    asNode?: string,
  ): Promise<StateWriteResult> {
    const bound = await graphOf(this.#context, row);
    await requireCheckpoint(this.#context, configurable);
    let written: GraphConfig;
    try {
      written = await bound.graph.updateState({ configurable }, values, asNode);
    } catch (error) {
      throw refusedUpdate(error, ["body"]);
    }
    const at = now();
    await this.#context.storage.metadata.updateThread(row.thread_id, {
      updated_at: at,
      state_updated_at: at,
      status: restingStatus(await latestSnapshot(bound, row.thread_id)),
      error: null,
    });
    const checkpoint = checkpointOf(written) ?? {
      thread_id: row.thread_id,
      checkpoint_ns: "",
      checkpoint_id: null,
      checkpoint_map: null,
    };
    return { ...checkpoint, checkpoint, configurable: checkpoint };
  }

  /** States from the newest on. @throws NotFoundError (`thread_not_found`) */
  async history(threadId: string, request: ThreadStateSearchRequest): Promise<ThreadState[]> {
    const row = await threadRow(this.#context, threadId);
    const { graph, filter } = await graphOf(this.#context, row);
    const { checkpoint_ns = "", checkpoint_map } = checkpointConfigurable(row.thread_id, request.checkpoint);
    if (request.metadata) assertPlainData(request.metadata, ["body", "metadata"]);
    const before =
      request.before == null ? undefined : checkpointConfigurable(row.thread_id, selectorOf(request.before));
    const states: ThreadState[] = [];
    const snapshots = graph.getStateHistory(
      {
        configurable: { thread_id: row.thread_id, checkpoint_ns, ...(checkpoint_map && { checkpoint_map }) },
      },
      {
        limit: request.limit ?? DEFAULT_LIMIT,
        ...(before?.checkpoint_id && { before: { configurable: { ...before, checkpoint_ns } } }),
        ...(request.metadata && { filter: request.metadata }),
      },
    );
    for await (const snapshot of snapshots) states.push(threadStateOf(snapshot, filter));
    return states;
  }
}

/** The selector in any of the forms that clients send. */
function selectorOf(like: CheckpointLike): CheckpointSelector {
  if (typeof like === "string") return { checkpoint_id: like };
  if (!isRecord(like)) throw InvalidRequestError.at(["body", "before"], "must be a checkpoint id or config");
  return like.configurable ?? like.checkpoint ?? like;
}
