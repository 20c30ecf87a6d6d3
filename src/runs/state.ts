/**
 * The life of a run: its states, and every change of state. The row of a run has a state, a lease owner (the process that
 * has the run) and an attempt (how many times a process has started to execute it). They are set only by the functions
 * below, and stored by compare-and-set: a change that expects another lease has no effect.
 *
 * ```text
 *   delay ──▶ delayed ──┐                                ┌──▶ ended
 *                       ▼ due                            │      ▲ forget
 *   accept ──────▶ queued ──claim──▶ running ──end───────┤      │
 *     │              ▲ ▲                │ │              └──▶ dead
 *     │              │ └────requeue─────┘ │ take over             │
 *     │              └────────────redrive─┼───────────────────────┘
 *     └─────────free thread──────────▶────┘
 * ```
 *
 * | State     | Lease owner      | `status`             | Meaning                                                           |
 * | --------- | ---------------- | -------------------- | ----------------------------------------------------------------- |
 * | `delayed` | none             | `pending`            | not due yet; its timer has the time                               |
 * | `queued`  | none, or process | `pending`, `running` | waits for its thread, or for any process with capacity            |
 * | `running` | process          | `pending`, `running` | a process executes it; `running` once its graph is called         |
 * | `ended`   | the last process | the result           | its outcome is stored                                             |
 * | `dead`    | the last process | `error`              | its processes crashed too often; it can be redriven for 30 days   |
 *
 * A queued run with a lease owner waits in that process for its thread: without a shared queue, each process executes
 * the runs that it accepts. A queued run whose status is `running` was requeued: it continues from its last checkpoint. Or
 * it is rolled back, see `rolledBack`.
 */
import type { Resumption, RunHolder, RunLease, RunPatch, RunRow } from "../storage/contract/runs.js";
import type { EndStatus } from "../models/run-status.js";

/** Stored with a delay. */
export const delayed: Readonly<RunLease> = { state: "delayed", owner: null, attempt: 0 };

/** Accepted, but its thread or all processes are busy. `owner` is set if it waits in that process. */
export const queued = (owner: string | null = null): RunLease => ({ state: "queued", owner, attempt: 0 });

/** Accepted by a process that executes it now. */
export const started = (owner: string): RunLease => ({ state: "running", owner, attempt: 1 });

/** Claimed from the queue, or taken over from a dead process, by a process that executes it now. */
export const claimed = (
  owner: string,
  { status, attempt }: Pick<RunRow, "status" | "attempt">,
): RunLease => ({
  state: "running",
  owner,
  // A run that is still pending was never executed.
  attempt: status === "running" ? attempt + 1 : Math.max(attempt, 1),
});

/**
 * Left by a process that could not end it: any process may claim it. `owner` is set if a process took it over from a
 * dead one, and it waits there for its thread.
 */
export const requeued = ({ attempt }: Pick<RunRow, "attempt">, owner: string | null = null): RunLease => ({
  state: "queued",
  owner,
  attempt,
});

/**
 * Another process rolls it back: the next process that holds its thread deletes it. Its owner may execute it until then,
 * but cannot store its end, as it is not `running`.
 */
export const rolledBack = ({
  owner,
  attempt,
  resumption,
}: Pick<RunRow, "owner" | "attempt" | "resumption">) => ({
  ...requeued({ attempt }, owner),
  resumption: { ...(resumption ?? NOTHING_TO_RESUME), rollback: true as const },
});

const NOTHING_TO_RESUME: Resumption = { unattended: false, isWhole: false, caller: null, spent_ms: 0 };

/** Ended: by its graph, by a cancellation or a refusal, or because it cannot be resumed. */
export const ended = (status: EndStatus) =>
  ({ state: "ended", status, resumption: null }) satisfies Partial<RunPatch>;

/** Its processes crashed too often, or its graph cannot resume it. It keeps what a redrive needs. */
export const died = (resumption: Resumption) =>
  ({ state: "dead", status: "error", resumption }) satisfies Partial<RunPatch>;

/** Redriven: requeued as if it had never crashed. */
export const redriven = ({ attempt, resumption }: { attempt: number; resumption: Resumption }) => ({
  ...requeued({ attempt }),
  status: "running" as const,
  ...{ error: null, usage: null, fault: null, tasks: null },
  resumption: { ...resumption, spent_ms: 0, requeued: attempt },
});

// What a state means for others.

export const isDelayed = ({ state }: Pick<RunRow, "state">): boolean => state === "delayed";

/** Whether a process has started to execute the unfinished run. Runs behind it must not start first. */
export const hasBegun = ({ state, status }: Pick<RunRow, "state" | "status">): boolean =>
  state === "running" || status === "running";

/** Whether any process may claim the run. */
export const isUnclaimed = ({ state, owner }: Pick<RunRow, "state" | "owner">): boolean =>
  state === "queued" && owner === null;

/**
 * Whether a run continues, or has continued, after this attempt ended: it was requeued, or dead and then redriven. A
 * run that its process still owns has ended, but its end is not stored yet.
 */
export const continuesAfter = (row: RunLease, attempt: number): boolean =>
  row.attempt > attempt || isUnclaimed(row);

/** The holder of a run that executes it and may store its end: no other process rolls it back. */
export const executing = (holder: RunHolder): RunHolder => ({ ...holder, state: "running" });

/** Whether an unfinished run is to be deleted with its checkpoints, see `rolledBack`. */
export const isRolledBack = ({ resumption }: Pick<RunRow, "resumption">): boolean =>
  resumption?.rollback === true;

/** Number of processes that crashed during the run. Attempts that were requeued do not count. */
export const crashesOf = ({ attempt, resumption }: Pick<RunRow, "attempt" | "resumption">): number =>
  attempt - (resumption?.requeued ?? 0);

/** The lease of a row, which a change of the row expects. */
export const leaseOf = ({ state, owner, attempt }: RunRow): RunHolder => ({ state, owner, attempt });
