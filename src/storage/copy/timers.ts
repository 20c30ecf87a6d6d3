/** Copies what is to be done at a time: crons, runs that wait for theirs, webhooks, idempotency keys. */
import type { TimerKind, TimerRow, TimerTable } from "../contract/storage.js";
import { digestOf } from "./checkpoints.js";

const KINDS: readonly TimerKind[] = ["cron", "run", "webhook", "key"];
const PAGE = 100;

interface CopyTimersOptions {
  from: TimerTable;
  to: TimerTable;
  /** Replace a row of the target that is in the way. */
  overwrite: boolean;
  /** Before each page; throws to stop. */
  onPage: () => void;
}

/** Rows that both storages hold now, and those that were written; what the target has made of one is left as it is. */
export async function copyTimers({ from, to, overwrite, onPage }: CopyTimersOptions): Promise<TimerCopy> {
  const copy: TimerCopy = { total: 0, copied: 0 };
  for (const kind of KINDS) {
    for (let offset = 0; ; offset += PAGE) {
      onPage();
      const rows = await from.list({ kind, limit: PAGE, offset });
      for (const row of rows) {
        if (await copyTimer(to, row, overwrite)) copy.copied += 1;
        copy.total += 1;
      }
      if (rows.length < PAGE) break;
    }
  }
  return copy;
}

export interface TimerCopy {
  total: number;
  copied: number;
}

/** Whether there is a run that waits for its time. */
export const hasWaiting = async (table: TimerTable): Promise<boolean> =>
  (await table.list({ kind: "run", limit: 1, offset: 0 })).length > 0;

async function copyTimer(to: TimerTable, row: TimerRow, overwrite: boolean): Promise<boolean> {
  if (await to.insert(row)) return true;
  const held = await to.get(row.kind, row.id);
  if (!held || !overwrite || digestOf(held.data) === digestOf(row.data)) return false;
  return to.replace({ ...row, version: held.version });
}
