/**
 * Runs of a thread that are not told by logs of this process: those of other processes, and those that nobody streamed. Of
 * what other processes share there is all; else it is as the storage tells it: without tokens and steps in between, but
 * with the ids and the places that the process of the run gives.
 */
import type { Snapshot } from "../graphs/graph.js";
import { INTERRUPT_KEY, type OutputFilter } from "../graphs/output-filter.js";
import { toJson } from "../graphs/serialize.js";
import { CHECKPOINT_ID } from "../graphs/stream/stream-frames.js";
import { attemptOf, firstIdOf, type RunFrame } from "../models/run-stream.js";
import { isFinished } from "../storage/rows/rows.js";
import type { RunRow } from "../storage/contract/storage.js";
import { tryOr } from "../support/errors.js";
import { untilAborted, allModeFrames } from "./remote-frames.js";
import type { EngineContext } from "../runs/live-runs.js";
import { pendingInterrupts } from "../threads/pending-interrupts.js";
import { answerFrom, type LogReader, type RunLog } from "../frames/run-log.js";
import type { ThreadFeed } from "../frames/thread-feed.js";
import { runModel } from "../threads/thread-origin.js";
import { type Reader, readerOf } from "../threads/thread-state.js";

/** How often the storage is asked; after some looks that told nothing, and where hints come of what is new. */
const LOOK_MS = 500;
const IDLE_LOOKS = 60;
const IDLE_LOOK_MS = 2_000;
const HINTED_LOOK_MS = 5_000;
/** A run that is in flight for so long and shares no frames is told by the storage. */
const FRAMES_LATE_MS = 2_000;
/** Runs that are looked at, newest first, and checkpoints of one run. */
const NEWEST_RUNS = 10;
const NEWEST_CHECKPOINTS = 20;
/** Runs that ended longer ago are not told any more. */
const RECENT_MS = 5 * 60_000;

interface StoredRun {
  log: RunLog;
  hasBegun: boolean;
  /** Checkpoints that were told. */
  told: Set<string>;
  row: RunRow;
}

export class StoredRuns {
  readonly #context: EngineContext;
  readonly #threadId: string;
  readonly #feed: ThreadFeed;
  /** Those that have not ended, by run id. */
  readonly #open = new Map<string, StoredRun>();
  readonly #broken: (followed: Promise<void>) => void;
  readonly #left = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;
  #look: Promise<void> | undefined;
  #isHinted = false;
  /** Looks since something was told. */
  #idleLooks = 0;

  /** @param broken hears of what follows a run, which rejects when that breaks off */
  constructor(
    context: EngineContext,
    threadId: string,
    feed: ThreadFeed,
    broken: (followed: Promise<void>) => void,
  ) {
    this.#context = context;
    this.#threadId = threadId;
    this.#feed = feed;
    this.#broken = broken;
  }

  /** Look now, and again and again. */
  start(): void {
    if (this.#timer) return;
    this.#idleLooks = 0;
    this.#stopListening = this.#context.frames?.listen(this.#threadId, () => this.#pollAgain());
    this.#lookLater();
    this.#pollAgain();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Nobody reads the thread any more. */
  close(): void {
    this.stop();
    this.#left.abort();
    for (const { log } of this.#open.values()) log.close();
  }

  /** A look that is under way may have passed by what is new. */
  #pollAgain(): void {
    this.#isHinted = this.#look !== undefined;
    void this.look();
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.look(), this.#isHinted ? 0 : this.#pauseMs()).unref();
    this.#isHinted = false;
  }

  #pauseMs(): number {
    if (this.#open.size > 0 || this.#idleLooks === 0) return LOOK_MS;
    if (this.#context.frames && !this.#context.frames.isAway) return HINTED_LOOK_MS;
    return this.#idleLooks < IDLE_LOOKS ? LOOK_MS : IDLE_LOOK_MS;
  }

  /** Tell what has come. Never rejects: a storage that is away is asked again. */
  look(): Promise<void> {
    this.#look ??= this.#publishAll()
      .catch((error: unknown) =>
        this.#context.logger.warn(
          { err: error, thread_id: this.#threadId },
          "the runs of a thread could not be read",
        ),
      )
      .finally(() => {
        this.#look = undefined;
        if (this.#knowsAll()) this.stop();
        else if (this.#timer) this.#lookLater();
      });
    return this.#look;
  }

  /** No other process has this storage, and every run that goes on here comes with its frames. */
  #knowsAll(): boolean {
    const { storage, live } = this.#context;
    return !storage.durable && this.#open.size === 0 && live.ofThread(this.#threadId).every(({ log }) => log);
  }

  async #publishAll(): Promise<void> {
    const { runs } = this.#context.storage;
    const rows = await runs.list({ threadId: this.#threadId, limit: NEWEST_RUNS, offset: 0 });
    this.#idleLooks += 1;
    for (const row of rows.reverse()) {
      const run = this.#open.get(row.run_id) ?? (await this.#opened(row));
      if (!run) continue;
      this.#idleLooks = 0;
      run.row = row;
      await this.#publish(run);
    }
  }

  /** A run that is not told by its frames, and is newer than those that are. */
  async #opened(row: RunRow): Promise<StoredRun | undefined> {
    const { run_id, created_at, owner } = row;
    const isRecent = !isFinished(row) || Date.now() - Date.parse(row.updated_at) < RECENT_MS;
    if (!isRecent || this.#feed.has(run_id) || created_at < this.#feed.newestRun) return undefined;
    // A run of this process that is about to begin comes with its frames.
    const live = this.#context.live.find(run_id);
    if (live ? live.log : owner === this.#context.ownerId && !isFinished(row)) return undefined;
    const run: StoredRun = { log: this.#context.live.logWith({}), hasBegun: false, told: new Set(), row };
    const place = await this.#placeOf(row);
    // The next look comes soon.
    if (place === "unknown") this.#idleLooks = 0;
    if (place === "unknown" || this.#feed.has(run_id)) return undefined;
    const facts = { run_id, created_at, graph_id: String(row.metadata.graph_id), answers: answerFrom(row) };
    const fed = { ...facts, endedAt: () => run.row.updated_at };
    if (place === "frames") {
      this.#broken(this.#feed.follow(fed, this.#framesOf(run)));
      return undefined;
    }
    if (this.#left.signal.aborted) return undefined;
    this.#open.set(run_id, run);
    this.#feed
      .follow(fed, run.log.read())
      .catch((error: unknown) => this.#context.logger.error({ err: error, run_id }, "a run broke off"));
    return run;
  }

  /** Where a run is told: by all of its frames, from the first on, or by the storage. */
  async #placeOf({ run_id, status, updated_at }: RunRow): Promise<"frames" | "storage" | "unknown"> {
    const { frames } = this.#context;
    if (!frames || frames.isAway) return "storage";
    const page = await frames.read(run_id, -1);
    if (page) {
      const first = page.frames[0]?.id ?? page.next;
      return page.about.is_wide && first === firstIdOf(attemptOf(first)) ? "frames" : "storage";
    }
    const isLate = Date.now() - Date.parse(updated_at) > FRAMES_LATE_MS;
    return status === "pending" || (status === "running" && !isLate) ? "unknown" : "storage";
  }

  /** Its last frame comes when its row says when it ended. */
  #framesOf(run: StoredRun): LogReader {
    const { signal } = this.#left;
    const context = this.#context;
    const all = async function* () {
      if (!context.frames) return;
      const frames = allModeFrames(context, context.frames, runModel(run.row), signal);
      for await (const batch of untilAborted(signal, frames)) {
        const { thread_id, run_id } = run.row;
        if (isEnd(batch.at(-1))) run.row = (await context.storage.runs.get(thread_id, run_id)) ?? run.row;
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
      await this.#publishQuestions(log, at);
      log.push("end", JSON.stringify({ status: row.status }), at);
    } else log.push("error", JSON.stringify({ message: row.error }), at);
    log.close();
    this.#open.delete(row.run_id);
  }

  async #publishStates({ row, log, told }: StoredRun, reader: Reader): Promise<void> {
    const configurable = { thread_id: this.#threadId, checkpoint_ns: "" };
    const options = { limit: NEWEST_CHECKPOINTS, filter: { run_id: row.run_id } };
    const states: Snapshot[] = [];
    for await (const state of reader.graph.getStateHistory({ configurable }, options)) {
      if (told.has(idOf(state))) break;
      states.push(state);
    }
    const filter = await reader.filter();
    for (const state of states.reverse()) {
      told.add(idOf(state));
      // What a run is given is told with its first step.
      if (state.metadata?.source !== "input") publishState(log, state, filter);
    }
  }

  async #publishQuestions(log: RunLog, at: { at: number }): Promise<void> {
    for (const { id, value, namespace } of await pendingInterrupts(this.#context, this.#threadId)) {
      const event = ["values", ...namespace].join("|");
      log.push(event, toJson({ [INTERRUPT_KEY]: [{ id, value }] }, "values"), at);
    }
  }
}

const isEnd = (frame: RunFrame | undefined): boolean => frame?.event === "end" || frame?.event === "error";

const idOf = ({ config }: Snapshot): string => String(config.configurable?.checkpoint_id);

/** What cannot be sent failed its run, which says so. */
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
