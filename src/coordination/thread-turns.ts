/**
 * The order of a thread's runs among processes without a shared queue. Each process starts the runs that it accepts, and
 * the lock of a thread has no order among processes: a process that gets it gives way to runs that were accepted earlier.
 */
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { hasBegun, isRolledBack } from "../runs/state.js";
import type { AcquireOptions, ThreadLease } from "../storage/contract/locks.js";
import type { RunRow } from "../storage/contract/runs.js";
import { isDead, ownerOf } from "../storage/rows/owners.js";
import { now } from "../storage/rows/rows.js";
import { Stopwatch } from "../support/stopwatch.js";

/** Thrown if a run cannot start although its thread is free: others are queued before it. */
export class MustWait extends Error {}

/** Whether a run waits for its thread, in any process. One that is rolled back never starts. */
const isWaiting = (row: RunRow): boolean =>
  row.status === "pending" && row.state === "queued" && !isRolledBack(row);

/**
 * How long a run gives way to the same waiting run, in milliseconds. A dead process is known after 30 s; after that, the
 * process that accepted the run does not start it although it could.
 */
const PATIENCE_MS = 60_000;

/** Number of waiting runs that are read. */
const WAITING_PAGE = 100;

/** Whether runs of other processes wait for the thread. */
export async function hasWaiting({ ownerId, storage }: OpsContext, threadId: string): Promise<boolean> {
  const query = { threadId, status: "pending", limit: WAITING_PAGE, offset: 0 } as const;
  return (await storage.runs.list(query)).some((row) => row.owner !== ownerId && isWaiting(row));
}

interface Ahead {
  run_id: string;
  /** Whether the process that accepted it is dead. */
  isDead: boolean;
}

interface Waiter {
  threadId: string;
  /** Resolves when the run is stored. Undefined for a run that is stored only when it has its thread. */
  stored?: () => Promise<void>;
  signal: AbortSignal;
}

/** Waits for a thread until the runs that were accepted before this call have started. */
export function waitInTurn(context: EngineContext, waiter: Waiter): Promise<ThreadLease | undefined> {
  const { givesWay } = new Turn(context, waiter);
  const { threadId, signal } = waiter;
  return context.storage.locks.acquire(threadId, { wait: true, signal, givesWay });
}

class Turn {
  readonly #context: EngineContext;
  readonly #waiter: Waiter;
  readonly #since = now();
  /** The run that this one has given way to, and since when it does. */
  #before: { run_id: string; waited: Stopwatch } | undefined;
  /** Runs that this one no longer gives way to. */
  readonly #passed = new Set<string>();

  constructor(context: EngineContext, waiter: Waiter) {
    this.#context = context;
    this.#waiter = waiter;
  }

  /** Whether another process has the next run of the thread. If it is dead, its runs are resumed under the lock first. */
  readonly givesWay: NonNullable<AcquireOptions["givesWay"]> = async (held) => {
    const { live, recover } = this.#context;
    const { threadId, stored } = this.#waiter;
    await stored?.().catch(() => undefined);
    for (let recovered: string | undefined; ;) {
      // A run that was requeued here while the storage failed comes first.
      await live.results.flush(threadId);
      const ahead = await this.#runAhead();
      if (!ahead) return false;
      const { run_id, isDead } = ahead;
      if (this.#before?.run_id !== run_id) this.#before = { run_id, waited: new Stopwatch() };
      if (this.#before.waited.elapsed() > PATIENCE_MS) {
        this.#report(ahead);
        this.#passed.add(run_id);
        continue;
      }
      if (!isDead || recovered === run_id) return true;
      recovered = run_id;
      await recover({ threadId, under: { ...held, release: () => undefined } });
      if (held.lost?.aborted) return true;
    }
  };

  #report({ run_id }: Ahead): void {
    this.#context.logger.warn(
      { thread_id: this.#waiter.threadId, run_id, seconds: PATIENCE_MS / 1000 },
      "a queued run was not started by its process: a later run of its thread goes first",
    );
  }

  /**
   * The first waiting run of the thread, unless this process has it: the order of its own runs is the order in which they
   * wait for the lock. So of two processes, only one gives way.
   */
  async #runAhead(): Promise<Ahead | undefined> {
    const { ownerId, storage } = this.#context;
    const { threadId, stored } = this.#waiter;
    for (const { run_id, owner } of await storage.runs.unfinished({ threadId })) {
      if (this.#passed.has(run_id)) continue;
      const row = await storage.runs.get(threadId, run_id);
      if (!row || !isWaiting(row)) continue;
      const isLater = !stored && row.created_at >= this.#since;
      return row.owner === ownerId || isLater
        ? undefined
        : { run_id, isDead: isDead(owner, ownerOf(ownerId)) };
    }
    return undefined;
  }
}

/**
 * Leaves out waiting runs behind one that is not resumed here: a live process has it, or has requeued it since the
 * interrupted runs were read. They are resumed in their turn.
 */
export async function inTurn<Resumed extends { row: RunRow }>(
  context: EngineContext,
  resumed: Resumed[],
): Promise<Resumed[]> {
  if (context.queue.isShared) return resumed;
  const ids = new Set(resumed.map(({ row }) => row.run_id));
  const waiting = resumed.flatMap(({ row }) => (isWaiting(row) ? [row.thread_id] : []));
  const behind = await Promise.all([...new Set(waiting)].map((id) => behindOthers(context, id, ids)));
  const later = new Set(behind.flat());
  return resumed.filter(({ row }) => !isWaiting(row) || !later.has(row.run_id));
}

/** Ids of the unfinished runs of a thread that were accepted after one that is not among `resumed`. */
async function behindOthers(
  { storage }: EngineContext,
  threadId: string,
  resumed: ReadonlySet<string>,
): Promise<string[]> {
  const unfinished = await storage.runs.unfinished({ threadId });
  for (const [index, { run_id }] of unfinished.entries()) {
    if (resumed.has(run_id)) continue;
    const row = await storage.runs.get(threadId, run_id);
    if (row && (isWaiting(row) || hasBegun(row))) return unfinished.slice(index + 1).map((run) => run.run_id);
  }
  return [];
}
