/** Copies timers: crons, delayed runs, webhooks, idempotency keys and assistants. */
import type { TimerKind, TimerRow, TimerTable } from "../contract/storage.js";
import { digestOf } from "./checkpoints.js";

const KINDS: readonly TimerKind[] = ["cron", "run", "webhook", "key", "assistant"];
const PAGE = 100;

interface CopyTimersOptions {
  from: TimerTable;
  to: TimerTable;
  /** Replace rows of the target that differ. */
  overwrite: boolean;
  /** Called before each page; may throw to stop. */
  onPage: () => void;
}

/** Copy all timers. Without `overwrite`, a row that the target already has is kept. */
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
  /** Rows that both storages now hold. */
  total: number;
  copied: number;
}

async function copyTimer(to: TimerTable, row: TimerRow, overwrite: boolean): Promise<boolean> {
  if (await to.insert(row)) return true;
  const held = await to.get(row.kind, row.id);
  if (!held || !overwrite || digestOf(held.data) === digestOf(row.data)) return false;
  return to.replace({ ...row, version: held.version });
}
