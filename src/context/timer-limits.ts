/** Limits of stored timers, in total and per user, so that one user cannot exhaust the total. */
import type { TimerKind, TimerTable } from "../storage/contract/timers.js";
import { GraphServeError } from "../support/errors.js";

/** Maximum timers of a kind. */
export const MAX_TIMERS = 10_000;
/** Maximum timers of a kind per scope: of one user, or of users that share a scope. */
export const MAX_TIMERS_PER_USER = 1_000;

interface TimerScope {
  kind: TimerKind;
  /** Null without authentication: only the total limit applies. */
  scope: string | null;
}

/** Whether at least `count` timers are stored. */
export async function hasTimers(
  table: TimerTable,
  { kind, scope }: TimerScope,
  count: number,
): Promise<boolean> {
  const of = scope === null ? {} : { scope };
  return (await table.list({ kind, ...of, limit: 1, offset: count - 1 })).length > 0;
}

/**
 * Checks that another timer may be stored. Does not lock: concurrent requests may exceed the limit by their number.
 * @param what end of the error message, such as "crons are stored"
 * @throws GraphServeError if a limit is reached (`too_many_runs`)
 */
export async function requireTimerRoom(
  table: TimerTable,
  { kind, scope }: TimerScope,
  what: string,
  hint: string,
): Promise<void> {
  if (scope !== null && (await hasTimers(table, { kind, scope }, MAX_TIMERS_PER_USER)))
    throw new GraphServeError("too_many_runs", `${MAX_TIMERS_PER_USER} of your ${what}`, { hint });
  if (await hasTimers(table, { kind, scope: null }, MAX_TIMERS))
    throw new GraphServeError("too_many_runs", `${MAX_TIMERS} ${what}`, { hint });
}
