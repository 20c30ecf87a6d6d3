/** Periodic work of the service: heartbeat, deferred writes, expired threads, dead runs. */
import type { ThreadRow } from "../storage/contract/threads.js";
import { now } from "../storage/rows/rows.js";
import { ClockWatch } from "../context/clock.js";
import { asServiceError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { watchCancels } from "../coordination/rollback.js";
import { removeUnchanged } from "../threads/thread-state.js";
import { ownerOf } from "../storage/rows/owners.js";
import { keepLatest } from "./threads.js";
import { assertTimers } from "../context/timers.js";

// Intervals, in milliseconds.
const HEARTBEAT_MS = 5_000;
/** Poll interval for cancel requests of other processes. */
const CANCEL_MS = 500;
/** Poll interval for requeued runs. */
const REQUEUED_MS = 1000;
const RECOVERY_MS = 10_000;
/** How long a recovery waits for a locked thread. */
const RECOVERY_PATIENCE_MS = 5_000;
/** Interval of the clock check, and of sweeps unless the setting `ttl` has another. */
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Expired threads per query of a sweep. */
const SWEEP_BATCH = 100;

export class Maintenance {
  readonly #context: EngineContext;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Work in progress. */
  readonly #inProgress = new Set<Promise<void>>();
  readonly #timekeepers: { start(): void; stop(): Promise<void> }[] = [];
  readonly #clock = new ClockWatch();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * Recovers runs of earlier processes, then maintains the storage until `stop`.
   * @throws ConfigError if the storage does not support a setting (`config_invalid`)
   */
  async start(): Promise<void> {
    const { settings, storage, timers } = this.#context;
    assertTimers(settings, storage);
    if (settings.webhooks) (await import("../webhooks/webhook-sender.js")).webhookSender(settings.webhooks);
    await this.#beat();
    await Promise.all([warnOfDelayed(this.#context), this.#clock.check(this.#context)]);
    await this.#context.recover();
    this.#every(HEARTBEAT_MS, async () => {
      await this.#beat();
      await this.#context.live.results.flushAll();
      this.#context.live.logs.expire();
    });
    this.#every(CANCEL_MS, () => watchCancels(this.#context));
    const { requeues, queue } = this.#context;
    if (requeues && !queue.isShared)
      this.#every(REQUEUED_MS, () => this.#context.recover({ isRequeued: true }));
    this.#every(RECOVERY_MS, () => this.#context.recover({ patience: RECOVERY_PATIENCE_MS }));
    this.#every(MINUTE_MS, () => this.#clock.check(this.#context));
    this.#every((settings.ttl?.sweep_interval_minutes ?? 1) * MINUTE_MS, async () => {
      await sweep(this.#context);
      await this.#context.items.expire(now());
    });
    queue.open();
    if (!timers) return;
    const { Timekeeper } = await import("../scheduling/timekeeper.js");
    // Webhooks have their own timekeeper: slow receivers must not delay other timers.
    const [webhooks, others] = [["webhook" as const], timers.kinds.filter((kind) => kind !== "webhook")];
    for (const kinds of [webhooks.filter((kind) => timers.kinds.includes(kind)), others]) {
      if (kinds.length > 0) this.#timekeepers.push(new Timekeeper(this.#context, timers, kinds));
    }
    this.#timekeepers.forEach((timekeeper) => timekeeper.start());
  }

  /** Stops firing timers; `stop` waits for those in progress. */
  stopFiring(): void {
    this.#timekeepers.forEach((timekeeper) => void timekeeper.stop());
  }

  async stop(): Promise<void> {
    this.#timers.forEach((timer) => clearInterval(timer));
    await Promise.all(this.#timekeepers.map((timekeeper) => timekeeper.stop()));
    await Promise.all(this.#inProgress);
    try {
      await this.#context.storage.owners.remove(this.#context.ownerId);
    } catch (error) {
      this.#context.logger.warn(
        { err: error },
        "this process could not be removed from the owners in the storage",
      );
    }
  }

  /** Sends the heartbeat. It is the only periodic write of each process, so readiness reports whether it succeeded. */
  async #beat(): Promise<void> {
    const { live, storage } = this.#context;
    try {
      await storage.owners.beat(ownerOf(this.#context.ownerId));
      live.writeFault = undefined;
    } catch (error) {
      live.writeFault = asServiceError(error);
      throw error;
    }
  }

  #every(ms: number, work: () => Promise<void>): void {
    let running: Promise<void> | undefined;
    const turn = async () => {
      try {
        await work();
      } catch (error) {
        this.#context.logger.error({ err: error }, "maintenance failed and will be tried again");
      } finally {
        if (running) this.#inProgress.delete(running);
        running = undefined;
      }
    };
    const tick = () => {
      if (!running) this.#inProgress.add((running = turn()));
    };
    this.#timers.push(setInterval(tick, ms).unref());
  }
}

/** Warns about stored delayed runs if this server does not start them: possibly no server does. */
async function warnOfDelayed({ settings, storage, logger }: OpsContext): Promise<void> {
  if (settings.delayed_runs || !storage.durable || !storage.timers) return;
  const [first] = await storage.timers.list({ kind: "run", limit: 1, offset: 0 });
  if (!first) return;
  const fields = { run_id: first.id, thread_id: first.thread_id, due_at: first.due_at };
  logger.warn(
    fields,
    "delayed runs are stored, but this server does not start them: its setting delayed_runs is off",
  );
}

/** Removes what has expired by `at` (ISO 8601): threads, usage, dead runs and idempotency keys. */
export async function sweep(context: EngineContext, at: string = now()): Promise<void> {
  await sweepThreads(context, at);
  await sweepUsage(context, at);
  if (context.storage.deadRuns) await (await import("../coordination/dead-runs.js")).forgetDead(context, at);
  const { timers } = context.storage;
  if (!timers) return;
  const { forgetKeys } = await import("../runs/idempotency.js");
  await forgetKeys(timers, at);
}

/** Removes usage of whole UTC days, never of the current one, which budgets of users count. */
async function sweepUsage({ settings, storage: { usage } }: OpsContext, at: string): Promise<void> {
  const days = settings.ttl?.usage?.days;
  if (days === undefined || !usage) return;
  const first = new Date(Date.parse(at.slice(0, 10)) - days * DAY_MS).toISOString();
  for (let removed = 1; removed > 0;) removed = await usage.forget(first);
}

/**
 * Deletes or prunes the threads whose time to live has ended by `at`. Threads with a run that is active, queued or delayed,
 * with an unscheduled webhook or with a cron wait for a later sweep.
 */
async function sweepThreads(context: EngineContext, at: string): Promise<void> {
  const seen = new Set<string>();
  let kept = 0;
  for (;;) {
    // Threads that must wait come first again, so the batch has room for the others.
    const expired = await context.storage.threads.expired(at, SWEEP_BATCH + kept);
    const unseen = expired.filter(({ thread_id }) => !seen.has(thread_id));
    const reported = unseen.length > 0 ? await threadsToReport(context) : new Set();
    for (const row of unseen) {
      seen.add(row.thread_id);
      if (reported.has(row.thread_id) || !(await sweepThread(context, row))) kept += 1;
    }
    if (unseen.length < SWEEP_BATCH) return;
  }
}

/** The threads with a run whose webhook is not scheduled: its payload is read from the thread. */
async function threadsToReport({ timers }: OpsContext): Promise<Set<string>> {
  if (!timers?.kinds.includes("webhook")) return new Set();
  const { unscheduledRuns } = await import("../webhooks/webhooks.js");
  return new Set((await unscheduledRuns(timers)).map(({ thread_id }) => thread_id));
}

/** Returns false if the thread is busy or was updated in the meantime. */
async function sweepThread(context: EngineContext, row: ThreadRow): Promise<boolean> {
  const { storage, logger } = context;
  const { thread_id, ttl } = row;
  // A custom storage may not know that a ttl can be without minutes.
  if (ttl?.ttl_minutes == null) return false;
  const lease = await storage.locks.acquire(thread_id, { wait: false });
  if (!lease) return false;
  try {
    if (await isNeeded(context, row)) return false;
    return await (ttl.strategy === "delete" ? remove(context, row) : prune(context, row));
  } catch (error) {
    logger.error({ err: error, thread_id }, "an expired thread could not be swept");
    return false;
  } finally {
    await lease.release();
  }
}

async function remove(context: EngineContext, row: ThreadRow): Promise<boolean> {
  if (!(await removeUnchanged(context, row))) return false;
  context.live.forgetThread(row.thread_id);
  return true;
}

/** Whether something will still run on the thread. A run that waits for an answer does not count. */
async function isNeeded({ storage }: OpsContext, { thread_id, status }: ThreadRow): Promise<boolean> {
  const only = { threadId: thread_id, limit: 1, offset: 0 };
  if (status === "busy" || (await storage.runs.list({ ...only, status: "pending" })).length > 0) return true;
  for (const kind of ["run", "cron"] as const)
    if (((await storage.timers?.list({ ...only, kind })) ?? []).length > 0) return true;
  return false;
}

async function prune(context: EngineContext, expired: ThreadRow): Promise<boolean> {
  const { threads } = context.storage;
  const { thread_id, updated_at } = expired;
  const row = await threads.get(thread_id);
  if (row?.updated_at !== updated_at) return false;
  await keepLatest(context, row);
  // A change in the meantime, which may have set another ttl, has started the time again.
  await threads.update(thread_id, { updated_at: now(), ttl: null }, updated_at);
  return true;
}
