/** What the service does by itself from time to time: heartbeat, deferred writes, expired threads, dead runs. */
import type { ThreadRow } from "../storage/contract/storage.js";
import { now } from "../storage/rows/rows.js";
import { ClockWatch } from "../context/clock.js";
import { asServiceError } from "../support/errors.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { removeThread } from "../threads/thread-state.js";
import { thisOwner } from "../runs/run-owners.js";
import { keepLatest } from "./threads.js";
import type { Timekeeper } from "../scheduling/timekeeper.js";
import { assertTimers } from "../context/timers.js";

const HEARTBEAT_MS = 5_000;
/** How soon a run hears that another process cancels it. */
const CANCEL_MS = 500;
/** How soon a run that was given back goes on. */
const GIVEN_BACK_MS = 1000;
const RECOVERY_MS = 10_000;
/** How long a recovery waits for a thread that is taken. */
const RECOVERY_PATIENCE_MS = 5_000;
const SWEEP_MS = 60_000;
/** Threads that one sweep looks at in one go. */
const SWEEP_BATCH = 100;

export class Maintenance {
  readonly #context: EngineContext;
  readonly #timers: NodeJS.Timeout[] = [];
  /** What is being done just now. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #timekeepers: Timekeeper[] = [];
  readonly #clock = new ClockWatch();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * Recover what an earlier process left, then maintain the storage until `stop`.
   * @throws ConfigError when the storage cannot keep what the settings ask for (`config_invalid`)
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
    this.#every(CANCEL_MS, () => this.#context.live.watchCancels());
    const { givesBack, queue } = this.#context;
    if (givesBack && !queue) this.#every(GIVEN_BACK_MS, () => this.#context.recover({ givenBack: true }));
    this.#every(RECOVERY_MS, () => this.#context.recover({ patience: RECOVERY_PATIENCE_MS }));
    this.#every(SWEEP_MS, () => this.#clock.check(this.#context));
    this.#every(SWEEP_MS, async () => {
      await sweep(this.#context);
      await this.#context.items.expire(now());
    });
    queue?.open();
    if (!timers) return;
    const { Timekeeper } = await import("../scheduling/timekeeper.js");
    // Receivers of webhooks may be slow, and nothing else is to wait for them.
    const [webhooks, others] = [["webhook" as const], timers.kinds.filter((kind) => kind !== "webhook")];
    for (const kinds of [webhooks.filter((kind) => timers.kinds.includes(kind)), others]) {
      if (kinds.length > 0) this.#timekeepers.push(new Timekeeper(this.#context, timers, kinds));
    }
    this.#timekeepers.forEach((timekeeper) => timekeeper.start());
  }

  /** Begin nothing more that is due; `stop` waits for what was begun. */
  stopFiring(): void {
    this.#timekeepers.forEach((timekeeper) => void timekeeper.stop());
  }

  async stop(): Promise<void> {
    this.#timers.forEach((timer) => clearInterval(timer));
    await Promise.all(this.#timekeepers.map((timekeeper) => timekeeper.stop()));
    await Promise.all(this.#underWay);
    try {
      await this.#context.storage.owners.remove(this.#context.ownerId);
    } catch (error) {
      this.#context.logger.warn({ err: error }, "this process could not be signed off");
    }
  }

  /** The one write that each process makes every few seconds: whether it succeeds is what readiness says. */
  async #beat(): Promise<void> {
    const { live, storage } = this.#context;
    try {
      await storage.owners.beat(thisOwner(this.#context));
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
        if (running) this.#underWay.delete(running);
        running = undefined;
      }
    };
    const tick = () => {
      if (!running) this.#underWay.add((running = turn()));
    };
    this.#timers.push(setInterval(tick, ms).unref());
  }
}

/** Who waits for their time may wait for ever: no server need have the setting that they were accepted with. */
async function warnOfDelayed({ settings, storage, logger }: OpsContext): Promise<void> {
  if (settings.delayed_runs || !storage.durable || !storage.timers) return;
  const [first] = await storage.timers.list({ kind: "run", limit: 1, offset: 0 });
  if (!first) return;
  const fields = { run_id: first.id, thread_id: first.thread_id, due_at: first.due_at };
  logger.warn(
    fields,
    "runs wait for their time, and this server begins none: its setting delayed_runs is off",
  );
}

/** Forget what has had its time by `at`: threads, runs that died, and idempotency keys. */
export async function sweep(context: OpsContext, at: string = now()): Promise<void> {
  await sweepThreads(context, at);
  if (context.storage.deadRuns) await (await import("../coordination/dead-runs.js")).forgetDead(context, at);
  const { timers } = context.storage;
  if (!timers) return;
  const { forgetKeys } = await import("../runs/idempotency.js");
  await forgetKeys(timers, at);
}

/** Delete or prune the threads whose time to live has ended by `at`; busy ones wait for the next sweep. */
async function sweepThreads(context: OpsContext, at: string): Promise<void> {
  for (let swept = SWEEP_BATCH; swept === SWEEP_BATCH;) {
    const expired = await context.storage.threads.expired(at, SWEEP_BATCH);
    swept = 0;
    for (const row of expired) if (await sweepThread(context, row)) swept += 1;
  }
}

/** False when the thread is busy, or was renewed meanwhile. */
async function sweepThread(context: OpsContext, { thread_id, updated_at }: ThreadRow): Promise<boolean> {
  const { storage, logger } = context;
  const lease = await storage.locks.acquire(thread_id, { wait: false });
  if (!lease) return false;
  try {
    const row = await storage.threads.get(thread_id);
    if (!row?.ttl || row.updated_at !== updated_at) return false;
    if (row.ttl.strategy === "delete") await removeThread(context, thread_id);
    else await prune(context, row);
    return true;
  } catch (error) {
    logger.error({ err: error, thread_id }, "an expired thread could not be swept");
    return false;
  } finally {
    await lease.release();
  }
}

async function prune(context: OpsContext, row: ThreadRow): Promise<void> {
  await keepLatest(context, row);
  await context.storage.threads.update(row.thread_id, { updated_at: now(), ttl: null });
}
