/** Stored timers of crons, delayed runs and webhooks, shared by operations and the scheduler. */
import type { TimerKind, TimerQuery, TimerRow, TimerTable } from "../storage/contract/timers.js";
import { ConfigError } from "../support/errors.js";
import { pagesOf } from "../support/read-ahead.js";

export interface WebhookSettings {
  secret: string;
  hosts?: readonly string[];
  allow_private?: readonly string[];
}

export interface TimerSettings {
  crons: boolean;
  delayed_runs: boolean;
  webhooks?: WebhookSettings;
}

export interface Timers {
  readonly table: TimerTable;
  /** Kinds that this server processes. */
  readonly kinds: readonly TimerKind[];
  /** Notifies the scheduler of a new or earlier timer. */
  wake: () => void;
}

/** The setting that enables each kind. */
const SETTINGS = { cron: "crons", run: "delayed_runs", webhook: "webhooks" } as const satisfies Partial<
  Record<TimerKind, keyof TimerSettings>
>;

const kindsOf = (settings: TimerSettings): TimerKind[] =>
  Object.entries(SETTINGS).flatMap(([kind, setting]) => (settings[setting] ? [kind as TimerKind] : []));

/** Undefined if no setting enables timers or the storage has no timers. */
export function timersOf(settings: TimerSettings, table: TimerTable | undefined): Timers | undefined {
  const kinds = kindsOf(settings);
  return table && kinds.length > 0 ? { table, kinds, wake: () => undefined } : undefined;
}

/** @throws ConfigError if a setting requires timers and the storage has none (`config_invalid`) */
export function assertTimers(
  settings: TimerSettings,
  { timers, scheme }: { timers?: TimerTable; scheme: string },
): void {
  const [kind] = kindsOf(settings);
  if (timers || kind === undefined) return;
  const setting = SETTINGS[kind as keyof typeof SETTINGS];
  throw new ConfigError(`the setting ${setting} requires a storage with timers, and ${scheme} has none`, {
    hint: `remove ${setting}, use sqlite, postgres or mongodb, or implement \`timers\` (TimerTable) in your storage`,
  });
}

/**
 * A due time after the time of a round. Earlier timers of the round, or the receiver of a webhook, may have taken a while,
 * so `at` can be in the past.
 */
export const dueAfter = (at: string, ms: number): string =>
  new Date(Math.max(Date.parse(at), Date.now()) + ms).toISOString();

/** Maps all rows of a kind or thread with `read`, and omits rows for which it returns undefined. */
export async function timersWhere<T>(
  { table }: Pick<Timers, "table">,
  query: Pick<TimerQuery, "kind" | "threadId" | "scope">,
  read: (row: TimerRow) => T | undefined,
): Promise<T[]> {
  const found: T[] = [];
  for await (const rows of pagesOf((page) => table.list({ ...query, ...page })))
    found.push(...rows.map(read).filter((each) => each !== undefined));
  return found;
}

const PAGE = 100;

/** Deletes the timers of a deleted thread. */
export async function forgetTimers({ table, kinds }: Timers, threadId: string): Promise<void> {
  for (const kind of kinds) {
    for (;;) {
      const rows = await table.list({ kind, threadId, limit: PAGE, offset: 0 });
      await Promise.all(rows.map(({ id }) => table.delete(kind, id)));
      if (rows.length < PAGE) break;
    }
  }
}
