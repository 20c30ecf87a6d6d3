/** A run queue that all processes on a storage share. Each process executes as many runs as its capacity allows. */
import type { Run } from "../models/run.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type {
  Acceptance,
  AcceptOptions as QueueOptions,
  ReadyRun,
  RunQueue,
} from "../storage/contract/queue.js";
import type { RunKey, RunLease } from "../storage/contract/runs.js";
import type { ThreadPatch } from "../storage/contract/threads.js";
import { now } from "../storage/rows/rows.js";
import { GraphServeError, NotFoundError, ThreadBusyError } from "../support/errors.js";
import type { LiveRun } from "../runs/live-runs.js";
import { type EngineContext } from "../runs/live-runs.js";
import type { Accepted, Queue } from "../runs/queue.js";
import { resumeQueued } from "./recover.js";
import { queued, started } from "../runs/state.js";
import { assertStorable, requeuedResumption } from "../runs/resumption.js";
import type { AcceptOptions } from "../runs/run-options.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { reportQueuedWait } from "./accept-run.js";
import type { stopOthers as Stop } from "./cancel.js";
import { Quarantine } from "./quarantine.js";
import {
  newLiveRun,
  prepareRun,
  registerRunWebhook,
  storeOnThread,
  withdrawRunWebhook,
} from "./start-run.js";
import { MustWait } from "./thread-turns.js";

/** Poll interval in milliseconds: picks up runs whose notification was lost. */
const POLL_MS = 1000;
/** How long a claim waits for the lock of its thread, in milliseconds: the process of the run before is releasing it. */
const CLAIM_MS = 1000;

export interface QueueSettings {
  /** `api` accepts runs but executes none. */
  role: "all" | "api" | "worker";
  max_concurrent_runs: number;
  max_queued_runs: number;
  max_waiting_runs?: number;
  max_waiting_runs_per_user?: number;
}

/** Number of recently served callers to remember. Runs of all other callers start first. */
const MAX_RECENT_CALLERS = 100;

export class SharedQueue implements Queue<EngineContext, LiveRun> {
  readonly isShared = true;
  readonly #context: EngineContext;
  readonly #table: RunQueue;
  readonly #settings: QueueSettings;
  /** Number of runs that may execute here at a time. */
  readonly #capacity: number;
  /** Capacity in use, in runs. */
  #used = 0;
  /** Callers of the runs that were started last, the latest last. */
  #recentCallers: string[] = [];
  /** Runs that are starting here, by thread. */
  readonly #starting = new Map<string, Promise<unknown>>();
  readonly #quarantine = new Quarantine();
  /** Whether a quarantined run executes here: no other run starts. */
  #isQuarantineActive = false;
  /** Whether no run may start until those in flight have ended, so that a quarantined run can execute alone. */
  #isDraining = false;
  #isOpen = false;
  #isNotified = false;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #stopListening: (() => void) | undefined;

  constructor(context: EngineContext, table: RunQueue, settings: QueueSettings) {
    this.#context = context;
    this.#table = table;
    this.#settings = settings;
    this.#capacity = settings.role === "api" ? 0 : settings.max_concurrent_runs;
    context.metrics?.queueOpened(async () => ({
      ...(await table.stats()),
      free: this.#isOpen ? this.#capacity - this.#used : 0,
    }));
  }

  async accept(
    context: EngineContext,
    checked: CheckedRequest,
    options: AcceptOptions,
  ): Promise<Accepted<LiveRun>> {
    const { request, takesOver, strategy } = checked;
    assertStorable(context, request, "queued runs are stored in a database without secrets");
    const canWait = takesOver || strategy === "enqueue";
    if (takesOver) await stopOthers(context, checked);
    const submitted = { checked, options, mostBefore: canWait ? this.#settings.max_queued_runs : 0 };
    const accepted = (await this.#startHere(context, submitted)) ?? (await this.#queue(context, submitted));
    if (takesOver && !accepted.live) await stopLate(context, checked, accepted.run);
    if (!accepted.live && options.isAwaited) reportQueuedWait(context, accepted.run);
    return accepted;
  }

  async takeUp(): Promise<void> {
    this.notify();
  }

  notify(): void {
    this.#wake();
    this.#context.wakeups.notify();
  }

  open(): void {
    if (this.#capacity === 0) return;
    this.#isOpen = true;
    this.#stopListening = this.#context.wakeups.listen(() => this.#wake());
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    this.#stopListening?.();
    clearTimeout(this.#timer);
    await this.#round;
    await Promise.all(this.#starting.values());
  }

  /** Undefined if the thread is locked or this process has no free capacity. */
  async #startHere(context: EngineContext, submitted: AcceptRequest): Promise<Accepted<LiveRun> | undefined> {
    const { checked, options } = submitted;
    // The run that waits for this one uses capacity already. If such runs used all of it, they would deadlock.
    const isNested = context.within !== undefined && options.isAwaited;
    const leave = this.#isOpen ? (isNested ? () => undefined : this.#enter()) : undefined;
    if (!leave) return undefined;
    let live: LiveRun | undefined;
    try {
      const made = (live = newLiveRun(context, checked, options, 1));
      const lease = await context.storage.locks.acquire(checked.threadId, { wait: false });
      if (!lease) {
        leave();
        return undefined;
      }
      made.onEnd(leave);
      const store = async (patch: ThreadPatch) => {
        const own = started(this.#context.ownerId);
        if ((await this.#store(context, submitted, made, own, patch)) === "queued") throw new MustWait();
        return false;
      };
      await made.begin(lease, prepareRun(context, checked, made, lease, store));
      return { run: made.run, live: made };
    } catch (error) {
      leave();
      if (error instanceof MustWait && live) return { run: { ...live.run, attempt: 0 } };
      throw error;
    }
  }

  async #queue(context: EngineContext, submitted: AcceptRequest): Promise<Accepted<LiveRun>> {
    const { checked, options } = submitted;
    const live = newLiveRun(context, checked, options, 0);
    await storeOnThread(context, checked.threadId, checked.request, () =>
      this.#store(context, submitted, live, queued(), { updated_at: now() }),
    );
    return { run: live.run };
  }

  async #store(
    context: EngineContext,
    { checked, options, mostBefore }: AcceptRequest,
    { run, resumption }: LiveRun,
    lease: RunLease,
    thread: ThreadPatch,
  ): Promise<"begun" | "queued"> {
    if (checked.request.webhook != null) await registerRunWebhook(context, run, checked);
    const from = checked.known?.from;
    // A delayed run was accepted earlier: the limits apply to new requests.
    const { max_waiting_runs: mostWaiting, max_waiting_runs_per_user: mostOfCaller } = from
      ? {}
      : this.#settings;
    let accepted: Acceptance;
    try {
      const row = { ...run, ...lease, resumption };
      // It runs as unattended elsewhere: the process that the client is connected to handles disconnects.
      const { isAwaited, atEnd } = options;
      const elsewhere = { ...options, atEnd: isAwaited ? undefined : atEnd };
      accepted = await this.#table.accept(row, thread, {
        queued: { ...queued(), resumption: requeuedResumption(context, checked.request, elsewhere) },
        mostBefore,
        mostWaiting,
        mostOfCaller,
        from,
      });
    } catch (error) {
      // The run may have been stored despite the error.
      context.live.results.markUncertain(run, checked.known !== undefined);
      throw error;
    }
    const { became } = accepted;
    if (became !== "begun" && became !== "queued") {
      await withdrawRunWebhook(context, run, checked);
      throw refusalOf(became, run, { mostBefore, mostWaiting, mostOfCaller });
    }
    // A run behind others needs no notification: the process that ends the previous run polls the queue.
    if (became === "queued" && accepted.before === 0) this.notify();
    return became;
  }

  // Queued runs.

  #wake(): void {
    if (!this.#isOpen) return;
    this.#isNotified = true;
    clearTimeout(this.#timer);
    this.#round ??= this.#work();
  }

  /** Never rejects. `#round` is set at the first await, before it is reset here: the loop always awaits. */
  async #work(): Promise<void> {
    while (this.#isNotified && this.#isOpen) {
      this.#isNotified = false;
      try {
        if (await this.#claimSome()) this.#isNotified = true;
      } catch (error) {
        this.#context.logger.error({ err: error }, "queued runs could not be read; this will be retried");
      }
    }
    this.#round = undefined;
    if (this.#isOpen) this.#timer = setTimeout(() => this.#wake(), POLL_MS).unref();
  }

  /** True if there may be more runs to claim. */
  async #claimSome(): Promise<boolean> {
    const free = this.#capacity - this.#used;
    if (free <= 0 || this.#isQuarantineActive) return false;
    const ready = await this.#table.ready();
    const choice = this.#quarantine.choose(ready, this.#used);
    this.#isDraining = choice === "drain";
    if (choice === "trial") {
      const suspect = await this.#table.fetchSuspect();
      return suspect !== undefined && this.#claim(suspect);
    }
    if (choice === "drain" || !ready.runs) return false;
    const fetched = await this.#table.fetch(free, this.#recentCallers);
    const claimed = await Promise.all(fetched.map((run) => this.#claim(run)));
    return claimed.some(Boolean);
  }

  /** Claims a run by locking its thread, and starts it. Returns false if that is not possible now. */
  async #claim(run: ReadyRun): Promise<boolean> {
    const leave = run.isSuspect ? this.#enterAlone() : this.#enter();
    try {
      const lease = leave && (await this.#lock(run));
      if (lease) {
        const { begun, ended, isLeft } = await resumeQueued(this.#context, run, lease);
        this.#starting.set(run.thread_id, begun);
        void begun.then(() => this.#starting.delete(run.thread_id));
        void ended.then(leave);
        if (!isLeft) return this.#serve(run);
      }
      await this.#table.release(run);
      // Runs accepted meanwhile took the capacity.
      if (!leave) this.#context.wakeups.notify();
    } catch (error) {
      const { run_id } = run;
      this.#context.logger.error(
        { err: error, run_id },
        "a queued run could not be started; this will be retried",
      );
    }
    leave?.();
    return false;
  }

  /** Undefined if another process keeps the thread locked. */
  async #lock({ thread_id }: ReadyRun): Promise<ThreadLease | undefined> {
    const { locks } = this.#context.storage;
    const signal = AbortSignal.timeout(CLAIM_MS);
    try {
      return await locks.acquire(thread_id, { wait: true, first: true, signal });
    } catch (error) {
      if (error === signal.reason) return undefined;
      throw error;
    }
  }

  #serve({ caller }: ReadyRun): true {
    this.#recentCallers = [...this.#recentCallers.filter((other) => other !== caller), caller].slice(
      -MAX_RECENT_CALLERS,
    );
    return true;
  }

  /** Reserves this process for a quarantined run. Returns a function that frees it; undefined if runs are in flight. */
  #enterAlone(): (() => void) | undefined {
    if (this.#used > 0) return undefined;
    this.#isDraining = false;
    const leave = this.#enter();
    if (!leave) return undefined;
    this.#isQuarantineActive = true;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#isQuarantineActive = false;
      this.#quarantine.ended();
      leave();
    };
  }

  /** Takes capacity for one run. Returns a function that frees it, once; undefined if there is none. */
  #enter(): (() => void) | undefined {
    if (this.#used >= this.#capacity || this.#isQuarantineActive || this.#isDraining) return undefined;
    this.#used += 1;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#used -= 1;
      this.#wake();
    };
  }
}

/** Stops the runs that were accepted before a run that takes the thread over, but after the others were stopped. Never rejects. */
async function stopLate(context: EngineContext, checked: CheckedRequest, before: Run): Promise<void> {
  const { run_id } = before;
  await stopOthers(context, checked, { before }).catch((error: unknown) =>
    context.logger.warn({ err: error, run_id }, "late runs could not be stopped: the run waits for them"),
  );
}

/** Imported only when a run takes a thread over. */
const stopOthers: typeof Stop = async (...others) => (await import("./cancel.js")).stopOthers(...others);

interface AcceptRequest {
  checked: CheckedRequest;
  options: AcceptOptions;
  mostBefore: number;
}

/** Why a run was not accepted. `mostBefore` is 0 for a run that does not wait. */
function refusalOf(
  became: Exclude<Acceptance["became"], "begun" | "queued">,
  { run_id, thread_id }: RunKey,
  { mostBefore, mostWaiting, mostOfCaller }: Omit<QueueOptions, "queued">,
): GraphServeError {
  switch (became) {
    case "no_thread":
      return new NotFoundError("thread", thread_id);
    case "not_held":
      return new NotFoundError("run", run_id);
    case "thread_full":
      return mostBefore === 0
        ? new ThreadBusyError(thread_id)
        : new ThreadBusyError(thread_id, `${mostBefore} callers already wait for it`);
    case "queue_full":
      return new GraphServeError("too_many_runs", `${mostWaiting} runs already wait for a process`, {
        hint: "try again later, start further workers, or raise the setting max_waiting_runs",
      });
    case "caller_full":
      return new GraphServeError("too_many_runs", `${mostOfCaller} of your runs already wait for a process`, {
        hint: "try again when some have started, or raise the setting max_waiting_runs_per_user",
      });
  }
}
