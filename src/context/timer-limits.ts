/** How many timers may wait: in all, and of one user, so that no user takes what belongs to all. */
import type { TimerKind, TimerTable } from "../storage/contract/storage.js";
import { GraphServeError } from "../support/errors.js";

/** Timers of a kind, of all users. */
export const MAX_TIMERS = 10_000;
/** Timers of a kind, of one user, or of users with one scope together. */
export const MAX_TIMERS_PER_USER = 1_000;

interface Room {
  kind: TimerKind;
  /** Null where there are no users: then they share the limit of all. */
  scope: string | null;
}

/** Whether at least `count` timers are there. */
export async function hasTimers(table: TimerTable, { kind, scope }: Room, count: number): Promise<boolean> {
  const of = scope === null ? {} : { scope };
  return (await table.list({ kind, ...of, limit: 1, offset: count - 1 })).length > 0;
}

/**
 * Counted without a lock: requests that arrive together may exceed the limit by their number.
 * @param what ends the message, such as "crons are stored"
 * @throws GraphServeError where there is no room for another one (`too_many_runs`)
 */
export async function requireTimerRoom(
  table: TimerTable,
  { kind, scope }: Room,
  what: string,
  hint: string,
): Promise<void> {
  if (scope !== null && (await hasTimers(table, { kind, scope }, MAX_TIMERS_PER_USER)))
    throw new GraphServeError("too_many_runs", `${MAX_TIMERS_PER_USER} of your ${what}`, { hint });
  if (await hasTimers(table, { kind, scope: null }, MAX_TIMERS))
    throw new GraphServeError("too_many_runs", `${MAX_TIMERS} ${what}`, { hint });
}
