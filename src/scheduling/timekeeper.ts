/** Does what is due. Several servers on one storage share the work: each row is one's at a time. */
import { now } from "../storage/rows/rows.js";
import type { TimerKind, TimerRow } from "../storage/contract/storage.js";
import { GraphServeError } from "../support/errors.js";
import { TooManyActiveRunsError } from "../runs/active-runs.js";
import { fireCron } from "./crons.js";
import { fireDelayedRun } from "./delayed-runs.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { Timers } from "../context/timers.js";
import { fireWebhook } from "../webhooks/webhooks.js";

/** What one has taken on is another's after this time: it has died over it. */
const LEASE_MS = 60_000;
/** Rows of other servers are seen no later. */
const LONGEST_SLEEP_MS = 5_000;
/** When a run is tried again for which this process has no place. */
const FULL_MS = 1_000;
/** Rows that are done at once. */
const BATCH = 20;

type Fire = (context: EngineContext, row: TimerRow, at: string) => Promise<void>;

/** Each leaves the row as it is to be found next, or deletes it. */
const FIRES: Partial<Record<TimerKind, Fire>> = { cron: fireCron, run: fireDelayedRun, webhook: fireWebhook };

export class Timekeeper {
  readonly #context: EngineContext;
  readonly #timers: Timers;
  readonly #kinds: readonly TimerKind[];
  #sleep: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #isWoken = false;
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

  /** Do what is due, and from now on whatever becomes due. */
  start(): void {
    this.#wake();
  }

  /** Resolves when nothing is being done any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#sleep);
    await this.#underWay;
  }

  #wake(): void {
    if (this.#isStopped) return;
    this.#isWoken = true;
    clearTimeout(this.#sleep);
    this.#underWay ??= this.#work().finally(() => (this.#underWay = undefined));
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    let pause = LONGEST_SLEEP_MS;
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false;
      try {
        await fireDue(this.#context, now(), this.#kinds);
        pause = await this.#untilNext();
      } catch (error) {
        this.#context.logger.error({ err: error }, "what is due could not be looked up, and will be again");
        pause = LONGEST_SLEEP_MS;
      }
    }
    if (!this.#isStopped) this.#sleep = setTimeout(() => this.#wake(), pause).unref();
  }

  async #untilNext(): Promise<number> {
    const next = await this.#timers.table.next(this.#kinds);
    if (next === undefined) return LONGEST_SLEEP_MS;
    return Math.min(Math.max(Date.parse(next) - Date.now(), 0), LONGEST_SLEEP_MS);
  }
}

/** Do what is due at `at` (ISO 8601), unless the server is stopping. @throws StorageUnavailableError (`storage_unavailable`) */
export async function fireDue(
  context: EngineContext,
  at: string = now(),
  kinds: readonly TimerKind[] = context.timers?.kinds ?? [],
): Promise<void> {
  const { timers } = context;
  if (!timers) return;
  for (;;) {
    const rows = await timers.table.due(kinds, at, BATCH);
    // A run that is refused now is due again at once.
    if (rows.length === 0 || context.live.stopping.aborted) return;
    await Promise.all(inTurns(rows).map((turns) => fireEach(context, timers, turns, at)));
    if (rows.length < BATCH) return;
  }
}

/** Runs of a thread are accepted in the order of their times; all else is done at once. */
function inTurns(rows: readonly TimerRow[]): TimerRow[][] {
  const turns = new Map<string, TimerRow[]>();
  for (const row of rows) {
    const key = row.kind === "run" ? `of ${row.thread_id}` : `${row.kind} ${row.id}`;
    turns.set(key, [...(turns.get(key) ?? []), row]);
  }
  return [...turns.values()];
}

async function fireEach(
  context: EngineContext,
  timers: Timers,
  rows: readonly TimerRow[],
  at: string,
): Promise<void> {
  for (const row of rows) await fire(context, timers, row, at);
}

/** Who writes over the row's version first has it until its lease ends. */
async function fire(context: EngineContext, { table }: Timers, row: TimerRow, at: string): Promise<void> {
  // What was due before it may have taken long.
  const due_at = new Date(Math.max(Date.parse(at), Date.now()) + LEASE_MS).toISOString();
  if (!(await table.replace({ ...row, due_at }))) return;
  const held = { ...row, due_at, version: row.version + 1 };
  try {
    await FIRES[row.kind]?.(context, held, at);
  } catch (error) {
    const { kind, id } = row;
    if (error instanceof GraphServeError && error.code === "shutting_down") {
      // Another server need not wait for the lease.
      await table.replace({ ...held, due_at: row.due_at });
      return;
    }
    if (error instanceof TooManyActiveRunsError) {
      await table.replace({ ...held, due_at: new Date(Date.now() + FULL_MS).toISOString() });
      return;
    }
    context.logger.error({ err: error, kind, id }, "what is due could not be done, and will be tried again");
  }
}
