/** Accepts runs in one order for all processes on a storage, and executes as many of them here as there is room for. */
import type { RunCreateRequest } from "../models/run.js";
import type { Acceptance, Resumption, RunQueue, ThreadPatch, ReadyRun } from "../storage/contract/storage.js";
import { now } from "../storage/rows/rows.js";
import { GraphServeError, InvalidRequestError, NotFoundError, ThreadBusyError } from "../support/errors.js";
import type { LiveRun } from "../runs/live-runs.js";
import { type EngineContext } from "../runs/live-runs.js";
import { type Accepted, WaiterGroup, type Queue } from "../runs/queue.js";
import { resumeQueued } from "./recover.js";
import { UNOWNED } from "../runs/run-owners.js";
import { isStorable, resumptionOf } from "../runs/resumption.js";
import type { QueueOptions } from "../runs/run-options.js";
import { type CheckedRequest, strategyOf } from "../runs/run-request.js";
import { registerRunWebhook } from "./run-rows.js";
import { Quarantine } from "./quarantine.js";
import {
  checkRequest,
  newLiveRun,
  prepareRun,
  requireThread,
  stopOthers,
  takesOverRow,
} from "./start-run.js";

/** How soon a run goes on that nobody was told of. */
const POLL_MS = 1000;
/** A thread whose lock is another's is left to others for so long. */
const SKIP_MS = 1000;

export interface QueueSettings {
  /** `api` executes nothing. */
  role: "all" | "api" | "worker";
  max_concurrent_runs: number;
  max_queued_runs: number;
  max_waiting_runs?: number;
  max_waiting_runs_per_user?: number;
}

/** Callers who come later than all others, in the order in which they were served. */
const MAX_RECENT_CALLERS = 100;

/** Thrown when a run that was to begin here waits behind others. */
class MustWait extends Error {}

export class SharedQueue implements Queue<EngineContext, LiveRun, QueueOptions> {
  readonly callers = new WaiterGroup();
  readonly #context: EngineContext;
  readonly #table: RunQueue;
  readonly #settings: QueueSettings;
  /** Runs that have a place here. */
  #used = 0;
  /** Callers of the runs that were begun last, the latest last. */
  #recentCallers: string[] = [];
  /** Threads whose locks were others', until when. */
  readonly #skippedUntil = new Map<string, number>();
  /** Threads of runs here, until they are free again: what comes next on one is taken then, and not before. */
  readonly #localThreads = new Set<string>();
  /** Runs that begin here, by thread. */
  readonly #starting = new Map<string, Promise<unknown>>();
  readonly #quarantine = new Quarantine();
  /** A run is tried here: no other one begins. */
  #isQuarantineActive = false;
  /** No run begins until those in flight have ended, and one can be tried. */
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
    context.metrics?.queueOpened(async () => ({
      ...(await table.stats()),
      free: this.#isOpen ? this.#capacity - this.#used : 0,
    }));
  }

  get #capacity(): number {
    return this.#settings.role === "api" ? 0 : this.#settings.max_concurrent_runs;
  }

  async start(
    context: EngineContext,
    threadId: string,
    request: RunCreateRequest,
    { takesOver: isAsked, known, ...options }: QueueOptions,
  ): Promise<Accepted<LiveRun>> {
    const checked = {
      ...(await checkRequest(context, threadId, request)),
      takesOver: isAsked,
      known,
    };
    refuseUnstorable(context, request);
    const waits = strategyOf(context, request) === "enqueue";
    const clears = takesOverRow(context, checked);
    if (clears) await stopOthers(context, checked);
    const asked = { checked, options, mostBefore: waits || clears ? this.#settings.max_queued_runs : 0 };
    return (await this.#startHere(context, asked)) ?? this.#queue(context, asked);
  }

  notify(): void {
    this.#wake();
    this.#table.notify();
  }

  open(): void {
    if (this.#capacity === 0) return;
    this.#isOpen = true;
    this.#stopListening = this.#table.listen(() => this.#wake());
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    this.#stopListening?.();
    clearTimeout(this.#timer);
    await this.#round;
    await Promise.all(this.#starting.values());
  }

  /** Undefined where the thread, or every place here, is taken. */
  async #startHere(context: EngineContext, asked: Asked): Promise<Accepted<LiveRun> | undefined> {
    const { checked, options } = asked;
    // A run that waits for this one has a place already: where all places are taken by such runs, none would go on.
    const isNested = context.within !== undefined && options.isAwaited;
    let leave = this.#isOpen ? (isNested ? () => undefined : this.#enter()) : undefined;
    if (!leave) return undefined;
    let live: LiveRun | undefined;
    try {
      const made = (live = newLiveRun(context, checked, options, 1));
      const lease = await context.storage.locks.acquire(checked.threadId, { wait: false });
      if (!lease) {
        leave();
        return undefined;
      }
      leave = this.#skip(checked.threadId, leave);
      made.onEnd(leave);
      await made.begin(lease, () =>
        prepareRun(context, checked, made, lease, async (patch) => {
          const owner = this.#context.ownerId;
          if ((await this.#accept(context, asked, made, owner, patch)) === "queued") throw new MustWait();
          return false;
        }),
      );
      return { run: made.run, live: made };
    } catch (error) {
      leave();
      if (error instanceof MustWait && live) return { run: { ...live.run, attempt: 0 } };
      throw error;
    }
  }

  async #queue(context: EngineContext, asked: Asked): Promise<Accepted<LiveRun>> {
    const { checked, options } = asked;
    const live = newLiveRun(context, checked, options, 0);
    await requireThread(context, checked.threadId, checked.request);
    await this.#accept(context, asked, live, UNOWNED, { updated_at: now() });
    return { run: live.run };
  }

  async #accept(
    context: EngineContext,
    { checked, options, mostBefore }: Asked,
    { run, resumption }: LiveRun,
    owner: string,
    thread: ThreadPatch,
  ): Promise<"begun" | "queued"> {
    await registerRunWebhook(context, run, checked);
    const queued = queuedOf(context, checked.request, options);
    const from = checked.known?.from;
    // Who waited for its time has been accepted before: the bound is for those who ask now.
    const { max_waiting_runs: mostWaiting, max_waiting_runs_per_user: mostOfCaller } = from
      ? {}
      : this.#settings;
    let accepted: Acceptance;
    try {
      const row = { ...run, owner, resumption };
      accepted = await this.#table.accept(row, thread, {
        queued,
        mostBefore,
        mostWaiting,
        mostOfCaller,
        from,
      });
    } catch (error) {
      // It may have been stored all the same.
      context.live.results.markUncertain(run, checked.known !== undefined);
      throw error;
    }
    const { thread_id } = run;
    switch (accepted.became) {
      case "no_thread":
        throw new NotFoundError("thread", thread_id);
      case "not_held":
        throw new NotFoundError("run", run.run_id);
      case "thread_full":
        throw mostBefore === 0
          ? new ThreadBusyError(thread_id)
          : new ThreadBusyError(thread_id, `${mostBefore} callers already wait for it`);
      case "queue_full":
        throw new GraphServeError("too_many_runs", `${mostWaiting} runs already wait for a process`, {
          hint: "try again later, start further workers, or raise the setting max_waiting_runs",
        });
      case "caller_full":
        throw new GraphServeError(
          "too_many_runs",
          `${mostOfCaller} of your runs already wait for a process`,
          {
            hint: "try again when some have begun, or raise the setting max_waiting_runs_per_user",
          },
        );
      case "queued":
        // Whoever ends the run before it looks by itself.
        if (accepted.before === 0) this.notify();
    }
    return accepted.became;
  }

  // Runs that wait.

  #wake(): void {
    if (!this.#isOpen) return;
    this.#isNotified = true;
    clearTimeout(this.#timer);
    this.#round ??= this.#work().finally(() => {
      this.#round = undefined;
      // Somebody may have woken it when it had just looked for the last time.
      if (this.#isNotified) this.#wake();
    });
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    while (this.#isNotified && this.#isOpen) {
      this.#isNotified = false;
      try {
        if (await this.#claimSome()) this.#isNotified = true;
      } catch (error) {
        this.#context.logger.error(
          { err: error },
          "runs that wait could not be looked up, and will be again",
        );
      }
    }
    if (this.#isOpen) this.#timer = setTimeout(() => this.#wake(), POLL_MS).unref();
  }

  /** True when there may be more. */
  async #claimSome(): Promise<boolean> {
    const free = this.#capacity - this.#used;
    if (free <= 0 || this.#isQuarantineActive) return false;
    const at = performance.now();
    for (const [id, until] of this.#skippedUntil) if (until <= at) this.#skippedUntil.delete(id);
    const others = [...this.#skippedUntil.keys(), ...this.#localThreads];
    const heads = await this.#readyRuns(free, others, at);
    // In the place of one that another process reaches for too comes the next.
    const takeNext = async () => {
      for (let head = heads.shift(); head; head = heads.shift()) if (await this.#claim(head)) return true;
      return false;
    };
    const taken = await Promise.all(Array.from({ length: Math.min(free, heads.length) }, takeNext));
    return taken.some(Boolean);
  }

  /** Those that may begin here now. */
  async #readyRuns(free: number, except: readonly string[], at: number): Promise<ReadyRun[]> {
    const heads = await this.#table.readyRuns(2 * free, except, this.#recentCallers);
    const suspects = heads.filter(({ isSuspect }) => isSuspect);
    const choice = this.#quarantine.choose(suspects, suspects.length < heads.length, this.#used, at);
    this.#isDraining = choice === "drain";
    if (choice === "drain") return [];
    if (choice !== "others") return [choice.trial];
    if (suspects.length === 0) return heads;
    const theirs = suspects.map(({ thread_id }) => thread_id);
    const others = await this.#table.readyRuns(2 * free, [...except, ...theirs], this.#recentCallers);
    return others.filter(({ isSuspect }) => !isSuspect);
  }

  /** Whoever has the lock of its thread goes on with it. */
  async #claim(head: ReadyRun): Promise<boolean> {
    let leave = head.isSuspect ? this.#enterAlone() : this.#enter();
    if (!leave) return false;
    try {
      const lease = await this.#context.storage.locks.acquire(head.thread_id, { wait: false });
      if (lease) {
        leave = this.#skip(head.thread_id, leave);
        const { begun, ended, isLeft } = await resumeQueued(this.#context, head, lease);
        this.#starting.set(head.thread_id, begun);
        void begun.then(() => this.#starting.delete(head.thread_id));
        void ended.then(leave);
        if (!isLeft) return this.#serve(head);
      }
    } catch (error) {
      const { run_id } = head;
      this.#context.logger.error(
        { err: error, run_id },
        "a run that waits could not be begun, and will be again",
      );
    }
    leave();
    this.#skippedUntil.set(head.thread_id, performance.now() + SKIP_MS);
    return false;
  }

  /** A run here has the thread. Returns what leaves that with its place. */
  #skip(threadId: string, leave: () => void): () => void {
    this.#localThreads.add(threadId);
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#localThreads.delete(threadId);
      // Who found it taken meanwhile found it taken by this one.
      if (!hasLeft) this.#skippedUntil.delete(threadId);
      hasLeft = true;
      leave();
    };
  }

  #serve({ caller }: ReadyRun): true {
    this.#recentCallers = [...this.#recentCallers.filter((other) => other !== caller), caller].slice(
      -MAX_RECENT_CALLERS,
    );
    return true;
  }

  /** Take all places for a run that is tried. Returns what leaves them. */
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

  /** Take a place, where there is one. Returns what leaves it; later calls do nothing. */
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

interface Asked {
  checked: CheckedRequest;
  options: QueueOptions;
  mostBefore: number;
}

/** What another process has to know of it. Whether its client is there is seen to by the one that the client talks to. */
function queuedOf(context: EngineContext, request: RunCreateRequest, options: QueueOptions): Resumption {
  const { log, isAwaited, atEnd } = options;
  const resumption = resumptionOf(context, request, {
    ...options,
    unattended: true,
    atEnd: isAwaited ? undefined : atEnd,
  });
  if (!log) return { ...resumption, frames: "none" };
  return log.capturesAllModes ? { ...resumption, frames: "wide" } : resumption;
}

/** @throws InvalidRequestError for what rows cannot keep (`invalid_request`) */
function refuseUnstorable({ caller }: EngineContext, request: RunCreateRequest): void {
  for (const field of ["config", "context"] as const)
    if (!isStorable(request[field]))
      throw InvalidRequestError.at(
        ["body", field],
        "holds a secret, or what is no JSON, and runs wait in a database, which keeps no secrets: let the graph read it from its environment",
        "not_storable",
      );
  if (isStorable(caller)) return;
  const why =
    "the identity that the auth function gives holds a secret, and runs wait in a database, which keeps no secrets: let graphs look it up by the identity";
  throw InvalidRequestError.at(["body"], why, "not_storable");
}
