/** Fires due timers. Servers on one storage share the work: a lease assigns each row to one server at a time. */
import { now } from "../storage/rows/rows.js";
import type { TimerKind, TimerRow, TimerTable } from "../storage/contract/timers.js";
import { GraphServeError } from "../support/errors.js";
import { pauseUntil } from "../support/pause.js";
import { TooManyActiveRunsError } from "../runs/active-runs.js";
import { fireCron } from "./crons.js";
import { fireDelayedRun } from "./delayed-runs.js";
import type { EngineContext } from "../runs/live-runs.js";
import { dueAfter, type Timers } from "../context/timers.js";
import { fireWebhook } from "../webhooks/webhooks.js";

/** After this time another server may claim a timer, because its owner has crashed. In milliseconds. */
const LEASE_MS = 60_000;
/** Poll interval in milliseconds: the longest delay until a timer stored by another server is seen. */
const LONGEST_SLEEP_MS = 5_000;
/** Delay before retrying a run that exceeds the capacity of this process, in milliseconds. */
const FULL_MS = 1_000;
/** Maximum number of timers that fire concurrently, and of webhooks that are sent concurrently. */
const BATCH = 20;
/** Maximum pause between two full batches, in milliseconds. */
const LONGEST_PAUSE_MS = 250;

type Fire = (context: EngineContext, row: TimerRow, at: string) => Promise<void>;

/** Handlers by kind. Each one updates the row for its next due time, or deletes it. */
const FIRES: Partial<Record<TimerKind, Fire>> = { cron: fireCron, run: fireDelayedRun, webhook: fireWebhook };

export class Timekeeper {
  readonly #context: EngineContext;
  readonly #timers: Timers;
  readonly #kinds: readonly TimerKind[];
  /** Webhooks that wait for their receivers. */
  readonly #sending = new Set<Promise<void>>();
  #sleep: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isNotified = false;
  #isStopped = false;

  constructor(context: EngineContext, timers: Timers, kinds: readonly TimerKind[]) {
    this.#context = context;
    this.#timers = timers;
    this.#kinds = kinds;
    const { wake } = timers;
    timers.wake = () => {
      wake();
      this.#wake();
    };
  }

  /** Fires the timers that are due, and later ones as they become due, until `stop`. */
  start(): void {
    this.#wake();
  }

  /** Resolves when no timer is firing. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#sleep);
    await this.#round;
    await Promise.all(this.#sending);
  }

  #wake(): void {
    if (this.#isStopped) return;
    this.#isNotified = true;
    clearTimeout(this.#sleep);
    this.#round ??= this.#work().finally(() => (this.#round = undefined));
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    let pause = LONGEST_SLEEP_MS;
    while (this.#isNotified && !this.#isStopped) {
      this.#isNotified = false;
      try {
        if (this.#kinds.includes("webhook")) await this.#sendDue();
        else await fireDue(this.#context, now(), this.#kinds);
        // The end of each sending wakes it.
        pause = this.#sending.size < BATCH ? await this.#untilNext() : LONGEST_SLEEP_MS;
      } catch (error) {
        this.#context.logger.error({ err: error }, "due timers could not be read; this will be retried");
        pause = LONGEST_SLEEP_MS;
      }
    }
    if (!this.#isStopped) this.#sleep = setTimeout(() => this.#wake(), pause).unref();
  }

  /** Begins to send due webhooks, but does not wait for their receivers: a slow one delays no other webhook. */
  async #sendDue(): Promise<void> {
    const at = now();
    const begun = performance.now();
    const room = BATCH - this.#sending.size;
    if (room === 0) return;
    const rows = await dueInTurn(this.#timers.table, this.#kinds, at, room);
    if (rows.length === 0 || this.#context.live.stopping.aborted) return;
    await Promise.all(rows.map(async (row) => this.#send(await claim(this.#timers, row, at), row, at)));
    if (rows.length === room) await leaveTime(this.#context, begun);
  }

  #send(claimed: TimerRow | undefined, { due_at }: TimerRow, at: string): void {
    if (!claimed) return;
    const sent = fire(this.#context, this.#timers, { claimed, due_at }, at)
      .catch((error: unknown) =>
        this.#context.logger.error({ err: error, id: claimed.id }, "a webhook will be sent again"),
      )
      .finally(() => {
        this.#sending.delete(sent);
        this.#wake();
      });
    this.#sending.add(sent);
  }

  async #untilNext(): Promise<number> {
    const next = await this.#timers.table.next(this.#kinds);
    if (next === undefined) return LONGEST_SLEEP_MS;
    return Math.min(Math.max(Date.parse(next) - Date.now(), 0), LONGEST_SLEEP_MS);
  }
}

/** Fires the timers that are due at `at` (ISO 8601), unless the server is stopping. @throws StorageUnavailableError (`storage_unavailable`) */
export async function fireDue(
  context: EngineContext,
  at: string = now(),
  kinds: readonly TimerKind[] = context.timers?.kinds ?? [],
): Promise<void> {
  const { timers } = context;
  if (!timers) return;
  for (;;) {
    const begun = performance.now();
    const rows = await dueInTurn(timers.table, kinds, at, BATCH);
    // During a shutdown, refused runs would be due again immediately.
    if (rows.length === 0 || context.live.stopping.aborted) return;
    await Promise.all(inGroups(rows).map((group) => fireEach(context, timers, group, at)));
    if (rows.length < BATCH) return;
    await leaveTime(context, begun);
  }
}

/** After a full batch, leaves other requests as much time as it took. */
async function leaveTime({ live }: EngineContext, begun: number): Promise<void> {
  const ms = Math.min(performance.now() - begun, LONGEST_PAUSE_MS);
  await pauseUntil(ms, live.stopping, () => undefined);
}

/** The next `most` due timers, one of each user in turn: users with many due timers do not delay the others. */
async function dueInTurn(
  table: TimerTable,
  kinds: readonly TimerKind[],
  at: string,
  most: number,
): Promise<TimerRow[]> {
  const found = new Map<TimerRow["scope"], TimerRow[]>();
  for (;;) {
    const known = [...found.keys()];
    const page = await table.due(kinds, at, BATCH, known);
    for (const row of page)
      if (!known.includes(row.scope)) found.set(row.scope, [...(found.get(row.scope) ?? []), row]);
    // A full page may hide users whose timers became due later.
    if (page.length < BATCH || found.size === known.length || found.size >= BATCH) break;
  }
  const ofUsers = [...found.values()];
  const turns = Array.from({ length: BATCH }, (_, turn) => ofUsers.flatMap((rows) => rows[turn] ?? []));
  return turns.flat().slice(0, most);
}

/** Groups timers that must fire in order: delayed runs of one thread. All groups fire concurrently. */
function inGroups(rows: readonly TimerRow[]): TimerRow[][] {
  const groups = new Map<string, TimerRow[]>();
  for (const row of rows) {
    const key = row.kind === "run" ? `of ${row.thread_id}` : `${row.kind} ${row.id}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

async function fireEach(
  context: EngineContext,
  timers: Timers,
  rows: readonly TimerRow[],
  at: string,
): Promise<void> {
  for (const row of rows) {
    const claimed = await claim(timers, row, at);
    if (claimed) await fire(context, timers, { claimed, due_at: row.due_at }, at);
  }
}

/** Claims the timer by compare-and-set on its version. Undefined if another server was faster. */
async function claim({ table }: Timers, row: TimerRow, at: string): Promise<TimerRow | undefined> {
  const due_at = dueAfter(at, LEASE_MS);
  const isClaimed = await table.replace({ ...row, due_at });
  return isClaimed ? { ...row, due_at, version: row.version + 1 } : undefined;
}

/** Fires a claimed timer that was due at `due_at`. */
async function fire(
  context: EngineContext,
  { table }: Timers,
  { claimed, due_at }: { claimed: TimerRow; due_at: string | null },
  at: string,
): Promise<void> {
  try {
    await FIRES[claimed.kind]?.(context, claimed, at);
  } catch (error) {
    const { kind, id } = claimed;
    if (error instanceof GraphServeError && error.code === "shutting_down") {
      // Release the lease, so that another server can fire it now.
      await table.replace({ ...claimed, due_at });
      return;
    }
    if (error instanceof TooManyActiveRunsError) {
      await table.replace({ ...claimed, due_at: new Date(Date.now() + FULL_MS).toISOString() });
      return;
    }
    context.logger.error({ err: error, kind, id }, "a due timer failed and will be retried");
  }
}
