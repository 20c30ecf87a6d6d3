/** Thread events and commands, for clients of the newer protocol. */
import { ALL_MODES } from "../graphs/stream/stream-frames.js";
import { isRecord, type JsonObject } from "../models/common.js";
import {
  CommandError,
  type CommandResult,
  type EventFilter,
  type EventStream,
  type GetTreeParams,
  type InputRespondParams,
  type ProtocolFrame,
  type RunStartParams,
  type StateGetParams,
} from "../models/protocol.js";
import type { RunCreateRequest } from "../models/run.js";
import type { FrameStream } from "../models/run-stream.js";
import { NotFoundError, ThreadExistsError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import { requireUuid } from "../support/ids.js";
import { migrated, requireTasks } from "../runs/graph-guard.js";
import type { EngineContext } from "../runs/live-runs.js";
import { pendingInterrupts, resumeOf } from "../threads/pending-interrupts.js";
import type { LogReader } from "../frames/run-log.js";
import { acceptRun } from "../coordination/accept-run.js";
import { States } from "../threads/states.js";
import { joinThreadStream, type ThreadStreamOptions } from "../delivery/thread-stream.js";
import { ThreadFeeds } from "../delivery/thread-feeds.js";
import { assistantOfThread } from "../threads/stored-assistants.js";
import { assertNotForeign, ownThread } from "../threads/thread-origin.js";
import { readerOf } from "../threads/thread-state.js";
import type { ThreadFeed } from "../frames/thread-feed.js";

/** Stream options of runs that commands start: clients that read them by the run routes get all modes. */
const ALL_FRAMES: Pick<RunCreateRequest, "stream_mode" | "stream_subgraphs"> = {
  stream_mode: [...ALL_MODES],
  stream_subgraphs: true,
};

/** Methods throw the errors of `Runs`, and `CommandError`, which is reported in the command's reply. */
export class Protocol {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * Retained and future events, until the reader leaves; the end of a run does not end the stream. The thread does not
   * have to exist yet.
   * @throws NotFoundError for a thread of another caller (`thread_not_found`)
   * @throws GraphServeError if the thread has too many readers (`too_many_streams`)
   */
  async events(threadId: string, filter: EventFilter): Promise<EventStream> {
    const id = await this.#reachable(threadId);
    this.#context.live.stopping.throwIfAborted();
    const { lastSeq } = await this.#feed(id);
    const frames = ThreadFeeds.of(this.#context).read(id, filter);
    const disconnect = () => frames.leave();
    const own = this.#context.caller ? this.#whileOwn(id, frames) : frames;
    return { thread_id: id, frames: own, lastSeq, retained: () => frames.retained(), disconnect };
  }

  /**
   * The frames of the runs of a thread, one run after the other.
   * @throws the same errors as `joinThreadStream`
   */
  joinThread(threadId: string, options: ThreadStreamOptions): Promise<FrameStream> {
    return joinThreadStream(this.#context, ThreadFeeds.of(this.#context), threadId, options);
  }

  /** Checks that the caller may access the thread, whether it exists or not. @throws the same errors as `events` */
  async reach(threadId: string): Promise<void> {
    await this.#reachable(threadId);
  }

  /** The empty result of a command. */
  async nothing(threadId: string): Promise<CommandResult> {
    return this.#result(await this.#reachable(threadId), {});
  }

  /** Starts a run after earlier runs of the thread. If the thread has a pending interrupt, the input answers it. */
  async start(threadId: string, params: RunStartParams): Promise<CommandResult> {
    const id = await this.#reachable(threadId);
    const { assistant_id, input = null, config, context, metadata } = params;
    const checkpoint_id = checkpointOf(config);
    await this.#migrate(id, checkpoint_id);
    const strategy = params.multitask_strategy ?? params.multitaskStrategy;
    const pending = input === null ? [] : await pendingInterrupts(this.#context, id, checkpoint_id);
    const [only, ...others] = pending;
    // The interrupt of a node that is gone is not listed, and the input would silently replace it.
    if (input !== null && !only) await this.#requireTasks(id, { isAsked: true, checkpoint_id });
    if (others.length > 0) {
      // Each interrupt would take the input as its answer.
      const ids = pending.map((each) => each.id).join(", ");
      throw new CommandError(
        "invalid_argument",
        `the thread has several pending interrupts: ${ids}; answer them by id, with input.respond`,
      );
    }
    return this.#run(id, {
      assistant_id,
      ...(only ? { command: { resume: { [only.id]: input } } } : { input }),
      ...{ config, context, metadata, checkpoint_id },
      multitask_strategy: strategy ?? "enqueue",
    });
  }

  /** Answers pending interrupts of a thread in a new run. */
  async respond(threadId: string, params: InputRespondParams): Promise<CommandResult> {
    const id = await this.#reachable(threadId);
    const row = await ownThread(this.#context, id);
    if (!row)
      throw new CommandError(
        "invalid_argument",
        `thread "${id}" has no pending interrupts: it does not exist`,
      );
    await this.#migrate(id);
    await this.#requireTasks(id, { isAsked: false });
    const resume = resumeOf(params, await pendingInterrupts(this.#context, id));
    const { update, goto, config, context, metadata, strict_resume } = params;
    return this.#run(id, {
      assistant_id: await assistantOfThread(this.#context, row),
      command: { resume, update, goto },
      ...{ config, context, metadata, strict_resume },
      multitask_strategy: "enqueue",
    });
  }

  /** The state of a namespace of the thread, without keys that are hidden from clients. */
  async state(threadId: string, { namespace = [], keys }: StateGetParams): Promise<CommandResult> {
    const id = await this.#reachable(threadId);
    const selector = { checkpoint_ns: namespace.join("|") };
    const state = await new States(this.#context)
      .get(id, { checkpoint: selector })
      .catch((error: unknown) => {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      });
    if (!state?.checkpoint)
      throw new CommandError(
        "no_such_namespace",
        `thread "${id}" has no state in the namespace ${JSON.stringify(namespace)}`,
      );
    const { checkpoint_id, checkpoint_ns } = state.checkpoint;
    const values = (state.values ?? {}) as JsonObject;
    return this.#result(id, {
      values: keys ? Object.fromEntries(keys.flatMap((key) => pick(values, key))) : values,
      checkpoint: { id: checkpoint_id, ns: checkpoint_ns },
    });
  }

  /** The graphs and tasks of the given run, by default the latest. */
  async tree(threadId: string, { run_id }: GetTreeParams): Promise<CommandResult> {
    const id = await this.#reachable(threadId);
    const feed = await this.#feed(id);
    const tree = feed.tree(run_id ?? undefined);
    if (!tree) {
      const which = run_id == null ? "no run" : `no run "${run_id}"`;
      throw new CommandError("no_such_run", `thread "${id}" has ${which} that is known to this process`);
    }
    return this.#result(id, { tree });
  }

  /**
   * Checks that the graph has the open tasks of the thread; with `isAsked`, only those with an interrupt.
   * @throws GraphChangedError (`graph_changed`)
   */
  async #requireTasks(
    threadId: string,
    { isAsked, checkpoint_id }: { isAsked: boolean; checkpoint_id?: string },
  ): Promise<void> {
    const row = await ownThread(this.#context, threadId);
    if (row?.status !== "interrupted") return;
    const bound = await readerOf(this.#context, row);
    const configurable = { thread_id: threadId, ...(checkpoint_id !== undefined && { checkpoint_id }) };
    await requireTasks(this.#context, row, bound, { configurable, isAsked });
  }

  /** Converts the thread before its questions are read, for projects with migrations. A run that holds the thread does it. */
  async #migrate(threadId: string, checkpoint_id?: string): Promise<void> {
    const context = this.#context;
    if (!context.migrations) return;
    const lease = await context.storage.locks.acquire(threadId, { wait: false });
    try {
      const row = lease && (await ownThread(context, threadId));
      if (!row || row.status !== "interrupted") return;
      const selected = checkpoint_id === undefined ? {} : { checkpoint_id };
      const use = { input: null, configurable: { thread_id: threadId, ...selected } };
      await migrated(context, row, await readerOf(context, row, { writes: true }), lease, use);
    } finally {
      await lease?.release();
    }
  }

  async #run(threadId: string, request: RunCreateRequest): Promise<CommandResult> {
    const appliedThroughSeq = (await this.#feed(threadId)).lastSeq;
    const { run } = await acceptRun(
      this.#context,
      threadId,
      { ...request, if_not_exists: "create", on_disconnect: "continue", ...ALL_FRAMES },
      { log: this.#context.live.newLog(threadId, { isWide: true }), takesOver: true, unattended: true },
    );
    return { result: { run_id: run.run_id }, threadId, appliedThroughSeq };
  }

  async #result(threadId: string, result: JsonObject): Promise<CommandResult> {
    return { result, threadId, appliedThroughSeq: (await this.#feed(threadId)).lastSeq };
  }

  /** The feed of a thread, including the latest frames of its runs. */
  async #feed(threadId: string): Promise<ThreadFeed> {
    const feeds = ThreadFeeds.of(this.#context);
    const feed = feeds.feed(threadId);
    await feeds.poll(threadId);
    // Let the feed receive the frames that the logs already hold.
    await nextTurn();
    return feed;
  }

  /** @throws NotFoundError for a thread of another caller (`thread_not_found`) */
  async #reachable(threadId: string): Promise<string> {
    const id = requireUuid(threadId, ["path", "thread_id"]);
    try {
      await assertNotForeign(this.#context, id);
    } catch (error) {
      throw error instanceof ThreadExistsError ? new NotFoundError("thread", id) : error;
    }
    return id;
  }

  /** Ends the stream if another caller creates a thread that did not exist when the stream started. */
  async *#whileOwn(id: string, frames: LogReader<ProtocolFrame>) {
    let isOwn = false;
    for await (const batch of frames) {
      isOwn ||= (await ownThread(this.#context, id)) !== undefined;
      if (!isOwn) return;
      yield batch;
    }
  }
}

/**
 * The checkpoint to start from, at its place in the LangGraph config. Null and the empty string select none.
 * @throws CommandError if it is not a string (`invalid_argument`)
 */
function checkpointOf(config: JsonObject | null | undefined): string | undefined {
  const { checkpoint_id } = isRecord(config?.configurable) ? config.configurable : {};
  if (checkpoint_id == null || checkpoint_id === "") return undefined;
  if (typeof checkpoint_id === "string") return checkpoint_id;
  throw new CommandError(
    "invalid_argument",
    "params.config.configurable.checkpoint_id: must be the id of a checkpoint, a string",
  );
}

/** A key with its value; empty if the key is missing. */
const pick = (values: JsonObject, key: string): [string, unknown][] =>
  Object.hasOwn(values, key) ? [[key, values[key]]] : [];
