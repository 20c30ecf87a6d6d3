/** What a page shows of one thread: its row, its state, and the run in flight, across reloads and tabs. */
import { batch, computed, signal } from "@preact/signals";
import type { RunCreateRequest, RunTasks } from "../../src/models/run.js";
import type { ThreadState } from "../../src/models/state.js";
import { ApiError, ask, open } from "../api.js";
import {
  cancelRun,
  type CancelAction,
  type First,
  inFlight,
  isEndOfCall,
  type LiveRun,
  Painter,
  pastTasks,
  pathOf,
  readWhileSeen,
  reportProgress,
  STREAM,
  tasksOf,
} from "./live-run.js";
import { load, loading } from "./loading.js";
import { type Picture, RunView } from "./run-view.js";
import { type ListedThread, readRow } from "./threads.js";

interface Surroundings {
  /** Called when the row of the thread was read. */
  onRow: (row: ListedThread) => Promise<void>;
  /** Node ids of the drawing. */
  drawn: () => ReadonlySet<string>;
}

export class ThreadView {
  /** Empty for a conversation whose thread does not exist yet. */
  readonly id: string;
  readonly row = loading<ListedThread>();
  readonly state = loading<ThreadState>();
  /** The run in flight; undefined if there is none. */
  readonly live = signal<LiveRun | undefined>(undefined);
  /** What waits for answers or to be resumed: nothing does while a run is in flight, followed here or not yet. */
  readonly waiting = computed(() => {
    const isBusy = this.live.value !== undefined || this.row.value.value?.status === "busy";
    return isBusy ? undefined : this.state.value.value;
  });
  /** View of the run in flight, or of the last one. */
  readonly picture = signal<Picture | undefined>(undefined);
  /** False while reconnecting. */
  readonly isConnected = signal(true);
  /** Why the last run request was rejected. */
  readonly refusal = signal<ApiError | undefined>(undefined);
  readonly isSending = signal(false);

  readonly #around: Surroundings;
  readonly #left = new AbortController();
  /** Tool calls whose durations were requested, even if there were none. */
  readonly #asked = new Set<string>();
  #view: RunView | undefined;
  #generation = 0;
  #isRolledBack = false;
  /** True while the final state of a run is being loaded. */
  #isEnding = false;

  constructor(id: string, around: Surroundings) {
    this.id = id;
    this.#around = around;
  }

  get isLeft(): boolean {
    return this.#left.signal.aborted;
  }

  /** Stop following the run; it continues. */
  leave(): void {
    this.#generation += 1;
    this.#left.abort();
  }

  /** Show the thread as it is now, and follow its run in flight. */
  async open(): Promise<void> {
    const before = this.row.value.peek()?.updated_at;
    const isShown = this.#view !== undefined;
    await this.readAll();
    // A run that is followed here, or has just ended, updates the view itself.
    const isOwn = this.live.peek() !== undefined || this.#isEnding || before === undefined;
    const isCurrent = isShown && (isOwn || before === this.row.value.peek()?.updated_at);
    if (this.isLeft || isCurrent || !this.row.value.peek()) return;
    this.#show();
    await this.followBusy();
  }

  /** Read the row and the state, for example for its pending questions. */
  async readAll(isStale = () => this.isLeft): Promise<void> {
    const path = `/threads/${encodeURIComponent(this.id)}/state`;
    await Promise.all([
      load(this.row, () => readRow(this.id), isStale),
      load(this.state, async () => (await ask<ThreadState>("GET", path)).body, isStale),
    ]);
    const row = this.row.value.peek();
    if (!isStale() && row) await this.#around.onRow(row);
  }

  /** Use a row that was read elsewhere. @returns true if the state that was read here is older */
  takeRow(row: ListedThread): boolean {
    const before = this.row.value.peek();
    this.row.value.value = row;
    return this.state.value.peek() !== undefined && before?.updated_at !== row.updated_at;
  }

  /** Follow the run in flight. Without one, an outdated state is read again: its questions may be answered. */
  async catchUp(isOutdated: boolean): Promise<void> {
    await this.followBusy();
    const isStale = () => this.isLeft || this.live.peek() !== undefined;
    if (!isOutdated || isStale() || this.isSending.peek() || this.#isEnding) return;
    await this.readAll(isStale);
    if (!isStale()) this.#show();
  }

  /** Check whether the thread was run elsewhere, and read again what could not be read. */
  async lookAgain(): Promise<void> {
    const hasFailed = [this.row, this.state].some(({ error }) => error.peek() !== undefined);
    const isKnown = hasFailed || this.row.value.peek() !== undefined;
    if (this.id === "" || this.live.peek() || this.isSending.peek() || this.#isEnding || !isKnown) return;
    const isStale = () => this.isLeft || this.live.peek() !== undefined;
    const now = await readRow(this.id).catch((error: ApiError) => this.#noteGone(error));
    // The end of a run that this page followed may have been read meanwhile.
    if (!now || isStale() || this.#isEnding) return;
    if (!hasFailed && now.updated_at === this.row.value.peek()?.updated_at) return;
    await this.readAll(isStale);
    if (isStale()) return;
    this.#show();
    await this.followBusy();
  }

  /** A thread that was deleted elsewhere cannot be answered or run any more. Other errors may pass. */
  #noteGone(error: ApiError): undefined {
    if (error.status !== 404 || this.isLeft) return;
    batch(() => {
      this.row.value.value = undefined;
      this.row.error.value = error;
    });
  }

  async followBusy(): Promise<void> {
    if (this.row.value.peek()?.status === "busy") await this.#follow().catch(() => undefined);
  }

  /**
   * Start a run and follow it.
   * @throws ApiError if the server rejects the run
   */
  async begin(request: RunCreateRequest): Promise<void> {
    const mine = ++this.#generation;
    const connection = new AbortController();
    const response = await open("POST", `${pathOf(this.id)}/stream`, {
      body: { ...request, ...STREAM },
      signal: connection.signal,
    });
    const runId = response.headers.get("Content-Location")?.split("/").at(-1) ?? "";
    if (mine !== this.#generation) return connection.abort();
    void this.#read(runId, { response, abort: () => connection.abort() });
  }

  /** Stop the run; `rollback` also discards its changes. */
  async stop(action: CancelAction): Promise<void> {
    const run = this.live.peek();
    if (!run) return;
    this.#isRolledBack = action === "rollback";
    this.live.value = { ...run, isStopping: true };
    try {
      await cancelRun(run, action);
    } catch (error) {
      if (this.live.peek()?.runId === run.runId) this.live.value = { ...run, isStopping: false };
      throw error;
    }
  }

  /** Show the thread without a run in flight. */
  #show(): void {
    this.picture.value = this.#freshView().picture();
    void this.#readPastTimes();
  }

  #freshView(): RunView {
    this.#view = new RunView(this.state.value.peek()?.values, this.#around.drawn(), this.#view);
    return this.#view;
  }

  /** Follow the run in flight, if there is one. */
  async #follow(): Promise<void> {
    if (this.live.peek()) return;
    const mine = ++this.#generation;
    const runId = await inFlight(this.id);
    if (mine === this.#generation && runId !== undefined) void this.#read(runId);
  }

  async #read(runId: string, first?: First): Promise<void> {
    const mine = this.#generation;
    const fresh = this.#freshView();
    /** True if a tool call has ended whose duration has not been requested yet. */
    let hasEnded = false;
    const painter = new Painter(fresh, (picture, hasNewCheckpoint) => {
      this.picture.value = picture;
      if (!hasNewCheckpoint) return;
      reportProgress(this.id, false);
      if (hasEnded) void this.#readTimes(runId);
      hasEnded = false;
    });
    batch(() => {
      this.live.value = { threadId: this.id, runId, isStopping: false };
      this.picture.value = fresh.picture();
    });
    try {
      await readWhileSeen(`${pathOf(this.id)}/${runId}/stream`, {
        take: (frame) => {
          hasEnded ||= isEndOfCall(frame);
          painter.take(frame);
        },
        onLine: (isThere) => (this.isConnected.value = isThere),
        left: this.#left.signal,
        first,
      });
    } catch (error) {
      if (mine !== this.#generation) return;
      // Its frames are no longer available: the thread state contains the outcome.
      if (!(error instanceof ApiError)) throw error;
    }
    if (mine !== this.#generation) return;
    painter.paint();
    this.live.value = undefined;
    reportProgress(this.id, true);
    void this.#readEnd();
    await this.#readTimes(runId);
  }

  /** Load the final state after a run. */
  async #readEnd(): Promise<void> {
    const isStale = () => this.isLeft || this.live.peek() !== undefined;
    this.#isEnding = true;
    await this.readAll(isStale).finally(() => (this.#isEnding = false));
    if (isStale()) return;
    // Without its changes, model output that is not in the state is removed as well.
    this.#view?.settle(this.state.value.peek()?.values, this.#isRolledBack);
    this.picture.value = this.#view?.picture();
    this.#isRolledBack = false;
    // Another run may have been queued.
    await this.followBusy();
  }

  /** Load durations of tool calls, which frames do not contain. */
  async #readTimes(runId: string): Promise<void> {
    const tasks = await tasksOf(this.id, runId);
    if (tasks) this.#takeTimes([tasks]);
  }

  async #readPastTimes(): Promise<void> {
    const missing = this.#view?.untimedCalls() ?? new Set<string>();
    for (const call of this.#asked) missing.delete(call);
    if (missing.size === 0) return;
    for (const call of missing) this.#asked.add(call);
    this.#takeTimes(await pastTasks(this.id, missing));
  }

  /** Runs must be oldest first: for a repeated call the last duration counts. */
  #takeTimes(runs: readonly RunTasks[]): void {
    if (!this.#view || this.isLeft || runs.length === 0) return;
    for (const run of runs) this.#view.takeTimes(run);
    this.picture.value = this.#view.picture();
  }
}
