/** What is to be done at a time, as operations and the one who does it share it. */
import type { Storage, TimerKind, TimerQuery, TimerRow, TimerTable } from "../storage/contract/storage.js";
import { ConfigError } from "../support/errors.js";

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
  /** What this server sees to. */
  readonly kinds: readonly TimerKind[];
  /** A row is due that nobody waits for yet. */
  wake: () => void;
}

/** The setting that each kind is switched on by. */
const SETTINGS = { cron: "crons", run: "delayed_runs", webhook: "webhooks" } as const satisfies Partial<
  Record<TimerKind, keyof TimerSettings>
>;

const kindsOf = (settings: TimerSettings): TimerKind[] =>
  Object.entries(SETTINGS).flatMap(([kind, setting]) => (settings[setting] ? [kind as TimerKind] : []));

/** Undefined while no setting asks for them, and where the storage has none. */
export function timersOf(settings: TimerSettings, { timers: table }: Storage): Timers | undefined {
  const kinds = kindsOf(settings);
  return table && kinds.length > 0 ? { table, kinds, wake: () => undefined } : undefined;
}

/** @throws ConfigError when the settings ask for what the storage does not keep (`config_invalid`) */
export function assertTimers(settings: TimerSettings, { timers, scheme }: Storage): void {
  const [kind] = kindsOf(settings);
  if (timers || kind === undefined) return;
  const setting = SETTINGS[kind as keyof typeof SETTINGS];
  throw new ConfigError(
    `the setting ${setting} needs a storage that keeps timers, which ${scheme} does not`,
    {
      hint: `take ${setting} out, use sqlite, postgres or mongodb, or give your storage \`timers\` (TimerTable)`,
    },
  );
}

const PAGE = 100;

/** What `read` makes of all rows of a kind, or of a thread; it leaves out those that it makes undefined of. */
export async function timersWhere<T>(
  { table }: Timers,
  query: Pick<TimerQuery, "kind" | "threadId">,
  read: (row: TimerRow) => T | undefined,
): Promise<T[]> {
  const found: T[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const rows = await table.list({ ...query, limit: PAGE, offset });
    found.push(...rows.map(read).filter((each) => each !== undefined));
    if (rows.length < PAGE) return found;
  }
}

/** With its thread goes what was to be done on it. */
export async function forgetTimers({ table, kinds }: Timers, threadId: string): Promise<void> {
  for (const kind of kinds) {
    for (;;) {
      const rows = await table.list({ kind, threadId, limit: PAGE, offset: 0 });
      await Promise.all(rows.map(({ id }) => table.delete(kind, id)));
      if (rows.length < PAGE) break;
    }
  }
}
