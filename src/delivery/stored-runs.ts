/**
 * Feeds the runs of a thread that have no log in this process: runs of other processes and runs that were not streamed.
 * Frames that other processes share are complete. Other runs are reconstructed from the storage, without tokens and
 * intermediate steps, but with the same ids and sequence numbers as in the process of the run.
 */
import type { Snapshot } from "../graphs/graph.js";
import { INTERRUPT_KEY, type OutputFilter } from "../graphs/output-filter.js";
import { toJson } from "../graphs/serialize.js";
import { CHECKPOINT_ID } from "../graphs/stream/stream-frames.js";
import { attemptOf, firstIdOf, LAST_EVENTS } from "../models/run-stream.js";
import { isFinished } from "../models/run-status.js";
import type { RunRow } from "../storage/contract/runs.js";
import { tryOr } from "../support/errors/thrown.js";
import { untilAborted, allModeFrames } from "./read-run.js";
import type { EngineContext } from "../runs/live-runs.js";
import { pendingInterrupts } from "../threads/pending-interrupts.js";
import { answerFrom } from "../models/interrupt-answer.js";
import type { LogReader, RunLog } from "../frames/run-log.js";
import type { ThreadFeed } from "../frames/thread-feed.js";
import { runModel } from "../storage/rows/run-rows.js";
import { type Reader, readerOf } from "../threads/thread-state.js";

/** Poll intervals in milliseconds: the default, after `IDLE_POLL_COUNT` polls without news, and with notifications. */
const POLL_MS = 500;
const IDLE_POLL_COUNT = 60;
const IDLE_POLL_MS = 2_000;
const NOTIFIED_POLL_MS = 5_000;
/** After this time, a run in flight that shares no frames is read from the storage. In milliseconds. */
const FRAMES_LATE_MS = 2_000;
/** How many of the newest runs a poll reads, and how many of the newest checkpoints of each. */
const NEWEST_RUNS = 10;
const NEWEST_CHECKPOINTS = 20;
/** Runs that ended longer ago are not fed. In milliseconds. */
const RECENT_MS = 5 * 60_000;

interface StoredRun {
  log: RunLog;
  hasBegun: boolean;
  /** Ids of the checkpoints that were published. */
  published: Set<string>;
  row: RunRow;
}

export class StoredRuns {
  readonly #context: EngineContext;
  readonly #threadId: string;
  readonly #feed: ThreadFeed;
  /** Unfinished runs, by run id. */
  readonly #open = new Map<string, StoredRun>();
  readonly #onFollow: (followed: Promise<void>) => void;
  readonly #onDeleted: () => void;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;
  #polling: Promise<void> | undefined;
  #isPollDue = false;
  /** Polls since the last news. */
  #idlePolls = 0;
  /** When the thread was created; undefined until it exists. */
  #threadSince: string | undefined;

  /**
   * @param onFollow gets a promise for each followed run, which rejects if following fails
   * @param onDeleted called when the thread was deleted, by any process
   */
  constructor(
    context: EngineContext,
    threadId: string,
    feed: ThreadFeed,
    onFollow: (followed: Promise<void>) => void,
    onDeleted: () => void,
  ) {
    this.#context = context;
    this.#threadId = threadId;
    this.#feed = feed;
    this.#onFollow = onFollow;
    this.#onDeleted = onDeleted;
  }

  /** Polls immediately, then at intervals. */
  start(): void {
    if (this.#timer) return;
    this.#idlePolls = 0;
    this.#stopListening = this.#context.frames?.listen(this.#threadId, () => this.#pollAgain());
    this.#pollLater();
    this.#pollAgain();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Called when the thread has no readers any more. */
  close(): void {
    this.stop();
    this.#closing.abort();
    for (const { log } of this.#open.values()) log.close();
  }

  /** Polls again after a poll in progress, which may have missed what is new. */
  #pollAgain(): void {
    this.#isPollDue = this.#polling !== undefined;
    void this.poll();
  }

  #pollLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.poll(), this.#isPollDue ? 0 : this.#pauseMs()).unref();
    this.#isPollDue = false;
  }

  #pauseMs(): number {
    if (this.#open.size > 0 || this.#idlePolls === 0) return POLL_MS;
    if (this.#context.frames && !this.#context.frames.isAway) return NOTIFIED_POLL_MS;
    return this.#idlePolls < IDLE_POLL_COUNT ? POLL_MS : IDLE_POLL_MS;
  }

  /** Publishes new events. Never rejects: a storage that is unavailable is polled again. */
  poll(): Promise<void> {
    this.#polling ??= this.#publishAll()
      .catch((error: unknown) =>
        this.#context.logger.warn(
          { err: error, thread_id: this.#threadId },
          "the runs of a thread could not be read",
        ),
      )
      .finally(() => {
        this.#polling = undefined;
        if (this.#isComplete()) this.stop();
        else if (this.#timer) this.#pollLater();
      });
    return this.#polling;
  }

  /** True if no other process uses this storage and every live run of the thread has a log: polling can stop. */
  #isComplete(): boolean {
    const { storage, live } = this.#context;
    return !storage.durable && this.#open.size === 0 && live.ofThread(this.#threadId).every(({ log }) => log);
  }

  async #publishAll(): Promise<void> {
    const { runs, threads } = this.#context.storage;
    const thread = await threads.get(this.#threadId);
    if (this.#threadSince !== undefined && thread?.created_at !== this.#threadSince) return this.#onDeleted();
    this.#threadSince = thread?.created_at;
    const rows = await runs.list({ threadId: this.#threadId, limit: NEWEST_RUNS, offset: 0 });
    this.#idlePolls += 1;
    for (const row of rows.reverse()) {
      const run = this.#open.get(row.run_id) ?? (await this.#opened(row));
      if (!run) continue;
      this.#idlePolls = 0;
      run.row = row;
      await this.#publish(run);
    }
  }

  /** Follows a run that is newer than the fed ones. Undefined if the storage is not, or not yet, its source. */
  async #opened(row: RunRow): Promise<StoredRun | undefined> {
    const { run_id, created_at, owner } = row;
    const isRecent = !isFinished(row) || Date.now() - Date.parse(row.updated_at) < RECENT_MS;
    if (!isRecent || this.#feed.has(run_id) || created_at < this.#feed.newestRun) return undefined;
    // A run of this process that is about to start is fed from its log.
    const live = this.#context.live.find(run_id);
    if (live ? live.log : owner === this.#context.ownerId && !isFinished(row)) return undefined;
    const run: StoredRun = {
      log: this.#context.live.newLog(row.thread_id, { isWide: false }),
      hasBegun: false,
      published: new Set(),
      row,
    };
    const source = await this.#sourceOf(row);
    // Polls again soon.
    if (source === "unknown") this.#idlePolls = 0;
    if (source === "unknown" || this.#feed.has(run_id)) return undefined;
    const labels = { run_id, created_at, graph_id: String(row.metadata.graph_id), answers: answerFrom(row) };
    const fed = { ...labels, endedAt: () => run.row.updated_at };
    if (source === "frames") {
      this.#onFollow(this.#feed.follow(fed, this.#framesOf(run)));
      return undefined;
    }
    if (this.#closing.signal.aborted) return undefined;
    this.#open.set(run_id, run);
    this.#feed
      .follow(fed, run.log.read())
      .catch((error: unknown) =>
        this.#context.logger.error({ err: error, run_id }, "following a stored run failed"),
      );
    return run;
  }

  /** The source of a run's events: its shared frames, if they are complete from the first one, or the storage. */
  async #sourceOf({ run_id, status, updated_at }: RunRow): Promise<"frames" | "storage" | "unknown"> {
    const { frames } = this.#context;
    if (!frames || frames.isAway) return "storage";
    const page = await frames.read(run_id, -1);
    if (page) {
      const first = page.frames[0]?.id ?? page.next;
      return page.about.all_modes && first === firstIdOf(attemptOf(first)) ? "frames" : "storage";
    }
    const isLate = Date.now() - Date.parse(updated_at) > FRAMES_LATE_MS;
    return status === "pending" || (status === "running" && !isLate) ? "unknown" : "storage";
  }

  /** Reads the row again before the last frame, whose time is the end time in the row. */
  #framesOf(run: StoredRun): LogReader {
    const { signal } = this.#closing;
    const context = this.#context;
    const all = async function* () {
      if (!context.frames) return;
      const frames = allModeFrames(context, context.frames, runModel(run.row), signal);
      for await (const batch of untilAborted(signal, frames)) {
        const { thread_id, run_id } = run.row;
        const last = batch.at(-1);
        if (last && LAST_EVENTS.has(last.event))
          run.row = (await context.storage.runs.get(thread_id, run_id)) ?? run.row;
        yield batch;
      }
    };
    return { leave: () => undefined, [Symbol.asyncIterator]: all };
  }

  async #publish(run: StoredRun): Promise<void> {
    const { row, log } = run;
    if (row.status === "pending") return;
    if (!run.hasBegun) log.push("metadata", "{}", { at: Date.parse(row.created_at) });
    run.hasBegun = true;
    const thread = await this.#context.storage.threads.get(this.#threadId);
    if (thread) await this.#publishStates(run, await readerOf(this.#context, thread));
    if (!isFinished(row)) return;
    const at = { at: Date.parse(row.updated_at) };
    if (row.error === null) {
      await this.#publishInterrupts(log, at);
      log.push("end", JSON.stringify({ status: row.status }), at);
    } else log.push("error", JSON.stringify({ message: row.error }), at);
    log.close();
    this.#open.delete(row.run_id);
  }

  async #publishStates({ row, log, published }: StoredRun, reader: Reader): Promise<void> {
    const configurable = { thread_id: this.#threadId, checkpoint_ns: "" };
    const options = { limit: NEWEST_CHECKPOINTS, filter: { run_id: row.run_id } };
    const states: Snapshot[] = [];
    for await (const state of reader.graph.getStateHistory({ configurable }, options)) {
      if (published.has(idOf(state))) break;
      states.push(state);
    }
    const filter = await reader.filter();
    for (const state of states.reverse()) {
      published.add(idOf(state));
      // The input checkpoint is published with the first step.
      if (state.metadata?.source !== "input") publishState(log, state, filter);
    }
  }

  async #publishInterrupts(log: RunLog, at: { at: number }): Promise<void> {
    for (const { id, value, namespace } of await pendingInterrupts(this.#context, this.#threadId)) {
      const event = ["values", ...namespace].join("|");
      log.push(event, toJson({ [INTERRUPT_KEY]: [{ id, value }] }, "values"), at);
    }
  }
}

const idOf = ({ config }: Snapshot): string => String(config.configurable?.checkpoint_id);

/** Skips values that cannot be serialized: they failed the run, which reports it. */
function publishState(log: RunLog, state: Snapshot, filter: OutputFilter): void {
  const values = tryOr(() => toJson(filter.values(state.values), "values"));
  if (values === undefined) return;
  const parent = state.parentConfig?.configurable?.checkpoint_id;
  const { step, source } = state.metadata ?? {};
  const id = { id: idOf(state), ...(parent != null && { parent_id: parent }), step, source };
  const at = state.createdAt === undefined ? {} : { at: Date.parse(state.createdAt) };
  log.push(CHECKPOINT_ID, JSON.stringify(id), at);
  log.push("values", values, at);
}
